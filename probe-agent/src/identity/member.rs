//! Asking a member for a certificate: one connection, one call.

use std::time::Duration;

use http::Uri;
use rustls::pki_types::CertificateDer;
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status};
use waymark_process::tls::{ConnectError, Connector};
use waymark_proto::agent::v1::IssuedCertificate;
use waymark_proto::agent::v1::enrolment_client::EnrolmentClient;

use crate::uplink::error_text;

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a call may take, which goes through the log.
const CALL_TIMEOUT: Duration = Duration::from_secs(8);

/// Why there is no certificate.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There is no connection: another member, or another moment, may do.
    Unreachable(String),
    /// The member was asked, and says why not.
    Refused(Status),
}

/// Asks the member at `url`.
pub(super) async fn ask(
    url: &Uri,
    connector: Connector,
    call: impl AsyncFnOnce(EnrolmentClient<Channel>) -> Result<Response<IssuedCertificate>, Status>,
) -> Result<Vec<CertificateDer<'static>>, Trouble> {
    let endpoint = Endpoint::from(url.clone()).connect_timeout(CONNECT_TIMEOUT);
    let connected = endpoint.connect_with_connector(connector).await;
    let channel = connected.map_err(|error| {
        let refusal = ConnectError::behind(&error).map(ToString::to_string);
        Trouble::Unreachable(refusal.unwrap_or_else(|| error_text(&error)))
    })?;
    let late = || Trouble::Unreachable(format!("no answer within {CALL_TIMEOUT:?}"));
    let answer = timeout(CALL_TIMEOUT, call(EnrolmentClient::new(channel))).await.map_err(|_| late())?;
    let IssuedCertificate { chain } = answer.map_err(Trouble::Refused)?.into_inner();
    Ok(chain.into_iter().map(|certificate| CertificateDer::from(certificate.to_vec())).collect())
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable(reason) => f.write_str(reason),
            Self::Refused(status) => write!(f, "{:?}: {}", status.code(), status.message()),
        }
    }
}
