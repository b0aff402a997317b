//! Hosts of their own on one machine: network namespaces, joined by links that delay, lose, double, reorder, throttle and cut packets.

mod alone;
mod host;
mod link;
mod namespaces;
mod router;

pub use alone::alone;
pub use host::{Host, address};
pub use link::{Conditions, Counts, Direction, Links};
pub use namespaces::{NEEDS, unshare};
pub use router::Router;
