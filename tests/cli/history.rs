//! What was answered, and what would be: `explain --at` and `simulate`, on a cluster that is killed in between.

use harness::eventually::let_pass;
use harness::{Cluster, Member};
use std::time::Duration;

/// What the chosen endpoints of the first profile are.
fn chosen(explained: &serde_json::Value) -> String {
    explained["answers"][0]["data"]
        .as_str()
        .unwrap_or(explained["rcode"].as_str().unwrap_or_default())
        .to_owned()
}

/// The moment between two changes: they bear the milliseconds of the leader's clock.
pub(crate) fn moment() -> String {
    let beside = || let_pass(Duration::from_millis(20), "changes are told apart by milliseconds");
    beside();
    let now = jiff::Timestamp::now().round(jiff::Unit::Millisecond).expect("it can be rounded");
    beside();
    now.to_string()
}

/// RTE-15: each moment since the cluster began is answered as it was, on every member, also after a restart.
#[test]
fn rte_15_any_kept_moment_can_be_asked_again() {
    let mut cluster = Cluster::start(3);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    let mut moments = vec![(moment(), "NXDOMAIN")];
    cli.ok("profile create web --zone waymark.test --relative-name web --routing priority");
    cli.ok("endpoint add web e1 --target 192.0.2.1");
    moments.push((moment(), "192.0.2.1"));
    cli.ok("endpoint update web e1 --target 192.0.2.2");
    moments.push((moment(), "192.0.2.2"));
    cli.ok("service register shop --target 192.0.2.3");
    cli.ok("endpoint add web shop --service shop --priority 2");
    cli.ok("endpoint disable web e1");
    moments.push((moment(), "192.0.2.3"));
    cli.ok("service stop shop");
    moments.push((moment(), "NOERROR"));
    cli.ok("profile delete web --yes --wait all");
    let explain = "explain web.waymark.test -o json";
    for killed in [false, true] {
        if killed {
            cluster.members.iter_mut().for_each(Member::kill);
            cluster.members.iter_mut().for_each(Member::start);
            cluster.members.iter_mut().for_each(Member::ready);
        }
        for member in 0..3 {
            let cli = cluster.cli_of(member);
            for (at, expected) in &moments {
                let explained = cli.json(&format!("explain web.waymark.test --at {at}"));
                assert_eq!(chosen(&explained), *expected, "member {member} at {at}: {explained}");
                assert!(explained["at"].is_string());
            }
            let now: serde_json::Value = serde_json::from_str(&cli.ok(explain)).expect("JSON");
            assert_eq!((chosen(&now).as_str(), now["at"].is_null()), ("NXDOMAIN", true));
        }
    }
    let early = cluster.cli().run("explain web.waymark.test --at 7d");
    assert!(early.code == 1 && early.stderr.contains("before the kept history"), "{}", early.stderr);
    let future = cluster.cli().run("explain web.waymark.test --at 2100-01-01T00:00:00Z");
    assert!(future.code == 1 && future.stderr.contains("yet to come"), "{}", future.stderr);
}

/// RTE-3, RTE-6, VAL-1: what would be answered is shown, and nothing of it comes true.
#[test]
fn rte_6_a_simulation_shows_who_would_answer_and_changes_nothing() {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1");
    cli.ok("profile create web --zone waymark.test --relative-name web --routing weighted");
    cli.ok("endpoint add web e1 --target 192.0.2.1 --weight 80");
    cli.ok("endpoint add web e2 --target 192.0.2.2 --weight 20");
    let simulated = cli.json("simulate web.waymark.test --sample 2000 --seed 7 --down web/e1");
    let share = |label: &str, when: &str| {
        let shares = simulated["shares"].as_array().expect("shares");
        shares
            .iter()
            .find(|share| share["label"] == label)
            .map_or(0, |share| share[when].as_u64().unwrap_or(0))
    };
    assert!((1_540..1_660).contains(&share("web/e1", "now")), "{simulated}");
    assert_eq!((share("web/e1", "then"), share("web/e2", "then")), (0, 2_000), "{simulated}");
    assert!(simulated["statuses"].as_array().is_some_and(|statuses| statuses.iter().any(|status| {
        status["endpoint"] == "e1" && status["from"] == "CheckingEndpoint" && status["to"] == "Degraded"
    })));
    assert_eq!(
        cli.json("simulate web.waymark.test --sample 2000 --seed 7 --down web/e1"),
        simulated,
        "a seed repeats it"
    );
    let explained = cli.json("simulate web.waymark.test --down web/e1 --from 198.51.100.7");
    assert_eq!(chosen(&explained), "192.0.2.2");
    assert_eq!(cli.json("status web")["profiles"][0]["endpoints"][0]["status"], "CheckingEndpoint");
    let refused = cli.run("simulate web.waymark.test --sample 10001 --down e1");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("10001 is outside 1–10000"), "{}", refused.stderr);
    let refused = cli.run("simulate web.waymark.test --down web/e9");
    assert!(refused.stderr.contains("there is no endpoint 'web/e9'"), "{}", refused.stderr);
}
