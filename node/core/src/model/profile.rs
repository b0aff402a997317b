//! A name that is answered with one of several endpoints.

use super::{Caseless, Edit, Endpoint, EndpointId, Monitor, MonitorPatch, Name, NameFault, Revision};

/// Limits and defaults of spec §1.1 and §1.2.
pub mod limits {
    /// Most endpoints in a profile (OBJ-5).
    pub const ENDPOINTS_MAX: usize = 200;
    /// Longest profile, region or agent name, in characters (OBJ-2, OBJ-9).
    pub const NAME_MAX: usize = 63;
    /// Longest endpoint name, in characters (OBJ-4).
    pub const ENDPOINT_NAME_MAX: usize = 260;
    /// Longest time to live, in seconds (SET-2, RFC 2181 §8).
    pub const TTL_MAX: u32 = 2_147_483_647;
    /// Time to live if none is given, in seconds (SET-2).
    pub const TTL_DEFAULT: u32 = 30;
    /// Highest priority number (SET-12); the lowest is 1.
    pub const PRIORITY_MAX: u32 = 1_000;
    /// Highest weight (SET-13); the lowest is 1.
    pub const WEIGHT_MAX: u32 = 1_000;
    /// Most addresses that a multivalue answer may be given (SET-17); the fewest are 1.
    pub const RETURN_MAX: u32 = 8;
    /// Most addresses of a multivalue answer if nothing is given (SET-17).
    pub const RETURN_DEFAULT: u32 = 2;
    /// Most codes on an endpoint: more than there are places (SET-15).
    pub const GEO_MAX: usize = 500;
    /// Most subnets on an endpoint, as they are given: a bound on what one wish can make every member keep (SET-16).
    pub const SUBNETS_MAX: usize = 1_000;
    /// Highest share of the endpoints that may leave the pool within a window, in percent (FAIL-2); the lowest is 1.
    pub const REMOVAL_MAX: u32 = 100;
    /// Shortest window of the removal brake, in milliseconds (FAIL-2).
    pub const REMOVAL_WINDOW_MS_MIN: u64 = 1_000;
    /// Longest window of the removal brake, in milliseconds (FAIL-2).
    pub const REMOVAL_WINDOW_MS_MAX: u64 = 3_600_000;
    /// Window of the removal brake if none is given, in milliseconds (FAIL-2).
    pub const REMOVAL_WINDOW_MS_DEFAULT: u64 = 30_000;
    /// Most nestings one below the other (SET-23).
    pub const NESTING_MAX: usize = 10;
}

/// A profile's number, given once and never again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileId(pub u64);

/// The rule that chooses among the pool (SET-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Routing {
    /// The lowest number, alone.
    Priority,
    /// A draw by weight.
    Weighted,
    /// The region that is nearest to the client.
    Performance,
    /// The client's place on the map.
    Geographic,
    /// Several of the pool at once.
    Multivalue,
    /// The client's address.
    Subnet,
}

impl Routing {
    /// Every method, in the order of the manual.
    pub const ALL: [Self; 6] =
        [Self::Priority, Self::Weighted, Self::Performance, Self::Geographic, Self::Multivalue, Self::Subnet];

    /// The word for it in files, flags and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Weighted => "weighted",
            Self::Performance => "performance",
            Self::Geographic => "geographic",
            Self::Multivalue => "multivalue",
            Self::Subnet => "subnet",
        }
    }
}

/// Where in its zone a profile stands (OBJ-3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelativeName {
    /// `@`: at the zone's own name.
    Apex,
    /// Below it.
    Below(Name),
}

impl RelativeName {
    /// Reads `@` or one or more labels. A final dot would say that the zone's name is there already (RFC 1035 §5.1).
    pub fn parse(text: &str) -> Result<Self, NameFault> {
        match text {
            "@" => Ok(Self::Apex),
            text if text.len() > 1 && text.ends_with('.') => Err(NameFault::Whole),
            text => Name::parse(text).map(Self::Below),
        }
    }

