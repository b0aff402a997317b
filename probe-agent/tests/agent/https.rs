//! https probes: any certificate will do, but there must be one, and what it is worth is reported.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use waymark_core::health::Check;
use waymark_core::health::OutcomeClass::{Ok as Success, Status, Timeout, Tls};
use waymark_core::model::{Protocol, parse_target};

use crate::endpoint::{Endpoint, check, expect_outcome, install_provider, with_header};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// 2031-05-06 00:00 UTC.
const FUTURE: i64 = 1_935_792_000;
/// 2020-02-03 00:00 UTC.
const PAST: i64 = 1_580_688_000;

struct Presented {
    chain: Vec<rustls::pki_types::CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// A certificate that nobody but its key has signed.
fn certificate(name: &str, expired: bool) -> Presented {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.not_before = date_time_ymd(2019, 1, 1);
    params.not_after = if expired { date_time_ymd(2020, 2, 3) } else { date_time_ymd(2031, 5, 6) };
    let certificate = params.self_signed(&key).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    Presented { chain: vec![certificate.der().clone()], key }
}

fn config(presented: Presented, versions: &[&'static SupportedProtocolVersion]) -> ServerConfig {
    install_provider();
    ServerConfig::builder_with_protocol_versions(versions)
        .with_no_client_auth()
        .with_single_cert(presented.chain, presented.key)
        .unwrap()
}

/// Serves `response` by TLS; what is kept of the request begins with the name that was asked for and the handshake's
/// kind.
async fn tls_endpoint(config: ServerConfig, response: &'static [u8]) -> Endpoint {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Endpoint::accepting(move |endpoint, stream, index| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return endpoint.update(index, |visit| visit.end = Some("no handshake"));
            };
            let session = stream.get_ref().1;
            assert_eq!(session.handshake_kind(), Some(HandshakeKind::Full));
            let name = session.server_name().unwrap_or("-").to_owned();
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).await.unwrap_or_default();
            let request = String::from_utf8_lossy(&buffer[..count]).into_owned();
            endpoint.update(index, |visit| visit.request = format!("{name}\n{request}"));
            let _ = stream.write_all(response).await;
            endpoint.wait_for_end(index, Box::new(stream)).await;
        }
    })
    .await
}

fn https(endpoint: &Endpoint) -> Check {
    check(Protocol::Https, endpoint.address)
}

/// PRB-3, F-PRB-07: self-signed, expired, for another name, TLS 1.2 or 1.3: all succeed, and all are told apart.
#[tokio::test]
async fn prb_3_any_certificate_will_do_and_is_reported() {
    for (name, expired) in [("localhost", false), ("localhost", true), ("other.example", false)] {
        for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
            let endpoint = tls_endpoint(config(certificate(name, expired), &[version]), OK).await;
            let report = expect_outcome(&https(&endpoint), Success, Some(200)).await;
            let certificate = report.certificate.expect("a certificate was presented");
            assert_eq!(certificate.expiry, Some(if expired { PAST } else { FUTURE }), "{name}");
            assert!(!certificate.is_valid, "no public root has signed it");
            assert!(report.connect.is_some() && report.tls.is_some() && report.first_byte.is_some());
        }
    }
}

/// PRB-9: the certificate is reported beside a failure too.
#[tokio::test]
async fn prb_9_a_failure_shows_the_certificate_too() {
    let config = config(certificate("localhost", true), rustls::ALL_VERSIONS);
    let endpoint = tls_endpoint(config, b"HTTP/1.1 500 X\r\n\r\n").await;
    let report = expect_outcome(&https(&endpoint), Status, Some(500)).await;
    assert_eq!(report.certificate.and_then(|certificate| certificate.expiry), Some(PAST));
}

