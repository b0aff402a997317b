//! A member that serves DNS over every transport, with the certificate that its settings file names.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harness::eventually::claim;
use harness::load::Load;
use harness::process::Signal;
use harness::{Cluster, Member, dns, eventually, ports};
use hickory_proto::op::Message;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

const NAME: &str = "ns1.waymark.test.";

/// A certificate for `localhost` that has signed itself, and its key.
struct Pair {
    certificate: String,
    key: String,
    der: CertificateDer<'static>,
}

impl Pair {
    fn fresh() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("it can be made");
        Self {
            certificate: made.cert.pem(),
            key: made.signing_key.serialize_pem(),
            der: made.cert.der().clone(),
        }
    }

    /// A client that trusts this certificate and no other.
    fn client(&self, protocol: &str) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).expect("a certificate");
        let provider = Arc::new(aws_lc_rs::default_provider());
        let versions = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .expect("it is spoken");
        let mut config = versions.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        config
    }

    fn stream(&self, address: SocketAddr, protocol: &str) -> StreamOwned<ClientConnection, TcpStream> {
        let name = ServerName::try_from("localhost").expect("a name");
        let connection = ClientConnection::new(Arc::new(self.client(protocol)), name).expect("a client");
        StreamOwned::new(connection, TcpStream::connect(address).expect("it listens"))
    }
}

/// A member's encrypted addresses, and the files of its certificate.
struct Served {
    tls: SocketAddr,
    https: SocketAddr,
    quic: SocketAddr,
    certificate: PathBuf,
    key: PathBuf,
}

impl Served {
    fn new(directory: &Path) -> Self {
        let address = || SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
        let (certificate, key) = (directory.join("certificate.pem"), directory.join("key.pem"));
        Self { tls: address(), https: address(), quic: address(), certificate, key }
    }

    fn settings(&self) -> String {
        let Self { tls, https, quic, certificate, key } = self;
        format!(
            "dns_tls_listen = [\"{tls}\"]\ndns_https_listen = [\"{https}\"]\ndns_quic_listen = [\"{quic}\"]\n\
             dns_tls_cert = {certificate:?}\ndns_tls_key = {key:?}\n"
        )
    }

    /// The answers over each encrypted transport, to a client that trusts `pair`.
    fn ask(&self, pair: &Pair) -> Result<[Vec<String>; 3], String> {
        let (_, mut packet) = dns::packet(NAME, "A");
        // Over QUIC the id is 0 (RFC 9250 §4.2.1).
        packet[..2].fill(0);
        let framed =
            [&u16::try_from(packet.len()).expect("a query is short").to_be_bytes()[..], &packet].concat();
        let tls = over_tls(pair.stream(self.tls, "dot"), &framed).map_err(|error| format!("TLS: {error}"))?;
        let https = over_https(pair.stream(self.https, "http/1.1"), &packet)
            .map_err(|error| format!("HTTPS: {error}"))?;
        let quic = over_quic(self.quic, pair, &framed).map_err(|error| format!("QUIC: {error}"))?;
        Ok([tls, https, quic].map(|reply| data(&reply)))
    }
}

fn data(reply: &[u8]) -> Vec<String> {
    let message = Message::from_vec(reply).expect("a reply can be read");
    message.answers.iter().map(|record| record.to_string().to_lowercase()).collect()
}

fn over_tls(mut stream: impl Read + Write, framed: &[u8]) -> std::io::Result<Vec<u8>> {
    stream.write_all(framed)?;
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut reply = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut reply)?;
    Ok(reply)
}

fn over_https(mut stream: impl Read + Write, packet: &[u8]) -> std::io::Result<Vec<u8>> {
    let length = packet.len();
    let head = format!(
        "POST /dns-query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/dns-message\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), packet].concat())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    assert!(response.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&response));
    let body = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head ends") + 4;
    Ok(response.split_off(body))
}

fn over_quic(address: SocketAddr, pair: &Pair, framed: &[u8]) -> Result<Vec<u8>, quinn::ConnectionError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let endpoint =
            quinn::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).expect("loopback can be bound");
        let tls = quinn::crypto::rustls::QuicClientConfig::try_from(pair.client("doq")).expect("TLS 1.3");
        let config = quinn::ClientConfig::new(Arc::new(tls));
        let connection =
            endpoint.connect_with(config, address, "localhost").expect("it can be tried").await?;
        let (mut send, mut receive) = connection.open_bi().await?;
        send.write_all(framed).await.expect("it can be sent");
        send.finish().expect("it is open");
        let mut reply = receive.read_to_end(70_000).await.expect("a reply");
        connection.close(0_u8.into(), b"");
        Ok(reply.split_off(2))
    })
}

/// DNS-15, SEC-3, OPS-2, OPS-4, DNS-20: all transports, a pair that is exchanged file by file, and no lost query.
#[test]
fn dns_15_every_transport_gives_the_same_answer_and_takes_a_new_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let (served, first, second) = (Served::new(directory.path()), Pair::fresh(), Pair::fresh());
    std::fs::write(&served.certificate, &first.certificate).unwrap();
    std::fs::write(&served.key, &first.key).unwrap();
    let settings = directory.path().join("node.toml");
    std::fs::write(&settings, served.settings()).unwrap();
    let mut member = Member::new("m1", directory.path());
    member.flags = vec!["--config".into(), settings.display().to_string()];
    let mut cluster = Cluster::found(directory, vec![member]);
    cluster.cli().ok("zone create waymark.test --ns ns1.waymark.test=127.0.0.1 --wait all");

    let address = cluster.members[0].dns;
    let plain = dns::ask(address, NAME, "A").unwrap();
    let plain: Vec<String> = plain.answers.iter().map(|record| record.to_string().to_lowercase()).collect();
    assert_eq!(plain, ["ns1.waymark.test. 3600 in a 127.0.0.1"]);
    assert_eq!(served.ask(&first).unwrap(), [plain.clone(), plain.clone(), plain.clone()]);
    assert!(served.ask(&second).is_err(), "it is not presented yet");

    let load = Load::start(&[address], NAME, "A", 200);
    cluster.members[0].process().signal(Signal::HUP);
    logged(&mut cluster, "the certificate for DNS was read again");
    std::fs::write(&served.certificate, &second.certificate).unwrap();
    logged(&mut cluster, "the key is not the one that the certificate was made for");
    assert_eq!(served.ask(&first).unwrap(), [plain.clone(), plain.clone(), plain.clone()]);
    std::fs::write(&served.key, &second.key).unwrap();
    cluster.members[0].process().signal(Signal::HUP);
    eventually("the new certificate is presented", || {
        let answers = served.ask(&second)?;
        claim(answers == [plain.clone(), plain.clone(), plain.clone()], format!("{answers:?}"))
    });
    assert!(served.ask(&first).is_err(), "the old one is not presented any more");
    let tallied = load.stop();
    assert!(tallied.sent > 50 && (tallied.lost, tallied.bad) == (0, 0), "{tallied:?}");
    assert!(cluster.members[0].process().terminate().success());

    // At a start a pair that does not fit is an error, and is found by --check.
    std::fs::write(&served.key, &first.key).unwrap();
    cluster.members[0].start();
    assert!(!cluster.members[0].process().wait().success());
    logged(&mut cluster, "waymark-node: dns_tls_cert ");
}

fn logged(cluster: &mut Cluster, words: &str) {
    eventually("the log says it", || {
        let log = cluster.members[0].process().log();
        claim(log.contains(words), log)
    });
}
