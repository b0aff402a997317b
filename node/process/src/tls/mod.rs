//! TLS between members, agents and operators: who this process is, whom it believes, and connections by both (SEC-1).

mod acceptor;
mod connector;
mod credentials;
mod pair;
mod stream;
#[cfg(test)]
mod tests;
mod trust;
mod verifier;
mod watched;

pub use acceptor::{AcceptError, HANDSHAKE_TIMEOUT, accept};
pub use connector::{ConnectError, Connector, is_closed};
pub(crate) use credentials::believed_but_for_time;
pub use credentials::{CredentialFiles, Credentials, CredentialsError};
pub use pair::{Named, PairError, read as read_pair};
pub use stream::Connection;
pub use trust::Trust;
pub use verifier::{Refusal, Side, Verifier};
