//! Endpoints: added, changed and removed one at a time, each change judged with the whole profile in view.

use std::collections::BTreeSet;

use super::kind::{read_kind, read_minima};
use super::lookup;
use super::lookup::{check_revision, no_such_region};
use super::mapping::read_mapping;
use super::profile::store;
use super::step::Step;
use super::warn::warn_of_endpoint;
use crate::model::{
    Caseless, Edit, Endpoint, EndpointDraft, EndpointId, EndpointKind, EndpointPatch, Name, Profile,
    Resolved, Revision, Surroundings, Target, UnreadMappings, Violations, parse_target,
    profile_limits as limits, quote, validate_endpoints,
};
use crate::state::{Rejection, State};

pub(super) fn add(
    step: &mut Step<'_>,
    profile: &str,
    name: &str,
    fields: &EndpointPatch,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let before = lookup::profile(&step.state, profile)?;
    check_revision("profile", &before.name, before.revision, if_revision)?;
    if let Some((_, existing)) = before.endpoint(&Caseless::new(name)) {
        return Err(Rejection::Exists {
            noun: "endpoint",
            name: format!("{}/{}", before.name, existing.name),
        });
    }
    let others: Vec<&Endpoint> = before.endpoints.iter().collect();
    let endpoint = judge_alone(step, &before, &others, name, None, fields)?;
    let mut after = Profile::clone(&before);
    after.endpoints.push(endpoint);
    store(step, Some(&before), after);
    Ok(())
}

pub(super) fn update(
    step: &mut Step<'_>,
    profile: &str,
    name: &str,
    fields: &EndpointPatch,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let before = lookup::profile(&step.state, profile)?;
    check_revision("profile", &before.name, before.revision, if_revision)?;
    let (place, existing) = lookup::endpoint(&before, name)?;
    let others: Vec<&Endpoint> =
        before.endpoints.iter().filter(|endpoint| endpoint.id != existing.id).collect();
    let endpoint = judge_alone(step, &before, &others, name, Some(existing), fields)?;
    let mut after = Profile::clone(&before);
    after.endpoints[place] = endpoint;
    store(step, Some(&before), after);
    Ok(())
}

pub(super) fn remove(
    step: &mut Step<'_>,
    profile: &str,
    name: &str,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let before = lookup::profile(&step.state, profile)?;
    check_revision("profile", &before.name, before.revision, if_revision)?;
    let (place, _) = lookup::endpoint(&before, name)?;
    let mut after = Profile::clone(&before);
    after.endpoints.remove(place);
    store(step, Some(&before), after);
    Ok(())
}

