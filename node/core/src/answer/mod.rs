//! From a query to records: the zone, the name, the choice, and what a negative answer must say (spec §2).

mod decide;
mod direct;
mod lookup;
mod record;
mod scope;
mod settled;
mod static_records;
#[cfg(test)]
mod tests;
mod zone_data;

pub use crate::model::RecordType;
pub use decide::{ALIASES_MAX, decide};
pub use direct::{Direct, decide_directly};
pub use record::{Answer, Query, Rcode, Record, RecordData, Soa};
pub use settled::{Settled, settled, settled_by};
