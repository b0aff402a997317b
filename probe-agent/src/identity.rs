//! How an agent with a join token comes to its identity, and keeps it by itself (SEC-1).
//!
//! ```text
//!  no certificate, or an expired one, and a token ──▶ joining ──▶ certificate ──▶ renewal at half of its life, and so on
//! ```

mod joining;
mod member;
mod renewal;

pub use joining::{JoinError, Joining};
pub use renewal::keep_up;
