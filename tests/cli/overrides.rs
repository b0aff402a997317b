//! `waymark endpoint drain|force-up|force-down|lift` (STA-13), and where else an override is seen.

use harness::terminal::Terminal;
use harness::{Cluster, dns, eventually};

fn cluster() -> Cluster {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    for profile in ["web", "api"] {
        cli.ok(&format!(
            "profile create {profile} --zone waymark.test --relative-name {profile} --routing priority"
        ));
        cli.ok(&format!("endpoint add {profile} eu-1 --target 192.0.2.1"));
        cli.ok(&format!("endpoint add {profile} eu-2 --target 192.0.2.2"));
        cli.ok(&format!("endpoint add {profile} us-1 --target 192.0.2.3"));
    }
    cluster
}

/// STA-13, CLI-2: whom a pattern reaches is told, in every format; what reaches nobody is not found, with the nearest name.
#[test]
fn sta_13_a_pattern_names_whom_it_reached() {
    let cluster = cluster();
    let cli = cluster.cli();
    let told = cli.ok("endpoint drain '*/EU-*' --for 30m --reason 'the room is closed'");
    let lines: Vec<&str> = told.lines().map(|line| line.split(" (").next().unwrap_or_default()).collect();
    let expected =
        ["web/eu-1", "web/eu-2", "api/eu-1", "api/eu-2"].map(|name| format!("endpoint '{name}' drained"));
    assert_eq!(lines, expected);
    let json = cli.json("endpoint force-down web/us-? --reason slow");
    assert_eq!((&json["kind"], &json["done"]), (&"WriteResult".into(), &"forced down".into()));
    assert_eq!(json["endpoints"], serde_json::json!(["web/us-1"]));
    assert_eq!(cli.ok("endpoint lift 'api/*' --reason done -o name"), "api/eu-1\napi/eu-2\n");
    let nothing = cli.run("endpoint lift 'api/*' --reason done");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, "nothing lifted\n"));
    assert!(nothing.stderr.contains("no endpoint that it stands for has an override"), "{}", nothing.stderr);

    for (command, code, told) in [
        ("drain wbe/eu-1 --reason x", 3, "there is no profile 'wbe'; did you mean 'web'?"),
        ("drain 'w*/ue-1' --reason x", 3, "there is no endpoint 'w*/ue-1'; did you mean 'web/eu-1'?"),
        ("lift api/eu-9 --reason x", 3, "did you mean 'api/eu-1'?"),
        ("drain web --reason x", 1, "PROFILE/ENDPOINT is wanted"),
        ("drain web/eu-1 --reason ''", 1, "reason: is missing"),
        ("drain web/eu-1", 64, "--reason <TEXT>"),
        ("drain web/eu-1 --for 59s --reason x", 1, "59000 ms is outside one minute to 30 days"),
        ("drain web/eu-1 --for 31d --reason x", 1, "outside one minute to 30 days"),
        ("drain web/eu-1 --for soon --reason x", 1, "write it as in 30m, 2h or 7d"),
    ] {
        let refused = cli.run(&format!("endpoint {command}"));
        assert_eq!(refused.code, code, "{command}: {}", refused.stderr);
        assert!(refused.stderr.contains(told), "{command}: {}", refused.stderr);
    }
}

/// STA-13: kind, author, reason and end are seen wherever the endpoint is.
#[test]
fn sta_13_an_override_is_seen_wherever_its_endpoint_is() {
    let cluster = cluster();
    let cli = cluster.cli();
    cli.ok("endpoint drain web/eu-1 --for 30m --reason 'a move'");
    cli.ok("endpoint force-up web/us-1 --reason 'probes are wrong'");
    let (drained, forced) = (
        "drained by operator/tester until 2",
        "forced up by operator/tester until it is lifted: probes are wrong",
    );
    for command in ["status web", "endpoint list web", "explain web.waymark.test"] {
        let told = cli.ok(command);
        assert!(
            told.contains(drained) && told.contains(": a move") && told.contains(forced),
            "{command}: {told}"
        );
    }
    assert!(cli.ok("endpoint show web eu-1").contains(drained));
    let explained = cli.ok("explain web.waymark.test");
    assert!(
        explained.contains("eu-1 is out: drained by an operator, whatever its status (CheckingEndpoint)"),
        "{explained}"
    );
    assert!(explained.contains("us-1 is in: Online, forced by an operator"), "{explained}");
    let events = cli.ok("events web");
    assert!(
        events.contains("stays CheckingEndpoint")
            && events.contains("drained by operator/tester: a move (until 2"),
        "{events}"
    );
    assert!(events.contains("forced up by operator/tester: probes are wrong"), "{events}");

    let status = cli.json("status web");
    let endpoints = &status["profiles"][0]["endpoints"];
    assert_eq!(endpoints[0]["override"]["kind"], "drain");
    assert!(endpoints[0]["override"]["until"].is_string() && endpoints[2]["override"]["until"].is_null());
    assert!(endpoints[1]["override"].is_null());
    assert_eq!(cli.json("endpoint show web us-1")["status"]["override"]["reason"], "probes are wrong");
    assert_eq!(cli.json("endpoint list web")["endpoints"][0]["override"]["author"], "operator/tester");
    assert_eq!(
        cli.json("explain web.waymark.test")["profiles"][0]["endpoints"][0]["override"]["kind"],
        "drain"
    );
    assert!(cli.ok("status web -o yaml").contains("kind: drain"));
    let events = cli.json("events web")["events"].as_array().cloned().unwrap_or_default();
    let acts: Vec<_> = events.iter().filter_map(|event| event["override"]["act"].as_str()).collect();
    assert_eq!(acts, ["made", "made"]);
    assert!(!cli.ok("endpoint list api").contains("OVERRIDE"));
}

/// STA-13, CLI-2, CLI-6: the last endpoint is drained only if that is meant, and its name stays (NODATA).
#[test]
fn sta_13_the_last_endpoint_needs_a_yes() {
    let cluster = cluster();
    let cli = cluster.cli();
    let refused = cli.run("endpoint drain 'web/*' --reason x");
    assert_eq!(refused.code, 5, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("profile 'web'") && refused.stderr.contains("--yes"),
        "{}",
        refused.stderr
    );
    assert!(!cli.ok("status web").contains("drained"), "all or none");
    let mut terminal = Terminal::run(&cli, "endpoint drain 'web/*' --reason x", 120, 24);
    terminal.shows("Drain all the same? [y/N]");
    terminal.types("n\n");
    assert_eq!(terminal.ended().code(), Some(5), "{}", terminal.written());
    assert_eq!(dns::short(cluster.members[0].dns, "web.waymark.test", "A"), "192.0.2.1");
    let mut terminal = Terminal::run(&cli, "endpoint drain 'web/*' --reason x", 120, 24);
    terminal.shows("Drain all the same? [y/N]");
    terminal.types("y\n");
    assert_eq!(terminal.ended().code(), Some(0), "{}", terminal.written());
    eventually("it is answered no more", || {
        let seen = dns::short(cluster.members[0].dns, "web.waymark.test", "A");
        harness::eventually::claim(seen == "NoError", seen)
    });
    assert!(cli.ok("explain web.waymark.test").contains("NODATA: every endpoint of profile 'web'"));
    cli.ok("endpoint drain 'api/*' --reason x --yes");
}
