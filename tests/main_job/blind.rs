//! An agent that is cut off from everything (PRB-14).

use std::net::SocketAddr;
use std::time::Duration;

use harness::eventually::{claim, let_pass, within};
use harness::{Agent, FakeEndpoint, eventually, ports};

use crate::scene::Scene;

/// How long an endpoint takes to go down: six failures, each 5 s after the one before.
const DOWN_AFTER: Duration = Duration::from_secs(25);
/// The same with what a busy machine adds, and up to ten seconds until the canary is looked at again.
const DOWN_MAX: Duration = Duration::from_secs(90);

/// PRB-14, STA-4: what the agent's own cut makes it miss takes no endpoint down; once it sees, failures count, from the first.
#[test]
fn prb_14_a_blind_agent_takes_no_endpoint_down() {
    let mut scene = Scene::new(&[], 2);
    let address = SocketAddr::from(([127, 0, 0, 1], ports::free()));
    let mut canary = FakeEndpoint::http(address);
    let urls: Vec<String> = scene.cluster.members.iter().map(|member| member.url()).collect();
    scene.cluster.cli().ok("region set r1 --at 50,8 --wait all");
    let flags = vec!["--canary".to_owned(), format!("http://{address}/")];
    let mut agent = Agent::start_with("eye", "r1", &urls, scene.cluster.directory(), flags);
    let settings = "--routing priority --interval 5s --timeout 1s --tolerated-failures 5 --ttl 5";
    scene.profile("web", settings, |at| format!("--priority {}", at + 1));
    scene.becomes("web", "e1", "Online");
    scene.becomes("web", "e2", "Online");

    // The cut: everything that the agent could see is gone at once.
    canary.stop();
    scene.endpoints[0].stop();
    scene.endpoints[1].stop();
    let state = |scene: &Scene| scene.cluster.cli().json("agent show eye")["state"].clone();
    eventually("the agent is blind", || claim(state(&scene) == "blind", state(&scene).to_string()));
    let seen = scene.endpoint_status("web", "e1");
    assert_eq!((&seen["status"], seen["staleSince"].is_string()), (&"Online".into(), true), "{seen}");
    let listed = seen["regions"][0]["agents"][0].clone();
    assert_eq!((&listed["name"], &listed["blind"]), (&"eye".into(), &true.into()), "{seen}");
    assert!(scene.cluster.cli().ok("status web").contains("r1 unknown (eye is blind)"));
    assert!(scene.cluster.cli().ok("agent list").contains("blind"));
    let_pass(DOWN_AFTER, "a sighted agent would have taken the endpoints down by then");
    for name in ["e1", "e2"] {
        assert_eq!(scene.endpoint_status("web", name)["status"], "Online", "{name}");
    }
    scene.all_answer("web", 0);

    // One that is started anew while it is cut off does not know better.
    agent.kill();
    agent.restart();
    let_pass(Duration::from_secs(5), "a restarted agent has probed by then");
    assert_eq!(state(&scene), "blind");
    assert_eq!(scene.endpoint_status("web", "e1")["status"], "Online");

    // It sees again: one endpoint is back, the other is really down, and goes down by failures that count from now on.
    scene.endpoints[1].heal();
    canary.heal();
    eventually("the agent sees", || claim(state(&scene) == "connected", state(&scene).to_string()));
    let down = within(DOWN_MAX, || {
        let seen = scene.endpoint_status("web", "e1");
        claim(seen["status"] == "Degraded", seen.to_string())
    });
    down.expect("what is down goes down");
    scene.becomes("web", "e2", "Online");
    scene.all_answer("web", 1);
}
