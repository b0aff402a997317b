//! SEC-5: who changed what, on every member alike and through all that befalls them; and an exported file that nobody can alter.

use harness::cli::Cli;
use harness::eventually::claim;
use harness::{Cluster, Member, eventually, pki};
use serde_json::Value;

fn as_someone(cluster: &Cluster, word: &str, name: &str) -> Cli {
    Cli { identity: Some(pki::identity(cluster.directory(), word, None, name)), ..cluster.cli() }
}

fn entries(cli: &Cli, command: &str) -> Vec<Value> {
    cli.json(command)["entries"].as_array().expect("entries").clone()
}

fn said(entries: &[Value]) -> Vec<[String; 4]> {
    let keys = ["author", "act", "object", "outcome"];
    entries.iter().map(|entry| keys.map(|key| entry[key].as_str().expect(key).to_owned())).collect()
}

/// Waits until `member` by itself has the trail `wanted`.
fn has_trail(member: &Member, wanted: &[Value]) {
    eventually(&format!("{} has the same trail", member.name), || {
        let own = entries(&member.cli(), "audit list --stale");
        claim(own == wanted, format!("{own:?}"))
    });
}

#[test]
fn sec_5_every_member_has_the_same_trail_through_restarts_joins_and_restores() {
    let mut cluster = Cluster::start(3);
    let alice = as_someone(&cluster, "operator", "alice");
    let key = "--header 'Key: topsecret'";
    alice.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    let create =
        format!("profile create web --zone waymark.test --relative-name web --routing priority {key}");
    alice.ok(&create);
    alice.ok(&format!("endpoint add web e1 --target 192.0.2.1 {key}"));
    assert_ne!(alice.run(&create).code, 0);
    alice.ok("endpoint enable web e1");
    let listed = entries(&alice, "audit list");
    let (own, tester) = ("operator/alice", "operator/tester");
    let (second, third) = (cluster.members[1].url(), cluster.members[2].url());
    let id = cluster.status()["clusterId"].as_str().expect("an id").to_owned();
    assert_eq!(
        said(&listed),
        [
            [tester, "found cluster", &id, "done"],
            [tester, "add member", &second, "begun"],
            [tester, "add member", &second, "done"],
            [tester, "add member", &third, "begun"],
            [tester, "add member", &third, "done"],
            [own, "create zone", "waymark.test", "done"],
            [own, "create profile", "web", "done"],
            [own, "add endpoint", "web/e1", "done"],
            [own, "create profile", "web", "refused"],
            [own, "update endpoint", "web/e1", "unchanged"],
        ]
        .map(|entry| entry.map(str::to_owned))
    );
    assert!(
        listed.iter().all(|entry| entry["from"].as_str().is_some_and(|from| from.starts_with("127.0.0.1:")))
    );
    assert_eq!(listed[7]["revision"], alice.json("endpoint show web e1")["metadata"]["revision"]);
    let table = alice.ok("audit list --limit 3");
    assert!(table.contains("add endpoint web/e1") && !table.contains("create zone"), "{table}");
    assert!(table.contains("***") && !format!("{listed:?}").contains("topsecret"), "{table}");

    cluster.members.iter().for_each(|member| has_trail(member, &listed));
    cluster.members[1].kill();
    cluster.members[1].start();
    cluster.members[1].ready();
    has_trail(&cluster.members[1], &listed);

    let backup = cluster.directory().join("all.backup");
    cluster.cli().ok(&format!("cluster backup {}", backup.display()));
    let mut fresh = Member::new("n1", cluster.directory());
    fresh.start();
    fresh.listens();
    fresh.cli().ok(&format!("cluster restore {}", backup.display()));
    fresh.ready();
    let restored = entries(&fresh.cli(), "audit list");
    assert_eq!(restored[..listed.len()], listed[..], "it goes on from there");
    let id = fresh.cli().json("cluster status")["clusterId"].as_str().expect("an id").to_owned();
    assert_eq!(
        said(&restored[listed.len()..]),
        [[tester, "restore cluster", &id, "done"].map(str::to_owned)]
    );
    assert_eq!(restored[listed.len()]["previous"], listed[listed.len() - 1]["hash"]);
    let mut joined = Member::new("n2", cluster.directory());
    joined.start();
    joined.listens();
    fresh.cli().ok(&format!("cluster add {}", joined.url()));
    joined.ready();
    has_trail(&joined, &entries(&fresh.cli(), "audit list"));
}

