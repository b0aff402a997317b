//! What happens to the members that hold agents' streams, to agents, and to everybody at once.

use std::time::Duration;

use harness::Behaviour;
use harness::eventually::{claim, let_pass};
use harness::net::alone;
use harness::process::Signal;
use harness::within;

use crate::model::{Gap, Probing};
use crate::scene::{PATIENCE, PATIENT, Scene};

/// Longer than an agent takes to notice that its member stands still (7 s), shorter than the 15 s after which it is lost.
const STILL: Duration = Duration::from_secs(9);

/// How long an outcome has certainly been committed after the answer.
const COMMITTED: Duration = Duration::from_millis(700);

/// Two failures are tolerated, a third is not; the verdict stays down for three probes, so that regions agree.
const TWO: Probing = Probing { tolerated: 2, ..PATIENT };

/// What befalls the member that holds the stream of the first agent, or that agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Stopped,
    Killed,
    Moved,
    Restarted,
}

/// STA-1, STA-6, STA-7: the member that holds a stream stands still, is killed, or sends its agents away as it ends, and an agent is
/// killed and has a new run: each failure still counts once.
#[test]
fn sta_7_whatever_befalls_the_holder_of_a_stream_each_outcome_counts_once() {
    alone("members::sta_7_whatever_befalls_the_holder_of_a_stream_each_outcome_counts_once", || {
        let mut scene = Scene::start(3);
        let rounds = [Fault::Stopped, Fault::Killed, Fault::Moved, Fault::Restarted];
        let name = |word: &str, fault: Fault| format!("{word}-{fault:?}").to_lowercase();
        for fault in rounds {
            scene.profile(&name("tolerated", fault), TWO);
            scene.profile(&name("down", fault), TWO);
        }
        scene.all_up();
        let mut gaps = Vec::new();
        for fault in rounds {
            let (tolerated, down) = (name("tolerated", fault), name("down", fault));
            scene.endpoint(&tolerated).behave(Behaviour::StatusEach(503, 2));
            scene.endpoint(&down).behave(Behaviour::StatusEach(503, 3));
            let failing = scene.now();
            scene.await_answers(&[0, 1, 2], &[&tolerated, &down], failing, 1);
            gaps.extend(befall(&mut scene, fault, [&tolerated, &down]));
            scene.await_answers(&[0, 1, 2], &[&tolerated, &down], failing, 3);
            scene.cluster.members.iter_mut().for_each(harness::Member::ready);
        }
        for fault in rounds {
            scene.await_answers(&[0, 1, 2], &[&name("down", fault)], Duration::ZERO, 7);
            scene.becomes(&name("down", fault), "Online");
            assert_eq!(scene.events(&name("down", fault)).len(), 3, "{fault:?}");
        }
        scene.holds(&gaps);
    });
}

/// Brings it about and ends it; returns whom nobody heard meanwhile.
fn befall(scene: &mut Scene, fault: Fault, failing: [&str; 2]) -> Vec<Gap> {
    let agents: Vec<(String, u64)> =
        scene.agents().into_iter().map(|agent| (agent.clone(), scene.session(&agent))).collect();
    let holder = scene.agent("a-r1").unwrap()["member"].as_str().unwrap().to_owned();
    let at = scene.place(&holder);
    scene.asked = (at + 1) % 3;
    let held = |scene: &Scene, agent: &str| {
        scene.agent(agent).is_ok_and(|told| told["member"].as_str() == Some(&*holder))
    };
    let moving: Vec<(String, u64)> = agents.into_iter().filter(|(agent, _)| held(scene, agent)).collect();
    let from = scene.now();
    match fault {
        Fault::Stopped => {
            scene.cluster.members[at].process().signal(Signal::STOP);
            let_pass(STILL, "a member stands still for less than an agent needs to get lost");
        }
        Fault::Killed => scene.cluster.members[at].kill(),
        Fault::Moved => drop(scene.cluster.members[at].process().terminate()),
        Fault::Restarted => {
            await_committed(scene, failing);
            scene.cluster.agents[0].kill();
            scene.start_agent(0);
            let (agent, session) = &moving[0];
            scene.await_session(agent, *session);
            return Vec::new();
        }
    }
    let mut gaps = Vec::new();
    for (agent, session) in moving {
        scene.await_session(&agent, session);
        gaps.push(Gap { agent, from, to: scene.now() });
    }
    match fault {
        Fault::Stopped => scene.cluster.members[at].process().signal(Signal::CONT),
        _ => scene.start_member(at),
    }
    gaps
}

/// Waits for a moment at which nothing that the first agent found of these endpoints can be under way.
fn await_committed(scene: &Scene, profiles: [&str; 2]) {
    let quiet = within(PATIENCE, || {
        for profile in profiles {
            let last = scene.found(profile).into_iter().rfind(|found| found.agent == "a-r1");
            let last = last.ok_or("nothing was found")?.at;
            let ago = scene.now() - last;
            let is_between = ago > COMMITTED && ago + COMMITTED < PATIENT.interval;
            claim(is_between, format!("{profile} was asked {ago:?} ago"))?;
        }
        Ok(())
    });
    quiet.unwrap();
}

/// FAIL-3, STA-7, PRB-8: everybody is killed at once and started anew. Nothing changes, names are answered at once, and the first
/// probes are spread.
#[test]
fn fail_3_the_whole_fleet_starts_anew_without_an_event() {
    alone("members::fail_3_the_whole_fleet_starts_anew_without_an_event", || {
        let mut scene = Scene::start(2);
        let names: Vec<String> = (1..=12).map(|number| format!("p{number}")).collect();
        for name in &names {
            scene.profile(name, PATIENT);
        }
        scene.all_up();
        scene.endpoint("p1").behave(Behaviour::Status(503));
        scene.await_verdicts("p1", &["down", "down"]);
        scene.cluster.agents.iter_mut().for_each(harness::Agent::kill);
        scene.cluster.members.iter_mut().for_each(harness::Member::kill);
        let restarted = scene.now();
        (0..3).for_each(|at| scene.start_member(at));
        (0..2).for_each(|at| scene.start_agent(at));
        for at in 0..3 {
            let answered = within(PATIENCE, || {
                let answer = scene.answer(at, "p2");
                // Before it listens there is none; the first one that there is must be right.
                claim(!answer.is_empty() && !answer.starts_with("no reply"), answer.clone()).map(|()| answer)
            });
            assert_eq!(answered.unwrap(), "10.77.0.31");
        }
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        scene.await_answers(&[0, 1], &all, restarted, 4);
        is_spread(&scene, &names, restarted);
        assert_eq!(scene.status("p1").unwrap()["status"], "Degraded");
        scene.holds(&[]);
        assert_eq!(scene.events("p1").len(), 2);
    });
}

/// The first round of probes since `since` fills its interval.
fn is_spread(scene: &Scene, names: &[String], since: Duration) {
    let mut firsts: Vec<Duration> = Vec::new();
    for name in names {
        let found = scene.found(name);
        for agent in scene.agents() {
            let mut of_agent = found.iter().filter(|found| found.agent == agent && found.at >= since);
            firsts.push(of_agent.next().unwrap().at);
        }
    }
    firsts.sort();
    let within_a_second = |from: Duration| {
        let span = from..from + Duration::from_secs(1);
        firsts.iter().filter(|at| span.contains(*at)).count()
    };
    let most = firsts.iter().map(|from| within_a_second(*from)).max().unwrap();
    assert!(most <= firsts.len() / 2, "{most} of {} first probes within a second", firsts.len());
}
