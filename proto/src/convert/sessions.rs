//! Agents' sessions, and how well they see (PRB-14).

use waymark_core::model::{AgentRun, Caseless, MemberId, Revision};
use waymark_core::state::Action;

use crate::storage::v1 as stored;

pub(super) fn open_session(
    agent: &str,
    region: &str,
    run: AgentRun,
    version: &str,
    member: MemberId,
    is_blind: Option<bool>,
) -> stored::OpenSession {
    stored::OpenSession {
        agent: agent.to_owned(),
        region: region.to_owned(),
        run: run.0,
        version: version.to_owned(),
        member: member.0,
        blind: is_blind,
    }
}

pub(super) fn opened_session(message: stored::OpenSession) -> Action {
    let stored::OpenSession { agent, region, run, version, member, blind } = message;
    let (run, member) = (AgentRun(run), MemberId(member));
    Action::OpenSession { agent, region, run, version, member, is_blind: blind }
}

pub(super) fn sight(agent: &Caseless, session: Revision, is_blind: bool) -> stored::SetSight {
    stored::SetSight { agent: agent.to_string(), session: session.0, blind: is_blind }
}

pub(super) fn sight_set(message: stored::SetSight) -> Action {
    let stored::SetSight { agent, session, blind } = message;
    Action::SetSight { agent: Caseless::new(&agent), session: Revision(session), is_blind: blind }
}