    /// The full name in `zone`.
    pub fn within(&self, zone: &Name) -> Result<Name, NameFault> {
        match self {
            Self::Apex => Ok(zone.clone()),
            Self::Below(name) => name.join(zone),
        }
    }
}

impl std::fmt::Display for RelativeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Apex => f.pad("@"),
            Self::Below(name) => name.fmt(f),
        }
    }
}

/// A profile (OBJ-1). Zone, relative name and so the full name never change. What decisions look at stands in front, in one
/// line of the processor's cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Profile {
    /// Its number; a name removed and added again gets a new one (OBJ-9).
    pub id: ProfileId,
    /// Time to live of its answers in seconds; [`limits::TTL_DEFAULT`] if not given.
    pub ttl: Option<u32>,
    /// Most addresses of a multivalue answer; [`limits::RETURN_DEFAULT`] if not given (SET-17).
    pub max_return: Option<u32>,
    /// The rule that chooses.
    pub routing: Routing,
    /// Its name in the cluster (OBJ-2).
    pub name: Caseless,
    /// The zone it lives in.
    pub zone: Name,
    /// Where in the zone it stands.
    pub relative_name: RelativeName,
    /// The name that it answers for: `relative_name.zone`.
    pub full_name: Name,
    /// Are endpoints with DNS names answered by the addresses of these, which the leader looks up, instead of by an alias
    /// (DNS-16)? False if not given. A nested endpoint answers as its own profile says.
    pub flatten: bool,
    /// Switched on by the operator (OBJ-7)?
    pub enabled: bool,
    /// How many percent of its endpoints may leave the pool by probing alone within the window (FAIL-2); no limit if not given.
    pub max_removal: Option<u32>,
    /// The window, in milliseconds; [`limits::REMOVAL_WINDOW_MS_DEFAULT`] if not given.
    pub removal_window_ms: Option<u64>,
    /// How its endpoints are probed.
    pub monitor: Monitor,
    /// Its endpoints, in the order in which they were added.
    pub endpoints: Vec<Endpoint>,
    /// The state's counter at its last change, an endpoint's change included.
    pub revision: Revision,
}

impl Profile {
    /// The time to live that its answers carry, in seconds.
    pub fn effective_ttl(&self) -> u32 {
        self.ttl.unwrap_or(limits::TTL_DEFAULT)
    }

    /// Most addresses of a multivalue answer.
    pub fn effective_max_return(&self) -> u32 {
        self.max_return.unwrap_or(limits::RETURN_DEFAULT)
    }

    /// Within how long no more than [`Profile::max_removal`] may leave the pool, in milliseconds.
    pub fn effective_removal_window_ms(&self) -> u64 {
        self.removal_window_ms.unwrap_or(limits::REMOVAL_WINDOW_MS_DEFAULT)
    }

    /// The names of the profiles that its nested endpoints stand for.
    pub fn children(&self) -> impl Iterator<Item = &Caseless> {
        self.endpoints.iter().filter_map(|endpoint| Some(&endpoint.child()?.profile))
    }

    /// The endpoint of that name and its place in the list.
    pub fn endpoint(&self, name: &Caseless) -> Option<(usize, &Endpoint)> {
        self.endpoints.iter().enumerate().find(|(_, endpoint)| endpoint.name == *name)
    }

    /// The endpoint of that number.
    pub fn endpoint_by_id(&self, id: EndpointId) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.id == id)
    }
}

/// What a new profile or an update says (VAL-2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfilePatch {
    /// See [`Profile::routing`].
    pub routing: Edit<Routing>,
    /// See [`Profile::ttl`].
    pub ttl: Edit<u32>,
    /// See [`Profile::max_return`].
    pub max_return: Edit<u32>,
    /// See [`Profile::flatten`].
    pub flatten: Edit<bool>,
    /// See [`Profile::enabled`].
    pub enabled: Edit<bool>,
    /// See [`Profile::max_removal`].
    pub max_removal: Edit<u32>,
    /// See [`Profile::removal_window_ms`].
    pub removal_window_ms: Edit<u64>,
    /// See [`Profile::monitor`].
    pub monitor: MonitorPatch,
}
