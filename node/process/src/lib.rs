//! What a program needs to be a process, once for all of them: settings, logs, signals, descriptors, resolvers, chance, and who
//! it is to others: identity, TLS, and the authority that issues both.

pub mod chance;
pub mod descriptors;
pub mod duration;
pub mod follow;
pub mod identity;
pub mod join_token;
pub mod logging;
mod memory;
pub mod pki;
pub mod resolver;
pub mod secrets;
pub mod seldom;
pub mod settings;
pub mod shutdown;
pub mod tls;
