//! Certificates made at test time, in files as an operator has them, and a door that serves with one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use waymark_core::state::View;

use super::sockets::*;
use crate::dns::bind::bind_with;
use crate::dns::places::Limits;
use crate::dns::{Bound, Certificate, Encrypted};

/// A certificate for `localhost` that has signed itself, and its key.
pub(super) struct Pair {
    pub(super) certificate: String,
    pub(super) key: String,
    der: CertificateDer<'static>,
}

impl Pair {
    pub(super) fn fresh() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("it can be made");
        let (certificate, der) = (made.cert.pem(), made.cert.der().clone());
        Self { certificate, key: made.signing_key.serialize_pem(), der }
    }

    /// A client that trusts this certificate and no other, and says that it speaks `protocol`.
    pub(super) fn client(&self, protocol: &str) -> ClientConfig {
        self.client_of(&[&TLS13, &TLS12], protocol)
    }

    /// The same with these versions of TLS only.
    pub(super) fn client_of(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        protocol: &str,
    ) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).expect("a certificate");
        let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(versions)
            .expect("the provider speaks them")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        config
    }
}

/// A certificate's files.
pub(super) struct Files {
    directory: TempDir,
}

impl Files {
    pub(super) fn of(pair: &Pair) -> Self {
        let files = Self { directory: tempfile::tempdir().expect("a directory can be made") };
        files.put("certificate", &pair.certificate);
        files.put("key", &pair.key);
        files
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn put(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).expect("it can be written");
    }

    pub(super) fn open(&self) -> Arc<Certificate> {
        Certificate::open(&self.path("certificate"), &self.path("key")).expect("a good pair")
    }
}

/// A door with every encrypted transport on loopback.
pub(super) struct SecureDoor {
    pub(super) door: Door,
    pub(super) pair: Pair,
    pub(super) files: Files,
    pub(super) certificate: Arc<Certificate>,
    addresses: Vec<(&'static str, SocketAddr)>,
}

impl SecureDoor {
    pub(super) fn open() -> Self {
        Self::open_with(Limits::of_process())
    }

    pub(super) fn open_with(limits: Limits) -> Self {
        Self::open_on(View::default(), limits)
    }

    /// A door that answers from `view`.
    pub(super) fn open_on(view: View, limits: Limits) -> Self {
        let pair = Pair::fresh();
        let files = Files::of(&pair);
        let certificate = files.open();
        let bound = bound(&certificate, limits);
        let addresses = bound.encrypted_addresses();
        let door = Door::serve_from(view, bound, CancellationToken::new());
        Self { door, pair, files, certificate, addresses }
    }

    /// The address that the setting `key` names.
    pub(super) fn address(&self, key: &str) -> SocketAddr {
        address_of(&self.addresses, key)
    }
}

/// Loopback, taken for every transport.
pub(super) fn bound(certificate: &Arc<Certificate>, limits: Limits) -> Bound {
    let encrypted = Encrypted {
        tls: vec![loopback()],
        https: vec![loopback()],
        quic: vec![loopback()],
        certificate: certificate.clone(),
    };
    let bound = bind_with(&[loopback()], limits).expect("loopback can be bound");
    bound.with_encrypted(&encrypted).expect("loopback can be bound")
}

pub(super) fn address_of(addresses: &[(&'static str, SocketAddr)], key: &str) -> SocketAddr {
    addresses.iter().find(|(other, _)| *other == key).expect("it is served").1
}
