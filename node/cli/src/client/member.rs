//! One member's address and the connection to it.

use std::cell::RefCell;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use tonic::Status;
use tonic::transport::{Channel, Endpoint};
use waymark_core::model::MemberUrl;
use waymark_process::tls::{ConnectError, Connector, Credentials, is_closed};

use super::pursuit::Trouble;
use crate::failure::Failure;

/// How long one member may take to accept a connection before the next is tried.
const CONNECT_MAX: Duration = Duration::from_secs(2);

/// How often a quiet connection is tested, and how long the other side may take to answer: a member that hangs is told
/// from one that waits for a leader, and a stream whose member has gone without a word ends.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(2));

/// The largest header block that is taken: a refusal carries its violations in one.
const HEADERS_MAX: u32 = 1 << 20;

/// A member.
#[derive(Clone)]
pub(super) struct Member {
    /// Its address as it was given.
    pub(super) url: String,
    address: Endpoint,
    connector: Connector,
    channel: RefCell<Option<Channel>>,
}

impl Member {
    /// The member at `url`, who is spoken to with `credentials` if the URL asks for TLS.
    pub(super) fn new(url: &str, credentials: Option<&Arc<Credentials>>) -> Result<Self, Failure> {
        let wrong =
            |why: &str| Failure::usage(format!("--endpoint '{url}' {why}, as in https://127.0.0.1:7400"));
        let parsed =
            MemberUrl::parse(url).and_then(MemberUrl::safe).map_err(|fault| wrong(&fault.to_string()))?;
        let credentials = credentials.filter(|_| parsed.is_encrypted()).cloned();
        if parsed.is_encrypted() && credentials.is_none() {
            let how = "asks for TLS, for which members must know who you are: give --certificate, --key and --authority, \
                       or WAYMARK_CERTIFICATE, WAYMARK_KEY and WAYMARK_AUTHORITY";
            return Err(Failure::usage(format!("--endpoint '{url}' {how}")));
        }
        let address = Endpoint::from_shared(url.to_owned())
            .map_err(|error| wrong(&error.to_string()))?
            .http2_keep_alive_interval(KEEPALIVE.0)
            .keep_alive_timeout(KEEPALIVE.1)
            .keep_alive_while_idle(true)
            .http2_max_header_list_size(HEADERS_MAX);
        let connector = Connector::new(credentials);
        Ok(Self { url: url.to_owned(), address, connector, channel: RefCell::new(None) })
    }

    /// The connection, made if there is none, or why there is none within `limit`.
    pub(super) async fn channel(&self, limit: Duration) -> Result<Channel, Trouble> {
        if let Some(channel) = self.channel.borrow().clone() {
            return Ok(channel);
        }
        let limit = limit.min(CONNECT_MAX);
        let connected = self.address.connect_with_connector(self.connector.clone());
        let channel = timeout(limit, connected)
            .await
            .map_err(|_| Trouble::Unsent(format!("no connection within {limit:.1?}")))?
            .map_err(|error| match ConnectError::behind(&error) {
                Some(refusal) if refusal.is_refusal() => Trouble::Distrusted(refusal.to_string()),
                _ => Trouble::Unsent(deepest(&error)),
            })?;
        self.channel.replace(Some(channel.clone()));
        Ok(channel)
    }

    /// The next call connects anew.
    pub(super) fn forget_channel(&self) {
        self.channel.replace(None);
    }
}

/// What a status that this side made says of the call. A peer that answers no HTTP/2 has not understood it.
pub(super) fn broken(status: &Status) -> Trouble {
    // The connection before was lost, and there is no new one.
    match ConnectError::behind(status) {
        Some(error) if error.is_refusal() => return Trouble::Distrusted(error.to_string()),
        Some(error) => return Trouble::Unsent(error.to_string()),
        None => {}
    }
    if is_lost(status) {
        return Trouble::Unknown("the connection was closed before there was an answer".to_owned());
    }
    let text = deepest(status);
    if text.contains("frame with invalid size")
        || text.contains("InvalidPreface")
        || text.contains("HTTP_1_1_REQUIRED")
    {
        return no_grpc();
    }
    Trouble::Unknown(text)
}

/// Has the other side closed the connection?
fn is_lost(error: &(dyn Error + 'static)) -> bool {
    let is_it = error.downcast_ref::<std::io::Error>().is_some_and(is_closed);
    is_it || error.source().is_some_and(is_lost)
}

/// Nothing that was said to it was understood.
pub(super) fn no_grpc() -> Trouble {
    Trouble::Unsent("what listens there is no gRPC port of a member, or one that wants https://".to_owned())
}

/// The innermost error: the outer ones only say that there is one.
fn deepest(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_http_addresses_are_taken() {
        assert!(Member::new("http://127.0.0.1:7400", None).is_ok());
        assert!(Member::new("http://[::1]:7400/", None).is_ok());
        for url in ["", "127.0.0.1:7400", "http://a:1", "http://a:1/x", "ftp://a", "http://a:1?x"] {
            let Err(failure) = Member::new(url, None) else { panic!("{url} was taken") };
            assert!(failure.message.contains("https://127.0.0.1:7400"), "{}", failure.message);
        }
        let Err(failure) = Member::new("https://a:1", None) else { panic!("TLS needs an identity") };
        assert!(failure.message.contains("--certificate"), "{}", failure.message);
    }
}
