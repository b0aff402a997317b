//! From a query to records: the zone, the name, the choice, and what a negative answer must say (spec §2).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::model::Name;
use crate::routing::Trace;
use crate::state::View;

/// A record type by its number (IANA DNS parameters).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordType(pub u16);

impl RecordType {
    /// IPv4 address.
    pub const A: Self = Self(1);
    /// Name server.
    pub const NS: Self = Self(2);
    /// Alias.
    pub const CNAME: Self = Self(5);
    /// Start of authority.
    pub const SOA: Self = Self(6);
    /// IPv6 address.
    pub const AAAA: Self = Self(28);
    /// Whatever there is (RFC 8482).
    pub const ANY: Self = Self(255);
}

/// Name and type, and who asks. Class is IN: others are not decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The name that is asked for.
    pub name: Name,
    /// The type that is asked for.
    pub record_type: RecordType,
    /// The address that the packet came from.
    pub source: IpAddr,
}

/// The response code of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rcode {
    /// The name exists.
    NoError,
    /// The name does not exist, nor anything below it.
    NxDomain,
    /// Not our name.
    Refused,
}

/// The data of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordData {
    /// An IPv4 address.
    A(Ipv4Addr),
    /// An IPv6 address.
    Aaaa(Ipv6Addr),
    /// The name that this name stands for.
    Cname(Name),
    /// A name server.
    Ns(Name),
    /// The start of authority.
    Soa(Soa),
}

/// The start of authority of a zone (RFC 1035 §3.3.13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Soa {
    /// The primary name server.
    pub primary: Name,
    /// The mailbox of whoever answers for the zone, as a name.
    pub mailbox: Name,
    /// The serial number (RFC 1982).
    pub serial: u32,
    /// Seconds.
    pub refresh: u32,
    /// Seconds.
    pub retry: u32,
    /// Seconds.
    pub expire: u32,
    /// How long a negative answer may be kept, in seconds.
    pub minimum: u32,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The owner's name. Equal to the question's: the encoder points at it, so that the asker's letters stay.
    pub name: Name,
    /// Time to live in seconds.
    pub ttl: u32,
    /// The data.
    pub data: RecordData,
}

/// What a query is answered with, before it is encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The response code.
    pub rcode: Rcode,
    /// Do we speak for the name (AA)?
    pub authoritative: bool,
    /// The answer section.
    pub answers: Vec<Record>,
    /// The authority section.
    pub authority: Vec<Record>,
    /// The additional section, without OPT.
    pub additional: Vec<Record>,
}

/// Answers `query` from `view`. `draw` is 64 random bits, from which all chance comes (§1.5); `trace` is told of each
/// step. The same view, query and draw give the same answer on every member (RTE-14).
pub fn decide(_view: &View, _query: &Query, _draw: u64, _trace: &mut impl Trace) -> Answer {
    Answer {
        rcode: Rcode::Refused,
        authoritative: false,
        answers: Vec::new(),
        authority: Vec::new(),
        additional: Vec::new(),
    }
}
