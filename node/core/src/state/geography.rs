//! By which table clients are located, and where the operator says that they are (RTE-14).

use imbl::OrdMap;

use crate::geo::{GeoDigest, RangeMap};
use crate::model::{Network, Place, Revision};

/// How the cluster locates clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Geography {
    /// The table that all members go by; none: the one that each carries along. A member that lacks it keeps the one
    /// that it goes by, or begins with its own.
    pub table: Option<GeoDigest>,
    /// The state's counter at the last change of the table's choice.
    pub revision: Revision,
    /// Places of networks that go before the table's; the most specific counts.
    pub overrides: OrdMap<Network, PlaceOverride>,
}

/// The operator's word on where a network is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceOverride {
    /// The place.
    pub place: Place,
    /// The state's counter at its last change.
    pub revision: Revision,
}

impl Geography {
    /// Most overrides: they are for corrections, a table of one's own is for the rest.
    pub const OVERRIDES_MAX: usize = 10_000;

    /// The overrides as something to look addresses up in.
    pub fn override_map(&self) -> RangeMap<Place> {
        RangeMap::new(self.overrides.iter().map(|(network, found)| (*network, found.place)))
    }
}
