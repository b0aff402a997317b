//! DNS over QUIC: connections, and on each stream one query and its reply (RFC 9250).

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{
    Connection, Endpoint, EndpointConfig, Incoming, ReadError, RecvStream, SendStream, ServerConfig,
    TransportConfig, VarInt,
};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connection::DRAIN_GRACE;
use super::door::{Door, Guest};
use super::places::Limits;
use super::read::read;
use super::respond::Transport;
use super::visit::{MESSAGE_MAX, Pieces, Visit};

/// Streams that one connection may have open, each with a query.
const STREAMS_MAX: u8 = 100;

/// Bytes that a client may send on one stream, and on all, before we have read them; and that we may have sent and it has
/// not acknowledged.
const WINDOWS: (u32, u32, u64) = (66 * 1024, 256 * 1024, 256 * 1024);

/// Handshakes that wait to be taken in, and bytes that are kept for each and for all of them meanwhile.
const INCOMING_MAX: (usize, u64, u64) = (1_000, 16 * 1024, 4 * 1024 * 1024);

/// How long a connection that is to end may take to deliver its last replies, and the end itself.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// Codes of RFC 9250 §4.3.
const NO_ERROR: VarInt = VarInt::from_u32(0);
const INTERNAL_ERROR: VarInt = VarInt::from_u32(1);
const PROTOCOL_ERROR: VarInt = VarInt::from_u32(2);
const EXCESSIVE_LOAD: VarInt = VarInt::from_u32(4);

/// The bytes of a length.
const LENGTH_LEN: usize = 2;

/// The client breaks a rule for which the connection ends (RFC 9250 §4.3.3).
#[derive(Debug, PartialEq, Eq)]
struct ProtocolError;

/// An endpoint on `socket`. Must be called within a tokio runtime.
pub(super) fn endpoint(
    socket: UdpSocket,
    tls: Arc<rustls::ServerConfig>,
    limits: Limits,
) -> io::Result<Endpoint> {
    let tls = QuicServerConfig::try_from(tls).expect("the provider has QUIC's first suite");
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Some(limits.idle_max.try_into().expect("seconds fit")))
        .max_concurrent_bidi_streams(STREAMS_MAX.into())
        .max_concurrent_uni_streams(0_u8.into())
        .stream_receive_window(WINDOWS.0.into())
        .receive_window(WINDOWS.1.into())
        .send_window(WINDOWS.2)
        .datagram_receive_buffer_size(None)
        // Who listens on the way learns nothing from lengths (RFC 9250 §5.4), whether or not the query asks for padding.
        .pad_to_mtu(true);
    let mut config = ServerConfig::with_crypto(Arc::new(tls));
    config
        .transport_config(Arc::new(transport))
        .max_incoming(INCOMING_MAX.0)
        .incoming_buffer_size(INCOMING_MAX.1)
        .incoming_buffer_size_total(INCOMING_MAX.2);
    Endpoint::new(EndpointConfig::default(), Some(config), socket, Arc::new(quinn::TokioRuntime))
}

/// Serves connections until the door's shutdown, then answers what has come.
pub(super) async fn serve(endpoint: Endpoint, door: Door) {
    let mut connections = JoinSet::new();
    let over = door.shut_for(DRAIN_GRACE);
    tokio::pin!(over);
    loop {
        tokio::select! {
            biased;
            () = &mut over => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            incoming = endpoint.accept() => match incoming {
                Some(incoming) => take_in(&door, incoming, &mut connections),
                None => break,
            }
        }
    }
    endpoint.set_server_config(None);
    while connections.join_next().await.is_some() {}
    endpoint.close(NO_ERROR, b"");
    // So that clients are told, and need not find out.
    let _ = timeout(CLOSE_MAX, endpoint.wait_idle()).await;
}

fn take_in(door: &Door, incoming: Incoming, connections: &mut JoinSet<()>) {
    // A flood of forged addresses must not push out those who are there: when it gets crowded, who comes has to show
    // that it gets what is sent to its address.
    if incoming.may_retry() && door.places.is_crowded() {
        drop(incoming.retry());
        return;
    }
    let guest = door.admit(incoming.remote_address().ip(), Transport::Quic, None);
    let door = door.clone();
    connections.spawn(async move {
        let evicted = guest.evicted();
        let handshake = timeout(door.places.limits().handshake_max, incoming.into_future());
        let Some(Ok(Ok(connection))) = evicted.run_until_cancelled(handshake).await else { return };
        let code = tokio::select! {
            () = evicted.cancelled() => EXCESSIVE_LOAD,
            code = converse(&connection, guest, &door) => code,
        };
        connection.close(code, b"");
    });
}

