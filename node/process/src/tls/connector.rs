//! Calling a member: a connection by whatever credentials are current, or in plain text, as a connector for gRPC channels.
//!
//! With TLS 1.3 a caller has finished its handshake before the member has looked at the caller's certificate; what the
//! member thinks of it would come as the strange end of the first call. Members speak first in HTTP/2, so the connector
//! waits for their first bytes: a connection that it hands on has been accepted, and a refusal is an error of connecting.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::AlertDescription;
use rustls_pki_types::ServerName;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use super::credentials::Credentials;
use super::stream::{Connection, Secure};
use super::trust::Trust;
use super::verifier::{Refusal, Side, in_words};

/// How long a member may take from the first byte to its acceptance.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// How much is read of what a member says first; the rest is read by whoever gets the connection.
const FIRST_BYTES: usize = 1_024;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address leads nowhere.
    #[error(transparent)]
    Unreachable(#[from] io::Error),
    /// The member does not believe this side.
    #[error("the member refused this certificate: {0}")]
    Refused(&'static str),
    /// This side does not believe the member.
    #[error("the certificate of whoever answers is refused: {0}")]
    Untrusted(String),
    /// Something else listens there.
    #[error("what listens there speaks no TLS, or no gRPC over it")]
    NoTls,
    /// It speaks TLS, but not as members do.
    #[error("what listens there speaks TLS otherwise than members do: is it a member's gRPC port?")]
    OtherTls,
    /// It was there for a moment.
    #[error(
        "the other side closed the connection before it had accepted it: is it a member's gRPC port, with TLS on both sides?"
    )]
    Closed,
    /// The network failed meanwhile.
    #[error("the connection ended before the member had accepted it: {0}")]
    Ended(String),
    /// It keeps its silence.
    #[error("the member did not accept the connection within {HANDSHAKE_TIMEOUT:?}")]
    Late,
    /// The URL has no host.
    #[error("'{0}' names no host")]
    NoHost(Uri),
}

impl ConnectError {
    /// The connect error behind `error`, if there is one.
    pub fn behind<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Self> {
        std::iter::successors(Some(error), |error| error.source()).find_map(|error| error.downcast_ref())
    }

    /// Is it a matter of certificates, which another try does not mend?
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Untrusted(_))
    }
}

/// Connects to members; clones share the credentials.
#[derive(Clone, Debug, Default)]
pub struct Connector {
    as_whom: Option<Whom>,
    /// The name of the one member that is to be reached.
    wanted: Option<Arc<str>>,
}

/// What TLS is begun with.
#[derive(Clone, Debug)]
enum Whom {
    Known(Arc<Credentials>),
    Nobody(Trust),
}

impl Connector {
    /// One that speaks TLS with `credentials`, whatever the URL says; in plain text if there are none.
    pub fn new(credentials: Option<Arc<Credentials>>) -> Self {
        Self { as_whom: credentials.map(Whom::Known), wanted: None }
    }

    /// One that speaks TLS without a certificate: a member may take it in to give it one.
    pub fn of_nobody(trust: Trust) -> Self {
        Self { as_whom: Some(Whom::Nobody(trust)), wanted: None }
    }

    /// The same for the member called `name` alone: whoever else answers is refused (SEC-2). In plain text nobody proves a
    /// name.
    pub fn wanting(&self, name: &str) -> Self {
        Self { as_whom: self.as_whom.clone(), wanted: Some(name.into()) }
    }

    /// Connects to the host and port of `uri`.
    async fn connect(self, uri: Uri) -> Result<Connection, ConnectError> {
        const HTTPS: u16 = 443;
        let host = uri.host().ok_or_else(|| ConnectError::NoHost(uri.clone()))?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, uri.port_u16().unwrap_or(HTTPS))).await?;
        // Without it Nagle's algorithm would hold back each small message by up to 40 ms.
        stream.set_nodelay(true)?;
        match self.as_whom {
            None => Ok(Connection::Plain(stream)),
            Some(whom) => {
                let shaken = shake(&whom, stream, self.wanted.as_deref());
                let shaken = timeout(HANDSHAKE_TIMEOUT, shaken).await;
                shaken.map_err(|_| ConnectError::Late)?
            }
        }
    }
}

async fn shake(whom: &Whom, stream: TcpStream, wanted: Option<&str>) -> Result<Connection, ConnectError> {
    // No host name is sent or compared; the type wants one.
    let nobody = ServerName::try_from("member.invalid").expect("it is a host name");
    let connector = tokio_rustls::TlsConnector::from(match whom {
        Whom::Known(credentials) => credentials.client(),
        Whom::Nobody(trust) => trust.client(),
    });
    let mut stream = connector.connect(nobody, stream).await.map_err(explain)?;
    let mut ahead = vec![0; FIRST_BYTES];
    let length = stream.read(&mut ahead).await.map_err(explain)?;
    if length == 0 {
        return Err(ConnectError::Closed);
    }
    ahead.truncate(length);
    let untrusted = |refusal: Refusal| ConnectError::Untrusted(refusal.to_string());
    let Whom::Known(credentials) = whom else {
        // The handshake has judged the member; what is called by nobody is over soon.
        return Ok(Connection::Secure(Box::new(Secure::new(stream, ahead, None))));
    };
    let (identity, place) =
        credentials.watch(stream.get_ref().1.peer_certificates(), Side::Called).map_err(untrusted)?;
    if let Some(name) = wanted.filter(|name| !identity.role.is_member(name)) {
        let reason = format!("it is that of {}, and the member '{name}' was called", identity.role);
        return Err(ConnectError::Untrusted(reason));
    }
    Ok(Connection::Secure(Box::new(Secure::new(stream, ahead, Some(place)))))
}

/// What a failure within TLS means.
fn explain(error: io::Error) -> ConnectError {
    use rustls::Error as Tls;
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Tls>()) {
        Some(Tls::AlertReceived(alert)) => {
            refusal(*alert).map_or(ConnectError::OtherTls, ConnectError::Refused)
        }
        Some(Tls::InvalidCertificate(reason)) => ConnectError::Untrusted(in_words(reason)),
        Some(Tls::InvalidMessage(_) | Tls::NoApplicationProtocol) => ConnectError::NoTls,
        Some(_) => ConnectError::OtherTls,
        None if is_closed(&error) => ConnectError::Closed,
        None => ConnectError::Ended(error.to_string()),
    }
}

/// Has the other side ended the connection, in whatever way?
pub fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// What the member's alert says of the certificate that it was shown; TLS has no more words for it.
fn refusal(alert: AlertDescription) -> Option<&'static str> {
    Some(match alert {
        AlertDescription::CertificateExpired => {
            "it has expired or is not valid yet, or this machine's or the member's clock is wrong"
        }
        AlertDescription::CertificateRevoked => "it has been revoked",
        AlertDescription::UnknownCA => "none of the authorities that the member trusts has issued it",
        AlertDescription::UnsupportedCertificate => "it is not made for calling members",
        AlertDescription::CertificateUnknown => {
            "it names nobody in the member's trust domain; the member's log says more"
        }
        AlertDescription::BadCertificate | AlertDescription::DecryptError => "it is damaged",
        AlertDescription::CertificateRequired => "none was shown",
        AlertDescription::AccessDenied => "it is not welcome",
        _ => return None,
    })
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Connection>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.connect(uri).await.map(TokioIo::new) })
    }
}
