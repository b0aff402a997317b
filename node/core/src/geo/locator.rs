//! Where a client is, by the operator's word first and by the database after it (RTE-8).

use std::net::IpAddr;
use std::sync::Arc;

use super::{GeoDigest, GeoTable, RangeMap};
use crate::model::{Place, PlaceSet, Span};

/// Who said where an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocatedBy {
    /// The geo table.
    Database,
    /// The operator, for a network in which the address lies.
    Override,
}

/// Where an address is, and who said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The place.
    pub place: Place,
    /// Who said so.
    pub by: LocatedBy,
}

/// A geo table under the number that the cluster names it by.
#[derive(Clone, Debug)]
pub struct DigestedTable {
    /// What it says, as a number.
    pub digest: GeoDigest,
    /// The table.
    pub table: Arc<GeoTable>,
}

impl From<GeoTable> for DigestedTable {
    /// Reads the whole table for its digest.
    fn from(table: GeoTable) -> Self {
        Self { digest: table.digest(), table: Arc::new(table) }
    }
}

/// Locates clients by a geo table and by what the operator says in its place.
#[derive(Clone, Debug)]
pub struct Locator {
    geo_table: DigestedTable,
    overrides: RangeMap<Place>,
    /// The database's table with the overrides in it, or the very table if there are none.
    table: Arc<GeoTable>,
}

impl Locator {
    /// A locator. With overrides it makes a table of its own, in the time and the space that the table takes.
    pub fn new(geo_table: DigestedTable, overrides: RangeMap<Place>) -> Self {
        let table = match overrides.is_empty() {
            true => geo_table.table.clone(),
            false => geo_table.table.with_overrides(&overrides).into(),
        };
        Self { geo_table, overrides, table }
    }

    /// The table below the overrides.
    pub fn geo_table(&self) -> &DigestedTable {
        &self.geo_table
    }

    /// The same table with other overrides.
    pub fn overridden(&self, overrides: RangeMap<Place>) -> Self {
        if overrides == self.overrides { self.clone() } else { Self::new(self.geo_table.clone(), overrides) }
    }

    /// Where `address` is, if anybody knows.
    pub fn locate(&self, address: IpAddr) -> Option<Location> {
        let place = self.table.locate(address)?;
        let is_override = !self.overrides.is_empty() && self.overrides.get(address).1.is_some();
        Some(Location { place, by: if is_override { LocatedBy::Override } else { LocatedBy::Database } })
    }

    /// See [`GeoTable::span`].
    pub fn span(&self, address: IpAddr, places: &PlaceSet, unlocated: bool) -> Span {
        self.table.span(address, places, unlocated)
    }
}

impl Default for Locator {
    /// A locator that knows of no address.
    fn default() -> Self {
        Self::new(GeoTable::default().into(), RangeMap::default())
    }
}
