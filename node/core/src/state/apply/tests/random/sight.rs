//! Agents that are blind now and then (PRB-14).

use super::*;

/// What an agent says of its sight, at a session's beginning or in one.
pub(super) fn sight_wish() -> BoxedStrategy<Action> {
    let said = prop::option::weighted(0.8, any::<bool>());
    prop_oneof![
        3 => (any::<u8>(), region_name(), 1_u64..4, said).prop_map(|(agent, region, run, is_blind)| {
            Action::OpenSession {
                agent: agent_name(agent).into(),
                region,
                run: AgentRun(run),
                version: "0.1.0".into(),
                member: MemberId(1),
                is_blind,
            }
        }),
        2 => (any::<u8>(), 0_u64..60, any::<bool>()).prop_map(|(agent, session, is_blind)| {
            Action::SetSight { agent: agent_name(agent).into(), session: Revision(session), is_blind }
        }),
    ]
    .boxed()
}
