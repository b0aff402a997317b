//! What a zone itself answers with: start of authority, name servers and their addresses (DNS-1, DNS-2).

use std::net::IpAddr;

use super::{Record, RecordData, RecordType, Soa};
use crate::model::{Name, Zone};
use crate::state::View;

/// The zone's SOA record for an answer section.
pub(super) fn soa(zone: &Zone) -> Record {
    soa_with_ttl(zone, Zone::TTL)
}

/// The zone's SOA record for the authority section of a negative answer: min(SOA TTL, minimum) (RFC 2308 §5), and not
/// above `ttl_max`, the time to live of the profile at the name, if there is one (DNS-5).
pub(super) fn negative_soa(zone: &Zone, ttl_max: Option<u32>) -> Record {
    let ttl = Zone::TTL.min(Zone::NEGATIVE_TTL);
    soa_with_ttl(zone, ttl_max.map_or(ttl, |ttl_max| ttl.min(ttl_max)))
}

/// The zone's name servers.
pub(super) fn name_servers(zone: &Zone) -> Vec<Record> {
    let record = |data| Record { name: zone.name.clone(), ttl: Zone::TTL, data };
    without_duplicates(zone.name_servers.iter().map(|server| record(RecordData::Ns(server.name.clone()))))
}

/// The addresses of the name servers that lie in the zone: the very ones that a question for them is answered with. A
/// zone of ours nested in this one may give others than this one does.
pub(super) fn glue(zone: &Zone, view: &View) -> Vec<Record> {
    let in_zone = zone.name_servers.iter().filter(|server| !server.addresses.is_empty());
    without_duplicates(in_zone.flat_map(|server| {
        let addresses = view.name_server_addresses(&server.name);
        addresses.iter().map(|address| address_record(&server.name, *address))
    }))
}

/// Those of a name server's `addresses` that answer `record_type`; for ANY those for A, else those for AAAA (DNS-7).
pub(super) fn addresses(name: &Name, addresses: &[IpAddr], record_type: RecordType) -> Vec<Record> {
    let of_type = |record_type| {
        let records = addresses.iter().map(|address| address_record(name, *address));
        without_duplicates(records.filter(|record| record.data.record_type() == record_type))
    };
    match record_type {
        RecordType::ANY if addresses.iter().any(IpAddr::is_ipv4) => of_type(RecordType::A),
        RecordType::ANY => of_type(RecordType::AAAA),
        other => of_type(other),
    }
}

fn address_record(name: &Name, address: IpAddr) -> Record {
    Record { name: name.clone(), ttl: Zone::TTL, data: address.into() }
}

fn soa_with_ttl(zone: &Zone, ttl: u32) -> Record {
    let soa = Soa {
        primary: zone.name_servers.first().map_or_else(|| zone.name.clone(), |server| server.name.clone()),
        mailbox: zone.mailbox.clone().unwrap_or_else(|| default_mailbox(&zone.name)),
        serial: zone.revision.0 as u32,
        refresh: Zone::REFRESH,
        retry: Zone::RETRY,
        expire: Zone::EXPIRE,
        minimum: Zone::NEGATIVE_TTL,
    };
    Record { name: zone.name.clone(), ttl, data: RecordData::Soa(soa) }
}

/// `hostmaster.ZONE`, or the zone's own name where that would be too long for a name.
fn default_mailbox(zone: &Name) -> Name {
    Name::parse("hostmaster").and_then(|host| host.join(zone)).unwrap_or_else(|_| zone.clone())
}

/// A set holds nothing twice (RFC 2181 §5). At most 13 name servers with 8 addresses each: looking at all is cheap.
fn without_duplicates(records: impl Iterator<Item = Record>) -> Vec<Record> {
    let mut set: Vec<Record> = Vec::new();
    for record in records {
        if !set.contains(&record) {
            set.push(record);
        }
    }
    set
}
