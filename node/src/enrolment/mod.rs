//! How agents come to certificates by the cluster itself (SEC-1): the one door that is open to whoever has none, for whoever
//! has a join token.
//!
//! ```text
//!  agent                              member                                  the log
//!    │ Enrol{token, request} ────────▶ │ known, not over, not used up?
//!    │                                 │ certificate is made
//!    │                                 │ Redeem{hash of token, hash of key} ───▶ │ the first key counts
//!    │ ◀───────────────── certificate  │ ◀───────────────────────────────────────┘
//!    │ Renew{request} ───────────────▶ │ with the present certificate, at half of its life
//! ```

mod allowances;
mod service;

pub use service::{Door, Enrolling};
