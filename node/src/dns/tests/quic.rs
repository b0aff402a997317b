//! Over QUIC: DNS-15's streams and the errors of RFC 9250, DNS-22, and of DNS-14 the limits.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, VarInt};
use rustls::version::TLS13;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::certificates::*;
use super::packets::*;
use super::sockets::*;
use super::streams::framed;
use super::zone::view;
use crate::dns::places::Limits;

const KEY: &str = "dns_quic_listen";
const PROTOCOL_ERROR: VarInt = VarInt::from_u32(2);

/// Connections end with the endpoint, so both are kept.
struct Client {
    connection: Connection,
    endpoint: Endpoint,
}

impl Client {
    async fn try_connect(address: SocketAddr, pair: &Pair, protocol: &str) -> Result<Self, ConnectionError> {
        let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).expect("loopback can be bound");
        let tls =
            QuicClientConfig::try_from(pair.client_of(&[&TLS13], protocol)).expect("the suite is there");
        let config = ClientConfig::new(Arc::new(tls));
        let connecting = endpoint.connect_with(config, address, "localhost").expect("it can be tried");
        let connection = timeout(DEADLINE, connecting).await.expect("in time")?;
        Ok(Self { connection, endpoint })
    }

    async fn of(secure: &SecureDoor) -> Self {
        Self::try_connect(secure.address(KEY), &secure.pair, "doq").await.expect("hands are shaken")
    }

    /// What comes back on a stream with `bytes` and its end on it.
    async fn send(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let exchange = async {
            let (mut send, mut receive) =
                self.connection.open_bi().await.map_err(|error| error.to_string())?;
            send.write_all(bytes).await.map_err(|error| error.to_string())?;
            send.finish().map_err(|error| error.to_string())?;
            receive.read_to_end(70_000).await.map_err(|error| error.to_string())
        };
        timeout(DEADLINE, exchange).await.expect("in time")
    }

    async fn is_answered(&self) -> bool {
        let reply = self.send(&framed(&numbered(0))).await;
        reply.is_ok_and(|reply| reply.len() > 14 && Seen::of(&reply[2..]).id == 0)
    }

    /// Waits until the door closes the connection, and says with which code.
    async fn code(&self) -> VarInt {
        match timeout(DEADLINE, self.connection.closed()).await.expect("in time") {
            ConnectionError::ApplicationClosed(close) => close.error_code,
            error => panic!("it ended otherwise: {error}"),
        }
    }
}

/// A query with an option in its OPT.
fn with_option(code: u16) -> Vec<u8> {
    let options = [&code.to_be_bytes()[..], &[0, 0]].concat();
    let mut packet = query_with("app.example.com", &opt_at(&[0], 1232, 0, 0, &options));
    packet[..2].fill(0);
    packet
}

#[tokio::test]
async fn dns_15_each_stream_gets_the_answer_behind_its_length() {
    let secure = SecureDoor::open_on(view(), Limits::of_process());
    let client = Client::of(&secure).await;
    let reply = client.send(&framed(&numbered(0))).await.expect("a reply");
    assert_eq!(usize::from(u16::from_be_bytes([reply[0], reply[1]])), reply.len() - 2);
    let seen = Seen::of(&reply[2..]);
    assert_eq!((seen.id, seen.rcode, seen.counts), (0, NO_ERROR, [1, 1, 0, 0]));
    assert_eq!(seen.bytes[seen.bytes.len() - 4..], [192, 0, 2, 80]);
    let counts = secure.door.statistics.counts();
    assert_eq!((counts.queries, counts.connections), (1, 1));
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_15_a_stream_that_stalls_holds_up_no_other() {
    let secure = SecureDoor::open();
    let client = Arc::new(Client::of(&secure).await);
    let (mut stalled, mut reply) = client.connection.open_bi().await.expect("a stream");
    stalled.write_all(&framed(&numbered(0))[..9]).await.expect("it can be sent");
    let asked = (0..300).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.is_answered().await })
    });
    for answered in asked.collect::<Vec<_>>() {
        assert!(answered.await.expect("no panic"));
    }
    stalled.write_all(&framed(&numbered(0))[9..]).await.expect("it can be sent");
    stalled.finish().expect("it is open");
    assert!(!reply.read_to_end(70_000).await.expect("a reply").is_empty());
    secure.door.shut().await;
}

