//! Regions that see nothing, or that nobody sees for.

use std::time::Duration;

use harness::eventually::{claim, let_pass};
use harness::net::alone;
use harness::{Behaviour, within};

use crate::model::{Probing, Status};
use crate::scene::{ENDPOINTS, HASTY, PATIENCE, Scene};

/// One failure is tolerated.
const ONE: Probing = Probing { tolerated: 1, ..HASTY };

/// FAIL-1, STA-3, STA-4, STA-5: a region that reaches no endpoint changes no status while others do, nor does one whose agents are gone,
/// nor the loss of all; and what really happens afterwards is told.
#[test]
fn fail_1_a_region_that_fails_or_is_gone_makes_no_event() {
    alone("regions::fail_1_a_region_that_fails_or_is_gone_makes_no_event", || {
        let mut scene = Scene::start(3);
        scene.profile("web", ONE);
        scene.profile("other", ONE);
        scene.all_up();
        scene.change(scene.agent_host(0), ENDPOINTS, |link| link.cut = true);
        for profile in ["web", "other"] {
            scene.await_verdicts(profile, &["down", "up", "up"]);
        }
        scene.cluster.agents[1].kill();
        is_lost(&scene, "a-r2");
        // One of the two that are left: half of them are enough.
        for profile in ["web", "other"] {
            scene.await_verdicts(profile, &["down", "up"]);
        }
        let_pass(Duration::from_secs(3), "an event would have come by then");
        unchanged(&scene);

        scene.router.links().heal();
        for profile in ["web", "other"] {
            scene.await_verdicts(profile, &["up", "up"]);
        }
        scene.cluster.agents[0].kill();
        scene.cluster.agents[2].kill();
        is_lost(&scene, "a-r1");
        is_lost(&scene, "a-r3");
        unchanged(&scene);
        for profile in ["web", "other"] {
            let status = scene.status(profile).unwrap();
            assert!(status["staleSince"].is_string(), "{status}");
        }

        scene.endpoint("web").behave(Behaviour::Status(503));
        (0..3).for_each(|at| scene.start_agent(at));
        scene.await_verdicts("web", &["down", "down", "down"]);
        scene.await_verdicts("other", &["up", "up", "up"]);
        assert_eq!(scene.events("web"), [Status::Online, Status::Degraded]);
        assert_eq!(scene.events("other"), [Status::Online]);
    });
}

fn is_lost(scene: &Scene, name: &str) {
    let lost = within(PATIENCE, || {
        let agent = scene.agent(name)?;
        claim(agent["state"] == "lost", agent.to_string())
    });
    lost.unwrap();
}

fn unchanged(scene: &Scene) {
    for profile in ["web", "other"] {
        assert_eq!(scene.status(profile).unwrap()["status"], "Online");
        assert_eq!(scene.events(profile), [Status::Online], "{profile}");
        assert_eq!(scene.answer(0, profile), "10.77.0.31");
    }
}
