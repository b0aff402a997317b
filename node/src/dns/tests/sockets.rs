//! A member's door on loopback, as a resolver sees it; and what the tests of both transports share.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use waymark_core::state::View;

use super::packets::*;
use crate::config::AnswerSettings;
use crate::dns::bind::bind_with;
use crate::dns::places::Limits;
use crate::dns::{Bound, Statistics, bind};
use crate::publication::{Publisher, no_tables, publication};

/// How long a test waits for what must happen.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

/// A door that is open until it is shut.
pub(super) struct Door {
    pub(super) address: SocketAddr,
    pub(super) statistics: Statistics,
    pub(super) shutdown: CancellationToken,
    pub(super) served: JoinHandle<()>,
    _publisher: Publisher,
}

impl Door {
    pub(super) fn open() -> Self {
        Self::serve(bind(&[loopback()]).expect("loopback can be bound"), CancellationToken::new())
    }

    pub(super) fn open_with(limits: Limits) -> Self {
        Self::serve(
            bind_with(&[loopback()], limits).expect("loopback can be bound"),
            CancellationToken::new(),
        )
    }

    pub(super) fn serve(bound: Bound, shutdown: CancellationToken) -> Self {
        Self::serve_from(View::default(), bound, shutdown)
    }

    /// A door that answers from `view`.
    pub(super) fn serve_from(view: View, bound: Bound, shutdown: CancellationToken) -> Self {
        let (publisher, reader) = publication(view, no_tables());
        let (address, statistics) = (bound.addresses()[0], bound.statistics());
        let served = tokio::spawn(bound.serve(reader, AnswerSettings::default(), shutdown.clone()));
        Self { address, statistics, shutdown, served, _publisher: publisher }
    }

    /// Shuts it and waits until it is shut.
    pub(super) async fn shut(self) {
        self.shutdown.cancel();
        tokio::time::timeout(DEADLINE, self.served).await.expect("in time").expect("no panic");
    }
}

pub(super) fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

/// A query that nobody else sends: the id is `id`.
pub(super) fn numbered(id: u16) -> Vec<u8> {
    let mut packet = query("aPp.example.com");
    packet[..2].copy_from_slice(&id.to_be_bytes());
    packet
}

#[tokio::test]
async fn dns_20_port_zero_becomes_one_port_over_both_transports() {
    let addresses = [loopback(), "[::1]:0".parse().expect("an address")];
    let bound = bind(&addresses).expect("loopback can be bound");
    let found = bound.addresses();
    assert!(found.iter().all(|address| address.port() != 0), "{found:?}");
    for address in found {
        let udp = UdpSocket::bind(address).expect_err("taken over UDP");
        let tcp = std::net::TcpListener::bind(address).expect_err("taken over TCP");
        assert_eq!([udp.kind(), tcp.kind()], [std::io::ErrorKind::AddrInUse; 2]);
    }
}

/// What [`bind`] says of an address that `holder` has over UDP. The same port may be held over TCP by a connection that some
/// other test made, and TCP is tried first: then another port is asked for.
fn refused_over_udp(holder: impl Fn() -> socket2::Socket) -> (SocketAddr, String) {
    (0..64)
        .find_map(|_| {
            let held = holder();
            held.bind(&loopback().into()).expect("loopback can be bound");
            let address = held.local_addr().expect("it has one").as_socket().expect("it is one");
            let refusal = bind(&[address]).expect_err("taken over UDP");
            (refusal.transport == "UDP").then(|| (address, refusal.to_string()))
        })
        .expect("of 64 ports that are held over UDP one is free over TCP")
}

fn datagram_socket() -> socket2::Socket {
    socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).expect("a socket")
}

#[tokio::test]
async fn a_taken_address_is_named_with_its_remedy_in_one_line() {
    let (address, refusal) = refused_over_udp(datagram_socket);
    assert!(refusal.starts_with(&format!("dns_listen {address}: UDP cannot be bound: ")), "{refusal}");
    assert!(refusal.contains("--dns-listen") && !refusal.contains('\n'), "{refusal}");

    let held = bind(&[loopback()]).expect("loopback can be bound");
    let refusal = bind(&held.addresses()).expect_err("taken by another door").to_string();
    assert!(refusal.contains("stop what listens there"), "{refusal}");

    // Of the class E, which no interface has.
    let elsewhere = "240.0.0.1:53530".parse().expect("an address");
    let refusal = bind(&[elsewhere]).expect_err("not of this machine").to_string();
    assert!(refusal.contains("no interface of this machine has that address"), "{refusal}");
}

#[tokio::test]
async fn a_port_that_others_share_is_not_shared_with_us() {
    refused_over_udp(|| {
        let sharing = datagram_socket();
        sharing.set_reuse_port(true).expect("the option");
        sharing
    });
}
