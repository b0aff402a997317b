//! The choice among a profile's endpoints (spec §1.5): the pool, then one file a method.

mod choice;
mod mixer;
mod pool;
mod priority;
mod trace;
mod weighted;

pub use choice::{Absence, choose};
pub use mixer::mix;
pub use pool::{Pool, PoolKind, Standing};
pub use trace::{ChoiceDetails, EndpointStanding, NoTrace, Trace};
