//! Agents' sessions, the cluster's identity, and the memory of marked commands.

use super::invariants::tally;
use super::*;

#[test]
fn clu_1_a_cluster_has_one_identity() {
    let mut cluster = Cluster::new();
    let found = |id: &str| Action::Found { cluster: id.into(), cookies: None };
    let before = cluster.state.counter.0;
    cluster.apply(found("abc")).unwrap();
    cluster.apply(found("def")).unwrap();
    cluster.apply(found("abc")).unwrap();
    assert_eq!((cluster.state.cluster.as_str(), cluster.state.counter.0), ("abc", before + 1));
}

#[test]
fn sta_6_the_newest_session_wins_always() {
    let mut cluster = Cluster::with_web(1);
    let first = cluster.open("a1", "r1", 1);
    let second = cluster.open("A1", "r1", 1);
    assert!(second > first);
    assert_eq!(cluster.state.counter, second);
    let agent = &cluster.state.agents[&Caseless::new("a1")];
    assert_eq!((agent.name.as_str(), agent.session), ("a1", second));
    // What is said of the session before is void.
    let before = cluster.state.clone();
    cluster.apply(Action::LoseAgent { agent: "a1".into(), session: first }).unwrap();
    assert_eq!(cluster.state, before);
    // An older run may come back: it is still the newest session.
    cluster.open("a1", "r1", 2);
    cluster.open("a1", "r1", 1);
    cluster.report("a1", "e1", 1, "+");
    assert_eq!(cluster.status("e1"), "Online");
}

#[test]
fn sta_7_a_count_goes_on_in_a_new_session_and_a_new_run() {
    let mut cluster = Cluster::with_web(1);
    cluster.open("a1", "r1", 1);
    let id = cluster.endpoint("e1");
    cluster.report("a1", "e1", 5, "+--");
    cluster.open("a1", "r1", 1);
    assert_eq!(tally(&cluster.state, id, "a1").unwrap(), "up 2 0");
    cluster.open("a1", "r1", 2);
    // Sequence numbers begin again with the run.
    cluster.report("a1", "e1", 1, "-");
    assert_eq!(tally(&cluster.state, id, "a1").unwrap(), "up 3 0");
    assert_eq!(cluster.status("e1"), "Online");
    cluster.report("a1", "e1", 2, "-");
    assert_eq!(cluster.status("e1"), "Degraded");
    // The run before has nothing to say any more.
    let before = cluster.state.clone();
    let late = Action::RecordOutcomes {
        agent: "a1".into(),
        run: AgentRun(1),
        outcomes: vec![cluster.reported(id, 99, '+')],
    };
    cluster.apply(late).unwrap();
    assert_eq!(cluster.state, before);
}

#[test]
fn sta_2_from_another_region_counts_begin_anew() {
    let mut cluster = Cluster::with_web(2);
    cluster.open("a1", "r1", 1);
    cluster.open("a2", "r2", 1);
    cluster.report("a1", "e1", 1, "----");
    cluster.report("a2", "e2", 1, "+");
    assert_eq!((cluster.status("e1"), cluster.status("e2")), ("Degraded", "Online"));
    cluster.open("a1", "r3", 1);
    let id = cluster.endpoint("e1");
    assert_eq!(tally(&cluster.state, id, "a1"), None);
    assert_eq!(cluster.status("e1"), "Degraded", "STA-4: the last conclusion stays");
    assert!(cluster.state.health[&id].stale_since.is_some());
}

#[test]
fn sta_5_a_lost_agent_counts_no_more_until_it_opens_a_session() {
    let mut cluster = Cluster::with_web(1);
    let session = cluster.open("a1", "r1", 1);
    cluster.report("a1", "e1", 1, "+");
    let forget = || Action::ForgetAgent { name: "A1".into() };
    assert!(matches!(cluster.apply(forget()), Err(Rejection::InUse { noun: "agent", .. })));
    let lose = || Action::LoseAgent { agent: "a1".into(), session };
    cluster.apply(lose()).unwrap();
    let lost = cluster.state.clone();
    cluster.apply(lose()).unwrap();
    cluster.report("a1", "e1", 2, "----");
    assert_eq!(cluster.state, lost, "nothing more to lose, nothing to count");
    cluster.open("a1", "r1", 1);
    assert!(!cluster.state.agents[&Caseless::new("a1")].lost);
    cluster.report("a1", "e1", 6, "+");
    assert!(cluster.state.health[&cluster.endpoint("e1")].stale_since.is_none());
    let session = cluster.open("a1", "r1", 2);
    cluster.apply(Action::LoseAgent { agent: "a1".into(), session }).unwrap();
    cluster.apply(forget()).unwrap();
    assert!(cluster.state.agents.is_empty());
}

#[test]
fn obj_9_an_agents_name_is_judged() {
    let mut cluster = Cluster::new();
    assert_eq!(faults(cluster.apply(open_session("a 1", "r1", 1))).len(), 1);
    assert_eq!(faults(cluster.apply(open_session("", "nowhere", 1))), ["agent: is empty"]);
}

#[test]
fn cli_4_a_retry_is_told_the_same_and_changes_nothing() {
    let mut cluster = Cluster::new();
    let create = || create_profile("web", "web", vec![]);
    let first = cluster.apply_marked(7, create()).unwrap();
    let refused = cluster.apply_marked(8, create());
    assert!(matches!(refused, Err(Rejection::Exists { .. })));
    cluster.apply(Action::DeleteProfile { name: "web".into(), if_revision: None }).unwrap();
    let before = cluster.state.clone();
    assert_eq!(cluster.apply_marked(7, create()), Ok(first));
    assert_eq!(cluster.apply_marked(8, create()), refused);
    // Whatever it now says: the mark decides.
    assert!(cluster.apply_marked(7, Action::Found { cluster: "x".into(), cookies: None }).is_ok());
    assert_eq!(cluster.state, before);
    assert_eq!(cluster.apply_marked(9, create()).map(|_| ()), Ok(()));
}

#[test]
fn cli_4_the_oldest_marks_are_forgotten_first() {
    let mut cluster = Cluster::default();
    let count = State::REMEMBERED_MAX as u128;
    let nothing = || Action::Found { cluster: String::new(), cookies: None };
    let mut state = State::default();
    for id in 0..count {
        let command =
            Command { id: Some(CommandId(id)), author: "operator".into(), note: None, action: nothing() };
        state = apply(&state, Context { index: LogIndex(1), at: Timestamp(1) }, &command).state;
    }
    cluster.state = state;
    cluster.apply_marked(0, nothing()).unwrap();
    assert_eq!(cluster.state.remembered.len(), State::REMEMBERED_MAX);
    cluster.apply_marked(count, nothing()).unwrap();
    assert_eq!(cluster.state.remembered.len(), State::REMEMBERED_MAX);
    assert!(!cluster.state.remembered.contains_key(&CommandId(0)));
    assert!(cluster.state.remembered.contains_key(&CommandId(1)));
}
