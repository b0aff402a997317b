//! Reading what an endpoint shall stand for: a target, a profile or a service (OBJ-6, SET-19, SET-20, SET-23).

use super::endpoint::read_target;
use super::lookup::no_such;
use super::nesting;
use crate::model::{Caseless, Child, Edit, EndpointKind, EndpointPatch, Profile, Violations};
use crate::state::State;

/// The kind that the wish makes of `before`, or gives a new endpoint of `profile`; `None` if it could not be read.
pub(super) fn read_kind(
    state: &State,
    profile: &Profile,
    before: Option<&EndpointKind>,
    fields: &EndpointPatch,
    violations: &mut Violations,
) -> Option<EndpointKind> {
    let field = match before {
        Some(kind) => kept_field(kind, fields, violations)?,
        None => new_field(fields, violations)?,
    };
    match field {
        "nested" => {
            let before = if let Some(EndpointKind::Nested(child)) = before { Some(child) } else { None };
            read_child(state, profile, before, &fields.nested, violations).map(EndpointKind::Nested)
        }
        "service" => {
            let before = if let Some(EndpointKind::Service(name)) = before { Some(name) } else { None };
            read_service(state, before, &fields.service, violations).map(EndpointKind::Service)
        }
        _ => {
            let before = if let Some(EndpointKind::External(target)) = before { Some(target) } else { None };
            read_target(before, &fields.target, violations).map(EndpointKind::External)
        }
    }
}

/// SET-19: carries the wish for the minima out, which are a nested endpoint's only.
pub(super) fn read_minima(kind: &mut EndpointKind, fields: &EndpointPatch, violations: &mut Violations) {
    let EndpointPatch { endpoints_min, endpoints_min_v4, endpoints_min_v6, .. } = fields;
    if let EndpointKind::Nested(child) = kind {
        endpoints_min.apply(&mut child.endpoints_min);
        endpoints_min_v4.apply(&mut child.endpoints_min_v4);
        endpoints_min_v6.apply(&mut child.endpoints_min_v6);
        return;
    }
    for (field, edit) in [
        ("endpoints_min", endpoints_min),
        ("endpoints_min_v4", endpoints_min_v4),
        ("endpoints_min_v6", endpoints_min_v6),
    ] {
        if let Edit::Set(min) = edit {
            violations
                .add(field, format!("{min} is given, but only a nested endpoint has a child to count in"));
        }
    }
}

/// The three fields of which an endpoint has one.
fn kinds(fields: &EndpointPatch) -> [(&'static str, &Edit<String>); 3] {
    [("target", &fields.target), ("nested", &fields.nested), ("service", &fields.service)]
}

fn new_field(fields: &EndpointPatch, violations: &mut Violations) -> Option<&'static str> {
    let mut given = kinds(fields).into_iter().filter(|(_, edit)| matches!(edit, Edit::Set(_)));
    let Some((first, _)) = given.next() else {
        violations.add(
            "target",
            "is required: a DNS name, an IPv4 or an IPv6 address; or a profile as nested, or a service",
        );
        return None;
    };
    let mut others = given.peekable();
    if others.peek().is_none() {
        return Some(first);
    }
    for (field, _) in others {
        violations
            .add(field, format!("is given beside {first}; an endpoint is one of target, nested and service"));
    }
    None
}

fn kept_field(
    kind: &EndpointKind,
    fields: &EndpointPatch,
    violations: &mut Violations,
) -> Option<&'static str> {
    let (own, noun) = match kind {
        EndpointKind::External(_) => ("target", "an external"),
        EndpointKind::Nested(_) => ("nested", "a nested"),
        EndpointKind::Service(_) => ("service", "a service"),
    };
    let mut is_kept = true;
    for (field, edit) in kinds(fields) {
        if field != own && matches!(edit, Edit::Set(_)) {
            is_kept = false;
            violations
                .add(field, format!("this is {noun} endpoint, and stays one; remove it and add it anew"));
        }
    }
    is_kept.then_some(own)
}

fn read_child(
    state: &State,
    profile: &Profile,
    before: Option<&Child>,
    edit: &Edit<String>,
    violations: &mut Violations,
) -> Option<Child> {
    let Some(name) = read_name("nested", "profile", before.map(|before| &before.profile), edit, violations)?
    else {
        return before.cloned();
    };
    let Some(child) = child_of(state, profile, &name) else {
        violations.add("nested", no_such("profile", &name, &state.profile_ids));
        return None;
    };
    nesting::check(state, profile, child, violations);
    Some(Child {
        profile: child.name.clone(),
        endpoints_min: before.and_then(|before| before.endpoints_min),
        endpoints_min_v4: before.and_then(|before| before.endpoints_min_v4),
        endpoints_min_v6: before.and_then(|before| before.endpoints_min_v6),
    })
}

/// The profile of that name, `profile` itself too, which may be about to be made.
fn child_of<'a>(state: &'a State, profile: &'a Profile, name: &Caseless) -> Option<&'a Profile> {
    if profile.name == *name { Some(profile) } else { state.profile(name).map(AsRef::as_ref) }
}

fn read_service(
    state: &State,
    before: Option<&Caseless>,
    edit: &Edit<String>,
    violations: &mut Violations,
) -> Option<Caseless> {
    let Some(name) = read_name("service", "service", before, edit, violations)? else {
        return before.cloned();
    };
    let service = state.services.get(&name);
    if service.is_none() {
        violations.add("service", no_such("service", &name, &state.services));
    }
    service.map(|service| service.name.clone())
}

/// The name that is wished, `Some(None)` if it stays what it was, `None` if there is none.
fn read_name(
    field: &str,
    noun: &str,
    before: Option<&Caseless>,
    edit: &Edit<String>,
    violations: &mut Violations,
) -> Option<Option<Caseless>> {
    match (edit, before) {
        (Edit::Set(text), _) => Some(Some(Caseless::new(text))),
        (Edit::Keep, Some(_)) => Some(None),
        (Edit::Keep, None) | (Edit::Clear, _) => {
            violations.add(field, format!("is required: a {noun}'s name"));
            None
        }
    }
}
