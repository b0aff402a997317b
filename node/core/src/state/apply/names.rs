//! Who owns which DNS name: profiles, zones, name servers and static records must not get into each other's way (OBJ-3,
//! DNS-1, DNS-16, DNS-17).

use std::sync::Arc;

use super::lookup::name_some;
use crate::model::{Name, NameServer, Profile, RecordSet, RecordType, RelativeName, Violations, Zone, quote};
use crate::state::State;

/// The field that says where in a zone something stands.
const PLACE: &str = "relative_name";

/// Types that a name server's name has from its zone, and the one that would take them away.
const ADDRESS_TYPES: [RecordType; 3] = [RecordType::A, RecordType::CNAME, RecordType::AAAA];

/// Reads where a new profile shall stand in `zone`, and notes what stands in its way.
pub(super) fn place_profile(
    state: &State,
    zone: &Zone,
    relative_name: &str,
    violations: &mut Violations,
) -> Option<(RelativeName, Name)> {
    let (relative, full) = read_place(zone, relative_name, violations)?;
    check_closest(state, zone, &full, violations);
    check_profile(state, &full, violations);
    check_addressing(state, &full, violations);
    let types = static_types(state, &full, |set| set.record_type != RecordType::DS);
    if !types.is_empty() {
        let types = types.join(", ");
        violations
            .add(PLACE, format!("'{full}' has static records ({types}), so that no profile can stand there"));
    }
    Some((relative, full))
}

/// The same for static records of a type.
///
/// | type | where it may stand |
/// |---|---|
/// | DS | at the name of a zone of ours, in the zone around it |
/// | CNAME | alone, and not at a zone's name |
/// | A, AAAA, CNAME | not at a name server's name that has addresses from its zone |
/// | all but DS | where the zone is the closest, no profile stands and no alias |
pub(super) fn place_records(
    state: &State,
    zone: &Zone,
    relative_name: &str,
    record_type: RecordType,
    violations: &mut Violations,
) -> Option<(RelativeName, Name)> {
    let (relative, full) = read_place(zone, relative_name, violations)?;
    if record_type == RecordType::DS {
        check_signer(state, zone, &full, violations);
        return Some((relative, full));
    }
    check_closest(state, zone, &full, violations);
    check_profile(state, &full, violations);
    if ADDRESS_TYPES.contains(&record_type) {
        check_addressing(state, &full, violations);
    }
    if record_type == RecordType::CNAME && full == zone.name {
        violations.add(
            "type",
            format!("'{full}' is the zone's own name, where no alias can stand beside SOA and NS"),
        );
    }
    let is_alias = record_type == RecordType::CNAME;
    let others = static_types(state, &full, |set| {
        set.record_type != record_type && (is_alias || set.record_type == RecordType::CNAME)
    });
    if !others.is_empty() {
        let types = others.join(", ");
        violations.add("type", format!("'{full}' has {types} records, and an alias (CNAME) stands alone"));
    }
    Some((relative, full))
}

/// Notes profiles and static records that would lose their names to the new zone `name`, because they stand in a zone
/// around it.
pub(super) fn check_new_zone(state: &State, name: &Name, violations: &mut Violations) {
    let profiles = profiles_within(state, name)
        .filter(|profile| !profile.zone.is_within(name))
        .map(|profile| format!("'{}' ({})", profile.name, profile.full_name));
    let records =
        state.record_sets_within(name).filter(|set| !set.zone.is_within(name)).map(|set| quoted(set));
    for (noun, robbed) in [("profiles", name_some(profiles)), ("static records", name_some(records))] {
        if !robbed.is_empty() {
            let robbed = robbed.join(", ");
            violations.add(
                "name",
                format!("'{name}' would take names from {noun} of the zone around it: {robbed}"),
            );
        }
    }
}

