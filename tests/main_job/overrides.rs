//! What an operator puts over the probes, on a whole cluster (STA-13).

use std::time::{Duration, Instant};

use harness::eventually::{claim, within};
use harness::{Behaviour, eventually};
use serde_json::Value;

use crate::scene::{Scene, ZONE};

/// How long an override of a minute may last: it is looked each second, and an election may lie between. The rest is for a
/// machine that is busy with other tests.
const MINUTE_MAX: Duration = Duration::from_secs(90);

/// What became of the override of `e1`, as the member at `member` tells it: `made drain`, `ended drain` ….
fn acts(scene: &Scene, member: usize) -> Vec<String> {
    let list = scene.cluster.cli_of(member).json("events web --stale");
    let events = list["events"].as_array().cloned().unwrap_or_default();
    let of_e1 = events.into_iter().filter(|event| event["endpoint"] == "e1" && event["override"].is_object());
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    of_e1
        .map(|event| format!("{} {}", word(&event["override"]["act"]), word(&event["override"]["kind"])))
        .collect()
}

/// STA-13: an override with an end ends by itself, once, although the leader that saw it made dies in between.
#[test]
fn sta_13_an_override_ends_by_itself_across_a_change_of_leader() {
    let mut scene = Scene::new(&["r1"], 2);
    let settings = "--routing priority --interval 1s --timeout 500ms --tolerated-failures 1 --ttl 5";
    scene.profile("web", settings, |at| format!("--priority {}", at + 1));
    scene.becomes("web", "e1", "Online");
    scene.becomes("web", "e2", "Online");
    scene.all_answer("web", 0);

    let made = Instant::now();
    let told = scene.cluster.cli().ok("endpoint drain web/e1 --for 1m --reason 'a move' --wait all");
    assert!(told.contains("endpoint 'web/e1' drained"), "{told}");
    scene.all_answer("web", 1);
    let seen = scene.endpoint_status("web", "e1");
    assert_eq!((&seen["status"], &seen["override"]["kind"]), (&"Online".into(), &"drain".into()));

    // It is probed on, and with nobody better about it stays out.
    scene.endpoints[1].behave(Behaviour::Status(503));
    scene.becomes("web", "e2", "Degraded");
    scene.all_answer("web", 1);
    scene.endpoints[1].behave(Behaviour::Status(200));
    scene.becomes("web", "e2", "Online");

    let leader = scene.cluster.leader();
    scene.cluster.members[leader].kill();
    let survivors: Vec<usize> = (0..3).filter(|at| *at != leader).collect();
    let wanted = scene.endpoints[0].ip().to_string();
    let name = format!("web.{ZONE}");
    let ended = within(MINUTE_MAX.saturating_sub(made.elapsed()), || {
        let answer = |at: &usize| harness::dns::short(scene.cluster.members[*at].dns, &name, "A");
        let seen: Vec<String> = survivors.iter().map(answer).collect();
        claim(seen.iter().all(|answer| *answer == wanted), format!("{seen:?}"))
    });
    ended.expect("the override ends by itself");
    assert!(made.elapsed() >= Duration::from_secs(60), "it ended after {:?}", made.elapsed());
    for member in survivors {
        eventually("it was made once and ended once", || {
            let seen = acts(&scene, member);
            claim(seen == ["made drain", "ended drain"], format!("{seen:?}"))
        });
    }
}

/// STA-13: what is forced counts for answers whatever the agents find, and what they find takes over when it is lifted.
#[test]
fn sta_13_what_is_forced_is_answered_until_it_is_lifted() {
    let scene = Scene::new(&["r1"], 2);
    let settings = "--routing priority --interval 1s --timeout 500ms --tolerated-failures 1 --ttl 5";
    scene.profile("web", settings, |at| format!("--priority {}", at + 1));
    scene.becomes("web", "e1", "Online");
    scene.becomes("web", "e2", "Online");
    let cli = scene.cluster.cli();
    cli.ok("endpoint force-down web/e1 --reason 'it is slow' --wait all");
    scene.all_answer("web", 1);
    cli.ok("endpoint force-up web/e1 --for 1h --reason 'the probes are wrong' --wait all");
    scene.endpoints[0].behave(Behaviour::Status(503));
    eventually("its agent says down", || {
        let seen = scene.endpoint_status("web", "e1");
        claim(seen["regions"][0]["verdict"] == "down", seen.to_string())
    });
    assert_eq!(scene.endpoint_status("web", "e1")["status"], "Online");
    scene.all_answer("web", 0);
    cli.ok("endpoint lift 'w*/e?' --reason 'the probes are right' --wait all");
    scene.becomes("web", "e1", "Degraded");
    scene.all_answer("web", 1);
    assert_eq!(acts(&scene, 0), ["made force-down", "made force-up", "lifted force-up"]);
}
