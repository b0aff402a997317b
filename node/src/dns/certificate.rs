//! The certificate that DNS is served with over encrypted transports: one for all of them, read again when its files
//! change (SEC-3, DNS-15).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use rustls::crypto::aws_lc_rs;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

/// How often the files are looked at: a certificate that is renewed weeks ahead is in no hurry, and two looks cost nothing.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A certificate that cannot be served: which file, what is wrong with it, and how to mend it, in one line.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read, or has not in it what it should.
    #[error("{key} {}: {reason}; it must be a file in PEM that has {wanted} in it", path.display())]
    File {
        /// The setting that names it.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
        /// What should be in it.
        wanted: &'static str,
    },
    /// Both can be read, and cannot be served together.
    #[error("dns_tls_cert {} and dns_tls_key {}: {reason}", certificate.display(), key.display())]
    Pair {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// What tells that a file is another than before: its length and the time of its last change; None if it cannot be had.
type Stamp = Option<(u64, SystemTime)>;

/// The certificate in force, and where it comes from.
pub struct Certificate {
    certificate: PathBuf,
    key: PathBuf,
    /// The files as they were when they were last read, be it in vain.
    seen: Mutex<[Stamp; 2]>,
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
    pub fn open(certificate: &Path, key: &Path) -> Result<Arc<Self>, CertificateError> {
        let seen = Mutex::new([stamp(certificate), stamp(key)]);
        let current = ArcSwap::from_pointee(read(certificate, key)?);
        Ok(Arc::new(Self { certificate: certificate.to_owned(), key: key.to_owned(), seen, current }))
    }

    /// Reads the files again at each HUP and when they change, as long as the runtime lives. While they cannot be used
    /// together, the certificate before serves.
    ///
    /// # Errors
    /// The system does not tell of signals.
    pub fn follow(self: Arc<Self>) -> io::Result<()> {
        let mut hangups = signal(SignalKind::hangup())?;
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::spawn(async move {
            loop {
                let is_asked = tokio::select! {
                    heard = hangups.recv() => heard.is_some(),
                    _ = looks.tick() => false,
                };
                let certificate = self.clone();
                // A disk that hangs must not hold up answers.
                if let Err(error) = spawn_blocking(move || certificate.look(is_asked)).await {
                    tracing::error!(%error, "reading the certificate for DNS broke off: the one before serves");
                }
            }
        });
        Ok(())
    }

    /// Reads the files if they have changed, or if that `is_asked` for.
    pub(super) fn look(&self, is_asked: bool) {
        // Before they are read: what changes meanwhile is seen at the next look.
        let now = [stamp(&self.certificate), stamp(&self.key)];
        let before = std::mem::replace(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner), now);
        if now == before && !is_asked {
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

fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn read(certificate: &Path, key: &Path) -> Result<CertifiedKey, CertificateError> {
    let wanted = "the certificate and, behind it, those that lead to its root";
    let unreadable = |reason: String| CertificateError::File {
        key: "dns_tls_cert",
        path: certificate.to_owned(),
        reason,
        wanted,
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable(reason(&error)))?;
    if chain.is_empty() {
        return Err(unreadable(reason(&pem::Error::NoItemsFound)));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| CertificateError::File {
        key: "dns_tls_key",
        path: key.to_owned(),
        reason: reason(&error),
        wanted: "the certificate's private key",
    })?;
    CertifiedKey::from_der(chain, private, &aws_lc_rs::default_provider()).map_err(|error| {
        let reason = match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                "the key is not the one that the certificate was made for; name a pair".to_owned()
            }
            error => format!("they cannot be used: {error}"),
        };
        CertificateError::Pair { certificate: certificate.to_owned(), key: key.to_owned(), reason }
    })
}

fn reason(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) => format!("it cannot be read: {error}"),
        pem::Error::NoItemsFound => "there is nothing of the kind in it".to_owned(),
        error => format!("it is damaged: {error}"),
    }
}
