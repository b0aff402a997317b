//! What happens to an agent's stream on its way.

use std::time::Duration;

use harness::Behaviour;
use harness::eventually::let_pass;
use harness::net::alone;

use crate::model::Gap;
use crate::scene::{PATIENT, Scene};

/// Longer than an agent takes to notice that nothing comes back (7 s); with the way to the next member less than the 15 s after which
/// it would be lost.
const BROKEN: Duration = Duration::from_secs(8);

/// Bytes in a second on the link that is throttled.
const SLOW: u64 = 3_000;

// The agents' places, by what befalls them.
const CUT: usize = 0;
const UNHEARD: usize = 1;
const DEAF: usize = 2;
const THROTTLED: usize = 3;
const MIXED: usize = 4;

/// STA-1, STA-5, STA-6, STA-7: agents whose links are cut, pass one way only, are slow, or lose, double and reorder: after each
/// failure counts exactly once. Three, which are tolerated, make no event; four make one, and three successes end it.
#[test]
fn sta_6_whatever_links_do_for_some_seconds_each_outcome_counts_once() {
    alone("links::sta_6_whatever_links_do_for_some_seconds_each_outcome_counts_once", || {
        let mut scene = Scene::start(5);
        for name in ["steady", "tolerated", "down"] {
            scene.profile(name, PATIENT);
        }
        scene.all_up();
        scene.endpoint("tolerated").behave(Behaviour::StatusEach(503, 3));
        scene.endpoint("down").behave(Behaviour::StatusEach(503, 4));
        let failing = scene.now();
        let everybody = [CUT, UNHEARD, DEAF, THROTTLED, MIXED];
        scene.await_answers(&everybody, &["tolerated", "down"], failing, 1);

        let agents = scene.agents();
        let sessions: Vec<u64> = agents.iter().map(|agent| scene.session(agent)).collect();
        let from = scene.now();
        befall(&scene);
        let_pass(BROKEN, "links are broken for less than an agent needs to get lost");
        scene.change_all(CUT, |link| link.cut = false);
        let mut gaps = Vec::new();
        // Whoever heard nothing, or was not heard, has gone to another member.
        for at in [UNHEARD, DEAF, CUT] {
            scene.await_session(&agents[at], sessions[at]);
            gaps.push(Gap { agent: agents[at].clone(), from, to: scene.now() });
        }
        // The deaf one was heard: what it brings again is known.
        gaps.retain(|gap| gap.agent != agents[DEAF]);
        assert!(scene.session(&agents[CUT]) > sessions[CUT]);
        assert_eq!(
            scene.session(&agents[THROTTLED]),
            sessions[THROTTLED],
            "a slow link is no reason to leave"
        );
        // Four failures, and three successes after them.
        scene.await_answers(&everybody, &["tolerated", "down"], failing, 7);
        scene.router.links().heal();
        scene.becomes("down", "Online");
        scene.holds(&gaps);
        assert_eq!(scene.events("down").len(), 3);

        let total = scene.router.links().total();
        assert!(total.cut > 10 && total.lost > 0 && total.duplicated > 5 && total.reordered > 5, "{total:?}");
        assert!(total.throttled > 5, "{total:?}");
    });
}

fn befall(scene: &Scene) {
    let agents = scene.agents();
    let holder = |at: usize| {
        let member = scene.agent(&agents[at]).unwrap()["member"].as_str().unwrap().to_owned();
        scene.member_host(&member)
    };
    let (unheard, deaf) = (holder(UNHEARD), holder(DEAF));
    {
        let mut links = scene.router.links();
        links.change((scene.agent_host(UNHEARD), unheard), |link| link.cut = true);
        links.change((deaf, scene.agent_host(DEAF)), |link| link.cut = true);
    }
    scene.change_all(CUT, |link| link.cut = true);
    scene.change_all(THROTTLED, |link| link.rate = Some(SLOW));
    scene.change_all(MIXED, |link| {
        (link.loss, link.duplication, link.reordering) = (5, 20, 20);
        (link.delay, link.jitter) = (Duration::from_millis(40), Duration::from_millis(20));
    });
}
