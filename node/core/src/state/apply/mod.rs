//! The only way in which the state changes: one command at a time, wholly or not at all. One file a concern.

mod agent;
mod dispatch;
mod endpoint;
mod lookup;
mod names;
mod outcomes;
mod profile;
mod propagate;
mod region;
mod remember;
mod step;
mod zone;

pub use dispatch::apply;

#[cfg(test)]
mod tests;
