//! Over datagrams: DNS-13, DNS-22, DNS-23.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr, UdpSocket as BlockingSocket};
use std::os::fd::AsRawFd;

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use tokio::net::UdpSocket;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use waymark_core::model::{Edit, LogIndex, ZonePatch};
use waymark_core::state::{Action, State, View};

use super::packets::*;
use super::sockets::*;
use crate::config::AnswerSettings;
use crate::dns::bind;
use crate::dns::fuzzing::zones::carry_out;
use crate::publication::{no_tables, publication};

/// Queries that wait in the sockets: as many as the smallest receive buffer holds that a system grants.
const QUEUED: u16 = 200;

async fn client(address: SocketAddr) -> UdpSocket {
    let local = if address.is_ipv4() { "127.0.0.1:0" } else { "[::1]:0" };
    let socket = UdpSocket::bind(local).await.expect("loopback can be bound");
    socket.connect(address).await.expect("loopback can be reached");
    socket
}

async fn receive(socket: &UdpSocket) -> Seen {
    let mut reply = vec![0; 65_535];
    let length = timeout(DEADLINE, socket.recv(&mut reply)).await.expect("in time").expect("no error");
    Seen::of(&reply[..length])
}

#[tokio::test]
async fn dns_13_replies_leave_from_the_address_that_was_asked() {
    let addresses = ["127.0.0.1:0", "127.0.0.2:0", "[::1]:0"].map(|text| text.parse().expect("an address"));
    let bound = bind(&addresses).expect("loopback can be bound");
    let asked = bound.addresses();
    let door = Door::serve(bound, CancellationToken::new());
    for address in asked {
        // A connected socket takes nothing from any other address.
        let client = client(address).await;
        client.send(&query("app.example.com")).await.expect("it can be sent");
        let seen = receive(&client).await;
        assert_eq!((seen.id, seen.rcode), (ID, REFUSED));
    }
    door.shut().await;
}

/// DNS-13: on a socket that is bound to all addresses too, also when a batch came to several.
#[tokio::test]
async fn dns_13_replies_leave_from_the_address_that_was_asked_among_all() {
    for (any, asked) in [("0.0.0.0:0", ["127.0.0.1", "127.0.0.2", "127.3.4.5"]), ("[::]:0", ["::1"; 3])] {
        let bound = bind(&[any.parse().expect("an address")]).expect("it can be bound");
        let port = bound.addresses()[0].port();
        let mut clients = Vec::new();
        for (nth, address) in (0_u16..).zip(asked.iter().cycle().take(60)) {
            let client =
                client((address.parse::<std::net::IpAddr>().expect("an address"), port).into()).await;
            client.send(&numbered(nth)).await.expect("it can be sent");
            clients.push(client);
        }
        let door = Door::serve(bound, CancellationToken::new());
        for (nth, client) in (0_u16..).zip(&clients) {
            assert_eq!(receive(client).await.id, nth, "{any}");
        }
        door.shut().await;
    }
}

/// Replies to one client that leave as one piece arrive as many, each whole, whatever their sizes.
#[tokio::test]
async fn dns_8_a_batch_of_several_clients_and_sizes_arrives_whole() {
    let bound = bind(&["127.0.0.1:0".parse().expect("an address"), "[::1]:0".parse().expect("an address")])
        .expect("loopback can be bound");
    let mut clients = Vec::new();
    for address in bound.addresses() {
        for nth in 0..3 {
            let client = client(address).await;
            for number in 0..20_u16 {
                let id = nth * 100 + number;
                let mut packet = query(&"a".repeat(usize::from(number % 3) + 1));
                packet[..2].copy_from_slice(&id.to_be_bytes());
                client.send(&packet).await.expect("it can be sent");
            }
            clients.push((client, nth));
        }
    }
    let door = Door::serve(bound, CancellationToken::new());
    for (client, nth) in &clients {
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..20 {
            let reply = receive(client).await;
            assert_eq!((reply.rcode, reply.bytes.len()), (REFUSED, 18 + usize::from(reply.id % 100 % 3) + 1));
            seen.insert(reply.id);
        }
        assert_eq!(seen, (0..20).map(|number| nth * 100 + number).collect());
    }
    let counts = door.statistics.counts();
    assert_eq!((counts.queries, counts.replies[5], counts.failures), (120, 120, 0));
    door.shut().await;
}

