//! The agent: probes endpoints from one region and reports what it finds to a member.
//!
//! ```text
//!  member ──Assignment──▶ assignment ──▶ schedule ──▶ probe ──▶ backlog ──Report──▶ member
//!                                                    (guard, resolve)
//! ```

pub mod backlog;
pub mod expectation;
pub mod guard;
pub mod probe;
pub mod resolve;
pub mod schedule;
