//! One of the places that a profile can answer with.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Caseless, Edit, Header, Name, Revision};

/// An endpoint's number, given once and never again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u64);

/// What an endpoint resolves to (SET-20).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A DNS name: answered as CNAME.
    Name(Name),
    /// An IPv4 address: answered as A.
    V4(Ipv4Addr),
    /// An IPv6 address: answered as AAAA.
    V6(Ipv6Addr),
}

impl Target {
    /// Is it an address rather than a name?
    pub fn is_address(&self) -> bool {
        !matches!(self, Self::Name(_))
    }
}

impl From<IpAddr> for Target {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => Self::V6(address),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::V4(address) => address.fmt(f),
            Self::V6(address) => address.fmt(f),
        }
    }
}

/// An external endpoint (OBJ-6). `priority` is always there once the endpoint is stored (SET-12).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its number; a name removed and added again gets a new one (OBJ-9).
    pub id: EndpointId,
    /// Its name, unique in the profile (OBJ-4).
    pub name: Caseless,
    /// What it resolves to.
    pub target: Target,
    /// Switched on by the operator (OBJ-7)?
    pub enabled: bool,
    /// Rank under `priority`, lower first.
    pub priority: u32,
    /// Weight under `weighted`; 1 if not given (SET-13).
    pub weight: Option<u32>,
    /// The region in which it lives (SET-14).
    pub location: Option<Caseless>,
    /// Never probed, always in the pool (SET-18)?
    pub always_serve: bool,
    /// Headers of its own, over the profile's of the same name (SET-10).
    pub headers: Vec<Header>,
    /// The state's counter at its last change.
    pub revision: Revision,
    /// The state's counter when its present check began: at its making, at a change of the check, and when it left the
    /// probed set. What an earlier check found does not count (STA-11).
    pub check_revision: Revision,
}

impl Endpoint {
    /// The weight that counts.
    pub fn effective_weight(&self) -> u32 {
        self.weight.unwrap_or(1)
    }
}

/// What a new endpoint or an update says (VAL-2). Raw text stays raw: only `apply` judges it, with all else at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointPatch {
    /// See [`Endpoint::target`]; a name or an address.
    pub target: Edit<String>,
    /// See [`Endpoint::enabled`].
    pub enabled: Edit<bool>,
    /// See [`Endpoint::priority`].
    pub priority: Edit<u32>,
    /// See [`Endpoint::weight`].
    pub weight: Edit<u32>,
    /// See [`Endpoint::location`].
    pub location: Edit<String>,
    /// See [`Endpoint::always_serve`].
    pub always_serve: Edit<bool>,
    /// See [`Endpoint::headers`].
    pub headers: Edit<Vec<Header>>,
}
