//! The files of an identity that its owner keeps up by itself: a key and a certificate that come and go together, though no two
//! files can be exchanged at once.
//!
//! ```text
//!  KEY.new is written ─▶ an authority is asked ─▶ CERTIFICATE is replaced ─▶ KEY.new becomes KEY
//!        a crash here: asked again, with the same key      a crash here: done at the next start
//! ```

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustls_pki_types::CertificateDer;

use super::authority::pem_text;
use super::file::{self, PUBLIC};
use super::{FreshKey, PkiError, certificates_in};
use crate::follow;

/// The two files, and the one in which a key waits for its certificate.
#[derive(Clone, Debug)]
pub struct Kept {
    certificate: PathBuf,
    key: PathBuf,
    next_key: PathBuf,
}

impl Kept {
    /// The files of a certificate and of its key.
    pub fn new(certificate: &Path, key: &Path) -> Self {
        let mut next: OsString = key.as_os_str().to_owned();
        next.push(".new");
        Self { certificate: certificate.to_owned(), key: key.to_owned(), next_key: next.into() }
    }

    /// Is there no certificate yet?
    pub fn is_missing(&self) -> bool {
        !self.certificate.exists()
    }

    /// Ends what a crash has broken off: a key whose certificate is there takes its place; one that belongs to another goes.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn mend(&self) -> Result<(), PkiError> {
        if self.is_missing() || !self.next_key.exists() {
            return Ok(());
        }
        let text =
            follow::read(&self.certificate).map_err(|reason| PkiError::file(&self.certificate, reason))?;
        let chain = certificates_in(&text).map_err(|reason| PkiError::file(&self.certificate, reason))?;
        // One that was not written to its end has no certificate anywhere.
        match FreshKey::open(&self.next_key) {
            Ok(key) if key.fits(&chain[0]) => file::rename(&self.next_key, &self.key),
            _ => std::fs::remove_file(&self.next_key).map_err(|error| PkiError::file(&self.next_key, error)),
        }
    }

    /// The key that waits for its first certificate: the one of an earlier try, for which the answer may have been lost, or a fresh
    /// one.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn first_key(&self) -> Result<FreshKey, PkiError> {
        if self.next_key.exists() { FreshKey::open(&self.next_key) } else { self.fresh_key() }
    }

    /// A fresh key, which waits for its certificate.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn fresh_key(&self) -> Result<FreshKey, PkiError> {
        FreshKey::create(&self.next_key)
    }

    /// Puts `chain` and the key that waits for it in the place of what is there.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn put(&self, chain: &[CertificateDer<'_>]) -> Result<(), PkiError> {
        let text: String = chain.iter().map(pem_text).collect();
        file::replace(&self.certificate, text.as_bytes(), PUBLIC)?;
        file::rename(&self.next_key, &self.key)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;
    use crate::identity::{Identity, Role};
    use crate::pki::{AUTHORITY, AUTHORITY_KEY, Authority, Issuing, SigningRequest};
    use crate::tls::{Named, read_pair};

    struct Stage {
        kept: Kept,
        issuing: Issuing,
        directory: tempfile::TempDir,
    }

    impl Stage {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            Authority::create(directory.path(), "x.test").unwrap();
            let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
            let chain = certificates_in(read(AUTHORITY).as_bytes()).unwrap();
            let issuing = Issuing::new(chain, &read(AUTHORITY_KEY)).unwrap();
            let kept = Kept::new(&directory.path().join("a.pem"), &directory.path().join("a.key"));
            Self { kept, issuing, directory }
        }

        fn certify(&self, key: &FreshKey) -> Vec<CertificateDer<'static>> {
            let request = SigningRequest::read(&key.signing_request().unwrap()).unwrap();
            let role = Role::new("agent", Some("eu"), "a1").unwrap();
            let identity = Identity { trust_domain: "x.test".into(), role };
            self.issuing.issue(&request, &identity, Duration::from_secs(3_600)).unwrap().chain
        }

        fn fits(&self) -> bool {
            let named = |key, path| Named { key, path };
            read_pair(named("c", &self.kept.certificate), named("k", &self.kept.key)).is_ok()
        }

        fn has_next(&self) -> bool {
            self.directory.path().join("a.key.new").exists()
        }
    }

    #[test]
    fn sec_1_the_first_key_waits_for_its_certificate_over_a_restart() {
        let stage = Stage::new();
        assert!(stage.kept.is_missing());
        let key = stage.kept.first_key().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&stage.kept.next_key), 0o600);
        stage.kept.mend().unwrap();
        let chain = stage.certify(&key);
        assert!(stage.kept.first_key().unwrap().fits(&chain[0]), "it is the same one");
        stage.kept.put(&chain).unwrap();
        assert!(!stage.kept.is_missing() && stage.fits() && !stage.has_next());
        assert_eq!((mode(&stage.kept.key), mode(&stage.kept.certificate)), (0o600, 0o644));
    }

    #[test]
    fn sec_1_what_a_crash_broke_off_is_ended_at_the_next_start() {
        let stage = Stage::new();
        let first = stage.kept.first_key().unwrap();
        stage.kept.put(&stage.certify(&first)).unwrap();
        // Before an answer: the old pair stays.
        stage.kept.fresh_key().unwrap();
        stage.kept.mend().unwrap();
        assert!(stage.fits() && !stage.has_next());
        // Between the certificate and the key.
        let next = stage.kept.fresh_key().unwrap();
        let text: String = stage.certify(&next).iter().map(pem_text).collect();
        file::replace(&stage.kept.certificate, text.as_bytes(), PUBLIC).unwrap();
        assert!(!stage.fits());
        stage.kept.mend().unwrap();
        assert!(stage.fits() && !stage.has_next());
        stage.kept.mend().unwrap();
    }
}
