//! A place where agents run, endpoints live or clients are measured from (OBJ-1).

use super::{Caseless, Revision};

/// A region. Coordinates are millionths of a degree, so that they compare exactly on every member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its name, as in `eu-central` or `aws:eu-central-1` (OBJ-9).
    pub name: Caseless,
    /// Millionths of a degree north, -90 000 000 … 90 000 000.
    pub latitude_e6: i32,
    /// Millionths of a degree east, -180 000 000 … 180 000 000.
    pub longitude_e6: i32,
    /// The state's counter at its last change.
    pub revision: Revision,
}