/// Notes name servers that would get an address at a name that a profile answers for (DNS-16), or that static records
/// give other addresses to. `servers` gives each its place in the wish.
pub(super) fn check_name_servers<'a>(
    state: &State,
    servers: impl IntoIterator<Item = (usize, &'a NameServer)>,
    violations: &mut Violations,
) {
    for (place, server) in servers {
        if server.addresses.is_empty() {
            continue;
        }
        let field = format!("name_servers[{place}].name");
        if let Some(owner) = owner(state, &server.name) {
            violations.add(&field, format!("'{}' is the name of the profile '{}'", server.name, owner.name));
        }
        let types = static_types(state, &server.name, |set| ADDRESS_TYPES.contains(&set.record_type));
        if !types.is_empty() {
            let types = types.join(", ");
            violations.add(
                &field,
                format!("'{}' has static records ({types}), which say where it is", server.name),
            );
        }
    }
}

/// What stands in the zone `name`, and not in one nested in it, so that it cannot go: profiles, static records, and those
/// that lead to it from the zone around it.
pub(super) fn users_of(state: &State, name: &Name) -> Vec<String> {
    let profiles = profiles_within(state, name).filter(|profile| profile.zone == *name);
    let records = state.record_sets_within(name).filter(|set| set.zone == *name);
    let signer = state.record_set(name, RecordType::DS);
    let records = records.chain(signer).map(|set| format!("record set {}", quoted(set)));
    name_some(profiles.map(|profile| format!("profile '{}'", profile.name)).chain(records))
}

fn read_place(zone: &Zone, relative_name: &str, violations: &mut Violations) -> Option<(RelativeName, Name)> {
    let read = RelativeName::parse(relative_name).and_then(|relative| {
        let full = relative.within(&zone.name)?;
        Ok((relative, full))
    });
    read.map_err(|fault| violations.add(PLACE, format!("{} {fault}", quote(relative_name)))).ok()
}

fn check_closest(state: &State, zone: &Zone, full: &Name, violations: &mut Violations) {
    if let Some(closest) = state.enclosing_zone(full).filter(|closest| closest.name != zone.name) {
        violations.add(
            PLACE,
            format!("'{full}' lies in the zone '{}', which is closer than '{}'", closest.name, zone.name),
        );
    }
}

fn check_profile(state: &State, full: &Name, violations: &mut Violations) {
    if let Some(owner) = owner(state, full) {
        violations.add(PLACE, format!("'{full}' is the name of the profile '{}' already", owner.name));
    }
}

fn check_addressing(state: &State, full: &Name, violations: &mut Violations) {
    if let Some(server_zone) = state.addressing_zone(full) {
        let zone = &server_zone.name;
        violations
            .add(PLACE, format!("'{full}' is a name server of the zone '{zone}', which gives its addresses"));
    }
}

/// DS records tell of a nested zone's keys, and are the zone's around it (RFC 4035 §2.4).
fn check_signer(state: &State, zone: &Zone, full: &Name, violations: &mut Violations) {
    let around = full.parent().and_then(|parent| state.enclosing_zone(&parent));
    match around {
        _ if !state.zones.contains_key(full) => violations.add(
            PLACE,
            format!("'{full}' is no zone of this cluster; DS records stand at the name of one that is nested in '{}'", zone.name),
        ),
        None => violations.add(
            PLACE,
            format!("'{full}' is the zone's own name; its DS records belong to the zone around it, which is not kept here"),
        ),
        Some(around) if around.name != zone.name => violations.add(
            PLACE,
            format!("the DS records of '{full}' belong to the zone around it, '{}'", around.name),
        ),
        Some(_) => {}
    }
}

/// The types of the static records of `name` that are meant.
fn static_types(state: &State, name: &Name, is_meant: impl Fn(&RecordSet) -> bool) -> Vec<String> {
    name_some(state.record_sets(name).filter(|set| is_meant(set)).map(|set| set.record_type.to_string()))
}

fn quoted(set: &RecordSet) -> String {
    format!("'{}'", set.title())
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
