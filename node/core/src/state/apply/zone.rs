//! Zones: made, changed and deleted (DNS-1).

use std::net::IpAddr;
use std::sync::Arc;

use super::lookup::check_revision;
use super::step::Step;
use super::warn::warn_of_zone;
use super::{lookup, names};
use crate::model::{
    Edit, Name, NameServer, NameServerDraft, Revision, Violations, Zone, ZonePatch, ZoneTimers,
    parse_mailbox, quote, validate_name_servers,
};
use crate::state::{Change, Rejection};

pub(super) fn create(step: &mut Step<'_>, text: &str, fields: &ZonePatch) -> Result<(), Rejection> {
    let mut violations = Violations::new();
    let name = match Name::parse(text) {
        Ok(name) => Some(name),
        Err(fault) => {
            violations.add("name", format!("{} {fault}", quote(text)));
            None
        }
    };
    if let Some(name) = name.as_ref().filter(|name| step.state.zones.contains_key::<Name>(name)) {
        return Err(Rejection::Exists { noun: "zone", name: name.to_string() });
    }
    if let Some(name) = &name {
        names::check_new_zone(&step.state, name, &mut violations);
    }
    let servers = match &fields.name_servers {
        Edit::Set(servers) => servers.as_slice(),
        Edit::Keep | Edit::Clear => &[],
    };
    let name_servers = read_name_servers(step, name.as_ref(), servers, &mut violations);
    let mailbox = read_mailbox(&fields.mailbox, None, &mut violations);
    let timers = fields.timers.apply(ZoneTimers::DEFAULT);
    timers.validate(&mut violations);
    match name {
        Some(name) if violations.is_empty() => {
            let mut ecs = true;
            fields.ecs.apply_or(&mut ecs, true);
            store(step, Zone { name, name_servers, mailbox, ecs, timers, revision: step.revision });
            Ok(())
        }
        _ => Err(Rejection::Invalid(violations.into_vec())),
    }
}

pub(super) fn update(
    step: &mut Step<'_>,
    name: &str,
    fields: &ZonePatch,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let before = lookup::zone(&step.state, name)?;
    check_revision("zone", &before.name, before.revision, if_revision)?;
    let mut violations = Violations::new();
    let mut after = Zone::clone(&before);
    after.name_servers = match &fields.name_servers {
        Edit::Keep => after.name_servers,
        Edit::Clear => read_name_servers(step, Some(&before.name), &[], &mut violations),
        Edit::Set(servers) => read_name_servers(step, Some(&before.name), servers, &mut violations),
    };
    fields.ecs.apply_or(&mut after.ecs, true);
    after.mailbox = read_mailbox(&fields.mailbox, before.mailbox.as_ref(), &mut violations);
    after.timers = fields.timers.apply(before.timers);
    after.timers.validate(&mut violations);
    if !violations.is_empty() {
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    if after != *before {
        after.revision = step.revision;
        store(step, after);
    }
    Ok(())
}

pub(super) fn delete(
    step: &mut Step<'_>,
    name: &str,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let zone = lookup::zone(&step.state, name)?;
    check_revision("zone", &zone.name, zone.revision, if_revision)?;
    let by = names::users_of(&step.state, &zone.name);
    if !by.is_empty() {
        return Err(Rejection::InUse { noun: "zone", name: zone.name.to_string(), by });
    }
    step.state.zones.remove(&zone.name);
    step.note(Change::Zone(zone.name.clone()));
    Ok(())
}

fn store(step: &mut Step<'_>, zone: Zone) {
    warn_of_other_addresses(step, &zone);
    warn_of_zone(step, &zone);
    zone.timers.warn(&mut step.warnings);
    step.note(Change::Zone(zone.name.clone()));
    step.state.zones.insert(zone.name.clone(), Arc::new(zone));
}

/// VAL-5: a name server to which another zone around it gives other addresses. A name has one set of them, so the
/// closest zone's are answered everywhere.
fn warn_of_other_addresses(step: &mut Step<'_>, zone: &Zone) {
    for (place, server) in zone.name_servers.iter().enumerate() {
        let around = server.name.suffixes().filter_map(|suffix| step.state.zones.get(suffix));
        let gives_others = |other: &&Arc<Zone>| {
            other.name != zone.name
                && other.name_server(&server.name).is_some_and(|same| {
                    !same.addresses.is_empty()
                        && !server.addresses.is_empty()
                        && same.addresses != server.addresses
                })
        };
        let Some(other) = around.into_iter().find(gives_others) else { continue };
        let closest = if other.name.is_within(&zone.name) { &other.name } else { &zone.name };
        let warning = format!(
            "the zone '{}' gives '{}' other addresses; those of the closer zone, '{closest}', are answered",
            other.name, server.name
        );
        step.warnings.add(&format!("name_servers[{place}].addresses"), warning);
    }
}

/// Reads and judges name servers, names and addresses as text. What is beyond the most that there may be is not told of
/// for itself.
fn read_name_servers(
    step: &Step<'_>,
    zone: Option<&Name>,
    servers: &[(String, Vec<String>)],
    violations: &mut Violations,
) -> Vec<NameServer> {
    let mut drafts = Vec::with_capacity(servers.len());
    for (place, (name, addresses)) in servers.iter().enumerate() {
        let mut unheard = Violations::new();
        let heard = if place < Zone::NAME_SERVERS_MAX { &mut *violations } else { &mut unheard };
        heard.within(&format!("name_servers[{place}]"), |violations| {
            drafts.push(read_name_server(name, addresses, violations));
        });
    }
    validate_name_servers(zone, &drafts, violations);
    let read: Vec<(usize, NameServer)> = drafts
        .into_iter()
        .enumerate()
        .filter_map(|(place, draft)| {
            let addresses = draft.addresses.into_iter().flatten().collect();
            Some((place, NameServer { name: draft.name?, addresses }))
        })
        .collect();
    names::check_name_servers(&step.state, read.iter().map(|(place, server)| (*place, server)), violations);
    read.into_iter().map(|(_, server)| server).collect()
}

fn read_name_server(name: &str, addresses: &[String], violations: &mut Violations) -> NameServerDraft {
    let name =
        Name::parse(name).map_err(|fault| violations.add("name", format!("{} {fault}", quote(name)))).ok();
    let addresses = addresses
        .iter()
        .enumerate()
        .map(|(place, text)| {
            let mut unheard = Violations::new();
            let heard = if place < Zone::ADDRESSES_MAX { &mut *violations } else { &mut unheard };
            read_address(&format!("addresses[{place}]"), text, heard)
        })
        .collect();
    NameServerDraft { name, addresses }
}

/// Reads an address, and leaves it to the validation whether it is a good one.
fn read_address(field: &str, text: &str, violations: &mut Violations) -> Option<IpAddr> {
    text.parse()
        .map_err(|_| violations.add(field, format!("{} is no IPv4 or IPv6 address", quote(text))))
        .ok()
}

fn read_mailbox(edit: &Edit<String>, before: Option<&Name>, violations: &mut Violations) -> Option<Name> {
    match edit {
        Edit::Keep => before.cloned(),
        Edit::Clear => None,
        Edit::Set(text) => parse_mailbox(text)
            .map_err(|fault| violations.add("mailbox", format!("{} {fault}", quote(text))))
            .ok(),
    }
}
