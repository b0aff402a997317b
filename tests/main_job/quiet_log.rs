//! Healthy endpoints cost the log nothing.

use std::time::Duration;

use harness::{eventually, within};

use crate::scene::Scene;

const ENDPOINTS: u8 = 50;

/// STA-7, PERF-5: 50 healthy endpoints, probed every second by three agents for a minute; the log stands still.
#[test]
fn a_minute_of_health_writes_no_entry() {
    let scene = Scene::new(&["r1", "r2", "r3"], ENDPOINTS);
    scene.profile("web", "--routing priority --interval 1s --timeout 1s", |_| String::new());
    let online = || {
        scene.cluster.cli().run("status web --stale -o json").stdout.matches("\"verdict\": \"up\"").count()
    };
    // One verdict for each region and one for its agent.
    let wanted = usize::from(ENDPOINTS) * 3 * 2;
    eventually("every agent sees every endpoint up", || {
        let seen = online();
        harness::eventually::claim(seen == wanted, format!("{seen} of {wanted}"))
    });
    let last_log =
        || scene.cluster.status()["lastLog"].as_u64().expect("cluster status shows the last log entry");
    let before = last_log();
    let requests = || scene.endpoints.iter().map(harness::FakeEndpoint::requests).sum::<u64>();
    let probes_before = requests();
    let grown = within(Duration::from_secs(60), || {
        let now = last_log();
        if now == before { Err("quiet".into()) } else { Ok(now - before) }
    });
    let probes = requests() - probes_before;
    assert!(probes > 50 * 3 * 50, "only {probes} probes in a minute");
    assert_eq!(grown, Err("quiet".into()), "entries were written, with {probes} probes");
}