/// PRB-3, PRB-4: the name that is asked for by TLS, and by HTTP.
#[tokio::test]
async fn prb_3_the_server_name_is_the_host_else_the_target_else_none() {
    let endpoint = tls_endpoint(config(certificate("localhost", false), rustls::ALL_VERSIONS), OK).await;
    let by_address = https(&endpoint);
    let mut by_name = by_address.clone();
    by_name.target = parse_target("localhost").unwrap();
    for check in [
        by_address.clone(),
        by_name.clone(),
        with_header(by_name, "Host", "shop.example.org:8443"),
        with_header(by_address, "host", "shop.example.org"),
    ] {
        expect_outcome(&check, Success, Some(200)).await;
    }
    let asked: Vec<(String, String)> = endpoint
        .visits()
        .iter()
        .map(|visit| {
            let (name, _) = visit.request.split_once('\n').unwrap();
            (name.to_owned(), visit.header("host").concat())
        })
        .collect();
    let port = endpoint.address.port();
    let pair = |name: &str, host: &str| (name.to_owned(), host.to_owned());
    assert_eq!(
        asked,
        [
            pair("-", &format!("127.0.0.1:{port}")),
            pair("localhost", &format!("localhost:{port}")),
            pair("shop.example.org", "shop.example.org:8443"),
            pair("shop.example.org", "shop.example.org"),
        ]
    );
}

/// PRB-7: no session is resumed, although the server offers tickets; the server asserts that.
#[tokio::test]
async fn prb_7_every_probe_shakes_hands_anew() {
    let mut config = config(certificate("localhost", false), rustls::ALL_VERSIONS);
    config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new().unwrap();
    let endpoint = tls_endpoint(config, OK).await;
    let mut check = https(&endpoint);
    check.target = parse_target("localhost").unwrap();
    for _ in 0..3 {
        expect_outcome(&check, Success, Some(200)).await;
    }
    assert_eq!(endpoint.visits().len(), 3);
}

/// PRB-1, PRB-9: what is no TLS, hangs up in the handshake, shares no suite, or wants a certificate of us.
#[tokio::test]
async fn prb_9_a_failed_handshake_is_tls() {
    for reply in [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(),
        b"",
        // An alert: handshake_failure, as for no suite in common.
        b"\x15\x03\x03\x00\x02\x02\x28",
    ] {
        let endpoint = Endpoint::accepting(move |endpoint, mut stream, index| async move {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(reply).await;
            drop(stream);
            endpoint.update(index, |visit| visit.end = Some("closed"));
        })
        .await;
        let report = expect_outcome(&https(&endpoint), Tls, None).await;
        assert!(report.detail.starts_with("TLS handshake: "), "{report:?}");
        assert!(
            report.connect.is_some() && report.tls.is_none() && report.certificate.is_none(),
            "{report:?}"
        );
        assert_eq!(endpoint.visits().len(), 1);
    }
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let presented = certificate("localhost", false);
        let mut roots = rustls::RootCertStore::empty();
        roots.add(presented.chain[0].clone()).unwrap();
        install_provider();
        let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
        let config = ServerConfig::builder_with_protocol_versions(&[version])
            .with_client_cert_verifier(verifier)
            .with_single_cert(presented.chain, presented.key)
            .unwrap();
        let endpoint = tls_endpoint(config, OK).await;
        let report = expect_outcome(&https(&endpoint), Tls, None).await;
        assert!(report.certificate.is_some(), "{report:?}");
    }
}

/// PRB-7: the deadline covers the handshake.
#[tokio::test]
async fn prb_7_a_handshake_that_is_late_is_a_timeout() {
    let endpoint = Endpoint::accepting(|endpoint, stream, index| async move {
        endpoint.wait_for_end(index, Box::new(stream)).await;
    })
    .await;
    let mut check = https(&endpoint);
    check.timeout_ms = 300;
    let start = Instant::now();
    let report = expect_outcome(&check, Timeout, None).await;
    assert_eq!(report.detail, "no finished TLS handshake within 300 ms");
    assert!((300..900).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    endpoint.only_visit().await;
}
