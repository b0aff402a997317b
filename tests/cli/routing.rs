//! The routing methods and what they stand on, from the CLI to every member's answer.

use harness::{Cluster, dns, eventually};

/// What the member answers to a client subnet: data and scope.
fn answer(cluster: &Cluster, member: usize, name: &str, subnet: &str) -> (String, Option<u8>) {
    let (data, scope) = dns::ask_from(cluster.members[member].dns, name, subnet).expect("a reply");
    (data.join(" "), scope)
}

/// The same answer and scope from all members; what was written a moment ago arrives a moment later on some.
#[track_caller]
fn everywhere(cluster: &Cluster, name: &str, subnet: &str, expected: (&str, Option<u8>)) {
    for member in 0..cluster.members.len() {
        let expected = (expected.0.to_owned(), expected.1);
        eventually("the members agree", || {
            let seen = answer(cluster, member, name, subnet);
            if seen == expected { Ok(()) } else { Err(format!("member {member}, {subnet}: {seen:?}")) }
        });
    }
}

/// RTE-7, RTE-8, RTE-10, RTE-12, RTE-14, DNS-10, OBJ-6, STA-8: on three members.
#[test]
fn rte_14_every_member_answers_each_client_alike() {
    let cluster = Cluster::start(3);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("region set eu --at 50,9");
    cli.ok("region set us --at 39,-77");

    cli.ok("profile create web --zone waymark.test --relative-name web --routing subnet");
    cli.ok("endpoint add web office --target 192.0.2.1 --subnet 198.51.100.0/25 --subnet 198.51.100.128/25");
    cli.ok("endpoint add web rest --target 192.0.2.2 --wait all");
    everywhere(&cluster, "web.waymark.test.", "198.51.100.0/24", ("192.0.2.1", Some(24)));
    everywhere(&cluster, "web.waymark.test.", "198.51.101.0/24", ("192.0.2.2", Some(24)));
    everywhere(&cluster, "web.waymark.test.", "10.0.0.0/8", ("192.0.2.2", Some(1)));

    cli.ok("profile create near --zone waymark.test --relative-name near --routing performance");
    cli.ok("endpoint add near eu --target 192.0.2.11 --location eu");
    cli.ok("endpoint add near us --target 192.0.2.12 --location us --wait all");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("latency.csv");
    let import = |rows: &str| {
        std::fs::write(&file, format!("network,region,milliseconds\n{rows}")).unwrap();
        cli.run(&format!("latency import {}", file.display()))
    };
    let told = import("198.51.100.0/24,eu,10\n198.51.100.0/24,us,90\n203.0.113.0/24,us,5\n");
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stdout.contains("2 rows set, 0 removed, 0 unchanged"), "{}", told.stdout);
    everywhere(&cluster, "near.waymark.test.", "198.51.100.0/24", ("192.0.2.11", Some(24)));
    everywhere(&cluster, "near.waymark.test.", "203.0.113.0/24", ("192.0.2.12", Some(24)));
    assert!(cli.ok("latency show --from 203.0.113.9").contains("us 5"));
    let explained = cli.json("explain near.waymark.test --from 198.51.100.0/24");
    assert_eq!(explained["scope"], 24);
    assert_eq!(explained["profiles"][0]["chosen"][0], "eu");
    // A changed table moves only the clients whose row changed.
    let told = import("198.51.100.0/24,eu,10\n198.51.100.0/24,us,9\n");
    assert!(told.stdout.contains("1 rows set, 1 removed, 0 unchanged"), "{}", told.stdout);
    everywhere(&cluster, "near.waymark.test.", "198.51.100.0/24", ("192.0.2.12", Some(24)));
    let refused = import("198.51.100.7/24,eu,10\n198.51.100.0/24,eu,x\n");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("did you mean 198.51.100.0/24"), "{}", refused.stderr);
    assert!(refused.stderr.contains("line 3: milliseconds: 'x' is no whole number"), "{}", refused.stderr);
    let refused = import("198.51.100.0/24,us,10\n198.51.100.0/24,aeu,10\n");
    assert_eq!(refused.code, 1);
    let expected = "latency.csv line 3: 198.51.100.0/24, aeu: there is no such region; did you mean '";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);

    // By the table of countries that every member carries along.
    cli.ok("profile create map --zone waymark.test --relative-name map --routing geographic");
    cli.ok("endpoint add map world --target 192.0.2.31 --geo WORLD");
    cli.ok("endpoint add map europe --target 192.0.2.32 --geo GEO-EU --wait all");
    for (subnet, expected) in [("193.0.6.0/24", "192.0.2.32"), ("8.8.8.0/24", "192.0.2.31")] {
        for member in 0..3 {
            assert_eq!(answer(&cluster, member, "map.waymark.test.", subnet).0, expected, "{subnet}");
        }
    }
    let explained = cli.json("explain map.waymark.test --from 193.0.6.0/24");
    assert_eq!(explained["location"], "NL (Netherlands), by the database");

    cli.ok("service register shop --target 192.0.2.21 --location eu");
    cli.ok("profile create child --zone waymark.test --relative-name child --routing priority --ttl 77");
    cli.ok("endpoint add child shop --service shop");
    cli.ok("profile create parent --zone waymark.test --relative-name parent --routing priority");
    cli.ok("endpoint add parent first --nested child");
    cli.ok("endpoint add parent second --target 192.0.2.22 --wait all");
    everywhere(&cluster, "parent.waymark.test.", "10.0.0.0/8", ("192.0.2.21", Some(0)));
    cli.ok("service stop shop --wait all");
    everywhere(&cluster, "parent.waymark.test.", "10.0.0.0/8", ("192.0.2.22", Some(0)));
    assert_eq!(cli.json("service show shop")["services"][0]["running"], false);
    let refused = cli.run("service delete shop");
    assert!(refused.code == 1 && refused.stderr.contains("child"), "{}", refused.stderr);
    let refused = cli.run("endpoint add child loop --nested parent");
    assert!(refused.code == 1 && refused.stderr.contains("child → parent → child"), "{}", refused.stderr);
    cli.ok("service start shop --wait all");
    everywhere(&cluster, "parent.waymark.test.", "10.0.0.0/8", ("192.0.2.21", Some(0)));
}

