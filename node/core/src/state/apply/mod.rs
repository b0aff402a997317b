//! The only way in which the state changes: one command at a time, wholly or not at all. One file a concern.

mod agent;
mod brake;
mod dispatch;
mod endpoint;
mod enrolment;
mod flatten;
mod geography;
mod kind;
mod latency;
mod learned;
mod lookup;
mod mapping;
mod names;
mod nesting;
mod outcomes;
mod overrides;
mod profile;
mod propagate;
mod records;
mod region;
mod remember;
mod service;
mod step;
mod suppose;
mod warn;
mod zone;

pub use dispatch::apply;
pub use suppose::suppose_down;

#[cfg(test)]
mod tests;
