//! Levels of `apply` (CLU-9): what an entry does depends on the state's level, and on nothing else.

use super::{Cluster, region_at};
use crate::model::{AgentRun, MemberId};
use crate::state::{Action, ApplyLevel, Command, Rejection, State};

fn raise(to: u32) -> Action {
    Action::RaiseApplyLevel { to: ApplyLevel(to) }
}

fn open_session(agent: &str) -> Action {
    let (region, version) = ("r1".into(), String::new());
    Action::OpenSession {
        agent: agent.into(),
        region,
        run: AgentRun(1),
        version,
        member: MemberId(1),
        is_blind: None,
    }
}

fn refused(found: Result<impl std::fmt::Debug, Rejection>, field: &str, words: &str) {
    match found {
        Err(Rejection::Invalid(violations)) => {
            assert_eq!(violations[0].field, field);
            assert!(violations[0].description.contains(words), "{violations:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn clu_9_the_level_begins_at_the_lowest_and_only_rises() {
    let mut cluster = Cluster::default();
    assert_eq!(cluster.state.apply_level, ApplyLevel::LOWEST);
    let counter = cluster.state.counter.0;
    cluster.apply(raise(2)).unwrap();
    assert_eq!((cluster.state.apply_level.0, cluster.state.counter.0), (2, counter + 1));
    for lower in [2, 1, 0] {
        cluster.apply(raise(lower)).unwrap();
        assert_eq!((cluster.state.apply_level.0, cluster.state.counter.0), (2, counter + 1), "to {lower}");
    }
}

#[test]
fn clu_9_what_must_be_supported_is_the_states_level_or_the_one_that_it_is_raised_to() {
    let mut cluster = Cluster::default();
    let needed =
        |cluster: &Cluster, action| ApplyLevel::needed(&cluster.state, &Command::of_cluster(action)).0;
    assert_eq!(needed(&cluster, raise(7)), 7);
    assert_eq!(needed(&cluster, open_session("a")), 1);
    cluster.apply(raise(2)).unwrap();
    assert_eq!(needed(&cluster, open_session("a")), 2);
    assert_eq!(needed(&cluster, raise(1)), 2);
}

#[test]
fn clu_9_regions_and_agents_are_limited_in_number_from_level_2_on() {
    let mut cluster = Cluster::new();
    while cluster.state.regions.len() < State::REGIONS_MAX {
        let name = format!("more-{}", cluster.state.regions.len());
        cluster.state.regions.insert(crate::model::Caseless::new(&name), region_at(&name, 0).into());
    }
    cluster.apply(Action::SetRegion(region_at("before", 0))).unwrap();
    for number in 0..State::AGENTS_MAX {
        cluster.apply(open_session(&format!("agent-{number}"))).unwrap();
    }
    cluster.apply(open_session("before")).unwrap();
    cluster.apply(raise(2)).unwrap();
    refused(cluster.apply(Action::SetRegion(region_at("behind", 0))), "name", "500 regions already");
    refused(cluster.apply(open_session("behind")), "agent", "2000 agents already");
    // Those that there are may change, and make room.
    cluster.apply(Action::SetRegion(region_at("before", 7))).unwrap();
    cluster.apply(open_session("before")).unwrap();
    for name in ["before", "more-100"] {
        cluster.apply(Action::DeleteRegion { name: name.into(), if_revision: None }).unwrap();
    }
    cluster.apply(Action::SetRegion(region_at("behind", 0))).unwrap();
}
