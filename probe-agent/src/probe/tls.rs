//! The TLS handshake of an https probe: the certificate must be there, is looked at and reported, and decides nothing
//! (PRB-3).

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use waymark_core::health::{Check, OutcomeClass};
use waymark_core::model::Target;

use super::report::{Certificate, Fault};

/// What all handshakes have in common.
#[derive(Debug)]
pub(super) struct Tls {
    config: ClientConfig,
    /// Tells whether a certificate would pass.
    public_roots: Arc<WebPkiServerVerifier>,
    schemes: Vec<SignatureScheme>,
}

impl Tls {
    /// Takes the process's rustls provider.
    pub(super) fn new() -> Self {
        let provider =
            CryptoProvider::get_default().expect("main installs a rustls provider first thing").clone();
        let schemes = provider.signature_verification_algorithms.supported_schemes();
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let public_roots =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .expect("the compiled-in roots are not empty");
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider speaks TLS 1.2 and 1.3")
            .with_webpki_verifier(Arc::clone(&public_roots))
            .with_no_client_auth();
        // A resumed session would present no certificate, and hide that the server can't make new ones (PRB-7).
        config.resumption = Resumption::disabled();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self { config, public_roots, schemes }
    }

    /// Shakes hands over `stream`, which leads to `address`. `certificate` is set as soon as one was presented.
    pub(super) async fn handshake(
        &self,
        check: &Check,
        address: IpAddr,
        stream: TcpStream,
        certificate: &mut Option<Certificate>,
    ) -> Result<TlsStream<TcpStream>, Fault> {
        let witness = Arc::new(Witness {
            public_roots: Arc::clone(&self.public_roots),
            schemes: self.schemes.clone(),
            seen: Mutex::new(None),
        });
        let mut config = self.config.clone();
        config.dangerous().set_certificate_verifier(Arc::clone(&witness) as Arc<dyn ServerCertVerifier>);
        let name = server_name(check, address);
        let end = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        *certificate = witness.take();
        end.map_err(|error| Fault::new(OutcomeClass::Tls, format!("TLS handshake: {}", describe(&error))))
    }
}

/// The name to ask for: the custom `Host` without its port, else the target; an address is never sent (RFC 6066 §3).
fn server_name(check: &Check, address: IpAddr) -> ServerName<'static> {
    let target = match &check.target {
        Target::Name(name) => Some(name.to_string()),
        Target::V4(_) | Target::V6(_) => None,
    };
    check
        .host()
        .map(|host| without_port(host).to_owned())
        .or(target)
        .and_then(|name| ServerName::try_from(name).ok())
        .unwrap_or_else(|| ServerName::IpAddress(address.into()))
}

fn without_port(host: &str) -> &str {
    if let Some(bracketed) = host.strip_prefix('[') {
        return bracketed.split(']').next().unwrap_or_default();
    }
    match host.split_once(':') {
        // More than one colon: an IPv6 address without brackets.
        Some((name, port)) if !port.contains(':') => name,
        _ => host,
    }
}

fn describe(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "the connection was closed".to_owned(),
        _ => error.to_string(),
    }
}

/// Accepts whatever a server presents, and remembers what is to be reported of it.
#[derive(Debug)]
struct Witness {
    public_roots: Arc<WebPkiServerVerifier>,
    schemes: Vec<SignatureScheme>,
    seen: Mutex<Option<Certificate>>,
}

impl Witness {
    fn take(&self) -> Option<Certificate> {
        self.seen.lock().ok().and_then(|mut seen| seen.take())
    }
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verdict =
            self.public_roots.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let certificate = Certificate { expiry: expiry(end_entity), is_valid: verdict.is_ok() };
        if let Ok(mut seen) = self.seen.lock() {
            *seen = Some(certificate);
        }
        Ok(ServerCertVerified::assertion())
    }

    // The signatures are not checked either: that needs a certificate that parses as version 3, and a self-made one
    // of version 1 is as good an answer to "is it alive" as any.
    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

fn expiry(certificate: &CertificateDer<'_>) -> Option<i64> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    Some(certificate.validity().not_after.timestamp())
}

#[cfg(test)]
mod tests {
    use waymark_core::model::{Header, Name, Protocol, Revision};

    use super::*;

    fn check(target: Target, host: Option<&str>) -> Check {
        let headers =
            host.map(|value| Header { name: "hOST".to_owned(), value: value.into() }).into_iter().collect();
        Check {
            protocol: Protocol::Https,
            target,
            port: 443,
            path: "/".to_owned(),
            interval_ms: 1_000,
            timeout_ms: 1_000,
            expect: Vec::new(),
            headers,
            revision: Revision(1),
        }
    }

    /// PRB-3: the custom Host, else the target's name, else none at all.
    #[test]
    fn prb_3_the_name_that_is_asked_for() {
        let address: IpAddr = [192, 0, 2, 1].into();
        let target = Target::Name(Name::parse("web.example.net").unwrap());
        let none = ServerName::IpAddress(address.into());
        let dns = |name: &str| ServerName::try_from(name.to_owned()).unwrap();
        for (target, host, expected) in [
            (target.clone(), None, dns("web.example.net")),
            (target.clone(), Some("shop.example.org"), dns("shop.example.org")),
            (target.clone(), Some("shop.example.org:8443"), dns("shop.example.org")),
            (Target::from(address), Some("shop.example.org"), dns("shop.example.org")),
            (Target::from(address), None, none.clone()),
            (target, Some("not a name"), none),
        ] {
            assert_eq!(server_name(&check(target, host), address), expected, "{host:?}");
        }
        for (host, name) in [("a:1", "a"), ("a", "a"), ("[::1]:443", "::1"), ("[::1]", "::1"), ("::1", "::1")]
        {
            assert_eq!(without_port(host), name);
        }
    }
}
