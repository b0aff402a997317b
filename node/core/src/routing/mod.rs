//! The choice among a profile's endpoints (spec §1.5): the pool, then one file a method.

mod absence;
mod choice;
mod chosen;
mod client;
mod elsewhere;
mod geographic;
mod mixer;
mod multivalue;
mod performance;
mod pool;
mod priority;
mod question;
mod subnet;
#[cfg(test)]
mod tests;
mod trace;
mod weighted;

pub use absence::Absence;
pub use choice::{Asked, Choice, choose};
pub use chosen::{Chosen, Passed};
pub use client::{Client, ClientFrom};
pub use mixer::mix;
pub use pool::{Pool, PoolKind, Standing};
pub use trace::{ChoiceDetails, EndpointStanding, NoTrace, Trace};
pub(crate) use weighted::place_among;