/// Queries of one size in one piece, but for the last, which is shorter: the system cuts it, or hands it over as it is.
fn send_in_one_piece(client: &UdpSocket, packets: &[Vec<u8>]) {
    let size = packets[0].len() as u16;
    let slices: Vec<IoSlice<'_>> = packets.iter().map(|packet| IoSlice::new(packet)).collect();
    let segments = [ControlMessage::UdpGsoSegments(&size)];
    let sent = sendmsg::<()>(client.as_raw_fd(), &slices, &segments, MsgFlags::empty(), None);
    assert_eq!(sent, Ok(packets.iter().map(Vec::len).sum()));
}

/// DNS-13: queries that come in one piece, more than are answered at a time, are answered one by one, each to whom it is from,
/// and so are those that come alone between them, again and again.
#[tokio::test]
async fn dns_13_queries_that_come_in_one_piece_are_answered_one_by_one() {
    const IN_ONE_PIECE: u16 = 50;
    for (listen, asked) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("0.0.0.0", "127.0.0.1")] {
        let bound =
            bind(&[(listen.parse::<IpAddr>().expect("an address"), 0).into()]).expect("it can be bound");
        let address = (asked.parse::<IpAddr>().expect("an address"), bound.addresses()[0].port()).into();
        let mut clients = Vec::new();
        for _ in 0..3 {
            clients.push(client(address).await);
        }
        let door = Door::serve(bound, CancellationToken::new());
        for round in 0..4_u16 {
            for (nth, client) in (0_u16..).zip(&clients) {
                let first = round * 1_000 + nth * 100;
                let mut packets: Vec<_> = (first..first + IN_ONE_PIECE).map(numbered).collect();
                let mut last = query("app.test");
                last[..2].copy_from_slice(&(first + IN_ONE_PIECE).to_be_bytes());
                packets.push(last);
                send_in_one_piece(client, &packets);
                client.send(&numbered(first + IN_ONE_PIECE + 1)).await.expect("it can be sent");
            }
            for (nth, client) in (0_u16..).zip(&clients) {
                let first = round * 1_000 + nth * 100;
                let mut seen = std::collections::BTreeSet::new();
                for _ in 0..IN_ONE_PIECE + 2 {
                    let reply = receive(client).await;
                    let is_short = reply.id == first + IN_ONE_PIECE;
                    let length = if is_short { query("app.test").len() } else { numbered(0).len() };
                    assert_eq!((reply.rcode, reply.bytes.len()), (REFUSED, length), "{listen}");
                    seen.insert(reply.id);
                }
                assert!(seen.into_iter().eq(first..first + IN_ONE_PIECE + 2), "{listen}, round {round}");
            }
        }
        let counts = door.statistics.counts();
        assert_eq!((counts.queries, counts.failures), (4 * 3 * u64::from(IN_ONE_PIECE + 2), 0), "{listen}");
        door.shut().await;
    }
}

/// DNS-13: more and larger replies to one client than one piece can hold.
#[tokio::test]
async fn dns_13_a_burst_of_large_replies_is_answered_to_the_last() {
    let servers =
        (1..=13).map(|nth| (format!("ns{nth}-{}.big{nth}.test", "x".repeat(57)), Vec::new())).collect();
    let fields = ZonePatch { name_servers: Edit::Set(servers), ..ZonePatch::default() };
    let state = carry_out(&State::default(), Action::CreateZone { name: "huge.example".to_owned(), fields });
    let (_publisher, reader) = publication(View::of(state, LogIndex(1)), no_tables());
    let bound = bind(&[loopback()]).expect("loopback can be bound");
    let (client, shutdown) = (client(bound.addresses()[0]).await, CancellationToken::new());
    for id in 0..QUEUED {
        let packet = [header(0, [1, 0, 0, 1]), question("huge.example", 2, IN), opt(1232)].concat();
        client.send(&[&id.to_be_bytes(), &packet[2..]].concat()).await.expect("it can be sent");
    }
    let served = tokio::spawn(bound.serve(reader, AnswerSettings::default(), shutdown.clone()));
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..QUEUED {
        let reply = receive(&client).await;
        assert!(reply.bytes.len() > 1_024 && reply.counts[1] == 13, "{reply:?}");
        seen.insert(reply.id);
    }
    assert_eq!(seen.len(), usize::from(QUEUED));
    shutdown.cancel();
    served.await.expect("no panic");
}

