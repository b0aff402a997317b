//! What others hold a name server to: a strict resolver in front of a cluster, another name server with the same zone, the
//! questions of the EDNS flag day, and floods with good queries beside them.
//!
//! Those that need other people's programs are run by `make checkers` alone, which installs them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod flag_day;
mod floods;
mod knot;
mod packets;
mod resolver;
mod zone;
