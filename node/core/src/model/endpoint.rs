//! One of the places that a profile can answer with.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Caseless, Edit, Header, Name, Place, Revision, Span};

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

/// What an endpoint stands for (OBJ-6). Which of the three never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointKind {
    /// A DNS name or an address.
    External(Target),
    /// Another profile, which is asked in its place.
    Nested(Child),
    /// A registered service, by its name.
    Service(Caseless),
}

/// The profile that a nested endpoint stands for, and how much of it must work (SET-19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The profile's name.
    pub profile: Caseless,
    /// How many of its endpoints must be available, 1 or more; 1 if not given.
    pub endpoints_min: Option<u32>,
    /// How many of them over IPv4; 0 if not given.
    pub endpoints_min_v4: Option<u32>,
    /// How many of them over IPv6; 0 if not given.
    pub endpoints_min_v6: Option<u32>,
}

/// An endpoint (OBJ-1, OBJ-6). `priority` is always there once the endpoint is stored (SET-12). What decisions look at stands
/// in front, close together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Endpoint {
    /// Its number; a name removed and added again gets a new one (OBJ-9).
    pub id: EndpointId,
    /// Rank under `priority`, lower first.
    pub priority: u32,
    /// Weight under `weighted`; 1 if not given (SET-13).
    pub weight: Option<u32>,
    /// Its name, unique in the profile (OBJ-4).
    pub name: Caseless,
    /// What it stands for.
    pub kind: EndpointKind,
    /// Switched on by the operator (OBJ-7)?
    pub enabled: bool,
    /// The region in which it lives (SET-14). A service endpoint has none of its own: it lives where its service does.
    pub location: Option<Caseless>,
    /// The places whose clients it serves under `geographic` (SET-15).
    pub geo: Vec<Place>,
    /// The addresses whose clients it serves under `subnet` and, over everything else, under `geographic` and
    /// `performance` (SET-16, RTE-11): in order, none touching another.
    pub subnets: Vec<Span>,
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

    /// Its own target; `None` unless it is external.
    pub fn target(&self) -> Option<&Target> {
        if let EndpointKind::External(target) = &self.kind { Some(target) } else { None }
    }

    /// The profile that it stands for; `None` unless it is nested.
    pub fn child(&self) -> Option<&Child> {
        if let EndpointKind::Nested(child) = &self.kind { Some(child) } else { None }
    }

    /// The service that it stands for; `None` unless it is a service endpoint.
    pub fn service(&self) -> Option<&Caseless> {
        if let EndpointKind::Service(service) = &self.kind { Some(service) } else { None }
    }
}

/// An endpoint's target and region, its own or its service's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resolved<'a> {
    /// What it answers with and is probed at; `None` for a nested endpoint.
    pub target: Option<&'a Target>,
    /// Where it lives (SET-14).
    pub location: Option<&'a Caseless>,
}

/// For people: the target itself, or what stands in its place.
impl fmt::Display for EndpointKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::External(target) => target.fmt(f),
            Self::Nested(child) => write!(f, "profile '{}'", child.profile),
            Self::Service(service) => write!(f, "service '{service}'"),
        }
    }
}

impl Child {
    /// [`Self::endpoints_min`], as it counts.
    pub fn effective_endpoints_min(&self) -> u32 {
        self.endpoints_min.unwrap_or(1)
    }

    /// [`Self::endpoints_min_v4`], as it counts.
    pub fn effective_endpoints_min_v4(&self) -> u32 {
        self.endpoints_min_v4.unwrap_or(0)
    }

    /// [`Self::endpoints_min_v6`], as it counts.
    pub fn effective_endpoints_min_v6(&self) -> u32 {
        self.endpoints_min_v6.unwrap_or(0)
    }
}

/// What a new endpoint or an update says (VAL-2). Raw text stays raw: only `apply` judges it, with all else at once. A
/// new endpoint has one of `target`, `nested` and `service`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointPatch {
    /// A DNS name or an address, of an external endpoint.
    pub target: Edit<String>,
    /// A profile's name, of a nested endpoint.
    pub nested: Edit<String>,
    /// A service's name, of a service endpoint.
    pub service: Edit<String>,
    /// See [`Child::endpoints_min`].
    pub endpoints_min: Edit<u32>,
    /// See [`Child::endpoints_min_v4`].
    pub endpoints_min_v4: Edit<u32>,
    /// See [`Child::endpoints_min_v6`].
    pub endpoints_min_v6: Edit<u32>,
    /// See [`Endpoint::enabled`].
    pub enabled: Edit<bool>,
    /// See [`Endpoint::priority`].
    pub priority: Edit<u32>,
    /// See [`Endpoint::weight`].
    pub weight: Edit<u32>,
    /// See [`Endpoint::location`].
    pub location: Edit<String>,
    /// See [`Endpoint::geo`]: codes.
    pub geo: Edit<Vec<String>>,
    /// See [`Endpoint::subnets`]: networks and ranges.
    pub subnets: Edit<Vec<String>>,
    /// See [`Endpoint::always_serve`].
    pub always_serve: Edit<bool>,
    /// See [`Endpoint::headers`].
    pub headers: Edit<Vec<Header>>,
}
