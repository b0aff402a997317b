//! The shape of queries, records and answers, before anything is encoded.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use crate::model::{Name, Network, RecordType};

/// Name and type, and who asks. Class is IN: others are not decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The name that is asked for.
    pub name: Name,
    /// The type that is asked for.
    pub record_type: RecordType,
    /// The address that the packet came from.
    pub source: IpAddr,
    /// The client's network, if the resolver tells it (RFC 7871); `/0` if it keeps it to itself.
    pub subnet: Option<Network>,
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

impl Rcode {
    /// Every code that an answer can have.
    pub const ALL: [Self; 3] = [Self::NoError, Self::NxDomain, Self::Refused];

    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoError => "NOERROR",
            Self::NxDomain => "NXDOMAIN",
            Self::Refused => "REFUSED",
        }
    }
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
    /// Static data of any other type, as on the wire and uncompressed (DNS-17).
    Opaque {
        /// Its type.
        record_type: RecordType,
        /// Its bytes.
        data: Arc<[u8]>,
    },
}

impl RecordData {
    /// The type of a record with this data.
    pub fn record_type(&self) -> RecordType {
        match self {
            Self::A(_) => RecordType::A,
            Self::Aaaa(_) => RecordType::AAAA,
            Self::Cname(_) => RecordType::CNAME,
            Self::Ns(_) => RecordType::NS,
            Self::Soa(_) => RecordType::SOA,
            Self::Opaque { record_type, .. } => *record_type,
        }
    }
}

impl From<IpAddr> for RecordData {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::A(address),
            IpAddr::V6(address) => Self::Aaaa(address),
        }
    }
}

/// As in a zone file (RFC 1035 §5.1), with names' final dots; what is not understood here as any data can be written
/// (RFC 3597 §5).
impl fmt::Display for RecordData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::A(address) => address.fmt(f),
            Self::Aaaa(address) => address.fmt(f),
            Self::Cname(name) | Self::Ns(name) => write!(f, "{name}."),
            Self::Soa(soa) => soa.fmt(f),
            Self::Opaque { data, .. } => {
                write!(f, "\\# {}", data.len())?;
                let blank = if data.is_empty() { "" } else { " " };
                f.write_str(blank)?;
                data.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
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

impl fmt::Display for Soa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { primary, mailbox, serial, refresh, retry, expire, minimum } = self;
        write!(f, "{primary}. {mailbox}. {serial} {refresh} {retry} {expire} {minimum}")
    }
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
    /// The response code; behind a chain of aliases, the last name's.
    pub rcode: Rcode,
    /// Do we speak for the name (AA)?
    pub authoritative: bool,
    /// The answer section: one RRset, or a chain of aliases with at most one RRset at its end.
    pub answers: Vec<Record>,
    /// The authority section: the SOA of a negative answer, else nothing.
    pub authority: Vec<Record>,
    /// The additional section, without OPT: addresses of in-zone name servers.
    pub additional: Vec<Record>,
    /// To a query with a client subnet: the prefix of the networks for which the answer holds (DNS-10); `None` if the
    /// option is not to be answered.
    pub scope: Option<u8>,
}

impl Answer {
    /// An answer without records; only one that is not REFUSED is authoritative.
    pub fn empty(rcode: Rcode) -> Self {
        Self {
            rcode,
            authoritative: rcode != Rcode::Refused,
            answers: Vec::new(),
            authority: Vec::new(),
            additional: Vec::new(),
            scope: None,
        }
    }

    /// For how many seconds it may be used: no longer than any record of the answer, nor than a negative answer, which may
    /// stand at the end of a chain of aliases (RFC 8484 §5.1, RFC 2308 §5). `None` for what answers nothing.
    pub fn seconds_fresh(&self) -> Option<u32> {
        let negative = self.authority.iter().filter_map(|record| match &record.data {
            RecordData::Soa(soa) => Some(record.ttl.min(soa.minimum)),
            _ => None,
        });
        self.answers.iter().map(|record| record.ttl).chain(negative).min()
    }
}
