//! A member: consensus at the bottom, the four doors (ingest, admin, dns, web) above it, put together here.

pub mod chance;
pub mod clock;
pub mod publication;
pub mod raft;
