//! Where a client is: what is said of its address by tables, exactly and for how many addresses around it the same holds.

mod cloud_regions;
#[cfg(test)]
mod figures;
mod file;
mod fnv;
mod half;
mod locator;
mod network_map;
mod range_map;
mod table;

pub use cloud_regions::CloudRegion;
pub use file::FileFault;
pub(crate) use fnv::Fnv;
pub use locator::{DigestedTable, LocatedBy, Location, Locator};
pub use network_map::NetworkMap;
pub use range_map::RangeMap;
pub use table::{GeoDigest, GeoTable, OrderFault};
