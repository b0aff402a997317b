//! What static records say (DNS-17).

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::{Record, RecordData, RecordType};
use crate::model::{Name, RecordSet};

/// Of the `sets` of one name the one that answers `record_type`: of that type, or the alias, which stands alone. ANY gets
/// one: the one for A, else AAAA, else that with the lowest number (DNS-7).
pub(super) fn answering<'a>(
    sets: impl Iterator<Item = &'a Arc<RecordSet>>,
    record_type: RecordType,
) -> Option<&'a Arc<RecordSet>> {
    let is_any = record_type == RecordType::ANY;
    let answers = |set: &&Arc<RecordSet>| {
        is_any || set.record_type == record_type || set.record_type == RecordType::CNAME
    };
    // Sets come by number: A is the first of all.
    sets.filter(answers).min_by_key(|set| !matches!(set.record_type, RecordType::A | RecordType::AAAA))
}

/// Its records.
pub(super) fn records(set: &RecordSet) -> impl Iterator<Item = Record> + '_ {
    let record = |data| Record { name: set.full_name.clone(), ttl: set.ttl, data };
    set.data.iter().map(move |data| record(read(set.record_type, data)))
}

/// Addresses and names as answers know them elsewhere too; what else there is nobody here needs to understand.
fn read(record_type: RecordType, data: &Arc<[u8]>) -> RecordData {
    let known = match record_type {
        RecordType::A => {
            <[u8; 4]>::try_from(&**data).ok().map(|octets| RecordData::A(Ipv4Addr::from(octets)))
        }
        RecordType::AAAA => {
            <[u8; 16]>::try_from(&**data).ok().map(|octets| RecordData::Aaaa(Ipv6Addr::from(octets)))
        }
        RecordType::CNAME => Name::read_wire(data).map(RecordData::Cname),
        _ => None,
    };
    known.unwrap_or_else(|| RecordData::Opaque { record_type, data: data.clone() })
}
