//! The certificate that DNS is served with over encrypted transports: one for all of them, read again when its files
//! change (SEC-3, DNS-15).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::crypto::aws_lc_rs;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, SupportedProtocolVersion};
use waymark_process::follow::{self, Seen};
use waymark_process::tls::{Named, PairError, read_pair};

/// The certificate in force, and where it comes from.
pub struct Certificate {
    certificate: PathBuf,
    key: PathBuf,
    /// The files as they were when they were last read, be it in vain.
    seen: Seen,
    current: ArcSwap<CertifiedKey>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key has no business in a log, in whatever form.
        write!(formatter, "Certificate({})", self.certificate.display())
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.load_full())
    }
}

impl Certificate {
    /// Reads the chain in `certificate` and the private key in `key`, both in PEM.
    ///
    /// # Errors
    /// A file cannot be read or used, or the key is not the certificate's.
    pub fn open(certificate: &Path, key: &Path) -> Result<Arc<Self>, PairError> {
        let seen = Seen::now(&[certificate, key]);
        let current = ArcSwap::from_pointee(read(certificate, key)?);
        Ok(Arc::new(Self { certificate: certificate.to_owned(), key: key.to_owned(), seen, current }))
    }

    /// Reads the files again at each HUP and when they change, as long as the runtime lives. While they cannot be used
    /// together, the certificate before serves.
    ///
    /// # Errors
    /// The system does not tell of signals.
    pub fn follow(self: Arc<Self>) -> io::Result<()> {
        follow::follow("the certificate for DNS", move |is_asked| self.look(is_asked))
    }

    /// Reads the files if they have changed, or if that `is_asked` for.
    pub(super) fn look(&self, is_asked: bool) {
        if !self.seen.has_changed(&[&self.certificate, &self.key]) && !is_asked {
            return;
        }
        match read(&self.certificate, &self.key) {
            Ok(read) => {
                self.current.store(Arc::new(read));
                tracing::info!(path = %self.certificate.display(), "the certificate for DNS was read again");
            }
            Err(error) => tracing::error!(%error, "the certificate for DNS stays the one before"),
        }
    }

    /// A configuration that presents this certificate, whichever it is at the time, to those who speak one of `protocols`
    /// (ALPN) or do not say what they speak.
    ///
    /// No early data is taken (it could be sent again by others), so what RFC 8446 §8 and RFC 9250 §4.5 say of it is void.
    pub(super) fn tls(
        self: &Arc<Self>,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&str],
    ) -> Arc<ServerConfig> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(versions)
            .expect("the provider speaks TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_cert_resolver(self.clone());
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Arc::new(config)
    }
}

fn read(certificate: &Path, key: &Path) -> Result<CertifiedKey, PairError> {
    read_pair(Named { key: "dns_tls_cert", path: certificate }, Named { key: "dns_tls_key", path: key })
}
