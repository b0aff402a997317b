//! A member: consensus at the bottom, the four doors (ingest, admin, dns, web) above it, put together here.

pub mod acceptor;
pub mod admin;
pub mod chance;
pub mod clock;
pub mod config;
pub mod dns;
pub mod ingest;
pub mod logging;
pub mod publication;
pub mod raft;
pub mod shutdown;
pub mod web;
