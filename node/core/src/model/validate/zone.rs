//! A zone and its name servers (DNS-1).

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::model::{Name, Target, Violations, Zone, parse_target};

/// A name server for judging. What could not be read of it is left out, so that nothing is said of it twice.
#[derive(Clone, Debug, Default)]
pub struct NameServerDraft {
    /// Its name, if it could be read.
    pub name: Option<Name>,
    /// Its addresses, each if it could be read.
    pub addresses: Vec<Option<IpAddr>>,
}

/// Judges a zone, as it would be stored.
pub fn validate_zone(zone: &Zone, violations: &mut Violations) {
    let drafts: Vec<_> = zone
        .name_servers
        .iter()
        .map(|server| NameServerDraft {
            name: Some(server.name.clone()),
            addresses: server.addresses.iter().copied().map(Some).collect(),
        })
        .collect();
    validate_name_servers(Some(&zone.name), &drafts, violations);
    zone.timers.validate(violations);
}

/// Judges the name servers of the zone `zone`, whose name may have been unreadable.
pub fn validate_name_servers(zone: Option<&Name>, servers: &[NameServerDraft], violations: &mut Violations) {
    if servers.is_empty() {
        violations.add("name_servers", "is empty; a zone needs at least one name server");
    }
    if servers.len() > Zone::NAME_SERVERS_MAX {
        violations.add(
            "name_servers",
            format!("{} are too many; at most {} are allowed", servers.len(), Zone::NAME_SERVERS_MAX),
        );
    }
    let mut names = BTreeSet::new();
    for (place, server) in servers.iter().enumerate().take(Zone::NAME_SERVERS_MAX) {
        violations.within(&format!("name_servers[{place}]"), |violations| {
            if let Some(name) = &server.name
                && !names.insert(name)
            {
                violations.add("name", format!("'{name}' is given twice"));
            }
            check_addresses(zone, server, violations);
        });
    }
}

fn check_addresses(zone: Option<&Name>, server: &NameServerDraft, violations: &mut Violations) {
    let count = server.addresses.len();
    if let (Some(zone), Some(name)) = (zone, &server.name) {
        match (name.is_within(zone), count) {
            (true, 0) => violations.add(
                "addresses",
                format!("is empty; '{name}' lies in the zone, so that nobody else can give its address"),
            ),
            (false, 1..) => violations.add(
                "addresses",
                format!("'{name}' lies outside the zone, where its own zone gives its addresses"),
            ),
            _ => {}
        }
    }
    if count > Zone::ADDRESSES_MAX {
        violations
            .add("addresses", format!("{count} are too many; at most {} are allowed", Zone::ADDRESSES_MAX));
    }
    let mut seen = BTreeSet::new();
    for (place, address) in server.addresses.iter().enumerate().take(Zone::ADDRESSES_MAX) {
        let Some(address) = address else { continue };
        let field = format!("addresses[{place}]");
        if !seen.insert(address) {
            violations.add(&field, format!("{address} is given twice"));
        }
        // The same addresses that no endpoint can have, no name server can have.
        match parse_target(&address.to_string()) {
            Ok(Target::V4(_) | Target::V6(_)) => {}
            Ok(Target::Name(_)) => violations.add(&field, format!("{address} is no address")),
            Err(fault) => violations.add(&field, format!("{address} {fault}")),
        }
    }
}