/// Reads a wish for one endpoint and judges it beside the profile's `others`.
fn judge_alone(
    step: &mut Step<'_>,
    profile: &Profile,
    others: &[&Endpoint],
    name: &str,
    before: Option<&Endpoint>,
    fields: &EndpointPatch,
) -> Result<Endpoint, Rejection> {
    let mut violations = Violations::new();
    let mut reading = read_endpoint(step, profile, name, before, fields, &mut violations);
    if reading.priority.is_none() {
        reading.priority = Some(next_priority(others.iter().map(|other| other.priority)));
    }
    // The wish comes last, so that what it breaks together with another is noted at its own field.
    let mut drafts = EndpointDraft::all(others.iter().copied(), |other| step.state.resolve(other));
    drafts.push(reading.draft(&step.state, String::new()));
    validate_endpoints(&drafts, Surroundings::from(profile), &mut violations);
    if !violations.is_empty() {
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    let endpoint = reading.into_endpoint();
    warn_of_endpoint(step, "", profile, &endpoint);
    Ok(endpoint)
}

/// SET-12: the highest number and one, or, if that is too high, the lowest that is free.
fn next_priority(others: impl Iterator<Item = u32>) -> u32 {
    let taken: BTreeSet<u32> = others.collect();
    match taken.last() {
        None => 1,
        Some(highest) if *highest < limits::PRIORITY_MAX => highest + 1,
        Some(_) => {
            (1..=limits::PRIORITY_MAX).find(|number| !taken.contains(number)).unwrap_or(limits::PRIORITY_MAX)
        }
    }
}

/// An endpoint as far as it could be read.
pub(super) struct Reading {
    endpoint: Endpoint,
    /// Is its kind what was wished? Else something else stands in its place.
    is_kind_read: bool,
    unread: UnreadMappings,
    /// Its priority, as long as it has one.
    pub(super) priority: Option<u32>,
}

impl Reading {
    /// For judging, at `path`.
    pub(super) fn draft<'a>(&'a self, state: &'a State, path: String) -> EndpointDraft<'a> {
        let resolved = match self.is_kind_read {
            true => state.resolve(&self.endpoint),
            false => Resolved { target: None, location: self.endpoint.location.as_ref() },
        };
        EndpointDraft {
            path,
            endpoint: &self.endpoint,
            resolved,
            priority: self.priority,
            unread: self.unread,
        }
    }

    /// The endpoint, once nothing was found wrong with it.
    pub(super) fn into_endpoint(self) -> Endpoint {
        let priority = self.priority.expect("a priority that is missing is a violation");
        Endpoint { priority, ..self.endpoint }
    }
}

/// Carries the wish for an endpoint of `profile` out on `before`, or on a new endpoint, and notes what cannot be read,
/// or not from the profile alone.
pub(super) fn read_endpoint(
    step: &mut Step<'_>,
    profile: &Profile,
    name: &str,
    before: Option<&Endpoint>,
    fields: &EndpointPatch,
    violations: &mut Violations,
) -> Reading {
    let mut endpoint = before.cloned().unwrap_or_else(|| blank(step, name));
    let kind = read_kind(&step.state, profile, before.map(|before| &before.kind), fields, violations);
    let is_kind_read = kind.is_some();
    if let Some(mut kind) = kind {
        read_minima(&mut kind, fields, violations);
        endpoint.kind = kind;
    }
    let mut priority = before.map(|before| before.priority);
    fields.priority.apply(&mut priority);
    fields.enabled.apply_or(&mut endpoint.enabled, true);
    fields.weight.apply(&mut endpoint.weight);
    fields.always_serve.apply_or(&mut endpoint.always_serve, false);
    fields.headers.apply_or(&mut endpoint.headers, Vec::new());
    match &fields.location {
        Edit::Keep => {}
        Edit::Clear => endpoint.location = None,
        Edit::Set(text) => endpoint.location = Some(read_location(step, text, violations)),
    }
    let unread = read_mapping(&mut endpoint, fields, violations);
    let was_always_served = before.is_some_and(|before| before.always_serve);
    if endpoint.always_serve && !was_always_served && !endpoint.enabled {
        violations.add("always_serve", "can be switched on only while the endpoint is enabled");
    }
    Reading { endpoint, is_kind_read, unread, priority }
}

/// A new endpoint with nothing in it. Kind and priority stand for what is still to be read.
fn blank(step: &mut Step<'_>, name: &str) -> Endpoint {
    Endpoint {
        id: EndpointId(step.next_id()),
        name: Caseless::new(name),
        kind: EndpointKind::External(Target::Name(Name::root())),
        enabled: true,
        priority: 0,
        weight: None,
        location: None,
        geo: Vec::new(),
        subnets: Vec::new(),
        always_serve: false,
        headers: Vec::new(),
        revision: step.revision,
        check_revision: step.revision,
    }
}

/// SET-20: the wish for a target that was `before`; `None` if it could not be read.
pub(super) fn read_target(
    before: Option<&Target>,
    edit: &Edit<String>,
    violations: &mut Violations,
) -> Option<Target> {
    match (edit, before) {
        (Edit::Set(text), _) => parse_target(text)
            .map_err(|fault| violations.add("target", format!("{} {fault}", quote(text))))
            .ok(),
        (Edit::Keep, Some(before)) => Some(before.clone()),
        (Edit::Keep, None) | (Edit::Clear, _) => {
            violations.add("target", "is required: a DNS name, an IPv4 or an IPv6 address");
            None
        }
    }
}

/// SET-14: a known region, under the letters that it was given; of an unknown one the wish itself, which goes nowhere.
pub(super) fn read_location(step: &Step<'_>, text: &str, violations: &mut Violations) -> Caseless {
    let name = Caseless::new(text);
    if let Some(region) = step.state.region(&name) {
        return region.name;
    }
    violations.add("location", no_such_region(&step.state, &name));
    name
}
