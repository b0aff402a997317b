//! An endpoint fails and comes back: the answer follows on all members, on exactly the right probe.

use harness::{Behaviour, eventually};

use crate::scene::Scene;

const SETTINGS: &str = "--routing priority --interval 1s --timeout 500ms --tolerated-failures 2 --ttl 5";

fn priority(at: usize) -> String {
    format!("--priority {}", at + 1)
}

/// STA-1, RTE-5, DNS-23: with one agent, the answer changes on the (tolerated + 1)th failed probe and not before.
#[test]
fn the_answer_changes_on_the_probe_that_turns_the_verdict() {
    let scene = Scene::new(&["r1"], 2);
    scene.profile("web", SETTINGS, priority);
    scene.becomes("web", "e1", "Online");
    scene.becomes("web", "e2", "Online");
    scene.all_answer("web", 0);

    let first = &scene.endpoints[0];
    let target = first.ip().to_string();
    first.behave(Behaviour::Status(503));
    let before = first.requests();
    eventually("the answer leaves the failing endpoint", || {
        let answers = scene.answers("web");
        // Read behind the answers: a change that is seen was caused by requests that are counted by now.
        let failed = first.requests() - before;
        if answers.iter().all(|answer| *answer == target) {
            return Err(format!("{failed} failed probes, no change"));
        }
        assert!(failed >= 3, "the answer changed after {failed} failed probes: {answers:?}");
        Ok(())
    });
    scene.all_answer("web", 1);

    first.behave(Behaviour::Status(200));
    let before = first.requests();
    scene.all_answer("web", 0);
    assert!(first.requests() > before, "the answer came back without a probe");
}

/// STA-2, STA-3: three regions; a server that is gone leaves the answer on every member, and comes back with one success.
#[test]
fn a_stopped_server_leaves_the_answer_on_all_members_and_comes_back() {
    let mut scene = Scene::new(&["r1", "r2", "r3"], 3);
    scene.profile("web", SETTINGS, priority);
    for name in ["e1", "e2", "e3"] {
        scene.becomes("web", name, "Online");
    }
    scene.all_answer("web", 0);
    scene.endpoints[0].stop();
    scene.all_answer("web", 1);
    scene.becomes("web", "e1", "Degraded");
    scene.endpoints[1].stop();
    scene.all_answer("web", 2);
    scene.endpoints[0].heal();
    scene.all_answer("web", 0);

    // STA-12: one outage is one "down" and one "up", the same on every member.
    let events = |member| scene.cluster.cli_of(member).json("events web --stale");
    let mine = |list: &serde_json::Value| {
        let events = list["events"].as_array().cloned().unwrap_or_default();
        let of_e1 = events.into_iter().filter(|event| event["endpoint"] == "e1");
        of_e1.map(|event| format!("{} {}", event["id"], event["to"])).collect::<Vec<_>>()
    };
    let reference = mine(&events(0));
    let words: Vec<&str> = reference.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(words, ["\"Online\"", "\"Degraded\"", "\"Online\""], "{reference:?}");
    assert_eq!(mine(&events(1)), reference);
    assert_eq!(mine(&events(2)), reference);
}

/// PRB-6, PRB-1: a profile probed by bare connections fails over as well.
#[test]
fn tcp_endpoints_fail_over() {
    let mut scene = Scene::new(&["r1"], 2);
    let settings =
        "--routing priority --protocol tcp --interval 1s --timeout 500ms --tolerated-failures 1 --ttl 5";
    scene.profile("db", settings, priority);
    scene.becomes("db", "e1", "Online");
    scene.becomes("db", "e2", "Online");
    scene.endpoints[0].stop();
    scene.all_answer("db", 1);
    scene.endpoints[0].heal();
    scene.all_answer("db", 0);
}

/// RTE-3: with everybody down the answer is as with everybody up, and does not change while nothing changes.
#[test]
fn with_everybody_down_the_best_is_still_answered() {
    let mut scene = Scene::new(&["r1"], 2);
    scene.profile("web", SETTINGS, priority);
    scene.becomes("web", "e2", "Online");
    scene.endpoints.iter_mut().for_each(harness::FakeEndpoint::stop);
    scene.becomes("web", "e1", "Degraded");
    scene.becomes("web", "e2", "Degraded");
    scene.all_answer("web", 0);
    let explained = scene.cluster.cli().ok("explain web.waymark.test");
    assert!(explained.contains("best effort"), "{explained}");
}
