//! Over TLS: DNS-15, SEC-3, DNS-22, and of DNS-14 that handshakes have their limits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, SupportedProtocolVersion};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;

use super::certificates::*;
use super::packets::*;
use super::sockets::*;
use super::streams::*;
use crate::dns::places::Limits;
use crate::dns::{Encrypted, bind};

const KEY: &str = "dns_tls_listen";

type Secured = std::io::Result<TlsStream<TcpStream>>;

async fn try_connect(address: SocketAddr, config: ClientConfig) -> Secured {
    shake_hands(TcpStream::connect(address).await.expect("it listens"), config).await
}

async fn shake_hands(stream: TcpStream, config: ClientConfig) -> Secured {
    stream.set_nodelay(true).expect("the option");
    let name = ServerName::try_from("localhost").expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

async fn connect(secure: &SecureDoor) -> TlsStream<TcpStream> {
    try_connect(secure.address(KEY), secure.pair.client("dot")).await.expect("hands are shaken")
}

#[tokio::test]
async fn dns_15_queries_within_tls_are_pipelined_split_and_half_closed() {
    let secure = SecureDoor::open();
    let mut stream = connect(&secure).await;
    let many: Vec<u8> = (0..200).flat_map(|id| framed(&numbered(id))).collect();
    stream.write_all(&many).await.expect("it can be sent");
    for id in 0..200 {
        let seen = receive(&mut stream).await.expect("a reply");
        assert_eq!((seen.id, seen.rcode), (id, REFUSED));
    }
    let message = framed(&numbered(7));
    for piece in [&message[..1], &message[1..2], &message[2..9], &message[9..]] {
        stream.write_all(piece).await.expect("it can be sent");
        stream.flush().await.expect("it can be sent");
        tokio::task::yield_now().await;
    }
    assert_eq!(receive(&mut stream).await.expect("a reply").id, 7);
    stream.write_all(&framed(&numbered(8))).await.expect("it can be sent");
    stream.shutdown().await.expect("it can be closed");
    assert_eq!(receive(&mut stream).await.expect("a reply").id, 8);
    assert!(is_closed(&mut stream).await);
    let counts = secure.door.statistics.counts();
    assert_eq!((counts.queries, counts.replies[5], counts.connections), (202, 202, 1));
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_15_tls_1_2_and_1_3_and_no_other_protocol_than_dot() {
    let secure = SecureDoor::open();
    let versions: [&'static SupportedProtocolVersion; 2] = [&TLS12, &TLS13];
    for version in versions {
        let client = secure.pair.client_of(&[version], "dot");
        let mut stream = try_connect(secure.address(KEY), client).await.expect("hands are shaken");
        let session = stream.get_ref().1;
        assert_eq!(session.protocol_version(), Some(version.version));
        assert_eq!(session.alpn_protocol(), Some(&b"dot"[..]));
        assert!(is_answered(&mut stream, 1).await);
    }
    let mut silent = secure.pair.client("dot");
    silent.alpn_protocols.clear();
    let mut stream = try_connect(secure.address(KEY), silent).await.expect("RFC 7858 asks for no ALPN");
    assert!(is_answered(&mut stream, 2).await);
    let other = try_connect(secure.address(KEY), secure.pair.client("h2")).await;
    assert!(other.is_err(), "who means something else is told so");
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_14_who_does_not_shake_hands_is_closed_and_counted() {
    let limits = Limits { handshake_max: Duration::from_millis(300), ..Limits::of_process() };
    let secure = SecureDoor::open_with(limits);
    let begun = Instant::now();
    let mut silent = TcpStream::connect(secure.address(KEY)).await.expect("it listens");
    let mut plain = TcpStream::connect(secure.address(KEY)).await.expect("it listens");
    plain.write_all(&framed(&numbered(1))).await.expect("it can be sent");
    let mut half = TcpStream::connect(secure.address(KEY)).await.expect("it listens");
    half.write_all(&[0x16, 3, 1, 1, 0, 1]).await.expect("it can be sent");
    for stream in [&mut silent, &mut plain, &mut half] {
        // What is no TLS gets an alert before the end.
        while !is_closed(stream).await {}
    }
    assert!(begun.elapsed() < limits.idle_max / 2, "{:?}", begun.elapsed());
    assert_eq!(secure.door.statistics.counts().connections, 3);
    secure.door.shut().await;
}

#[tokio::test]
async fn dns_14_handshakes_have_places_that_others_can_take() {
    let secure = SecureDoor::open_with(Limits { connections_max: 2, ..Limits::of_process() });
    let mut silent = Vec::new();
    for _ in 0..2 {
        silent.push(TcpStream::connect(secure.address(KEY)).await.expect("it listens"));
    }
    let mut stream = connect(&secure).await;
    assert!(is_answered(&mut stream, 1).await);
    // Places are taken in the order in which the system hands connections out: one of the silent ones had to go.
    assert!(is_closed(&mut silent[0]).await);
    assert_eq!(secure.door.statistics.counts().evictions, 1);
    secure.door.shut().await;
}

#[tokio::test]
async fn sec_3_a_changed_pair_is_presented_and_costs_no_query() {
    let secure = SecureDoor::open();
    let mut before = connect(&secure).await;
    assert!(is_answered(&mut before, 1).await);
    secure.certificate.clone().follow().expect("signals are told");

    let next = Pair::fresh();
    secure.files.put("certificate", &next.certificate);
    secure.files.put("key", &next.key);
    let begun = Instant::now();
    let mut after = loop {
        match try_connect(secure.address(KEY), next.client("dot")).await {
            Ok(stream) => break stream,
            Err(error) => assert!(begun.elapsed() < DEADLINE, "it is not presented: {error}"),
        }
        assert!(is_answered(&mut before, 2).await, "who is connected stays so");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(is_answered(&mut after, 3).await && is_answered(&mut before, 4).await);
    assert!(try_connect(secure.address(KEY), secure.pair.client("dot")).await.is_err());
    secure.door.shut().await;
}

#[tokio::test]
async fn sec_3_while_the_files_do_not_match_the_old_pair_serves() {
    let secure = SecureDoor::open();
    let next = Pair::fresh();
    let serves = async |pair: &Pair| try_connect(secure.address(KEY), pair.client("dot")).await.is_ok();
    for (name, content) in [
        ("certificate", next.certificate.as_str()),
        ("certificate", ""),
        ("certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        ("key", ""),
        ("key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
    ] {
        secure.files.put(name, content);
        secure.certificate.look(true);
        assert!(serves(&secure.pair).await && !serves(&next).await, "{name}: {content}");
    }
    std::fs::remove_file(secure.files.path("key")).expect("it can be removed");
    secure.certificate.look(false);
    assert!(serves(&secure.pair).await);
    secure.files.put("certificate", &next.certificate);
    secure.files.put("key", &next.key);
    secure.certificate.look(false);
    assert!(serves(&next).await && !serves(&secure.pair).await);
    secure.door.shut().await;
}

#[test]
fn sec_3_a_pair_that_cannot_be_served_is_refused_in_one_line() {
    let (pair, other) = (Pair::fresh(), Pair::fresh());
    let refusal = |certificate: &str, key: &str| {
        let files = Files::of(&pair);
        files.put("certificate", certificate);
        files.put("key", key);
        let (certificate, key) = (files.path("certificate"), files.path("key"));
        let error = crate::dns::Certificate::open(&certificate, &key).expect_err("refused").to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    };
    let error = refusal(&other.certificate, &pair.key);
    assert!(error.contains("dns_tls_cert") && error.contains("the key is not the one"), "{error}");
    let error = refusal("", &pair.key);
    assert!(error.starts_with("dns_tls_cert ") && error.contains("nothing of the kind"), "{error}");
    let error = refusal(&pair.certificate, &pair.certificate);
    assert!(error.starts_with("dns_tls_key ") && error.contains("private key"), "{error}");
    let error = refusal(&pair.certificate, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    assert!(error.contains("cannot be used"), "{error}");
    let nowhere = std::path::Path::new("/nowhere");
    let error = crate::dns::Certificate::open(nowhere, nowhere).expect_err("refused").to_string();
    assert!(error.starts_with("dns_tls_cert /nowhere: it cannot be read: "), "{error}");
}

#[tokio::test]
async fn dns_22_what_is_asked_within_tls_is_answered_before_the_end() {
    let secure = SecureDoor::open();
    let mut streams = Vec::new();
    for id in 0..10 {
        let mut stream = connect(&secure).await;
        stream.write_all(&framed(&numbered(id))).await.expect("it can be sent");
        stream.flush().await.expect("it can be sent");
        streams.push(stream);
    }
    let begun = Instant::now();
    secure.door.shut().await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    for (id, stream) in (0..).zip(&mut streams) {
        assert_eq!(receive(stream).await.expect("a reply").id, id);
        assert!(is_closed(stream).await);
    }
}

#[tokio::test]
async fn dns_22_who_shakes_hands_when_the_door_shuts_is_answered() {
    let pair = Pair::fresh();
    let files = Files::of(&pair);
    let bound = bound(&files.open(), Limits::of_process());
    let address = address_of(&bound.encrypted_addresses(), KEY);
    // Made by the system, and not yet taken in by anybody.
    let waiting = TcpStream::connect(address).await.expect("it listens");
    let asked = tokio::spawn(async move {
        let mut stream = shake_hands(waiting, pair.client("dot")).await.expect("hands are shaken");
        is_answered(&mut stream, 1).await
    });
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    Door::serve(bound, shutdown).shut().await;
    assert!(asked.await.expect("no panic"));
}

#[tokio::test]
async fn an_address_that_is_taken_is_named_with_its_setting() {
    let (pair, held) = (Pair::fresh(), SecureDoor::open());
    let certificate = Files::of(&pair).open();
    let nowhere = Encrypted { tls: vec![], https: vec![], quic: vec![], certificate };
    let (tls, quic) = (vec![held.address(KEY)], vec![held.address("dns_quic_listen")]);
    for (encrypted, start, end) in [
        (Encrypted { tls, ..nowhere.clone() }, "dns_tls_listen 127.0.0.1:", " with --dns-tls-listen"),
        (Encrypted { quic, ..nowhere }, "dns_quic_listen 127.0.0.1:", " with --dns-quic-listen"),
    ] {
        let bound = bind(&[loopback()]).expect("loopback can be bound");
        let refusal = bound.with_encrypted(&encrypted).expect_err("it is taken").to_string();
        assert!(refusal.starts_with(start) && refusal.ends_with(end), "{refusal}");
    }
    held.door.shut().await;
}