/// RTE-15, PRB-11, OBJ-6: a service that was stopped is named, and its endpoint shows what it would answer with.
#[test]
fn prb_11_what_a_stopped_service_stands_for_is_not_probed_and_says_so() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("region set eu --at 50,9");
    cli.ok("service register shop --target 192.0.2.21 --location eu");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cli.ok("endpoint add web shop --service shop");
    assert_eq!(cli.json("endpoint show web shop")["status"]["probed"], true);
    cli.ok("service stop shop");
    let explained = cli.ok("explain web.waymark.test");
    assert!(explained.contains("out: service 'shop' is stopped"), "{explained}");
    assert!(cli.ok("status web").contains("not probed"));
    let shown = cli.json("endpoint show web shop");
    assert_eq!(shown["effective"], serde_json::json!({ "target": "192.0.2.21", "location": "eu" }));
    let status = &shown["status"];
    assert_eq!((&status["probed"], &status["regions"]), (&false.into(), &serde_json::json!([])));
}

/// RTE-1, CLI-2: a client subnet that does not count is told of; what is empty or nothing is refused, not guessed at.
#[test]
fn rte_1_a_client_subnet_that_is_ignored_is_told_of() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1 --ecs off");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing subnet");
    cli.ok("endpoint add web rest --target 192.0.2.1");
    let explain = |from: &str| cli.json(&format!("explain web.waymark.test --from {from}"));
    let told = explain("10.2.3.0/24");
    assert_eq!(told["subnetIgnored"], "client subnet 10.2.3.0/24 ignored: the zone has --ecs off");
    assert_eq!((&told["client"], &told["clientFrom"]), (&"127.0.0.1".into(), &"source".into()));
    let text = cli.ok("explain web.waymark.test --from 10.2.3.0/24");
    assert!(text.contains("(source; client subnet 10.2.3.0/24 ignored"), "{text}");
    cli.ok("zone update waymark.test --ecs on");
    assert_eq!(explain("10.2.3.0/24")["subnetIgnored"], serde_json::Value::Null);
    let told = explain("0.0.0.0/0")["subnetIgnored"].to_string();
    assert!(told.contains("client subnet 0.0.0.0/0 ignored: by /0"), "{told}");

    for command in [
        "explain web.waymark.test --from ''",
        "explain web.waymark.test --type ''",
        "status ''",
        "events ''",
        "events --limit 0",
        "endpoint update web rest --nested ''",
        "endpoint update web rest --service ''",
    ] {
        assert_eq!(cli.run(command).code, 64, "{command}");
    }
    let refused = cli.run("service register shop");
    assert!(
        refused.code == 64 && refused.stderr.contains("a new service needs --target"),
        "{}",
        refused.stderr
    );
    cli.ok("region set eu --at 50,9");
    cli.ok("service register shop --target 192.0.2.7 --location eu");
    cli.ok("service register shop --unset location");
    assert_eq!(cli.json("service show shop")["services"][0]["location"], serde_json::Value::Null);
    assert!(cli.ok("latency list").starts_with("no rows"));
}

/// SET-1: a live profile goes through all methods again and again, and no query meets an empty answer or NXDOMAIN.
#[test]
fn set_1_a_switch_of_methods_leaves_no_moment_without_an_answer() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("region set eu --at 50,9");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    for (name, last, code) in [("e1", 1, "WORLD"), ("e2", 2, "GEO-EU")] {
        cli.ok(&format!(
            "endpoint add web {name} --target 192.0.2.{last} --location eu --geo {code} --weight {last}"
        ));
    }
    cli.ok("endpoint update web e2 --subnet 198.51.100.0/24");
    let member = cluster.members[0].dns;
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let asked = std::thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let mut asked = 0;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let answer = dns::short(member, "web.waymark.test.", "A");
                assert!(answer.starts_with("192.0.2."), "{answer} after {asked} queries");
                asked += 1;
            }
            asked
        });
        for round in 0..50 {
            let methods = ["weighted", "performance", "geographic", "multivalue", "subnet", "priority"];
            cli.ok(&format!("profile update web --routing {}", methods[round % methods.len()]));
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        asker.join().expect("no query without an answer")
    });
    assert!(asked > 50, "only {asked} queries in 50 switches");
}
