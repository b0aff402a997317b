//! Connections to other members, one for each address and purpose, made when first needed and remade when broken.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tonic::codegen::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use waymark_core::model::MemberUrl;
use waymark_process::tls::{ConnectError, Connector, Credentials};
use waymark_proto::peer::v1::peers_client::PeersClient;
use waymark_proto::peer::v1::raft_client::RaftClient;

use super::caller::Introduction;
use super::types::Node;

/// How long a connection may take to come up: three round trips around the world, one of them lost and sent again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// An idle connection is tried this often …
const KEEPALIVE_EVERY: Duration = Duration::from_secs(10);
/// … and given up when nothing is heard for this long.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(5);
/// HTTP/2 flow control: what one message may fill without waiting.
const STREAM_WINDOW: u32 = 1 << 20;
/// HTTP/2 flow control for all of a connection's messages.
const CONNECTION_WINDOW: u32 = 4 << 20;
/// Largest message between members: an entry, or a megabyte of them, with room to spare.
pub(super) const MESSAGE_MAX: usize = 4 << 20;
/// Connections that are kept. Members are few; only addresses that are long gone are ever dropped.
const CONNECTIONS_MAX: usize = 256;

/// A client of another member's Raft service.
pub(super) type RaftPeer = RaftClient<InterceptedService<Channel, Introduction>>;
/// A client of another member's other services.
pub(super) type Peer = PeersClient<InterceptedService<Channel, Introduction>>;

/// What a connection is for: a snapshot's megabytes must not stand before a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// Entries and votes.
    Log,
    /// Snapshots.
    Bulk,
    /// Everything else.
    Talk,
}

/// An address that is none.
#[derive(Clone, Debug, thiserror::Error)]
#[error("'{address}' is not an address of a member, as in https://192.0.2.1:7400: {reason}")]
pub(super) struct BadAddress {
    address: String,
    reason: String,
}

/// The connections of one member. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    /// With credentials it speaks TLS whatever an address says: what is stored cannot lead to plain text.
    connector: Connector,
    channels: Arc<Mutex<HashMap<Way, Channel>>>,
}

/// What a connection is known by: an address, the name of the member that must be there (empty if any may be), and its purpose.
type Way = (String, String, Purpose);

impl Connections {
    pub(super) fn new(credentials: Option<Arc<Credentials>>) -> Self {
        Self { connector: Connector::new(credentials), channels: Arc::default() }
    }

    /// A client of the Raft service of the member `node`, and of nobody else at its address.
    pub(super) fn raft(
        &self,
        node: &Node,
        purpose: Purpose,
        introduction: Introduction,
    ) -> Result<RaftPeer, BadAddress> {
        let channel = self.channel(&node.grpc, &node.name, purpose)?;
        let client = RaftClient::with_interceptor(channel, introduction);
        Ok(client.max_decoding_message_size(MESSAGE_MAX).max_encoding_message_size(MESSAGE_MAX))
    }

    /// A client of the other services of the member `node`, and of nobody else at its address.
    pub(super) fn peer(&self, node: &Node, introduction: Introduction) -> Result<Peer, BadAddress> {
        let channel = self.channel(&node.grpc, &node.name, Purpose::Talk)?;
        let client = PeersClient::with_interceptor(channel, introduction);
        Ok(client.max_decoding_message_size(MESSAGE_MAX).max_encoding_message_size(MESSAGE_MAX))
    }

    /// A client of whichever member is at `address`.
    pub(super) fn stranger(&self, address: &str, introduction: Introduction) -> Result<Peer, BadAddress> {
        self.peer(&Node { grpc: address.to_owned(), ..Node::default() }, introduction)
    }

    fn channel(&self, address: &str, name: &str, purpose: Purpose) -> Result<Channel, BadAddress> {
        let mut channels = self.channels.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let key = (address.to_owned(), name.to_owned(), purpose);
        if let Some(channel) = channels.get(&key) {
            return Ok(channel.clone());
        }
        let connector = if name.is_empty() { self.connector.clone() } else { self.connector.wanting(name) };
        let channel = endpoint(address)?.connect_with_connector_lazy(connector);
        if channels.len() >= CONNECTIONS_MAX {
            channels.clear();
        }
        channels.insert(key, channel.clone());
        Ok(channel)
    }
}

fn endpoint(address: &str) -> Result<Endpoint, BadAddress> {
    let bad = |reason: String| BadAddress { address: address.to_owned(), reason };
    MemberUrl::parse(address).map_err(|fault| bad(format!("it {fault}")))?;
    let endpoint = Endpoint::from_shared(address.to_owned()).map_err(|error| bad(error.to_string()))?;
    Ok(endpoint
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_keep_alive_interval(KEEPALIVE_EVERY)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW))
}

/// Why a call failed: what is behind it, which tonic's own words do not tell.
pub(super) fn reason(status: &tonic::Status) -> String {
    if let Some(error) = ConnectError::behind(status) {
        return error.to_string();
    }
    let mut innermost = None;
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut) {
            return format!("there is no connection within {CONNECT_TIMEOUT:?}");
        }
        innermost = Some(error);
        source = error.source();
    }
    innermost.map_or_else(|| status.message().to_owned(), ToString::to_string)
}

/// Why one of the two sides does not believe the other's certificate, if that is why a call failed.
pub(super) fn distrust(status: &tonic::Status) -> Option<String> {
    ConnectError::behind(status).filter(|error| error.is_refusal()).map(ToString::to_string)
}

/// Is it certain that the request behind `status` never left this member?
pub(super) fn never_sent(status: &tonic::Status) -> bool {
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        if error.is::<tonic::ConnectError>() {
            return true;
        }
        source = error.source();
    }
    false
}
