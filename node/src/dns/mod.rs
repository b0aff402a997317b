//! The door for resolvers: authoritative DNS over UDP and TCP from the published view, asking nobody (spec §2).
//!
//! [`respond()`] is the centre: one packet in, one reply out, a plain function. Around it stand small listeners of our own.
//! Messages are read and written with hickory's message types. Its listeners (`hickory_server::Server` 0.26.3) were
//! tried and are not used, for they break rules that this door must keep:
//!
//! - A response (QR=1) that cannot be parsed is answered with FORMERR, because the parser runs before the check: two such
//!   servers keep one forged packet going for ever (DNS-13).
//! - What cannot be parsed gets FORMERR whatever its opcode, and no OPT (DNS-9, DNS-13).
//! - Bytes behind the last section are not looked at, and an OPT whose last option is shorter than it says is taken for
//!   an empty one (DNS-13).
//! - A reply that is too long carries part of an RRset and loses its OPT (DNS-8); its first owner is not compressed to
//!   the question (DNS-3).
//! - Shutting down leaves unanswered what the sockets hold: 1 to 3 of 500 queries got a reply (DNS-22).
//! - TCP connections are not bounded, and an accept that fails is tried again at once: out of descriptors, it spins.
//! - Nor are those over TLS, HTTPS and QUIC, which are not drained either; over HTTPS there is no GET, no HTTP/1.1 and no
//!   response to what is wrong, over QUIC a handshake holds up all others and a stream the next (DNS-14, DNS-15, DNS-22).
//! - Each datagram costs a task and a hop through a queue of 32, and a reply that finds the queue full is lost.

mod address;
mod ahead;
mod batch;
mod bind;
mod bound;
mod certificate;
mod client_subnet;
mod connection;
mod cookie;
mod counters;
mod datagram;
mod door;
mod draws;
mod encrypted;
mod fast;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod http;
mod https;
mod options;
mod outbox;
mod places;
mod prepared;
mod quic;
mod rate;
mod read;
mod respond;
mod responder;
mod round_trip;
mod stale;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;
mod visit;
mod write;

pub use bind::{BindError, bind};
pub use bound::Bound;
pub use certificate::Certificate;
pub use counters::{Counts, Statistics};
pub use encrypted::Encrypted;
pub use respond::{Arrival, Condition, Transport, Verdict, respond};
