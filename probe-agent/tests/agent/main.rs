//! The agent against real sockets: endpoints that misbehave, resolvers that lie, members that come and go.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says where; clippy spares only the test functions"
)]

mod canary;
mod endpoint;
mod failover;
mod http;
mod https;
mod member;
mod process;
mod report;
mod resolver;
mod running;
mod tcp;
