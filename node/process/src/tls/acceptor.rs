//! Being called: the TLS handshake of one connection, and who is at its other end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::credentials::Credentials;
use super::stream::{Connection, Secure};
use super::verifier::{Refusal, Side, in_words};
use crate::identity::Identity;

/// How long a caller may take for its handshake.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a caller was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    /// It took too long.
    #[error("the handshake was not done within {HANDSHAKE_TIMEOUT:?}")]
    Late,
    /// TLS failed.
    #[error("the handshake failed: {0}")]
    Failed(io::Error),
    /// The certificate is not believed, or believed no longer.
    #[error("the caller's certificate is refused: {0}")]
    Refused(String),
    /// It may be a caller with an older version, or one that was told http:// for https://.
    #[error("the caller speaks no TLS")]
    NoTls,
}

/// What a failure within TLS means.
fn explain(error: io::Error) -> AcceptError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(reason)) => AcceptError::Refused(in_words(reason)),
        Some(rustls::Error::NoCertificatesPresented) => AcceptError::Refused("none was shown".to_owned()),
        Some(rustls::Error::InvalidMessage(_)) => AcceptError::NoTls,
        _ => AcceptError::Failed(error),
    }
}

/// Takes a caller in by the credentials that are current. It is nobody (`None`) if it shows no certificate, and is refused then
/// unless `may_be_nobody`.
///
/// # Errors
/// They do not prove who they are, or not in time.
pub async fn accept(
    credentials: &Arc<Credentials>,
    stream: TcpStream,
    may_be_nobody: bool,
) -> Result<(Connection, Option<Identity>), AcceptError> {
    let acceptor = TlsAcceptor::from(credentials.server(may_be_nobody));
    let accepted =
        timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await.map_err(|_| AcceptError::Late)?;
    let stream = accepted.map_err(explain)?;
    let chain = stream.get_ref().1.peer_certificates();
    if chain.is_none() && may_be_nobody {
        return Ok((Connection::Secure(Box::new(Secure::new(stream, Vec::new(), None))), None));
    }
    let refused = |refusal: Refusal| AcceptError::Refused(refusal.to_string());
    let (identity, place) = credentials.watch(chain, Side::Calling).map_err(refused)?;
    Ok((Connection::Secure(Box::new(Secure::new(stream, Vec::new(), Some(place)))), Some(identity)))
}
