//! What is allowed but probably not meant, as far as other objects must be looked at (VAL-5).

use super::lookup::name_some;
use super::step::Step;
use crate::model::{
    Child, Endpoint, EndpointKind, Profile, RecordType, Target, Violations, Zone, warn_headers, warn_profile,
};
use crate::state::State;

/// Warns about a profile as a whole.
pub(super) fn warn_of_profile(step: &mut Step<'_>, profile: &Profile) {
    warn_profile(profile, &mut step.warnings);
    for (place, endpoint) in profile.endpoints.iter().enumerate() {
        warn_of_endpoint(step, &format!("endpoints[{place}]"), profile, endpoint);
    }
}

/// Warns about an endpoint of `profile` at `path`: a target, its own or its service's, that we would have to answer for ourselves,
/// secrets in clear text, and minima that its child has too few endpoints for.
pub(super) fn warn_of_endpoint(step: &mut Step<'_>, path: &str, profile: &Profile, endpoint: &Endpoint) {
    let Step { state, warnings, .. } = step;
    warnings.within(path, |warnings| {
        warn_headers(&endpoint.headers, profile.monitor.protocol, warnings);
        let field = if endpoint.service().is_some() { "service" } else { "target" };
        if let Some(target) = state.resolve(endpoint).target {
            warn_of_target(state, field, target, profile.flatten, warnings);
        }
        if let EndpointKind::Nested(child) = &endpoint.kind {
            let Some(below) = state.profile(&child.profile) else { return };
            for Minimum { field, min, has, noun } in minima(child, countable(state, below)) {
                if min > has {
                    let name = &child.profile;
                    let warning =
                        format!("{min} can never be available: the profile '{name}' has {has} {noun}");
                    warnings.add(field, warning);
                }
            }
        }
    });
}

/// Warns about name servers of `zone` that lie in another zone of ours and have no address there, or are aliases (RFC 2181 §10.3),
/// and, where the zone is new, about flattened endpoints whose names are looked up no longer because they lie in it.
pub(super) fn warn_of_zone(step: &mut Step<'_>, zone: &Zone) {
    let Step { state, original, warnings, .. } = step;
    for (place, server) in zone.name_servers.iter().enumerate() {
        let around = state.enclosing_zone(&server.name).filter(|around| around.name != zone.name);
        let Some(around) = around.filter(|_| server.addresses.is_empty()) else { continue };
        let (name, field) = (&server.name, format!("name_servers[{place}].name"));
        let has = |record_type| state.record_set(name, record_type).is_some();
        if has(RecordType::CNAME) {
            warnings.add(&field, format!("'{name}' is an alias, which a name server must not be (RFC 2181)"));
        } else if !has(RecordType::A)
            && !has(RecordType::AAAA)
            && state.addressing_zone(name).is_none()
            && !state.owners.contains_key(&name.tree_key())
        {
            let around = &around.name;
            warnings
                .add(&field, format!("'{name}' lies in the zone '{around}', which has no address for it"));
        }
    }
    if original.zones.contains_key(&zone.name) {
        return;
    }
    let flattened = state.profiles.values().flat_map(|profile| {
        let names = profile.endpoints.iter().filter_map(|endpoint| {
            let name = state.name_to_flatten(profile, endpoint)?;
            name.is_within(&zone.name).then(|| format!("'{}/{}' ({name})", profile.name, endpoint.name))
        });
        names.collect::<Vec<_>>()
    });
    let flattened = name_some(flattened);
    if !flattened.is_empty() {
        let list = flattened.join(", ");
        let why = "is answered from here now, so that these are looked up no longer and keep the addresses that they have";
        warnings.add("name", format!("'{}' {why}: {list}; nest the profiles instead", zone.name));
    }
}

/// Warns about a target that we would have to answer for ourselves.
pub(super) fn warn_of_target(
    state: &State,
    field: &str,
    target: &Target,
    is_flattened: bool,
    warnings: &mut Violations,
) {
    let Target::Name(name) = target else { return };
    if let Some(zone) = state.enclosing_zone(name) {
        let zone = &zone.name;
        let but = match is_flattened {
            true => ": it is never looked up to be flattened; nest its profile instead",
            false => "",
        };
        warnings
            .add(field, format!("'{name}' lies in the zone '{zone}', which this cluster answers for{but}"));
    }
}

/// Warns about profiles above `after`, for whose minima it had enough endpoints as it was `before` and has too few now.
pub(super) fn warn_of_parents(step: &mut Step<'_>, before: &Profile, after: &Profile) {
    let had = countable(step.original, before);
    let has = countable(&step.state, after);
    if has.all >= had.all && has.v4 >= had.v4 && has.v6 >= had.v6 {
        return;
    }
    let Step { state, warnings, .. } = step;
    for parent in state.references.parents(after.id).filter_map(|id| state.profiles.get(&id)) {
        for endpoint in &parent.endpoints {
            let Some(child) = endpoint.child().filter(|child| child.profile == after.name) else { continue };
            for (Minimum { min, has, noun, .. }, earlier) in
                minima(child, has).into_iter().zip(minima(child, had))
            {
                if min > has && min <= earlier.has {
                    let (name, parent) = (&endpoint.name, &parent.name);
                    let warning = format!("'{parent}/{name}' needs {min} of them, but {has} {noun} are left");
                    warnings.add("endpoints", warning);
                }
            }
        }
    }
}

/// How many endpoints can ever count in STA-10: in all, and over each family.
#[derive(Clone, Copy)]
struct Countable {
    all: usize,
    v4: usize,
    v6: usize,
}

/// What `profile` has, whatever its endpoints' statuses are. A nested one may come to count over either family.
fn countable(state: &State, profile: &Profile) -> Countable {
    let mut countable = Countable { all: 0, v4: 0, v6: 0 };
    for endpoint in &profile.endpoints {
        let target = state.resolve(endpoint).target;
        countable.all += 1;
        countable.v4 += usize::from(!matches!(target, Some(Target::V6(_))));
        countable.v6 += usize::from(!matches!(target, Some(Target::V4(_))));
    }
    countable
}

/// A minimum of a nested endpoint, and what its child has of what it counts.
struct Minimum {
    field: &'static str,
    min: usize,
    has: usize,
    noun: &'static str,
}

fn minima(child: &Child, countable: Countable) -> [Minimum; 3] {
    let minimum = |field, min: u32, has, noun| Minimum {
        field,
        min: usize::try_from(min).unwrap_or(usize::MAX),
        has,
        noun,
    };
    [
        minimum("endpoints_min", child.effective_endpoints_min(), countable.all, "endpoints"),
        minimum(
            "endpoints_min_v4",
            child.effective_endpoints_min_v4(),
            countable.v4,
            "endpoints that can count over IPv4",
        ),
        minimum(
            "endpoints_min_v6",
            child.effective_endpoints_min_v6(),
            countable.v6,
            "endpoints that can count over IPv6",
        ),
    ]
}
