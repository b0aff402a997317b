//! Services: registered, started, stopped and deleted (OBJ-6, OBJ-9).

use std::sync::Arc;

use super::endpoint::{read_location, read_target};
use super::lookup;
use super::lookup::{check_revision, name_some};
use super::profile::put;
use super::propagate::Occasion;
use super::step::Step;
use super::warn::warn_of_target;
use crate::model::{
    Caseless, Edit, Profile, Revision, Service, ServicePatch, Violations, validate_place_name,
    validate_profile,
};
use crate::state::{Change, EventCause, Rejection};

/// A new service runs. A changed one is judged with every profile that uses it.
pub(super) fn register(
    step: &mut Step<'_>,
    text: &str,
    fields: &ServicePatch,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    if if_revision.is_some() {
        // Only one that is there has a revision.
        lookup::service(&step.state, text)?;
    }
    let before = step.state.services.get(&Caseless::new(text)).cloned();
    if let Some(before) = &before {
        check_revision("service", &before.name, before.revision, if_revision)?;
    }
    let mut violations = Violations::new();
    if before.is_none() {
        validate_place_name("name", text, &mut violations);
    }
    let target = read_target(before.as_ref().map(|before| &before.target), &fields.target, &mut violations);
    let location = match &fields.location {
        Edit::Keep => before.as_ref().and_then(|before| before.location.clone()),
        Edit::Clear => None,
        Edit::Set(text) => Some(read_location(step, text, &mut violations)),
    };
    let Some(target) = target.filter(|_| violations.is_empty()) else {
        return Err(Rejection::Invalid(violations.into_vec()));
    };
    let mut after = before.as_deref().cloned().unwrap_or_else(|| Service {
        name: Caseless::new(text),
        target: target.clone(),
        location: None,
        is_running: true,
        revision: step.revision,
    });
    warn_of_target(&step.state, "target", &target, false, &mut step.warnings);
    let field = if after.target == target { "location" } else { "target" };
    (after.target, after.location) = (target, location);
    let author = step.author.to_owned();
    store(step, before.as_deref(), after, field, EventCause::Configuration { author })
}

/// A platform's word that the service runs, or that it has stopped (STA-8).
pub(super) fn switch(
    step: &mut Step<'_>,
    name: &str,
    is_running: bool,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let before = lookup::service(&step.state, name)?;
    check_revision("service", &before.name, before.revision, if_revision)?;
    let after = Service { is_running, ..Service::clone(&before) };
    let cause = EventCause::Service { name: before.name.clone(), is_running, author: step.author.to_owned() };
    store(step, Some(&before), after, "running", cause)
}

pub(super) fn delete(
    step: &mut Step<'_>,
    name: &str,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let service = lookup::service(&step.state, name)?;
    check_revision("service", &service.name, service.revision, if_revision)?;
    let by = name_some(users(step, &service.name).iter().map(|user| format!("profile '{}'", user.name)));
    if !by.is_empty() {
        return Err(Rejection::InUse { noun: "service", name: service.name.to_string(), by });
    }
    step.state.services.remove(&service.name);
    step.note(Change::Service(service.name.clone()));
    Ok(())
}

/// Puts `after` in the place of `before`, and in force in every profile that uses it, unless that would make one
/// invalid, which is told of at `field`. Nothing happens if they are alike.
fn store(
    step: &mut Step<'_>,
    before: Option<&Service>,
    mut after: Service,
    field: &str,
    cause: EventCause,
) -> Result<(), Rejection> {
    if before == Some(&after) {
        return Ok(());
    }
    after.revision = step.revision;
    let name = after.name.clone();
    step.state.services.insert(name.clone(), Arc::new(after));
    step.note(Change::Service(name.clone()));
    let users = users(step, &name);
    let spoilt = name_some(users.iter().filter_map(|user| fault(step, user)));
    if !spoilt.is_empty() {
        let mut violations = Violations::new();
        violations.add(field, format!("would make profiles invalid: {}", spoilt.join("; ")));
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    for user in &users {
        put(step, Some(user), Profile::clone(user));
    }
    step.ascend(&users.iter().map(|user| user.id).collect(), Occasion::Settings(&cause));
    Ok(())
}

/// The profiles that have an endpoint for the service.
fn users(step: &Step<'_>, service: &Caseless) -> Vec<Arc<Profile>> {
    step.state.references.users(service).map(|id| step.profile_by_id(id)).collect()
}

/// What is wrong with a profile now, in one line.
fn fault(step: &Step<'_>, profile: &Profile) -> Option<String> {
    let mut violations = Violations::new();
    validate_profile(profile, |endpoint| step.state.resolve(endpoint), &mut violations);
    let found = violations.into_vec();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    (!found.is_empty()).then(|| format!("'{}' ({})", profile.name, found.join("; ")))
}
