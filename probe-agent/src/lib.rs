//! The agent: probes endpoints from one region and reports what it finds to a member.
//!
//! ```text
//!  member ──Assignment──▶ assignment ──▶ schedule ──▶ probe ──▶ backlog ──Report──▶ member
//!                                                    (guard, resolve)
//! ```
//!
//! `schedule`, `assignment`, `expectation`, `guard`, `canary`, `sight` and `backlog` are pure; `probe` and `resolve` hold the sockets
//! towards endpoints, `uplink` the stream to a member, `identity` the certificate that members know the agent by, and `agent` puts them together.

pub mod agent;
pub mod assignment;
pub mod backlog;
pub mod canary;
mod clock;
pub mod config;
pub mod descriptors;
pub mod expectation;
pub mod guard;
pub mod identity;
mod lookout;
pub mod probe;
pub mod resolve;
pub mod schedule;
pub mod sight;
pub mod survey;
pub mod uplink;
