//! Who owns which DNS name: profiles, zones and name servers must not get into each other's way (OBJ-3, DNS-1, DNS-16).

use std::sync::Arc;

use super::lookup::name_some;
use crate::model::{Name, NameServer, Profile, RelativeName, Violations, Zone, quote};
use crate::state::State;

/// Reads where a new profile shall stand in `zone`, and notes what stands in its way.
pub(super) fn place_profile(
    state: &State,
    zone: &Zone,
    relative_name: &str,
    violations: &mut Violations,
) -> Option<(RelativeName, Name)> {
    const FIELD: &str = "relative_name";
    let read = RelativeName::parse(relative_name).and_then(|relative| {
        let full = relative.within(&zone.name)?;
        Ok((relative, full))
    });
    let (relative, full) = match read {
        Ok(read) => read,
        Err(fault) => {
            violations.add(FIELD, format!("{} {fault}", quote(relative_name)));
            return None;
        }
    };
    if let Some(closest) = state.enclosing_zone(&full).filter(|closest| closest.name != zone.name) {
        violations.add(
            FIELD,
            format!("'{full}' lies in the zone '{}', which is closer than '{}'", closest.name, zone.name),
        );
    }
    if let Some(owner) = owner(state, &full) {
        violations.add(FIELD, format!("'{full}' is the name of the profile '{}' already", owner.name));
    }
    if let Some(server_zone) = state.addressing_zone(&full) {
        violations.add(
            FIELD,
            format!(
                "'{full}' is a name server of the zone '{}', which gives its addresses",
                server_zone.name
            ),
        );
    }
    Some((relative, full))
}

/// Notes profiles that would lose their names to the new zone `name`, because they stand in a zone around it.
pub(super) fn check_new_zone(state: &State, name: &Name, violations: &mut Violations) {
    let robbed = profiles_within(state, name)
        .filter(|profile| !profile.zone.is_within(name))
        .map(|profile| format!("'{}' ({})", profile.name, profile.full_name));
    let robbed = name_some(robbed);
    if !robbed.is_empty() {
        violations.add(
            "name",
            format!("'{name}' would take names from profiles of the zone around it: {}", robbed.join(", ")),
        );
    }
}

/// Notes name servers that would get an address at a name that a profile answers for (DNS-16). `servers` gives each
/// its place in the wish.
pub(super) fn check_name_servers<'a>(
    state: &State,
    servers: impl IntoIterator<Item = (usize, &'a NameServer)>,
    violations: &mut Violations,
) {
    for (place, server) in servers {
        if server.addresses.is_empty() {
            continue;
        }
        if let Some(owner) = owner(state, &server.name) {
            violations.add(
                &format!("name_servers[{place}].name"),
                format!("'{}' is the name of the profile '{}'", server.name, owner.name),
            );
        }
    }
}

/// The profiles that stand in the zone `name`, and not in one nested in it.
pub(super) fn profiles_of<'a>(state: &'a State, name: &'a Name) -> impl Iterator<Item = &'a Arc<Profile>> {
    profiles_within(state, name).filter(move |profile| profile.zone == *name)
}

/// The profile that answers for `name`.
fn owner<'a>(state: &'a State, name: &Name) -> Option<&'a Arc<Profile>> {
    state.profiles.get(state.owners.get(&name.tree_key())?)
}

/// The profiles that answer for `name` or a name below it, one range of the names' order.
fn profiles_within<'a>(state: &'a State, name: &Name) -> impl Iterator<Item = &'a Arc<Profile>> {
    let key = name.tree_key();
    state
        .owners
        .range(key.clone()..)
        .take_while(move |(owned, _)| owned.starts_with(&key))
        .filter_map(|(_, id)| state.profiles.get(id))
}
