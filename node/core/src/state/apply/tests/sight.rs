//! Agents that are blind (PRB-14): their verdicts are withdrawn, and nothing that they find counts.

use super::*;

fn set_sight(cluster: &mut Cluster, agent: &str, session: Revision, is_blind: bool) -> Reply {
    cluster.apply(Action::SetSight { agent: agent.into(), session, is_blind }).unwrap()
}

fn open_saying(cluster: &mut Cluster, run: u64, says: Option<bool>) -> Revision {
    let Action::OpenSession { agent, region, run, version, member, .. } = open_session("a1", "r1", run)
    else {
        panic!("it opens a session");
    };
    let action = Action::OpenSession { agent, region, run, version, member, is_blind: says };
    cluster.apply(action).unwrap().revision
}

fn is_blind(cluster: &Cluster) -> bool {
    cluster.state.agents[&Caseless::new("a1")].is_blind
}

fn has_count(cluster: &Cluster) -> bool {
    cluster.state.health[&cluster.endpoint("e1")].tallies.contains_key(&Caseless::new("a1"))
}

#[test]
fn prb_14_a_blind_agents_verdicts_go_and_the_last_status_stays() {
    let mut cluster = Cluster::with_web(1);
    let session = cluster.open("a1", "r1", 1);
    cluster.report("a1", "e1", 1, "+---");
    set_sight(&mut cluster, "a1", session, true);
    assert!(is_blind(&cluster) && !has_count(&cluster));
    let health = &cluster.state.health[&cluster.endpoint("e1")];
    assert_eq!((health.status.as_str(), health.stale_since.is_some()), ("Online", true), "STA-4");
    cluster.report("a1", "e1", 5, "-----");
    assert!(!has_count(&cluster), "nothing counts");
    set_sight(&mut cluster, "a1", session, false);
    cluster.report("a1", "e1", 10, "---");
    assert_eq!(cluster.status("e1"), "Online", "counting starts anew");
    cluster.report("a1", "e1", 13, "-");
    assert_eq!(cluster.status("e1"), "Degraded");
}

#[test]
fn prb_14_those_that_see_decide_without_it() {
    let mut cluster = Cluster::with_web(1);
    let session = cluster.open("a1", "r1", 1);
    cluster.open("a2", "r2", 2);
    cluster.open("a3", "r3", 3);
    cluster.report("a1", "e1", 1, "----");
    cluster.report("a2", "e1", 1, "----");
    cluster.report("a3", "e1", 1, "+");
    assert_eq!(cluster.status("e1"), "Degraded");
    set_sight(&mut cluster, "a1", session, true);
    assert_eq!(cluster.status("e1"), "Online", "half of the regions that have a verdict say up");
    let last = cluster.state.events.values().rev().nth(1).unwrap();
    let by_blindness = matches!(
        &last.cause,
        crate::state::EventCause::Silence { agent, is_blind: true, .. } if agent.as_str() == "a1"
    );
    assert!(by_blindness, "{:?}", last.cause);
}

#[test]
fn prb_14_what_an_older_session_or_a_lost_agent_says_is_void_and_saying_it_again_is_no_change() {
    let mut cluster = Cluster::with_web(1);
    let old = cluster.open("a1", "r1", 1);
    let session = cluster.open("a1", "r1", 1);
    set_sight(&mut cluster, "a1", old, true);
    assert!(!is_blind(&cluster));
    let counter = set_sight(&mut cluster, "a1", session, true).revision;
    assert_eq!(set_sight(&mut cluster, "a1", session, true).revision, counter);
    cluster.apply(Action::LoseAgent { agent: "a1".into(), session }).unwrap();
    set_sight(&mut cluster, "a1", session, false);
    assert!(is_blind(&cluster));
}

#[test]
fn prb_14_a_session_says_at_its_beginning_how_its_agent_sees_or_leaves_it() {
    let mut cluster = Cluster::with_web(1);
    open_saying(&mut cluster, 1, Some(false));
    cluster.report("a1", "e1", 1, "+");
    open_saying(&mut cluster, 1, None);
    assert!(!is_blind(&cluster) && has_count(&cluster), "in doubt nothing is withdrawn");
    open_saying(&mut cluster, 2, Some(true));
    assert!(is_blind(&cluster) && !has_count(&cluster), "before any outcome counts");
    open_saying(&mut cluster, 3, None);
    cluster.report("a1", "e1", 1, "+");
    assert!(is_blind(&cluster) && !has_count(&cluster));
    open_saying(&mut cluster, 3, Some(false));
    cluster.report("a1", "e1", 2, "+");
    assert!(!is_blind(&cluster) && has_count(&cluster));
}
