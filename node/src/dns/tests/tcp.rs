//! Over streams: DNS-8, DNS-13, DNS-22, and of DNS-14 what keeps the door open.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::packets::*;
use super::sockets::*;
use super::streams::*;
use crate::dns::bind;
use crate::dns::places::Limits;

async fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).await.expect("it listens");
    stream.set_nodelay(true).expect("the option");
    stream
}

fn limits(connections_max: usize, network_max: usize, idle_ms: u64) -> Limits {
    let idle_max = Duration::from_millis(idle_ms);
    Limits { connections_max, network_max, idle_max, ..Limits::of_process() }
}

/// F-DNS-22.
#[tokio::test]
async fn dns_14_queries_on_one_connection_are_all_answered() {
    let door = Door::open();
    let mut stream = connect(door.address).await;
    let both = [framed(&numbered(1)), framed(&numbered(2))].concat();
    stream.write_all(&both).await.expect("it can be sent");
    for id in [1, 2] {
        let seen = receive(&mut stream).await.expect("a reply");
        assert_eq!((seen.id, seen.rcode), (id, REFUSED));
    }
    assert!(is_answered(&mut stream, 3).await, "and it stays open");
    door.shut().await;
}

/// F-DNS-22.
#[tokio::test]
async fn dns_14_a_length_may_come_in_pieces() {
    let door = Door::open();
    let mut stream = connect(door.address).await;
    let message = framed(&numbered(7));
    for piece in [&message[..1], &message[1..2], &message[2..9], &message[9..]] {
        stream.write_all(piece).await.expect("it can be sent");
        tokio::task::yield_now().await;
    }
    assert_eq!(receive(&mut stream).await.expect("a reply").id, 7);
    for byte in framed(&numbered(8)) {
        stream.write_all(&[byte]).await.expect("it can be sent");
    }
    assert_eq!(receive(&mut stream).await.expect("a reply").id, 8);
    door.shut().await;
}

#[tokio::test]
async fn dns_14_a_client_that_has_closed_its_side_gets_its_answers() {
    let door = Door::open();
    let mut stream = connect(door.address).await;
    let all: Vec<u8> = (0..1_000).flat_map(|id| framed(&numbered(id))).collect();
    stream.write_all(&all).await.expect("it can be sent");
    stream.shutdown().await.expect("it can be closed");
    for id in 0..1_000 {
        assert_eq!(receive(&mut stream).await.expect("a reply").id, id);
    }
    assert!(is_closed(&mut stream).await);
    door.shut().await;
}

#[tokio::test]
async fn dns_13_a_dropped_message_leaves_the_connection_open() {
    let door = Door::open();
    let mut stream = connect(door.address).await;
    for message in [&b""[..], b"short", &header(QR, [0; 4]), &[0xff; 65_535]] {
        stream.write_all(&framed(message)).await.expect("it can be sent");
    }
    assert!(is_answered(&mut stream, 9).await);
    let counts = door.statistics.counts();
    assert_eq!((counts.queries, counts.drops, counts.connections), (5, 4, 1));
    door.shut().await;
}

#[tokio::test]
async fn dns_14_who_asks_nothing_is_closed() {
    let idle = Duration::from_secs(1);
    let door = Door::open_with(limits(100, 100, 1_000));
    let begun = Instant::now();
    let mut silent = connect(door.address).await;
    let mut half = connect(door.address).await;
    half.write_all(&framed(&numbered(1))[..5]).await.expect("it can be sent");
    let mut http = connect(door.address).await;
    http.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it can be sent");
    let mut asking = connect(door.address).await;
    while begun.elapsed() < idle * 2 {
        assert!(is_answered(&mut asking, 5).await, "whoever asks is not idle");
        tokio::time::sleep(idle / 20).await;
    }
    for stream in [&mut silent, &mut half, &mut http, &mut asking] {
        assert!(is_closed(stream).await);
    }
    assert!(begun.elapsed() < DEADLINE);
    door.shut().await;
}

#[tokio::test]
async fn dns_14_half_a_message_sent_drop_by_drop_does_not_keep_a_connection() {
    let door = Door::open_with(limits(100, 100, 300));
    let mut stream = connect(door.address).await;
    let begun = Instant::now();
    for byte in framed(&[0; 1_000]) {
        if stream.write_all(&[byte]).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "the message would have taken ten seconds");
    door.shut().await;
}

