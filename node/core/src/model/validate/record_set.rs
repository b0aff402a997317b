//! A static record set by itself (DNS-17): types that may be kept, and how much.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use crate::model::{Name, RecordSet, RecordType, Violations};

/// Judges the type, the time to live and the data of a set. That the data of other types than those that answers are
/// made of is well-formed is seen to where it is read from text.
pub fn validate_record_set(
    record_type: RecordType,
    ttl: u32,
    data: &[Arc<[u8]>],
    violations: &mut Violations,
) {
    if let Some(rule) = RecordSet::refusal(record_type) {
        violations.add("type", format!("{record_type} {rule}"));
    }
    violations.range("ttl", ttl.into(), 0, RecordSet::TTL_MAX.into());
    if data.is_empty() {
        violations.add("data", "is empty; a set has one record at least, and 'delete' ends one");
    }
    if data.len() > RecordSet::RECORDS_MAX {
        let most = RecordSet::RECORDS_MAX;
        violations.add("data", format!("{} records are too many; at most {most} are allowed", data.len()));
    }
    if record_type == RecordType::CNAME && data.len() > 1 {
        violations.add("data", format!("{} aliases of one name; a name has one at most", data.len()));
    }
    let bytes: usize = data.iter().map(|data| data.len()).sum();
    if bytes > RecordSet::DATA_BYTES_MAX {
        let most = RecordSet::DATA_BYTES_MAX;
        violations.add("data", format!("{bytes} bytes are too many; at most {most} are allowed"));
    }
    let mut seen = BTreeSet::new();
    for (place, data) in data.iter().enumerate().take(RecordSet::RECORDS_MAX) {
        let field = format!("data[{place}]");
        if !seen.insert(data) {
            violations.add(&field, "is given twice");
        }
        if let Some(rule) = misshapen(record_type, data) {
            violations.add(&field, format!("{} bytes are {rule}", data.len()));
        }
    }
}

/// What data must be that answers are made of.
fn misshapen(record_type: RecordType, data: &[u8]) -> Option<&'static str> {
    match record_type {
        RecordType::A if data.len() != size_of::<Ipv4Addr>() => Some("no IPv4 address"),
        RecordType::AAAA if data.len() != size_of::<Ipv6Addr>() => Some("no IPv6 address"),
        RecordType::CNAME if Name::read_wire(data).is_none() => Some("no name"),
        _ => None,
    }
}
