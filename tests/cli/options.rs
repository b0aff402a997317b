//! What the options promise.

use harness::Cluster;
use serde_json::Value;

const ZONE: &str = "zone create waymark.test --ns ns1.waymark.test=127.0.0.1";

/// Every field of the spec `before` except those in `named` is the same in the spec `after`.
#[track_caller]
fn assert_only(before: &Value, after: &Value, named: &[&str]) {
    let fields = |value: &Value| value.as_object().expect("an object").clone();
    for (field, value) in fields(before) {
        if !named.contains(&field.as_str()) {
            assert_eq!(after[&field], value, "'{field}' was not named");
        }
    }
}

/// CLI-1, VAL-2, VAL-4, F-API-01: an update changes what it names, and everything is shown back.
#[test]
fn cli_1_an_update_changes_only_what_it_names() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(ZONE);
    cli.ok(
        "profile create web --zone waymark.test --relative-name web --routing weighted --ttl 60 --protocol https --port 8443 \
         --path /up --interval 10s --timeout 6s --tolerated-failures 1 --recovery-successes 2 --expect 200-204 \
         --header 'X-A: 1'",
    );
    cli.ok("region set eu --at 50,8");
    cli.ok("endpoint add web e1 --target 192.0.2.1 --weight 7 --priority 5 --location eu --header 'X-B: 2'");
    for (update, fields) in [
        ("--ttl 90", &["ttl"][..]),
        ("--tolerated-failures 2", &["monitor"]),
        ("--header 'X-A: 3'", &["monitor"]),
        ("--routing priority", &["routing"]),
        ("--unset ttl", &["ttl"]),
        ("--max-removal 20%", &["maxRemoval"]),
        ("--removal-window 5s", &["removalWindow"]),
        ("--unset removal-window", &["removalWindow"]),
        ("--max-removal off", &["maxRemoval"]),
    ] {
        let before = cli.json("profile show web")["spec"].clone();
        cli.ok(&format!("profile update web {update}"));
        let after = cli.json("profile show web")["spec"].clone();
        assert_only(&before, &after, fields);
        assert_ne!(before, after, "'{update}' changed nothing");
    }
    // VAL-4: priority routing does not use weights, and keeps and shows them.
    let endpoint = cli.json("endpoint show web e1")["spec"].clone();
    assert_eq!(
        (&endpoint["weight"], &endpoint["priority"], &endpoint["location"]),
        (&7.into(), &5.into(), &"eu".into())
    );
    cli.ok("endpoint update web e1 --weight 8");
    assert_only(&endpoint, &cli.json("endpoint show web e1")["spec"], &["weight"]);
}

/// OBJ-7, RTE-4: what is disabled is not answered, and says so.
#[test]
fn obj_7_profiles_and_endpoints_can_be_disabled() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(ZONE);
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cli.ok("endpoint add web e1 --target 192.0.2.1");
    cli.ok("endpoint add web e2 --target 192.0.2.2");
    let answer = || harness::dns::short(cluster.members[0].dns, "web.waymark.test", "A");
    assert_eq!(answer(), "192.0.2.1");
    cli.ok("endpoint disable web e1");
    assert_eq!(answer(), "192.0.2.2", "CLI-3: a change that returns is visible on the member that was asked");
    assert!(cli.ok("status web").contains("Disabled"));
    cli.ok("profile disable web");
    assert_eq!(answer(), "NXDomain");
    cli.ok("profile enable web");
    cli.ok("endpoint enable web e1");
    assert_eq!(answer(), "192.0.2.1");
}

/// OBJ-8, F-CLU-17: a change of what has moved on is refused, naming both revisions.
#[test]
fn obj_8_a_stale_revision_is_refused() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(ZONE);
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    let read = cli.json("profile show web")["metadata"]["revision"].as_u64().expect("a revision");
    cli.ok(&format!("profile update web --ttl 10 --if-revision {read}"));
    let now = cli.json("profile show web")["metadata"]["revision"].as_u64().expect("a revision");
    let refused = cli.run(&format!("profile update web --ttl 20 --if-revision {read}"));
    assert_eq!(refused.code, 6, "{}", refused.stderr);
    assert!(
        refused.stderr.contains(&read.to_string()) && refused.stderr.contains(&now.to_string()),
        "{}",
        refused.stderr
    );
    // No change: the revision stays.
    cli.ok("profile update web --ttl 10");
    assert_eq!(cli.json("profile show web")["metadata"]["revision"].as_u64(), Some(now));
}

/// CLI-3, CLI-4: any member takes a command; with `--wait all` every member has it when the command returns.
#[test]
fn cli_3_a_change_on_any_member_is_on_all_members_with_wait_all() {
    let cluster = Cluster::start(3);
    cluster.cli().ok(ZONE);
    cluster
        .cli()
        .ok("profile create web --zone waymark.test --relative-name web --routing priority --wait all");
    for member in 0..3 {
        let (own, all) = (cluster.cli_of(member), |at: usize| cluster.members[at].dns);
        own.ok(&format!("endpoint add web e{member} --target 192.0.2.{} --wait all", 10 - member));
        for at in 0..3 {
            assert_eq!(harness::dns::short(all(at), "web.waymark.test", "A"), "192.0.2.10");
        }
        own.ok("endpoint list web");
    }
}

/// CLI-6: removing what answers DNS needs consent.
#[test]
fn cli_6_removing_what_answers_needs_consent() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(ZONE);
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cli.ok("endpoint add web e1 --target 192.0.2.1");
    for command in ["endpoint remove web e1", "profile delete web", "zone delete waymark.test"] {
        let output = cli.run(command);
        assert_eq!(output.code, 5, "{command}: {}", output.stderr);
        assert!(output.stderr.contains("--yes"), "{}", output.stderr);
    }
    assert_eq!(harness::dns::short(cluster.members[0].dns, "web.waymark.test", "A"), "192.0.2.1");
    cli.ok("endpoint remove web e1 --yes");
    cli.ok("profile delete web --yes");
    cli.ok("zone delete waymark.test --yes");
}

/// RTE-15: what `explain` says is what a query gets, for each member, names and types.
#[test]
fn rte_15_explain_says_what_dns_says() {
    let cluster = Cluster::start(3);
    let cli = cluster.cli();
    cli.ok(ZONE);
    cli.ok("profile create web --zone waymark.test --relative-name web.eu --routing priority");
    cli.ok("endpoint add web e1 --target 192.0.2.1");
    cli.ok("endpoint add web e2 --target 2001:db8::1 --wait all");
    for (at, member) in cluster.members.iter().enumerate() {
        for name in
            ["web.eu.waymark.test", "eu.waymark.test", "nope.waymark.test", "waymark.test", "elsewhere.test"]
        {
            for kind in ["A", "AAAA", "NS", "TXT", "SOA"] {
                let explained = cluster.cli_of(at).json(&format!("explain {name} --type {kind}"));
                let asked = harness::dns::ask(member.dns, name, kind).expect("a reply");
                let rcode = format!("{:?}", asked.metadata.response_code).to_uppercase();
                assert_eq!(explained["rcode"].as_str(), Some(rcode.as_str()), "{name} {kind}: {explained}");
                let records = explained["answers"].as_array().map_or(0, Vec::len);
                assert_eq!(records, asked.answers.len(), "{name} {kind}: {explained}");
            }
        }
    }
}
