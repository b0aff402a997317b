//! Operators' overrides of endpoints: made, lifted, and ended when their time is up (STA-13).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lookup;
use super::lookup::name_some;
use super::propagate::Occasion;
use super::step::Step;
use crate::model::{
    EndpointId, EndpointPattern, Override, OverrideKind, Profile, ProfileId, Revision, Timestamp, Violations,
    validate_override,
};
use crate::state::{Change, EventCause, OverrideAct, Rejection, Replaced, State};

/// What [`crate::state::Action::OverrideEndpoints`] says beside its pattern.
pub(super) struct Wish<'a> {
    pub(super) kind: OverrideKind,
    pub(super) reason: &'a str,
    pub(super) span_ms: Option<u64>,
    pub(super) even_last: bool,
}

/// What happened to the overrides of endpoints: for each the profile, and the cause of the event.
type Told = BTreeMap<EndpointId, (ProfileId, EventCause)>;

/// Puts an override on every endpoint that the pattern stands for, or on none.
pub(super) fn make(step: &mut Step<'_>, pattern: &str, wish: Wish<'_>) -> Result<(), Rejection> {
    let pattern = read(pattern, wish.reason, wish.span_ms)?;
    let found = within_bounds(lookup::matching(&step.state, &pattern, Override::BATCH_MAX + 1)?)?;
    let made = Arc::new(Override {
        kind: wish.kind,
        author: step.author.to_owned(),
        reason: wish.reason.to_owned(),
        at: step.context.at,
        ends: wish.span_ms.map(|span_ms| Timestamp(step.context.at.0 + span_ms)),
        revision: step.revision,
    });
    let mut told = Told::new();
    for (profile, id) in &found {
        step.set_override(*id, Some(made.clone()));
        told.insert(*id, (profile.id, cause(&made, OverrideAct::Made)));
    }
    if wish.kind == OverrideKind::Drain && !wish.even_last {
        spare_the_last(step, &found)?;
    }
    put_in_force(step, told);
    Ok(())
}

/// Takes the overrides from every endpoint that the pattern stands for; nothing happens if none has any.
pub(super) fn lift(step: &mut Step<'_>, pattern: &str, reason: &str) -> Result<(), Rejection> {
    let mut told = Told::new();
    let pattern = read(pattern, reason, None)?;
    for (profile, id) in within_bounds(overridden(&step.state, &pattern))? {
        if let Some(lifted) = step.set_override(id, None) {
            let author = step.author.to_owned();
            let lifted = Override { author, reason: reason.to_owned(), ..Override::clone(&lifted) };
            told.insert(id, (profile.id, cause(&lifted, OverrideAct::Lifted)));
        }
    }
    if told.is_empty() {
        // Is there nobody, or nobody with an override?
        lookup::matching(&step.state, &pattern, 1)?;
        step.warnings.add("pattern", "no endpoint that it stands for has an override");
    }
    put_in_force(step, told);
    Ok(())
}

/// Ends overrides, those of `ended` that are still the same ones. Never refused: the leader knew less.
pub(super) fn end(step: &mut Step<'_>, ended: &[(EndpointId, Revision)]) -> Result<(), Rejection> {
    let mut told = Told::new();
    for (id, revision) in ended {
        let Some(over) = step.state.overrides.get(id).filter(|over| over.revision == *revision).cloned()
        else {
            continue;
        };
        let Some(profile) = step.state.health.get(id).map(|health| health.profile) else { continue };
        step.set_override(*id, None);
        told.insert(*id, (profile, cause(&over, OverrideAct::Ended)));
    }
    put_in_force(step, told);
    Ok(())
}

