//! A certificate with its chain and its private key, in two files, as they are used together.

use std::path::{Path, PathBuf};

use rustls::InconsistentKeys;
use rustls::crypto::aws_lc_rs;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::follow;

/// What cannot be used: which file, what is wrong with it, and how to mend it, in one line.
#[derive(Debug, thiserror::Error)]
pub enum PairError {
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
    /// Both can be read, and cannot be used together.
    #[error("{certificate_key} {} and {key_key} {}: {reason}", certificate.display(), key.display())]
    Pair {
        /// The setting that names the certificate's file.
        certificate_key: &'static str,
        /// The certificate's file.
        certificate: PathBuf,
        /// The setting that names the key's file.
        key_key: &'static str,
        /// The key's file.
        key: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// A file and the setting that names it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The setting.
    pub key: &'static str,
    /// The file.
    pub path: &'a Path,
}

impl<'a> Named<'a> {
    /// It is of no use.
    pub(super) fn fault(self, wanted: &'static str) -> impl Fn(String) -> PairError + Copy + use<'a> {
        let (key, path) = (self.key, self.path);
        move |reason| PairError::File { key, path: path.to_owned(), reason, wanted }
    }
}

/// Reads the chain in `certificate` and the private key in `key`, both in PEM.
///
/// # Errors
/// A file cannot be read or used, or the key is not the certificate's.
pub fn read(certificate: Named<'_>, key: Named<'_>) -> Result<CertifiedKey, PairError> {
    let fault = certificate.fault("the certificate and, behind it, those that lead to its root");
    let chain = certificates(&follow::read(certificate.path).map_err(fault)?).map_err(fault)?;
    let fault = key.fault("the certificate's private key");
    let private = PrivateKeyDer::from_pem_slice(&follow::read(key.path).map_err(fault)?);
    let private = private.map_err(|error| fault(reason(&error)))?;
    CertifiedKey::from_der(chain, private, &aws_lc_rs::default_provider()).map_err(|error| {
        let reason = match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                "the key is not the one that the certificate was made for; name a pair".to_owned()
            }
            error => format!("they cannot be used: {error}"),
        };
        PairError::Pair {
            certificate_key: certificate.key,
            certificate: certificate.path.to_owned(),
            key_key: key.key,
            key: key.path.to_owned(),
            reason,
        }
    })
}

/// The certificates in a PEM text: at least one.
pub(super) fn certificates(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(text).collect::<Result<_, _>>().map_err(|error| reason(&error))?;
    if all.is_empty() { Err(reason(&pem::Error::NoItemsFound)) } else { Ok(all) }
}

/// What is wrong with a PEM text, without a byte of it.
pub(super) fn reason(error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => "there is nothing of the kind in it".to_owned(),
        pem::Error::MissingSectionEnd { .. } => "it is damaged: a section does not end".to_owned(),
        pem::Error::IllegalSectionStart { .. } => "it is damaged: a section begins wrongly".to_owned(),
        _ => "it is damaged: it is no PEM".to_owned(),
    }
}
