//! What a zone itself answers with: start of authority, name servers and their addresses (DNS-1, DNS-2).

use super::{Record, RecordData, RecordType, Soa};
use crate::model::{Name, Zone};
use crate::state::View;

/// The zone's SOA record for an answer section.
pub(super) fn soa(zone: &Zone) -> Record {
    soa_with_ttl(zone, zone.timers.soa_ttl)
}

/// The zone's SOA record for the authority section of a negative answer: min(SOA TTL, minimum) (RFC 2308 §5), and not
/// above `ttl_max`, the time to live of the profile at the name, if there is one (DNS-5).
pub(super) fn negative_soa(zone: &Zone, ttl_max: Option<u32>) -> Record {
    soa_with_ttl(zone, negative_ttl(zone, ttl_max))
}

/// How long a negative answer of `zone` lives.
pub(super) fn negative_ttl(zone: &Zone, ttl_max: Option<u32>) -> u32 {
    let ttl = zone.timers.effective_negative_ttl();
    ttl_max.map_or(ttl, |ttl_max| ttl.min(ttl_max))
}

/// The zone's name servers.
pub(super) fn name_servers(zone: &Zone) -> Vec<Record> {
    let record = |data| Record { name: zone.name.clone(), ttl: zone.timers.name_server_ttl, data };
    without_duplicates(zone.name_servers.iter().map(|server| record(RecordData::Ns(server.name.clone()))))
}

/// The addresses of the name servers that lie in the zone: the very ones that a question for them is answered with. A
/// zone of ours nested in this one may give others than this one does.
pub(super) fn glue(zone: &Zone, view: &View) -> Vec<Record> {
    let in_zone = zone.name_servers.iter().filter(|server| !server.addresses.is_empty());
    without_duplicates(in_zone.flat_map(|server| addresses_of(&server.name, view)))
}

/// Those addresses of the name server `name` that answer `record_type`; for ANY those for A, else those for AAAA (DNS-7).
pub(super) fn addresses(name: &Name, view: &View, record_type: RecordType) -> Vec<Record> {
    let of_type = |record_type| {
        let records = addresses_of(name, view);
        without_duplicates(records.filter(|record| record.data.record_type() == record_type))
    };
    match record_type {
        RecordType::ANY => Some(of_type(RecordType::A))
            .filter(|records| !records.is_empty())
            .unwrap_or_else(|| of_type(RecordType::AAAA)),
        other => of_type(other),
    }
}

/// A name server's addresses, for as long as the zone says that gives them.
fn addresses_of<'a>(name: &'a Name, view: &'a View) -> impl Iterator<Item = Record> + 'a {
    let ttl = view.state.addressing_zone(name).map_or(0, |zone| zone.timers.name_server_ttl);
    let addresses = view.name_server_addresses(name).iter();
    addresses.map(move |address| Record { name: name.clone(), ttl, data: (*address).into() })
}

fn soa_with_ttl(zone: &Zone, ttl: u32) -> Record {
    let soa = Soa {
        primary: zone.name_servers.first().map_or_else(|| zone.name.clone(), |server| server.name.clone()),
        mailbox: zone.mailbox.clone().unwrap_or_else(|| default_mailbox(&zone.name)),
        serial: zone.serial(),
        refresh: zone.timers.refresh,
        retry: zone.timers.retry,
        expire: zone.timers.expire,
        minimum: zone.timers.negative_ttl,
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
