//! Geo tables: the one that every member carries along, and the one that the operator gives (RTE-14).

mod embedded;
#[cfg(test)]
mod fixture;
mod follow;
mod kept;
mod mmdb;
mod record;
mod tables;

pub use embedded::{SOURCE, embedded};
pub use mmdb::{GeoFault, GeoFile, Wrong, read, table_of};
pub use tables::{GeoTables, NamedTable};
