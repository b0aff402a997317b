//! The operators' API: one file a service, over handles that it is given. Writes go to the log through `Proposer`, reads
//! come from the view, and any member takes any call.
//!
//! ```text
//!  message ─▶ zones, profiles … ─▶ wish ─▶ handles.write ─▶ consensus ─▶ the log
//!                                          handles.view  ◀─ publication ◀─┘
//! ```

mod agents;
mod answers;
mod audit;
mod authority;
mod caller;
mod cluster;
mod consensus;
mod endpoints;
mod events;
mod fault;
mod geography;
mod handles;
mod lately;
mod latencies;
pub mod limits;
mod page;
mod profiles;
mod records;
mod regions;
mod registry;
mod sealing;
mod services;
mod shown;
mod simulation;
mod statuses;
#[cfg(test)]
mod tests;
mod watch;
mod wish;
mod workshop;
mod zones;

pub use services::services;
