//! Floods on one member, and good queries beside them (DNS-14, DNS-19, F-SEC-04, F-SEC-05): at least 999 of 1,000 are answered.
//!
//! The floods are paced, for the machine is shared with the flooded: shares are asserted, and not speeds.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use harness::load::Load;
use harness::{Cluster, Member, dns, eventually, ports};

use crate::packets::{A, PLAIN_OPT, Query};

const ZONE: &str = "flood.waymark.test";

/// How long each flood takes.
const TIME: Duration = Duration::from_secs(3);

/// Good queries a second over UDP.
const GOOD_PER_SECOND: u32 = 250;

/// Most packets a second of a flood.
const PER_SECOND: u32 = 10_000;
/// Most connections that a flood opens at once.
const CONNECTIONS: usize = 200;

/// A member with one name, which serves TLS, too.
struct Flooded {
    cluster: Cluster,
    tls: SocketAddr,
}

impl Flooded {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let tls = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
        let mut member = Member::new("m1", directory.path());
        member.flags = tls_flags(directory.path(), tls);
        let cluster = Cluster::found(directory, vec![member]);
        let cli = cluster.cli();
        cli.ok(&format!("zone create {ZONE} --ns ns1.{ZONE}=127.0.0.1"));
        cli.ok(&format!("record set {ZONE} good A 192.0.2.1 --wait all"));
        Self { cluster, tls }
    }

    fn dns(&self) -> SocketAddr {
        self.cluster.members[0].dns
    }

    /// Does `flood`, once and again, for [`TIME`], and holds good queries beside it to their share. Returns how much of the
    /// flood there was.
    fn beside(&self, what: &str, mut flood: impl FnMut() -> u64) -> u64 {
        let load = Load::start(&[self.dns()], &format!("good.{ZONE}"), "A", GOOD_PER_SECOND);
        let (stop, over_tcp, failed) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        let mut flooded = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let answered = dns::ask_tcp(self.dns(), &format!("good.{ZONE}"), "A");
                    let counted = if answered.is_ok() { &over_tcp } else { &failed };
                    counted.fetch_add(1, Ordering::Relaxed);
                    harness::eventually::let_pass(
                        Duration::from_millis(20),
                        "50 a second are asked over TCP",
                    );
                }
            });
            let end = Instant::now() + TIME;
            while Instant::now() < end {
                flooded += flood();
            }
            stop.store(true, Ordering::Relaxed);
        });
        let tallied = load.stop();
        let (over_tcp, failed) = (over_tcp.into_inner(), failed.into_inner());
        assert!(
            tallied.sent > 200 && over_tcp > 20,
            "{what}: {} over UDP, {over_tcp} over TCP",
            tallied.sent
        );
        let told = format!(
            "{what}: {} lost, {} bad of {}; over TCP {failed} of {over_tcp}",
            tallied.lost, tallied.bad, tallied.sent
        );
        assert!((tallied.lost + tallied.bad) * 1_000 <= tallied.sent && failed == 0, "{told}");
        flooded
    }
}

fn tls_flags(directory: &Path, tls: SocketAddr) -> Vec<String> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (directory.join("certificate.pem"), directory.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    ["--dns-tls-listen", &tls.to_string(), "--dns-tls-cert", &certificate, "--dns-tls-key", &key]
        .map(str::to_owned)
        .into()
}

/// Sends `packet` of each number, at most [`PER_SECOND`], for a tenth of a second, from `sockets` in turn.
fn datagrams(sockets: &[UdpSocket], to: SocketAddr, from: &mut u64, packet: impl Fn(u64) -> Vec<u8>) -> u64 {
    let (start, slice) = (Instant::now(), u64::from(PER_SECOND / 10));
    for nth in 0..slice {
        let socket = &sockets[usize::try_from(*from).unwrap() % sockets.len()];
        // A full buffer is the flood's own loss.
        let _ = socket.send_to(&packet(*from), to);
        *from += 1;
        if nth % 100 == 99 {
            let due = Duration::from_millis(nth / 10);
            harness::eventually::let_pass(due.saturating_sub(start.elapsed()), "the flood is paced");
        }
    }
    slice
}

