//! Agents: their sessions, their silence and their end (STA-5 … STA-7).

use std::sync::Arc;

use super::lookup;
use super::step::Step;
use crate::model::{
    Agent, AgentRun, Caseless, EndpointId, MemberId, Revision, Violation, Violations, validate_agent,
};
use crate::state::{ApplyLevel, Change, Rejection, State};

/// What [`crate::state::Action::OpenSession`] says.
pub(super) struct Hello<'a> {
    pub(super) agent: &'a str,
    pub(super) region: &'a str,
    pub(super) run: AgentRun,
    pub(super) version: &'a str,
    pub(super) member: MemberId,
    pub(super) is_blind: Option<bool>,
}

/// Gives the agent a session, which ends any other of its name (STA-6). Counts go on, whatever the run (STA-7); only
/// what was seen from another region is not what this one sees, and one that is blind has seen nothing (PRB-14).
pub(super) fn open_session(step: &mut Step<'_>, hello: Hello<'_>) -> Result<(), Rejection> {
    let mut violations = Violations::new();
    validate_agent(hello.agent, hello.version, &mut violations);
    if !violations.is_empty() {
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    let region = lookup::region(&step.state, hello.region)?;
    let before = step.state.agents.get(&Caseless::new(hello.agent)).cloned();
    let is_limited = step.state.apply_level >= ApplyLevel::LIMITED_NUMBERS;
    if before.is_none() && is_limited && step.state.agents.len() >= State::AGENTS_MAX {
        let rule = format!(
            "there are {} agents already, lost ones among them, and there may be no more: forget some that are lost",
            State::AGENTS_MAX
        );
        return Err(Rejection::Invalid(vec![Violation::new("agent", rule)]));
    }
    let name = before.as_ref().map_or_else(|| Caseless::new(hello.agent), |before| before.name.clone());
    let agent = Agent {
        name: name.clone(),
        region: region.name.clone(),
        run: hello.run,
        session: step.revision,
        member: hello.member,
        version: hello.version.to_owned(),
        lost: false,
        is_blind: hello.is_blind.unwrap_or(before.as_ref().is_some_and(|before| before.is_blind)),
        since: step.context.at,
    };
    step.state.agents.insert(name.clone(), Arc::new(agent.clone()));
    step.note(Change::Agent(name));
    if agent.is_blind || before.is_some_and(|before| before.region != region.name) {
        withdraw(step, &agent);
    }
    Ok(())
}

/// PRB-14: an agent that is blind abstains, and starts anew when it sees again. Void unless `session` is its current one.
pub(super) fn set_sight(
    step: &mut Step<'_>,
    agent: &Caseless,
    session: Revision,
    is_blind: bool,
) -> Result<(), Rejection> {
    let found = in_session(step, agent, session).filter(|agent| !agent.lost && agent.is_blind != is_blind);
    let Some(agent) = found else { return Ok(()) };
    let agent = Agent { is_blind, since: step.context.at, ..Agent::clone(&agent) };
    step.state.agents.insert(agent.name.clone(), Arc::new(agent.clone()));
    step.note(Change::Agent(agent.name.clone()));
    if is_blind {
        withdraw(step, &agent);
    }
    Ok(())
}

/// Takes all counts of the agent away.
fn withdraw(step: &mut Step<'_>, agent: &Agent) {
    let counted = step.counted_by(&agent.name);
    step.silence(agent, counted);
}

/// STA-5: what was last heard of these endpoints is too old. Void unless `session` is the agent's current one.
pub(super) fn expire_verdicts(
    step: &mut Step<'_>,
    agent: &Caseless,
    session: Revision,
    endpoints: &[EndpointId],
) -> Result<(), Rejection> {
    if let Some(agent) = in_session(step, agent, session) {
        step.silence(&agent, endpoints.iter().copied());
    }
    Ok(())
}

/// STA-5: nobody hears the agent any more. Void unless `session` is the agent's current one.
pub(super) fn lose(step: &mut Step<'_>, agent: &Caseless, session: Revision) -> Result<(), Rejection> {
    let Some(agent) = in_session(step, agent, session).filter(|agent| !agent.lost) else { return Ok(()) };
    let lost = Agent { lost: true, since: step.context.at, ..Agent::clone(&agent) };
    step.state.agents.insert(agent.name.clone(), Arc::new(lost));
    step.note(Change::Agent(agent.name.clone()));
    withdraw(step, &agent);
    Ok(())
}

/// Takes a lost agent out of the list. One that still runs would come straight back.
pub(super) fn forget(step: &mut Step<'_>, name: &str) -> Result<(), Rejection> {
    let agent = lookup::agent(&step.state, name)?;
    if !agent.lost {
        let by = vec![format!("its open session on member {}: stop the agent first", agent.member.0)];
        return Err(Rejection::InUse { noun: "agent", name: agent.name.to_string(), by });
    }
    step.state.agents.remove(&agent.name);
    step.note(Change::Agent(agent.name.clone()));
    Ok(())
}

fn in_session(step: &Step<'_>, agent: &Caseless, session: Revision) -> Option<Arc<Agent>> {
    step.state.agents.get(agent).filter(|agent| agent.session == session).cloned()
}
