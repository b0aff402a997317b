//! The agents' door: their streams come in here, what must be probed goes out, and of what they found only that reaches
//! the log which changes something (spec §1.4).
//!
//! ```text
//!   agent ⇄ service ─▶ opening ─▶ stream ⇄ session ─▶ relevance   does it change anything?
//!                                   │         ├─────▶ freshness   what has not been heard of for too long?
//!                                   │         ├─────▶ unsettled   what is on its way, how far to acknowledge?
//!                                   ▼         ├─────▶ assignment  what must the agent be told to probe?
//!                               consensus     └─────▶ rings       what was found last, for people
//! ```

mod allowance;
mod assignment;
mod consensus;
mod counts;
mod ending;
mod freshness;
mod leadership;
pub mod limits;
mod opening;
mod proposing;
mod reading;
mod recent;
mod relevance;
mod rings;
mod service;
mod session;
mod stream;
mod survey;
#[cfg(test)]
mod tests;
mod unsettled;

pub use counts::Counts;
pub use recent::{Certificate, Phases, Recent, RecentOutcome};
pub use service::{Admission, Identity, Ingest};