/// Answers queries until the client leaves or breaks a rule, and after the door's shutdown those that have come. Returns
/// the code to close with. The connection's idle limit is its own.
async fn converse(connection: &Connection, guest: Guest, door: &Door) -> VarInt {
    let conversation = Conversation { visit: Visit::new(guest), limits: door.places.limits() };
    let mut streams = FuturesUnordered::new();
    let (over, overdue) = (door.shut_for(DRAIN_GRACE), door.shut_for(DRAIN_GRACE + CLOSE_MAX));
    tokio::pin!(over, overdue);
    let mut is_over = false;
    loop {
        tokio::select! {
            accepted = connection.accept_bi(), if !is_over => match accepted {
                Ok((send, receive)) => streams.push(conversation.exchange(send, receive)),
                Err(_) => return NO_ERROR,
            },
            Some(outcome) = streams.next(), if !streams.is_empty() => {
                if outcome == Err(ProtocolError) {
                    return PROTOCOL_ERROR;
                }
            }
            () = &mut over, if !is_over => is_over = true,
            () = &mut overdue => return NO_ERROR,
            else => return NO_ERROR,
        }
        if is_over && streams.is_empty() {
            return NO_ERROR;
        }
    }
}

/// What the streams of a connection have in common.
struct Conversation {
    visit: Visit,
    limits: Limits,
}

impl Conversation {
    /// One query and its reply.
    async fn exchange(&self, mut send: SendStream, mut receive: RecvStream) -> Result<(), ProtocolError> {
        let Some(query) = self.query(&mut receive).await? else {
            // An end without a message would be an error of the whole connection (RFC 9250 §4.3.3).
            drop(send.reset(EXCESSIVE_LOAD));
            return Ok(());
        };
        let reply = self.reply(&query).ok_or(ProtocolError)?;
        let sent = async {
            send.write_all(&reply).await?;
            drop(send.finish());
            // The connection may be closed when all of this is over, which would throw away what is not there yet.
            drop(send.stopped().await);
            Ok::<(), quinn::WriteError>(())
        };
        if timeout(self.limits.idle_max, sent).await.is_err() {
            drop(send.reset(INTERNAL_ERROR));
        }
        Ok(())
    }

    /// The query on a stream; None if the client thought better of it, or takes too long.
    async fn query(&self, stream: &mut RecvStream) -> Result<Option<Vec<u8>>, ProtocolError> {
        let mut bytes = Vec::new();
        let gathered = self.visit.gather(stream, LENGTH_LEN + MESSAGE_MAX, &mut bytes);
        let gathered = timeout(self.limits.message_max, gathered).await;
        let is_whole = bytes
            .split_first_chunk::<LENGTH_LEN>()
            .is_some_and(|(length, message)| message.len() == usize::from(u16::from_be_bytes(*length)));
        match gathered {
            Ok(Ok(true)) if is_whole => Ok(Some(bytes.split_off(LENGTH_LEN))),
            // Cut short by its end, or more than one message.
            Ok(Ok(_)) => Err(ProtocolError),
            Ok(Err(_)) => Ok(None),
            // Its end does not come (§4.2).
            Err(_) if is_whole => Err(ProtocolError),
            Err(_) => {
                drop(stream.stop(EXCESSIVE_LOAD));
                Ok(None)
            }
        }
    }

    /// The reply with its length; None if the query is none that DNS over QUIC knows: its id is not 0 (§4.2.1), it has the
    /// option that keeps TCP connections (§5.5.2), or nothing could be answered.
    fn reply(&self, query: &[u8]) -> Option<Vec<u8>> {
        let keeps_tcp = read(query)?.options.has_keep_alive();
        if !query.starts_with(&[0, 0]) || keeps_tcp {
            return None;
        }
        let (reply, _) = self.visit.answer(query)?;
        Some([&(reply.len() as u16).to_be_bytes()[..], &reply].concat())
    }
}

impl Pieces for RecvStream {
    type Error = ReadError;

    async fn next(&mut self) -> Result<Option<Bytes>, ReadError> {
        Ok(self.read_chunk(usize::MAX, true).await?.map(|chunk| chunk.bytes))
    }
}
