//! Agents whose way to the members breaks, and members that vanish under them: as real processes on hosts of their own, whose events
//! are held against a plain reckoning of what the endpoints answered (PRB-11, STA-1, STA-5, STA-6, STA-7, FAIL-1, FAIL-3, SEC-2, SEC-6).
//!
//! Each test starts itself again in namespaces of its own, so they run beside each other.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod gap;
mod links;
mod members;
mod model;
mod regions;
mod scene;
mod strangers;
