//! Profiles: made, changed and deleted as wholes.

use std::sync::Arc;

use super::endpoint::{Reading, read_endpoint};
use super::lookup::{check_revision, name_some};
use super::propagate::Occasion;
use super::step::Step;
use super::warn::{warn_of_parents, warn_of_profile};
use super::{lookup, names};
use crate::model::{
    Caseless, Edit, Endpoint, EndpointDraft, EndpointPatch, Name, Profile, ProfileId, ProfilePatch,
    RelativeName, Revision, Routing, Surroundings, Violations, Zone, profile_limits as limits,
    validate_endpoints, validate_profile, validate_settings,
};
use crate::state::{ApplyLevel, Change, EventCause, Rejection};

/// What [`crate::state::Action::CreateProfile`] says.
pub(super) struct Wish<'a> {
    pub(super) name: &'a str,
    pub(super) zone: &'a str,
    pub(super) relative_name: &'a str,
    pub(super) fields: &'a ProfilePatch,
    pub(super) endpoints: &'a [(String, EndpointPatch)],
}

pub(super) fn create(step: &mut Step<'_>, wish: Wish<'_>) -> Result<(), Rejection> {
    let zone = lookup::zone(&step.state, wish.zone)?;
    let name = Caseless::new(wish.name);
    if let Some(existing) = step.state.profile(&name) {
        return Err(Rejection::Exists { noun: "profile", name: existing.name.to_string() });
    }
    let mut violations = Violations::new();
    let place = names::place_profile(&step.state, &zone, wish.relative_name, &mut violations);
    let is_placed = place.is_some();
    let (relative_name, full_name) = place.unwrap_or_else(|| (RelativeName::Apex, zone.name.clone()));
    let mut profile = blank(step, name, &zone, relative_name, full_name);
    read_settings(step, &mut profile, wish.fields, true, &mut violations);
    validate_settings(&profile, &mut violations);
    let readings = read_endpoints(step, &profile, wish.endpoints, &mut violations);
    let drafts: Vec<EndpointDraft<'_>> = readings
        .iter()
        .enumerate()
        .map(|(place, reading)| reading.draft(&step.state, format!("endpoints[{place}]")))
        .collect();
    let surroundings = Surroundings {
        routing: matches!(wish.fields.routing, Edit::Set(_)).then_some(profile.routing),
        is_at_apex: is_placed && profile.relative_name == RelativeName::Apex,
        own_name: is_placed.then_some(&profile.full_name),
        ..Surroundings::from(&profile)
    };
    validate_endpoints(&drafts, surroundings, &mut violations);
    if !violations.is_empty() {
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    profile.endpoints = readings.into_iter().map(Reading::into_endpoint).collect();
    warn_of_profile(step, &profile);
    step.state.profile_ids.insert(profile.name.clone(), profile.id);
    step.state.owners.insert(profile.full_name.tree_key(), profile.id);
    store(step, None, profile);
    Ok(())
}

pub(super) fn update(
    step: &mut Step<'_>,
    name: &str,
    fields: &ProfilePatch,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let before = lookup::profile(&step.state, name)?;
    check_revision("profile", &before.name, before.revision, if_revision)?;
    let mut violations = Violations::new();
    let mut after = Profile::clone(&before);
    read_settings(step, &mut after, fields, false, &mut violations);
    if before.monitor.protocol.is_http() && !after.monitor.protocol.is_http() {
        // The switch to tcp drops what only http has; an endpoint's headers cannot be named by this change.
        after.endpoints.iter_mut().for_each(|endpoint| endpoint.headers.clear());
    }
    validate_profile(&after, |endpoint| step.state.resolve(endpoint), &mut violations);
    if !violations.is_empty() {
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    warn_of_profile(step, &after);
    store(step, Some(&before), after);
    Ok(())
}

pub(super) fn delete(
    step: &mut Step<'_>,
    name: &str,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let profile = lookup::profile(&step.state, name)?;
    check_revision("profile", &profile.name, profile.revision, if_revision)?;
    let parents = step.state.references.parents(profile.id).map(|parent| step.profile_by_id(parent));
    let by = name_some(parents.map(|parent| format!("profile '{}'", parent.name)));
    if !by.is_empty() {
        return Err(Rejection::InUse { noun: "profile", name: profile.name.to_string(), by });
    }
    step.state.unrefer(&profile);
    step.state.profile_ids.remove(&profile.name);
    step.state.owners.remove(&profile.full_name.tree_key());
    step.state.profiles.remove(&profile.id);
    step.state.health.set_profile(profile.id, None);
    step.drop_health(&profile);
    step.note(Change::ProfileRemoved(profile.id, profile.full_name.clone()));
    Ok(())
}

/// Puts `after` in the place of `before`, with its own and its changed endpoints' revisions and with what follows.
/// Nothing happens if they are alike.
pub(super) fn store(step: &mut Step<'_>, before: Option<&Profile>, mut after: Profile) {
    if before == Some(&after) {
        return;
    }
    after.revision = step.revision;
    for endpoint in &mut after.endpoints {
        if before.and_then(|before| before.endpoint_by_id(endpoint.id)) != Some(endpoint) {
            endpoint.revision = step.revision;
        }
    }
    let id = after.id;
    put(step, before, after);
    let author = step.author.to_owned();
    step.ascend(&[id].into(), Occasion::Settings(&EventCause::Configuration { author }));
}

/// Puts `after` in the place of `before`, with its checks' revisions and with what follows for what is known of its
/// endpoints; what follows for statuses is left to [`Step::ascend`]. It may be the same, but for what its services
/// come to.
pub(super) fn put(step: &mut Step<'_>, before: Option<&Profile>, mut after: Profile) {
    let goes_on: Vec<bool> =
        after.endpoints.iter().map(|endpoint| keeps_check(step, before, &after, endpoint)).collect();
    for (endpoint, goes_on) in after.endpoints.iter_mut().zip(goes_on) {
        if !goes_on {
            endpoint.check_revision = step.revision;
        }
    }
    let after = Arc::new(after);
    if let Some(before) = before {
        step.state.unrefer(before);
    }
    step.state.refer(&after);
    step.state.profiles.insert(after.id, after.clone());
    step.state.health.set_profile(after.id, Some(after.clone()));
    step.note(Change::Profile(after.id));
    step.settle(before, &after);
    if let Some(before) = before {
        warn_of_parents(step, before, &after);
    }
}

/// Does what agents ask of `endpoint`, one of `after`, go on as it was (STA-11)? Not if it is new, asked otherwise, or
/// asked no longer or again; what is not asked before and after has nothing that could end.
fn keeps_check(step: &Step<'_>, before: Option<&Profile>, after: &Profile, endpoint: &Endpoint) -> bool {
    let Some(before) = before else { return false };
    let Some(earlier) = before.endpoint_by_id(endpoint.id) else { return false };
    match (step.original.check(before, earlier), step.state.check(after, endpoint)) {
        (Some(earlier), Some(check)) => check.continues(&earlier),
        (Some(_), None) | (None, Some(_)) => false,
        (None, None) => true,
    }
}

/// A profile with nothing in it. `routing` stands for one that is still to be read.
fn blank(
    step: &mut Step<'_>,
    name: Caseless,
    zone: &Zone,
    relative_name: RelativeName,
    full_name: Name,
) -> Profile {
    Profile {
        id: ProfileId(step.next_id()),
        name,
        zone: zone.name.clone(),
        relative_name,
        full_name,
        routing: Routing::Priority,
        ttl: None,
        max_return: None,
        flatten: false,
        max_removal: None,
        removal_window_ms: None,
        enabled: true,
        monitor: Default::default(),
        endpoints: Vec::new(),
        revision: step.revision,
    }
}

/// Carries the wish out on the profile's own fields. `routing` has no default (SET-1).
fn read_settings(
    step: &Step<'_>,
    profile: &mut Profile,
    fields: &ProfilePatch,
    is_new: bool,
    violations: &mut Violations,
) {
    match fields.routing {
        Edit::Set(routing) => profile.routing = routing,
        Edit::Keep if !is_new => {}
        Edit::Keep | Edit::Clear => {
            let known = Routing::ALL.map(Routing::as_str).join(", ");
            violations.add("routing", format!("is required: one of {known}"));
        }
    }
    fields.ttl.apply(&mut profile.ttl);
    fields.max_return.apply(&mut profile.max_return);
    fields.flatten.apply_or(&mut profile.flatten, false);
    fields.enabled.apply_or(&mut profile.enabled, true);
    let needed = ApplyLevel::of_profile(fields);
    if needed > step.state.apply_level {
        let present = step.state.apply_level;
        violations.add("max_removal", format!("needs apply level {needed}, and the cluster is at {present}"));
    }
    fields.max_removal.apply(&mut profile.max_removal);
    fields.removal_window_ms.apply(&mut profile.removal_window_ms);
    fields.monitor.apply(&mut profile.monitor);
}

/// Reads the endpoints of a new profile. Priorities are given on all or on none (SET-12). What is beyond the most that
/// there may be is not told of for itself.
fn read_endpoints(
    step: &mut Step<'_>,
    profile: &Profile,
    wishes: &[(String, EndpointPatch)],
    violations: &mut Violations,
) -> Vec<Reading> {
    let has_priority = |(_, fields): &(String, EndpointPatch)| matches!(fields.priority, Edit::Set(_));
    let some_have = wishes.iter().any(has_priority);
    let mut readings = Vec::with_capacity(wishes.len());
    for (place, (name, fields)) in wishes.iter().enumerate() {
        let mut unheard = Violations::new();
        let heard = if place < limits::ENDPOINTS_MAX { &mut *violations } else { &mut unheard };
        heard.within(&format!("endpoints[{place}]"), |violations| {
            let mut reading = read_endpoint(step, profile, name, None, fields, violations);
            if some_have && reading.priority.is_none() {
                violations.add("priority", "is missing; priorities are given on all endpoints or on none");
            } else if !some_have {
                reading.priority = u32::try_from(place + 1).ok();
            }
            readings.push(reading);
        });
    }
    readings
}
