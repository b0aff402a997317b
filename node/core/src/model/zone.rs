//! A DNS zone that the cluster is authoritative for (DNS-1).

use std::net::IpAddr;

use super::{Edit, Name, Revision, ZoneTimers};

/// A name server of a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameServer {
    /// Its name.
    pub name: Name,
    /// Its addresses: at least one if the name lies in the zone, else none.
    pub addresses: Vec<IpAddr>,
}

/// A zone: start of authority, name servers and their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its name.
    pub name: Name,
    /// Its name servers, one or more; the first is the SOA's primary.
    pub name_servers: Vec<NameServer>,
    /// The mailbox of whoever answers for the zone, as a name; `hostmaster.ZONE` if not given.
    pub mailbox: Option<Name>,
    /// May a query's client subnet decide (RTE-1)? True if not given.
    pub ecs: bool,
    /// The times in its own records.
    pub timers: ZoneTimers,
    /// The state's counter at its last change, which is also the SOA's serial (DNS-2).
    pub revision: Revision,
}

impl Zone {
    /// Most name servers of a zone.
    pub const NAME_SERVERS_MAX: usize = 13;
    /// Most addresses of one name server.
    pub const ADDRESSES_MAX: usize = 8;

    /// The SOA's serial (DNS-2).
    pub fn serial(&self) -> u32 {
        self.revision.0 as u32
    }

    /// The name server of that name.
    pub fn name_server(&self, name: &Name) -> Option<&NameServer> {
        self.name_servers.iter().find(|server| server.name == *name)
    }
}

/// What a new zone or an update says (VAL-2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZonePatch {
    /// See [`Zone::name_servers`]: name and addresses as text.
    pub name_servers: Edit<Vec<(String, Vec<String>)>>,
    /// See [`Zone::mailbox`]: `hostmaster@example.com` or `hostmaster.example.com`.
    pub mailbox: Edit<String>,
    /// See [`Zone::ecs`].
    pub ecs: Edit<bool>,
    /// See [`Zone::timers`].
    pub timers: ZoneTimers<Edit<u32>>,
}
