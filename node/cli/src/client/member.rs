//! One member's address and the connection to it.

use std::cell::RefCell;
use std::error::Error;
use std::time::Duration;

use tokio::time::timeout;
use tonic::Status;
use tonic::transport::{Channel, Endpoint};
use waymark_core::model::MemberUrl;

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
    channel: RefCell<Option<Channel>>,
}

impl Member {
    pub(super) fn new(url: &str) -> Result<Self, Failure> {
        let wrong =
            |why: &str| Failure::usage(format!("--endpoint '{url}' {why}, as in http://127.0.0.1:7400"));
        MemberUrl::parse(url).map_err(|fault| wrong(&fault.to_string()))?;
        let address = Endpoint::from_shared(url.to_owned())
            .map_err(|error| wrong(&error.to_string()))?
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEPALIVE.0)
            .keep_alive_timeout(KEEPALIVE.1)
            .keep_alive_while_idle(true)
            .http2_max_header_list_size(HEADERS_MAX);
        Ok(Self { url: url.to_owned(), address, channel: RefCell::new(None) })
    }

    /// The connection, made if there is none, or why there is none within `limit`.
    pub(super) async fn channel(&self, limit: Duration) -> Result<Channel, String> {
        if let Some(channel) = self.channel.borrow().clone() {
            return Ok(channel);
        }
        let limit = limit.min(CONNECT_MAX);
        let channel = timeout(limit, self.address.connect())
            .await
            .map_err(|_| format!("no connection within {limit:.1?}"))?
            .map_err(|error| deepest(&error))?;
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
    let text = deepest(status);
    if text.contains("frame with invalid size")
        || text.contains("InvalidPreface")
        || text.contains("HTTP_1_1_REQUIRED")
    {
        return no_grpc();
    }
    Trouble::Unknown(text)
}

/// Nothing that was said to it was understood.
pub(super) fn no_grpc() -> Trouble {
    Trouble::Unsent("what listens there is no gRPC port of a member".to_owned())
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
        assert!(Member::new("http://127.0.0.1:7400").is_ok());
        assert!(Member::new("http://[::1]:7400/").is_ok());
        for url in ["", "127.0.0.1:7400", "https://a:1", "http://a:1/x", "ftp://a", "http://a:1?x"] {
            let Err(failure) = Member::new(url) else { panic!("{url} was taken") };
            assert!(failure.message.contains("http://127.0.0.1:7400"), "{}", failure.message);
        }
    }
}
