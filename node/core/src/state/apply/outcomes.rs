//! What agents found: counted, judged, concluded from in one step (STA-1 … STA-3, STA-6).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::propagate::Occasion;
use super::step::Step;
use crate::health::{Patience, Tally};
use crate::model::{Agent, AgentRun, Caseless, Profile, ProfileId};
use crate::state::{EventCause, Rejection, ReportedOutcome};

/// Counts outcomes one after the other, so that it does not matter how they were gathered into commands. What does not
/// count is passed over: the member that proposed it knew less.
pub(super) fn record(
    step: &mut Step<'_>,
    agent: &Caseless,
    run: AgentRun,
    outcomes: &[ReportedOutcome],
) -> Result<(), Rejection> {
    let Some(agent) = step.state.agents.get(agent).cloned() else { return Ok(()) };
    if agent.lost || agent.is_blind || agent.run != run {
        return Ok(());
    }
    let mut braked = BTreeSet::new();
    for reported in outcomes {
        if let Some(profile) = count(step, &agent, reported) {
            // Under a brake, here or anywhere above, the order of the profile counts, not that in which outcomes came (FAIL-2): so all
            // of them come first.
            match is_braked(step, profile.id) {
                true => drop(braked.insert(profile.id)),
                false => step.ascend(&[profile.id].into(), Occasion::Counts),
            }
        }
    }
    if !braked.is_empty() {
        step.ascend(&braked, Occasion::Counts);
    }
    Ok(())
}

/// Has the profile, or one that it is an endpoint of, however far above, a removal brake?
fn is_braked(step: &Step<'_>, id: ProfileId) -> bool {
    let above = step.state.references.upward(&[id].into());
    above.iter().any(|id| step.state.profiles.get(id).is_some_and(|profile| profile.max_removal.is_some()))
}

/// Counts one outcome; the endpoint's profile, if its status may follow.
fn count(step: &mut Step<'_>, agent: &Arc<Agent>, reported: &ReportedOutcome) -> Option<Arc<Profile>> {
    let id = reported.endpoint;
    let health = step.state.health.get(&id)?;
    let profile = step.state.health.profile(health.profile)?.clone();
    let endpoint = profile.endpoint_by_id(id)?;
    let is_late = reported.age_ms > profile.monitor.verdict_expiry_ms();
    if is_late || !step.state.is_probed(&profile, endpoint) || reported.check != endpoint.check_revision {
        return None;
    }
    let before = health.tallies.get(&agent.name);
    if before.is_some_and(|tally| tally.run == agent.run && reported.sequence <= tally.sequence) {
        return None;
    }
    let (run, sequence, outcome) = (agent.run, reported.sequence, reported.outcome);
    let after = Tally::after(before, Patience::from(&profile.monitor), run, sequence, outcome)?;
    let is_turned = after.verdict != before.and_then(|tally| tally.verdict);
    step.health_mut(id)?.tallies.insert(agent.name.clone(), after);
    step.note_health(profile.id);
    // A count that turned no verdict leaves every conclusion as it was.
    let cause =
        |regions| EventCause::Outcome { agent: agent.name.clone(), outcome: reported.outcome, regions };
    (is_turned && step.conclude(&profile, id, cause)).then_some(profile)
}