#[tokio::test]
async fn dns_13_what_is_dropped_harms_nobody() {
    let door = Door::open();
    let client = client(door.address).await;
    for packet in [&header(QR, [0; 4])[..], b"", b"short", &vec![0xff; 60_000], &query("app.example.com")] {
        client.send(packet).await.expect("it can be sent");
    }
    // The only reply: one byte in the large packet says that it is a response.
    assert_eq!(receive(&client).await.rcode, REFUSED);
    let counts = door.statistics.counts();
    assert_eq!((counts.queries, counts.drops, counts.replies[5], counts.failures), (5, 4, 1, 0));
    door.shut().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_socket_of_the_group_answers() {
    let door = Door::open();
    for id in 0..200 {
        // A client of its own each time: the system spreads them by their ports.
        let client = client(door.address).await;
        client.send(&numbered(id)).await.expect("it can be sent");
        assert_eq!(receive(&client).await.id, id);
    }
    assert_eq!(door.statistics.counts().replies[5], 200);
    door.shut().await;
}

#[tokio::test]
async fn dns_22_what_the_sockets_hold_is_answered_before_they_close() {
    let bound = bind(&[loopback()]).expect("loopback can be bound");
    let address = bound.addresses()[0];
    let clients: Vec<BlockingSocket> = (0..40)
        .map(|_| {
            let client = BlockingSocket::bind(loopback()).expect("loopback can be bound");
            client.set_read_timeout(Some(DEADLINE)).expect("the option");
            client
        })
        .collect();
    for id in 0..QUEUED {
        let client = &clients[usize::from(id) % clients.len()];
        client.send_to(&numbered(id), address).expect("it can be sent");
    }
    // It is told to stop before it has looked at anything: all that it answers it has drained.
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    let door = Door::serve(bound, shutdown);
    let statistics = door.statistics.clone();
    door.shut().await;
    assert_eq!(statistics.counts().replies[5], u64::from(QUEUED));
    let mut reply = [0; 512];
    for id in 0..QUEUED {
        let client = &clients[usize::from(id) % clients.len()];
        let (length, source) = client.recv_from(&mut reply).expect("a reply");
        assert_eq!((Seen::of(&reply[..length]).id, source), (id, address));
    }
    let late = BlockingSocket::bind(loopback()).expect("loopback can be bound");
    late.connect(address).expect("loopback can be reached");
    late.send(&numbered(1)).expect("it can be sent");
    let refusal = late.recv(&mut reply).expect_err("nobody is there");
    assert_eq!(refusal.kind(), std::io::ErrorKind::ConnectionRefused, "refused, not silent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dns_22_under_load_every_query_is_answered_or_refused() {
    let door = Door::open();
    let address = door.address;
    let asker = tokio::task::spawn_blocking(move || {
        let client = BlockingSocket::bind(loopback()).expect("loopback can be bound");
        client.connect(address).expect("loopback can be reached");
        client.set_read_timeout(Some(DEADLINE)).expect("the option");
        let mut reply = [0; 512];
        for asked in 0_u64.. {
            let sent = client.send(&numbered(asked as u16));
            match sent.and_then(|_| client.recv(&mut reply)) {
                Ok(_) => {}
                Err(error) => return (asked, error.kind()),
            }
        }
        unreachable!("the door is shut at some time")
    });
    let begun = async {
        while door.statistics.counts().queries < 1_000 {
            tokio::task::yield_now().await;
        }
    };
    timeout(DEADLINE, begun).await.expect("in time");
    door.shut().await;
    let (asked, end) = timeout(DEADLINE, asker).await.expect("in time").expect("no panic");
    assert_eq!(end, std::io::ErrorKind::ConnectionRefused, "after {asked} queries one was lost");
}