/// F-SEC-04: half a message, and what speaks HTTP, have gone long before who is merely idle.
#[tokio::test]
async fn dns_14_half_a_message_goes_before_the_idle() {
    let limits = Limits { message_max: Duration::from_millis(300), ..Limits::of_process() };
    let door = Door::open_with(limits);
    let mut idle = connect(door.address).await;
    let mut half = connect(door.address).await;
    let one_and_a_half = [framed(&numbered(1)), vec![0]].concat();
    half.write_all(&one_and_a_half).await.expect("it can be sent");
    let mut http = connect(door.address).await;
    http.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it can be sent");
    let begun = Instant::now();
    assert_eq!(receive(&mut half).await.expect("a reply").id, 1);
    assert!(is_closed(&mut half).await && is_closed(&mut http).await);
    assert!(begun.elapsed() < Limits::of_process().idle_max / 2, "{:?}", begun.elapsed());
    assert!(is_answered(&mut idle, 2).await);
    door.shut().await;
}

#[tokio::test]
async fn dns_14_who_reads_nothing_is_closed() {
    let door = Door::open_with(limits(100, 100, 300));
    // Left to itself, the system would take millions of bytes for a client that reads nothing.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("the option");
    let mut stream = socket.connect(door.address).await.expect("it listens");
    let many: Vec<u8> = (0..1_000).flat_map(|id| framed(&numbered(id))).collect();
    let flood = async { while stream.write_all(&many).await.is_ok() {} };
    timeout(DEADLINE, flood).await.expect("the door gives up on it");
    assert!(is_answered(&mut connect(door.address).await, 6).await);
    door.shut().await;
}

#[tokio::test]
async fn dns_22_who_reads_nothing_does_not_hold_up_the_end() {
    let door = Door::open();
    let mut stream = connect(door.address).await;
    let many: Vec<u8> = (0..1_000).flat_map(|id| framed(&numbered(id))).collect();
    // Until the system takes no more: by then the door waits to write.
    while timeout(Duration::from_millis(300), stream.write_all(&many)).await.is_ok() {}
    let begun = Instant::now();
    door.shut().await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn dns_14_silent_connections_keep_nobody_out() {
    let door = Door::open();
    let mut silent = Vec::new();
    for nth in 0..500 {
        let mut stream = connect(door.address).await;
        if nth % 2 == 0 {
            stream.write_all(&[0]).await.expect("it can be sent");
        }
        silent.push(stream);
    }
    let begun = Instant::now();
    let udp = tokio::net::UdpSocket::bind(loopback()).await.expect("loopback can be bound");
    udp.send_to(&numbered(1), door.address).await.expect("it can be sent");
    timeout(DEADLINE, udp.recv(&mut [0; 512])).await.expect("in time").expect("a reply");
    assert!(is_answered(&mut connect(door.address).await, 2).await);
    assert!(
        begun.elapsed() < DEADLINE / 2,
        "nobody had to wait until the silent ones were closed for being idle"
    );
    let counts = door.statistics.counts();
    assert_eq!(counts.connections, 501);
    assert!(counts.evictions >= 501 - 64, "{counts:?}");
    door.shut().await;
}

#[tokio::test]
async fn dns_14_the_longest_idle_makes_room() {
    let door = Door::open_with(limits(2, 2, 10_000));
    let mut first = connect(door.address).await;
    assert!(is_answered(&mut first, 1).await);
    let mut second = connect(door.address).await;
    assert!(is_answered(&mut second, 2).await);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert!(is_answered(&mut first, 3).await, "now the second has been idle for longer");
    let mut third = connect(door.address).await;
    assert!(is_answered(&mut third, 4).await);
    assert!(is_closed(&mut second).await);
    assert!(is_answered(&mut first, 5).await && is_answered(&mut third, 6).await);
    door.shut().await;
}

#[tokio::test]
async fn dns_22_what_connections_hold_is_answered_before_they_close() {
    let bound = bind(&[loopback()]).expect("loopback can be bound");
    let address = bound.addresses()[0];
    // Made by the system, and not yet taken in by anybody.
    let mut waiting = Vec::new();
    for id in 0..20 {
        let mut stream = connect(address).await;
        stream.write_all(&[framed(&numbered(id)), framed(&numbered(id + 100))].concat()).await.expect("sent");
        waiting.push(stream);
    }
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    Door::serve(bound, shutdown).shut().await;
    for (id, stream) in (0..).zip(&mut waiting) {
        assert_eq!(receive(stream).await.expect("a reply").id, id);
        assert_eq!(receive(stream).await.expect("a reply").id, id + 100);
        assert!(is_closed(stream).await);
    }
    let late = TcpStream::connect(address).await.expect_err("nobody is there");
    assert_eq!(late.kind(), io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn dns_22_silent_connections_do_not_hold_up_the_end() {
    let door = Door::open();
    let mut streams = Vec::new();
    for id in 0..10 {
        let mut stream = connect(door.address).await;
        assert!(is_answered(&mut stream, id).await);
        streams.push(stream);
    }
    let begun = Instant::now();
    door.shut().await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    for stream in &mut streams {
        assert!(is_closed(stream).await);
    }
}