/// DNS-15, RFC 9250 §4.3.3: an end without a message would cost the client all its streams.
#[tokio::test]
async fn dns_15_a_stream_that_is_given_up_ends_with_a_code() {
    let secure = SecureDoor::open();
    let client = Client::of(&secure).await;
    let (mut begun, mut reply) = client.connection.open_bi().await.expect("a stream");
    begun.write_all(&framed(&numbered(0))[..9]).await.expect("it can be sent");
    begun.reset(3_u32.into()).expect("it is open");
    let ended = reply.read_to_end(9).await.expect_err("there is no message");
    assert!(matches!(ended, quinn::ReadToEndError::Read(quinn::ReadError::Reset(_))), "{ended:?}");
    assert!(client.is_answered().await);
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_15_whoever_breaks_a_rule_of_quic_is_closed_with_its_code() {
    let secure = SecureDoor::open();
    let message = framed(&numbered(0));
    for (what, bytes) in [
        ("an id", framed(&numbered(7))),
        ("keep-alive", framed(&with_option(11))),
        ("nothing", Vec::new()),
        ("half a length", vec![0]),
        ("no message", vec![0, 0]),
        ("half a message", message[..20].to_vec()),
        ("more than a message", [&message[..], &[0]].concat()),
        ("two messages", [message.clone(), message.clone()].concat()),
        ("less than a header", framed(&[0; 11])),
        ("a response", framed(&[&[0, 0][..], &header(QR, [0; 4])[2..]].concat())),
    ] {
        let client = Client::of(&secure).await;
        assert!(client.is_answered().await);
        assert!(client.send(&bytes).await.is_err(), "{what}");
        assert_eq!(client.code().await, PROTOCOL_ERROR, "{what}");
    }
    let client = Client::of(&secure).await;
    assert!(client.send(&framed(&with_option(12))).await.is_ok(), "other options are welcome");
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_15_quic_without_doq_or_with_streams_of_one_way_is_refused() {
    let secure = SecureDoor::open();
    let other = Client::try_connect(secure.address(KEY), &secure.pair, "h3").await;
    assert!(other.is_err_and(|error| error.to_string().contains("120")), "no_application_protocol");
    let client = Client::of(&secure).await;
    let one_way = timeout(Duration::from_millis(200), client.connection.open_uni()).await;
    assert!(one_way.is_err(), "no credit is given for them");
    assert!(client.is_answered().await);
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_14_a_message_that_does_not_end_ends_its_stream_or_the_connection() {
    let limits = Limits { message_max: Duration::from_millis(300), ..Limits::of_process() };
    let secure = SecureDoor::open_with(limits);
    let client = Client::of(&secure).await;
    let (mut half, mut reply) = client.connection.open_bi().await.expect("a stream");
    half.write_all(&framed(&numbered(0))[..9]).await.expect("it can be sent");
    let stopped = timeout(DEADLINE, half.stopped()).await.expect("in time");
    assert_eq!(stopped, Ok(Some(VarInt::from_u32(4))));
    let ended =
        reply.read_to_end(9).await.expect_err("an end without a message would be an error of the connection");
    assert_eq!(ended, quinn::ReadToEndError::Read(quinn::ReadError::Reset(VarInt::from_u32(4))));
    assert!(client.is_answered().await, "the connection goes on");
    let (mut endless, _) = client.connection.open_bi().await.expect("a stream");
    endless.write_all(&framed(&numbered(0))).await.expect("it can be sent");
    assert_eq!(client.code().await, PROTOCOL_ERROR, "a query without its end");
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_14_quic_has_places_like_others() {
    let limits = Limits { connections_max: 2, idle_max: Duration::from_secs(3), ..Limits::of_process() };
    let secure = SecureDoor::open_with(limits);
    let clients = [Client::of(&secure).await, Client::of(&secure).await, Client::of(&secure).await];
    assert_eq!(clients[0].code().await, VarInt::from_u32(4), "the longest idle makes room");
    assert!(clients[1].is_answered().await && clients[2].is_answered().await);
    let counts = secure.door.statistics.counts();
    assert_eq!((counts.connections, counts.evictions), (3, 1));
    let ended = timeout(DEADLINE, clients[1].connection.closed()).await.expect("in time");
    assert!(matches!(ended, ConnectionError::TimedOut | ConnectionError::ApplicationClosed(_)), "{ended}");
    secure.door.shut().await;
}

#[tokio::test]
async fn sec_3_a_changed_pair_is_presented_over_quic() {
    let secure = SecureDoor::open();
    let before = Client::of(&secure).await;
    let next = Pair::fresh();
    secure.files.put("certificate", &next.certificate);
    secure.files.put("key", &next.key);
    secure.certificate.look(true);
    let after = Client::try_connect(secure.address(KEY), &next, "doq").await.expect("hands are shaken");
    assert!(after.is_answered().await && before.is_answered().await);
    assert!(Client::try_connect(secure.address(KEY), &secure.pair, "doq").await.is_err());
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_22_what_is_asked_over_quic_is_answered_before_the_end() {
    let secure = SecureDoor::open();
    let client = Client::of(&secure).await;
    let mut replies = Vec::new();
    for _ in 0..50 {
        let (mut send, receive) = client.connection.open_bi().await.expect("a stream");
        send.write_all(&framed(&numbered(0))).await.expect("it can be sent");
        send.finish().expect("it is open");
        replies.push(receive);
    }
    let begun = Instant::now();
    let shut = tokio::spawn(secure.door.shut());
    for mut reply in replies {
        assert!(!reply.read_to_end(70_000).await.expect("a reply").is_empty());
    }
    assert_eq!(client.code().await, VarInt::from_u32(0));
    shut.await.expect("no panic");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    client.endpoint.close(VarInt::from_u32(0), b"");
}

#[tokio::test]
async fn dns_22_a_handshake_that_waits_in_the_socket_is_answered() {
    let pair = Pair::fresh();
    let files = Files::of(&pair);
    let bound = bound(&files.open(), Limits::of_process());
    let address = address_of(&bound.encrypted_addresses(), KEY);
    let asked = tokio::spawn(async move {
        let client = Client::try_connect(address, &pair, "doq").await.expect("hands are shaken");
        client.is_answered().await
    });
    tokio::task::yield_now().await;
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    Door::serve(bound, shutdown).shut().await;
    assert!(asked.await.expect("no panic"));
}
