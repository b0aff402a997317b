//! Who this process is and whom it believes: three files, used only while they fit together, and followed for changes
//! (SEC-1, SEC-3).

use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use rustls::client::Resumption;
use rustls::crypto::aws_lc_rs;
use rustls::server::NoServerSessionStorage;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::TLS13;
use rustls::{ClientConfig, ServerConfig};
use rustls_pki_types::{CertificateDer, UnixTime};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::pair::{self, Named, PairError};
use super::verifier::{Callers, Refusal, Side, Verifier};
use super::watched::{Place, Watched};
use crate::follow::{self, Seen};
use crate::identity::{Identity, IdentityError};

/// What is spoken within TLS: gRPC's HTTP/2 and nothing else.
const PROTOCOL: &[u8] = b"h2";

/// Open connections are judged anew this often, in seconds, so that one whose certificate expires ends; at once when the
/// files have changed.
const VERIFY_AGAIN_S: u64 = 30;

/// How often a certificate that others refuse is told of, in seconds.
const TELL_AGAIN_S: u64 = 600;

/// A certificate that expires within this time is told of: a week is time enough for a person.
const EXPIRES_SOON_S: u64 = 7 * 24 * 3_600;

/// The three files, and the settings that name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialFiles {
    /// The names of the settings, in the order of the files.
    pub keys: [&'static str; 3],
    /// The certificate and its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Whom to believe: certificates of authorities, and what they have revoked.
    pub authority: PathBuf,
}

impl CredentialFiles {
    fn paths(&self) -> [&Path; 3] {
        [&self.certificate, &self.key, &self.authority]
    }
}

/// Why credentials cannot be used: one line with setting, file and reason.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// Certificate and key.
    #[error(transparent)]
    Pair(#[from] PairError),
    /// Someone else on this machine could take the identity.
    #[error("{key} {}: everybody on this machine can read it (mode {mode:04o}); chmod 600 it", path.display())]
    Exposed {
        /// The setting.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The certificate names nobody.
    #[error("{key} {}: {reason}", path.display())]
    Identity {
        /// The setting.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: IdentityError,
    },
    /// Nobody who trusts the same authorities would believe the certificate.
    #[error("{key} {}: the authorities in {} do not believe it: {reason}", path.display(), authority.display())]
    Disbelieved {
        /// The setting.
        key: &'static str,
        /// The certificate.
        path: PathBuf,
        /// The authorities.
        authority: PathBuf,
        /// Why.
        reason: Box<Refusal>,
    },
    /// A process stays who it is.
    #[error("{key} {}: it is that of {found}, this process is {wanted}", path.display())]
    OtherIdentity {
        /// The setting.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Whose it is.
        found: String,
        /// Who this is.
        wanted: String,
    },
}

/// The credentials of a process; the current ones at any time.
pub struct Credentials {
    files: CredentialFiles,
    seen: Seen,
    current: ArcSwap<Current>,
    watched: Arc<Watched>,
    /// Looks since the start: one a second.
    looks: AtomicU64,
}

/// What one reading of the files gave.
struct Current {
    identity: Identity,
    chain: Vec<CertificateDer<'static>>,
    /// Seconds since 1970.
    begins: u64,
    expires: u64,
    verifier: Arc<Verifier>,
    server: Arc<ServerConfig>,
    /// The same for a moment at which callers may come without a certificate.
    open_server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key has no business in a log, in whatever form.
        write!(f, "Credentials of {}", self.identity())
    }
}

impl Credentials {
    /// Reads the files. A certificate that is fine but for its dates, or that is revoked, is taken: see
    /// [`Self::trouble`].
    ///
    /// # Errors
    /// They cannot be used together.
    pub fn open(files: CredentialFiles) -> Result<Arc<Self>, CredentialsError> {
        let seen = Seen::now(&files.paths());
        let current = ArcSwap::from_pointee(Current::read(&files)?);
        Ok(Arc::new(Self { files, seen, current, watched: Arc::default(), looks: AtomicU64::new(0) }))
    }

    /// Who this process is.
    pub fn identity(&self) -> Identity {
        self.current.load().identity.clone()
    }