/// Sockets of so many addresses of 127.0.0.0/8. Nobody reads what comes back, as with addresses that are forged.
fn sockets(count: u8) -> Vec<UdpSocket> {
    (1..=count).map(|host| UdpSocket::bind((Ipv4Addr::new(127, host, host, host), 0)).unwrap()).collect()
}

/// Opens connections up to [`CONNECTIONS`], from sources of many networks, each with `first` sent; the oldest go.
fn connect(open: &mut Vec<TcpStream>, to: SocketAddr, first: &[u8]) -> u64 {
    let host = u8::try_from(open.len() % 200).unwrap() + 1;
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 9, host, host), 0)).into()).unwrap();
    let connected = socket.connect_timeout(&to.into(), Duration::from_secs(2));
    let mut stream = TcpStream::from(socket);
    if connected.is_ok() {
        // The member may have closed it again.
        let _ = stream.write_all(first);
        open.push(stream);
    }
    if open.len() > CONNECTIONS {
        open.drain(..CONNECTIONS / 2);
    }
    harness::eventually::let_pass(Duration::from_millis(2), "the flood is paced");
    u64::from(connected.is_ok())
}

/// One after the other, for each is to have the machine for itself.
#[test]
fn dns_19_good_queries_are_answered_beside_every_flood() {
    let mut flooded = Flooded::start();
    let (to, tls) = (flooded.dns(), flooded.tls);
    let mut nth = 0;
    let resolver = sockets(1);
    let random = |nth: u64| {
        let name = format!("x{:016x}.{ZONE}", nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Query { opt: Some(PLAIN_OPT), ..Query::new(&name, A) }.bytes()
    };
    let sent = flooded.beside("random names", || datagrams(&resolver, to, &mut nth, random));
    assert!(sent > 5_000, "{sent}");

    let forged = sockets(250);
    let any = |_| Query { opt: Some(PLAIN_OPT), ..Query::new(ZONE, 255) }.bytes();
    let sent = flooded.beside("many sources", || datagrams(&forged, to, &mut nth, any));
    assert!(sent > 5_000, "{sent}");

    let noise = |nth: u64| {
        let length = usize::try_from(nth % 70).unwrap();
        (0..length).map(|at| (nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (at % 8 * 8)) as u8).collect()
    };
    let sent = flooded.beside("noise", || datagrams(&forged, to, &mut nth, noise));
    assert!(sent > 5_000, "{sent}");

    let mut open = Vec::new();
    let opened = flooded.beside("silent connections", || connect(&mut open, to, &[]));
    assert!(opened > 100, "{opened}");
    open.clear();
    let opened = flooded.beside("half a length", || connect(&mut open, to, &[0]));
    assert!(opened > 100, "{opened}");
    open.clear();
    let opened = flooded.beside("HTTP", || connect(&mut open, to, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    assert!(opened > 100, "{opened}");
    open.clear();
    let query = Query::new(&format!("good.{ZONE}"), A).bytes();
    let framed = [&(query.len() as u16).to_be_bytes()[..], &query].concat();
    let opened = flooded.beside("a byte at a time", || {
        for (nth, stream) in open.iter_mut().enumerate().rev().take(20) {
            let _ = stream.write_all(&framed[nth % framed.len()..][..1]);
        }
        connect(&mut open, to, &framed[..1])
    });
    assert!(opened > 100, "{opened}");
    open.clear();
    let hello = hello();
    let opened = flooded.beside("TLS handshakes", || connect(&mut open, tls, &hello));
    assert!(opened > 100, "{opened}");
    open.clear();
    let opened =
        flooded.beside("half of a TLS handshake", || connect(&mut open, tls, &hello[..hello.len() / 2]));
    assert!(opened > 100, "{opened}");
    drop(open);

    assert!(flooded.cluster.members[0].is_running());
    eventually("it answers as before", || dns::ask(to, &format!("good.{ZONE}"), "A"));
}

/// What a client of TLS says first. Its side of the handshake ends there.
fn hello() -> Vec<u8> {
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
    let mut client = rustls::ClientConnection::new(std::sync::Arc::new(config), name).unwrap();
    let mut hello = Vec::new();
    client.write_tls(&mut hello).unwrap();
    hello
}
