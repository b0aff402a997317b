//! Static records of one name and one type, which stand beside profiles in a zone (DNS-17).

use std::sync::Arc;

use super::{Name, RecordType, RelativeName, Revision};

/// The [`Name::tree_key`] of a set's owner, and its type: the sets of a name, and those of all names below it, are one
/// range of such keys.
pub type RecordKey = (Arc<[u8]>, RecordType);

/// The records of one name and type. Zone, name and type never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSet {
    /// The zone it stands in.
    pub zone: Name,
    /// Where in the zone it stands.
    pub relative_name: RelativeName,
    /// The records' owner: `relative_name.zone`.
    pub full_name: Name,
    /// The records' type.
    pub record_type: RecordType,
    /// Their time to live, in seconds.
    pub ttl: u32,
    /// The data of each, as on the wire and uncompressed (RFC 3597 §4), in the order in which they are answered.
    pub data: Vec<Arc<[u8]>>,
    /// The state's counter at its last change.
    pub revision: Revision,
}

impl RecordSet {
    /// The time to live, in seconds, if none is given.
    pub const TTL_DEFAULT: u32 = 3_600;
    /// The longest time to live, in seconds (RFC 2181 §8).
    pub const TTL_MAX: u32 = super::profile_limits::TTL_MAX;
    /// Most records of a set: a name with more is a list that DNS is no place for.
    pub const RECORDS_MAX: usize = 100;
    /// Most bytes of data of a set. With 100 records' heads and a chain of aliases before them an answer stays far below
    /// the 64 KiB that a message can have.
    pub const DATA_BYTES_MAX: usize = 16 << 10;

    /// Why records of that type are not kept.
    ///
    /// | type | why |
    /// |---|---|
    /// | SOA | the zone has its own |
    /// | NS, DNAME | names below would be answered elsewhere: delegations are refused for now |
    /// | of signed zones | zones are not signed here; DS alone speaks of another zone |
    /// | 0, OPT, 128–255, 65535 | never data: questions, transactions, reserved (RFC 6895 §3.1) |
    pub fn refusal(record_type: RecordType) -> Option<&'static str> {
        match record_type.0 {
            6 => Some("cannot be kept: the zone's own is made from its settings"),
            2 => Some(
                "cannot be kept: delegations are not supported; the zone's own name servers are set with 'zone update', \
                 and a zone of this cluster may nest in another",
            ),
            39 => Some("cannot be kept: names below it would stand elsewhere, which is not supported"),
            // SIG, KEY, NXT, RRSIG, NSEC, DNSKEY, NSEC3, NSEC3PARAM, CDS, CDNSKEY, CSYNC.
            24 | 25 | 30 | 46..=48 | 50 | 51 | 59 | 60 | 62 => {
                Some("cannot be kept: it is of signed zones (DNSSEC), and zones here are not signed")
            }
            0 | 41 | 128..=255 | 65_535 => Some("cannot be kept: it stands in messages, never in a zone"),
            _ => None,
        }
    }

    /// What finds it in the state.
    pub fn key(&self) -> RecordKey {
        (self.full_name.tree_key(), self.record_type)
    }

    /// What operators call it: `www.example.com TXT`.
    pub fn title(&self) -> String {
        format!("{} {}", self.full_name, self.record_type)
    }
}
