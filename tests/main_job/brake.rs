//! FAIL-2, on a whole cluster: the removal brake keeps a profile answering while all of its endpoints but one are dead, lets one go
//! in each window, and what comes back while held was never away (STA-12).

use std::time::{Duration, Instant};

use harness::eventually::{claim, within};
use harness::{Behaviour, eventually};
use serde_json::Value;

use crate::scene::{Scene, ZONE};

/// The window of the brake: long enough to look at each step on a machine that is busy.
const WINDOW: Duration = Duration::from_secs(20);
/// How long a release may take beyond its window: a look of the leader's, and a new leader's window.
const RELEASED_WITHIN: Duration = Duration::from_secs(70);

/// Each endpoint in order: `Online`, `Degraded`, or `held` if it is in the pool by the brake alone.
fn shown(scene: &Scene) -> Vec<String> {
    let status = scene.cluster.cli().json("status web --stale");
    let endpoints = status["profiles"][0]["endpoints"].as_array().cloned().unwrap_or_default();
    let word = |endpoint: &Value| match endpoint["heldSince"].is_string() {
        true => "held".to_owned(),
        false => endpoint["status"].as_str().unwrap_or_default().to_owned(),
    };
    endpoints.iter().map(word).collect()
}

fn is_shown(scene: &Scene, wanted: &[&str]) -> Result<(), String> {
    let seen = shown(scene);
    claim(seen == wanted, format!("{seen:?}"))
}

/// The events of endpoints as `e2 Degraded`, and the last one's cause.
fn events(scene: &Scene) -> (Vec<String>, String) {
    let list = scene.cluster.cli().json("events web --stale");
    let events = list["events"].as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of_endpoints: Vec<&Value> = events.iter().filter(|event| event["endpoint"].is_string()).collect();
    let cause = of_endpoints.last().map(|event| word(&event["cause"])).unwrap_or_default();
    let told = of_endpoints.iter().filter(|event| event["from"] != "CheckingEndpoint");
    (told.map(|event| format!("{} {}", word(&event["endpoint"]), word(&event["to"]))).collect(), cause)
}

#[test]
fn fail_2_sta_12_all_but_one_die_and_the_name_goes_on_as_one_leaves_in_each_window() {
    let scene = Scene::new(&["r1"], 5);
    let window = WINDOW.as_secs();
    let settings = format!(
        "--routing multivalue --max-return 5 --interval 1s --timeout 500ms --tolerated-failures 1 --ttl 5 \
         --max-removal 20% --removal-window {window}s"
    );
    scene.profile("web", &settings, |_| String::new());
    for endpoint in 1..=5 {
        scene.becomes("web", &format!("e{endpoint}"), "Online");
    }
    let cli = scene.cluster.cli();
    let shown_settings = cli.ok("profile show web");
    assert!(shown_settings.contains(&format!("20% within {window}s")), "{shown_settings}");

    for endpoint in &scene.endpoints[1..] {
        endpoint.behave(Behaviour::Status(503));
    }
    eventually("one has left, and three are held", || {
        let seen = shown(&scene);
        let count = |word: &str| seen.iter().filter(|shown| *shown == word).count();
        claim((count("Degraded"), count("held")) == (1, 3), format!("{seen:?}"))
    });
    let left = Instant::now();
    let first = shown(&scene).iter().position(|word| word == "Degraded").expect("one has left");
    let answered = |endpoint: usize| scene.endpoints[endpoint].ip().to_string();
    eventually("DNS answers with those that are held, on every member", || {
        let seen = scene.answers("web");
        let is_right = |answer: &String| {
            (0..5).all(|endpoint| answer.contains(&answered(endpoint)) == (endpoint != first))
        };
        claim(seen.iter().all(is_right), format!("{seen:?}"))
    });
    let explained = cli.ok(&format!("explain web.{ZONE}"));
    assert!(explained.contains("in: Online, held by brake: probes find it Degraded"), "{explained}");
    let status = cli.ok("status web");
    assert!(status.contains("held by brake since"), "{status}");
    let held = (2..=5).find(|endpoint| endpoint - 1 != first).expect("three are held");
    let one = cli.ok(&format!("endpoint show web e{held}"));
    assert!(one.contains("held by brake since") && one.contains("down"), "{one}");
    assert_eq!(events(&scene).0, [format!("e{} Degraded", first + 1)], "who is held has no event");

    // One more leaves when the window is over, and not before; the leader may be another one by then.
    let released = within(RELEASED_WITHIN, || {
        let seen = shown(&scene);
        claim(seen.iter().filter(|word| *word == "Degraded").count() == 2, format!("{seen:?}"))
    });
    released.expect("one leaves when the window is over");
    assert!(left.elapsed() + Duration::from_secs(1) >= WINDOW, "after {:?}", left.elapsed());
    let seen = shown(&scene);
    let next = (1..5).find(|endpoint| *endpoint != first).expect("three were held");
    assert_eq!(seen[next], "Degraded", "in the profile's order: {seen:?}");
    let (told, cause) = events(&scene);
    assert_eq!(told.last(), Some(&format!("e{} Degraded", next + 1)), "{told:?}");
    assert!(cause.starts_with("was held by brake for ") && cause.contains("r1 down"), "{cause}");

    // All come back: those that were held without an event.
    for endpoint in &scene.endpoints {
        endpoint.behave(Behaviour::Status(200));
    }
    eventually("all are Online", || is_shown(&scene, &["Online"; 5]));
    let (told, _) = events(&scene);
    for (endpoint, expected) in (1..5).map(|at| (at, if [first, next].contains(&at) { 2 } else { 0 })) {
        let name = format!("e{} ", endpoint + 1);
        let of_it = told.iter().filter(|event| event.starts_with(&name)).count();
        assert_eq!(of_it, expected, "{name}: {told:?}");
    }
}

/// FAIL-2, VAL-1: the settings are judged as any others, and `off` ends the brake at once.
#[test]
fn fail_2_val_1_the_brake_is_set_by_the_command_line_and_switched_off_at_once() {
    let scene = Scene::new(&["r1"], 3);
    let settings =
        "--routing weighted --interval 1s --timeout 500ms --tolerated-failures 0 --max-removal 34%";
    scene.profile("web", settings, |_| String::new());
    for endpoint in 1..=3 {
        scene.becomes("web", &format!("e{endpoint}"), "Online");
    }
    let cli = scene.cluster.cli();
    for (flags, told) in [
        ("--max-removal 101%", "101% is outside 1%–100%"),
        ("--max-removal 0", "0% is outside 1%–100%"),
        ("--removal-window 500ms", "500ms is outside 1s–1h"),
    ] {
        let refused = cli.run(&format!("profile update web {flags}"));
        assert!(refused.code != 0 && refused.stderr.contains(told), "{flags}: {refused:?}");
    }
    let profile = cli.json("profile show web");
    assert_eq!(
        (&profile["spec"]["maxRemoval"], &profile["effective"]["removalWindow"]),
        (&"34%".into(), &"30s".into())
    );
    for endpoint in &scene.endpoints {
        endpoint.behave(Behaviour::Status(503));
    }
    eventually("two are held", || {
        let seen = shown(&scene);
        claim(seen.iter().filter(|word| *word == "held").count() == 2, format!("{seen:?}"))
    });
    cli.ok("profile update web --max-removal off --wait all");
    assert_eq!(shown(&scene), ["Degraded"; 3]);
    let profile = cli.json("profile show web");
    assert_eq!(
        (&profile["spec"]["maxRemoval"], &profile["effective"]["maxRemoval"]),
        (&Value::Null, &"off".into())
    );
}