    /// Fails unless this process is who `is_wanted` says, `wanted` in words.
    ///
    /// # Errors
    /// It is someone else.
    pub fn expect(
        &self,
        wanted: &str,
        is_wanted: impl Fn(&Identity) -> bool,
    ) -> Result<(), CredentialsError> {
        let found = self.identity();
        if is_wanted(&found) {
            return Ok(());
        }
        Err(self.files.other(found.role.to_string(), wanted.to_owned()))
    }

    /// Why nobody believes this process's own certificate now, if that is so.
    pub fn trouble(&self) -> Option<Refusal> {
        let Current { chain, verifier, .. } = &**self.current.load();
        verifier.verify(chain, Side::Calling, UnixTime::now()).err()
    }

    /// Reads the files again at each HUP and when they change, as long as the runtime lives; while they do not fit
    /// together, those before serve. Connections end when the certificate at their other end is believed no longer.
    ///
    /// # Errors
    /// The system does not tell of signals.
    pub fn follow(self: &Arc<Self>) -> io::Result<()> {
        let credentials = self.clone();
        follow::follow("the TLS credentials", move |is_asked| credentials.look(is_asked))
    }

    /// One look at files, clock and connections.
    pub(super) fn look(&self, is_asked: bool) {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        let has_changed = self.seen.has_changed(&self.files.paths());
        if has_changed || is_asked {
            match self.read_again() {
                Ok(()) => tracing::info!(identity = %self.identity(), "the TLS credentials were read again"),
                Err(error) => tracing::error!(%error, "the TLS credentials stay those before"),
            }
        }
        if has_changed || is_asked || looks.is_multiple_of(VERIFY_AGAIN_S) {
            self.watched.verify_again(&self.current.load().verifier);
        }
        if has_changed || looks.is_multiple_of(TELL_AGAIN_S) {
            self.tell();
        }
    }

    /// Reads the files now; if they do not fit together, those before stay.
    ///
    /// # Errors
    /// They do not.
    pub fn read_again(&self) -> Result<(), CredentialsError> {
        let read = Current::read(&self.files)?;
        let own = self.identity();
        if read.identity != own {
            return Err(self.files.other(read.identity.to_string(), own.to_string()));
        }
        self.current.store(Arc::new(read));
        Ok(())
    }

    fn tell(&self) {
        let certificate = self.files.certificate.display();
        let left = self.current.load().expires.saturating_sub(UnixTime::now().as_secs());
        match self.trouble() {
            Some(reason) => tracing::error!(
                %certificate, %reason,
                "NOBODY BELIEVES THIS PROCESS: others refuse its certificate; replace it, it is read when it changes"
            ),
            None if left < EXPIRES_SOON_S => {
                tracing::warn!(%certificate, hours_left = left / 3_600, "the certificate expires soon: replace it");
            }
            None => {}
        }
    }

