//! Arbitrary sessions and how well their agents see (PRB-14), and those of the golden state.

use std::sync::Arc;

use proptest::prelude::*;
use waymark_core::model::{Agent, AgentRun, LogIndex, MemberId, Revision, Timestamp};
use waymark_core::state::{Action, Past, Replaced, State};

use super::arbitrary::{caseless, revision, text};

pub(super) fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (text(), text(), any::<u64>(), text(), any::<u64>(), any::<Option<bool>>()).prop_map(
            |(agent, region, run, version, member, is_blind)| Action::OpenSession {
                agent,
                region,
                run: AgentRun(run),
                version,
                member: MemberId(member),
                is_blind
            }
        ),
        (caseless(), revision(), any::<bool>()).prop_map(|(agent, session, is_blind)| Action::SetSight {
            agent,
            session,
            is_blind
        }),
    ]
}

pub(super) fn golden_actions() -> Vec<(&'static str, Action)> {
    let (agent, region, version) = ("agent-1".to_owned(), "eu".to_owned(), "0.1.0".to_owned());
    let (run, member, is_blind) = (AgentRun(7), MemberId(2), Some(true));
    vec![
        ("open_session.blind", Action::OpenSession { agent, region, run, version, member, is_blind }),
        ("set_sight", Action::SetSight { agent: "agent-1".into(), session: Revision(40), is_blind: true }),
    ]
}

/// A past in which an agent was blind.
pub(super) fn add_golden(state: &mut State) {
    let (name, agent) = state.agents.iter().next().unwrap();
    let blind = Agent { lost: false, is_blind: true, ..Agent::clone(agent) };
    let replaced = vec![Replaced::Agent(name.clone(), Some(Arc::new(blind)))];
    let past = Past { at: Timestamp(1_700_000_000_032), index: LogIndex(32), replaced };
    state.history.add(Revision(32), past);
}