impl Step<'_> {
    /// Puts an override in the place of what the endpoint has, which is returned; `None` takes it away. What follows for
    /// statuses and plans is left to whoever calls.
    pub(super) fn set_override(
        &mut self,
        id: EndpointId,
        overridden: Option<Arc<Override>>,
    ) -> Option<Arc<Override>> {
        let before = match overridden {
            Some(overridden) => self.state.overrides.insert(id, overridden),
            None => self.state.overrides.remove(&id),
        };
        if before.as_ref() != self.state.overrides.get(&id) {
            self.mark_changed();
            self.note_replaced(Replaced::Override(id, before.clone()));
        }
        before
    }
}

/// Reads what is said of both: the pattern, the reason, and how long it shall last.
fn read(pattern: &str, reason: &str, span_ms: Option<u64>) -> Result<EndpointPattern, Rejection> {
    let mut violations = Violations::new();
    let read = EndpointPattern::parse(pattern);
    let read = read.map_err(|fault| violations.add("pattern", fault.to_string())).ok();
    validate_override(reason, span_ms, &mut violations);
    read.filter(|_| violations.is_empty()).ok_or_else(|| Rejection::Invalid(violations.into_vec()))
}

/// Refuses more than one command may reach; whoever looks for them stops at one more.
fn within_bounds(
    found: Vec<(Arc<Profile>, EndpointId)>,
) -> Result<Vec<(Arc<Profile>, EndpointId)>, Rejection> {
    let max = Override::BATCH_MAX;
    if found.len() <= max {
        return Ok(found);
    }
    let mut violations = Violations::new();
    let told = format!("stands for more than {max} endpoints, the most that are reached at once: narrow it");
    violations.add("pattern", told);
    Err(Rejection::Invalid(violations.into_vec()))
}

/// Those endpoints that have an override and that the pattern stands for, one more than may be reached at most.
fn overridden(state: &State, pattern: &EndpointPattern) -> Vec<(Arc<Profile>, EndpointId)> {
    let of = |id: &EndpointId| {
        let profile = state.profiles.get(&state.health.get(id)?.profile)?;
        let endpoint = profile.endpoint_by_id(*id)?;
        let is_meant = pattern.profile.matches(&profile.name) && pattern.endpoint.matches(&endpoint.name);
        is_meant.then(|| (profile.clone(), *id))
    };
    state.overrides.keys().filter_map(of).take(Override::BATCH_MAX + 1).collect()
}

/// Refuses what leaves a profile with nobody that had somebody.
fn spare_the_last(step: &Step<'_>, found: &[(Arc<Profile>, EndpointId)]) -> Result<(), Rejection> {
    let has_somebody = |state: &State, profile: &Profile| {
        profile.endpoints.iter().any(|endpoint| {
            let status = state.health.get(&endpoint.id).map(|health| health.status);
            status.is_some_and(|status| !status.is_out()) && !state.is_drained(endpoint.id)
        })
    };
    let profiles: BTreeMap<ProfileId, &Arc<Profile>> =
        found.iter().map(|(profile, _)| (profile.id, profile)).collect();
    let emptied = profiles
        .values()
        .filter(|profile| has_somebody(step.original, profile) && !has_somebody(&step.state, profile));
    let profiles = name_some(emptied.map(|profile| format!("profile '{}'", profile.name)));
    if profiles.is_empty() { Ok(()) } else { Err(Rejection::LastEndpoint { profiles }) }
}

/// Statuses and events, here and level by level above; plans follow the changes.
fn put_in_force(step: &mut Step<'_>, told: Told) {
    let profiles: BTreeSet<ProfileId> = told.values().map(|(profile, _)| *profile).collect();
    profiles.iter().for_each(|id| step.note(Change::Profile(*id)));
    let causes = told.into_iter().map(|(id, (_, cause))| (id, cause)).collect();
    step.ascend(&profiles, Occasion::Overrides(&causes));
}

fn cause(over: &Override, act: OverrideAct) -> EventCause {
    let Override { kind, author, reason, at: _, ends, revision: _ } = over;
    EventCause::Override { act, kind: *kind, author: author.clone(), reason: reason.clone(), ends: *ends }
}
