//! Two minutes in which no member hears an agent.

use std::time::Duration;

use harness::eventually::{claim, let_pass};
use harness::net::alone;
use harness::{Behaviour, eventually};

use crate::model::{Gap, Probing};
use crate::scene::{HASTY, Scene};

/// How long nobody is heard.
const GAP: Duration = Duration::from_secs(120);

/// Failures before the gap. With the four that are at most found in the life of a verdict they would be ten, and more with those that
/// are late.
const BEFORE: usize = 6;

/// How long the agent's assignment may take from its session on, as the test sees it.
const TOLD: Duration = Duration::from_millis(500);

/// So that six failures, and those that are found in the life of a verdict, are tolerated each, and not together.
const NINE: Probing = Probing { tolerated: 9, ..HASTY };

/// PRB-11, STA-4, STA-5, STA-6: what is found in two minutes without a member is brought afterwards, and only what is not too old counts, anew.
/// Meanwhile the last status stays, and says since when it is stale.
#[test]
fn sta_5_after_two_minutes_unheard_counts_start_anew_and_late_outcomes_change_nothing() {
    alone("gap::sta_5_after_two_minutes_unheard_counts_start_anew_and_late_outcomes_change_nothing", || {
        let mut scene = Scene::start(1);
        let fails = |scene: &Scene, profile: &str| scene.endpoint(profile).behave(Behaviour::Status(503));
        let answers = |scene: &Scene, profile: &str| scene.endpoint(profile).behave(Behaviour::Status(200));
        for (name, probing) in [
            ("steady", HASTY),
            ("interrupted", NINE),
            ("late", HASTY),
            ("changed", HASTY),
            ("disabled", HASTY),
        ] {
            scene.profile(name, probing);
        }
        scene.all_up();
        let failing = scene.now();
        fails(&scene, "interrupted");
        scene.await_answers(&[0], &["interrupted"], failing, BEFORE);
        let session = scene.session("a-r1");
        let from = scene.now();
        scene.change_all(0, |link| link.cut = true);
        fails(&scene, "late");

        eventually("the agent is lost", || {
            let agent = scene.agent("a-r1")?;
            claim(agent["state"] == "lost", agent.to_string())
        });
        for profile in ["steady", "interrupted", "late", "changed"] {
            let status = scene.status(profile).unwrap();
            assert_eq!(
                (&status["status"], status["staleSince"].is_string()),
                (&"Online".into(), true),
                "{status}"
            );
            assert_eq!(scene.answer(0, profile), "10.77.0.31");
        }
        let_pass(GAP / 2 - (scene.now() - from), "the agent stays unheard");
        assert!(scene.answered(0, "late", from).len() > 30, "it goes on probing by itself");
        answers(&scene, "late");
        fails(&scene, "changed");
        scene.cluster.cli().ok("endpoint disable disabled e");
        let_pass(GAP - (scene.now() - from), "the agent stays unheard");

        scene.router.links().heal();
        scene.await_session("a-r1", session);
        let to = scene.now();
        answers(&scene, "interrupted");
        scene.becomes("changed", "Degraded");
        // Enough for it without any that nobody can tell whether it was late.
        scene.await_answers(&[0], &["changed"], to, 6);
        answers(&scene, "changed");
        scene.becomes("changed", "Online");
        scene.await_verdicts("steady", &["up"]);
        // PRB-11: it learned of that before it probed again.
        assert!(!scene.answered(0, "disabled", from).is_empty());
        assert!(scene.answered(0, "disabled", to + TOLD).is_empty());
        scene.holds(&[Gap { agent: "a-r1".to_owned(), from, to }]);
        let status = scene.status("steady").unwrap();
        assert!(status["staleSince"].is_null(), "{status}");
    });
}