#[test]
fn sec_5_a_file_that_was_altered_is_refused_at_its_line() {
    let cluster = Cluster::start(1);
    let alice = as_someone(&cluster, "operator", "alice");
    alice.ok("region set eu --at 50,8");
    alice.ok("region set us --at 39,-77");
    let file = cluster.directory().join("audit.jsonl");
    let path = file.display();
    let exported = alice.json(&format!("audit export {path}"));
    let listed = entries(&alice, "audit list");
    assert_eq!((&exported["kind"], &exported["last"]), (&"AuditFile".into(), &3.into()));
    assert_eq!(exported["hash"], listed[2]["hash"]);
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600);
    let again = alice.run(&format!("audit export {path}"));
    assert!(again.code == 1 && again.stderr.contains("there already"), "{again:?}");

    // Nobody is asked.
    let alone = Cli { endpoints: "https://192.0.2.1:1".into(), identity: None };
    let verify = format!("audit verify {path}");
    let hash = exported["hash"].as_str().expect("a hash");
    assert!(
        alone.ok(&verify).ends_with(&format!("the hash of entry 3 is {hash}\n")),
        "{}",
        alone.ok(&verify)
    );
    alone.ok(&format!("{verify} --hash {hash}"));
    let whole = std::fs::read_to_string(&file).expect("it is there");
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let of = |places: &[usize]| places.iter().map(|place| lines[*place]).collect::<String>();
    for (forged, words) in [
        (whole.replacen("operator/alice", "operator/carol", 1), "line 2: entry 2 says something else"),
        (of(&[0, 2]), "line 2: entry 2 should stand where entry 3 is"),
        (of(&[1, 0, 2]), "line 2: entry 3 should stand where entry 1 is"),
        (whole[..whole.len() / 2].to_owned(), "is no entry"),
        (String::new(), "there is no entry in it"),
        (of(&[0, 1]), "no entry up to 2 has the hash"),
    ] {
        assert_ne!(forged, whole);
        std::fs::write(&file, forged).expect("it can be written");
        let refused = alone.run(&format!("{verify} --hash {hash}"));
        assert!(refused.code == 1 && refused.stderr.contains(words), "{words}: {refused:?}");
    }
}

#[test]
fn sec_5_refusals_stand_in_the_log_with_who_and_which_method() {
    let mut cluster = Cluster::start(1);
    let wall = as_someone(&cluster, "viewer", "wall");
    assert_eq!(wall.run("audit list").code, 4);
    assert_eq!(wall.run("region set eu --at 50,8").code, 4);
    let log = cluster.members[0].process().log();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let told: Vec<_> =
        lines.iter().filter(|line| line["target"] == "audit").map(|line| &line["fields"]).collect();
    let methods: Vec<&str> = told.iter().filter_map(|fields| fields["method"].as_str()).collect();
    let audit = "/waymark.admin.v1.Audit/ListAuditEntries";
    assert_eq!(methods, [audit, "/waymark.admin.v1.Regions/SetRegion"], "{told:?}");
    for fields in told {
        assert_eq!(fields["who"], "viewer/wall");
        assert!(fields["from"].as_str().is_some_and(|from| from.starts_with("127.0.0.1:")), "{fields}");
    }
    let listed = entries(&cluster.cli(), "audit list");
    assert_eq!(listed.len(), 1, "they are not replicated: {listed:?}");
}