    /// Whom the first certificate of `chain` is for, if it were shown by a caller now.
    ///
    /// # Errors
    /// Why it is not believed.
    pub fn believe(&self, chain: &[CertificateDer<'_>]) -> Result<Identity, Refusal> {
        self.current.load().verifier.verify(chain, Side::Calling, UnixTime::now())
    }

    /// From when to when this process's own certificate is valid, in seconds since 1970.
    pub fn validity(&self) -> (u64, u64) {
        let current = self.current.load();
        (current.begins, current.expires)
    }

    /// What to accept TLS with now; callers without a certificate are let in as nobody if `may_be_nobody`.
    pub fn server(&self, may_be_nobody: bool) -> Arc<ServerConfig> {
        let current = self.current.load();
        if may_be_nobody { current.open_server.clone() } else { current.server.clone() }
    }

    /// What to begin TLS with now.
    pub(super) fn client(&self) -> Arc<ClientConfig> {
        self.current.load().client.clone()
    }

    /// Watches a connection at whose other end is whoever presented `chain`.
    pub(super) fn watch(
        &self,
        chain: Option<&[CertificateDer<'static>]>,
        side: Side,
    ) -> Result<(Identity, Place), Refusal> {
        let chain = chain.unwrap_or_default().to_vec();
        self.watched.enter(chain, side, || self.current.load().verifier.clone())
    }
}

impl CredentialFiles {
    fn other(&self, found: String, wanted: String) -> CredentialsError {
        CredentialsError::OtherIdentity { key: self.keys[0], path: self.certificate.clone(), found, wanted }
    }

    /// The key must be nobody else's business.
    fn refuse_exposed(&self) -> Result<(), CredentialsError> {
        // One that cannot be looked at is told of when it is read.
        let mode = std::fs::metadata(&self.key).map_or(0, |metadata| metadata.permissions().mode() & 0o7777);
        if mode & 0o007 == 0 {
            return Ok(());
        }
        Err(CredentialsError::Exposed { key: self.keys[1], path: self.key.clone(), mode })
    }
}

impl Current {
    fn read(files: &CredentialFiles) -> Result<Self, CredentialsError> {
        let CredentialFiles { keys, certificate, key, authority } = files;
        files.refuse_exposed()?;
        let pair = pair::read(Named { key: keys[0], path: certificate }, Named { key: keys[1], path: key })?;
        let chain = pair.cert.clone();
        let unnamed = |reason| CredentialsError::Identity { key: keys[0], path: certificate.clone(), reason };
        let identity = Identity::of(&chain[0]).map_err(unnamed)?;
        let fault = Named { key: keys[2], path: authority }
            .fault("the certificates of the authorities that are trusted");
        let bundle = follow::read(authority).map_err(fault)?;
        let verifier = Verifier::new(&bundle, &identity.trust_domain).map_err(fault)?;
        let disbelieved = |reason| CredentialsError::Disbelieved {
            key: keys[0],
            path: certificate.clone(),
            authority: authority.clone(),
            reason: Box::new(reason),
        };
        let (begins, expires) = believed_but_for_time(&verifier, &chain).map_err(disbelieved)?;
        let verifier = Arc::new(verifier);
        let (server, open_server) =
            (server_config(&pair, &verifier, false), server_config(&pair, &verifier, true));
        let client = client_config(Some(pair), &verifier);
        Ok(Self { identity, chain, begins, expires, verifier, server, open_server, client })
    }
}

/// From when to when the chain's first certificate is valid, if it is believed at some moment: now, at its beginning or at its end. A
/// revoked one is taken as well: only so does the news reach a process that runs.
pub(crate) fn believed_but_for_time(
    verifier: &Verifier,
    chain: &[CertificateDer<'static>],
) -> Result<(u64, u64), Refusal> {
    let unreadable = |error: String| Refusal::Other(error);
    let (_, parsed) = X509Certificate::from_der(&chain[0]).map_err(|error| unreadable(error.to_string()))?;
    let seconds = |time: x509_parser::time::ASN1Time| u64::try_from(time.timestamp()).unwrap_or_default();
    let (begins, expires) = (seconds(parsed.validity().not_before), seconds(parsed.validity().not_after));
    let at = |seconds| UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
    let sides: &[Side] = match Identity::of(&chain[0])?.role {
        crate::identity::Role::Member { .. } => &[Side::Calling, Side::Called],
        _ => &[Side::Calling],
    };
    for side in sides {
        let mut judged = verifier.verify(chain, *side, UnixTime::now());
        if matches!(judged, Err(Refusal::Expired)) {
            judged = verifier.verify(chain, *side, at(expires));
        }
        if matches!(judged, Err(Refusal::NotYet)) {
            judged = verifier.verify(chain, *side, at(begins));
        }
        match judged {
            Ok(_) | Err(Refusal::Revoked) => {}
            Err(reason) => return Err(reason),
        }
    }
    Ok((begins, expires))
}

/// TLS 1.3 only, and each connection proves itself: a resumed session would not be asked for a certificate, and one that
/// has been revoked meanwhile would go on.
fn server_config(pair: &CertifiedKey, verifier: &Arc<Verifier>, may_be_nobody: bool) -> Arc<ServerConfig> {
    let callers = Callers { verifier: verifier.clone(), may_be_nobody };
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .expect("the provider speaks TLS 1.3")
        .with_client_cert_verifier(Arc::new(callers))
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(pair.clone())));
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Arc::new(config)
}

/// To call with, as nobody if there is no `pair`.
pub(super) fn client_config(pair: Option<CertifiedKey>, verifier: &Arc<Verifier>) -> Arc<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .expect("the provider speaks TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier.clone());
    let mut config = match pair {
        Some(pair) => config.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(pair))),
        None => config.with_no_client_auth(),
    };
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.resumption = Resumption::disabled();
    // Members are known by identity: there is no host name to tell.
    config.enable_sni = false;
    Arc::new(config)
}
