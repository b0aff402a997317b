//! Asking for a certificate: a key that never leaves its owner, and what an authority is shown of it (PKCS #10).

use std::path::Path;

use rcgen::{CertificateParams, CertificateSigningRequestParams, KeyPair, PublicKey, PublicKeyData};
use rustls_pki_types::{CertificateDer, CertificateSigningRequestDer};

use super::PkiError;
use super::authority::{key, refused};
use super::described::public_key;
use super::file::{self, PRIVATE};
use crate::follow;

/// Largest request that is read, in bytes: one for P-256 has some 300.
const REQUEST_BYTES_MAX: usize = 4 * 1024;

/// How a public key on P-256 is written: a sign, and two numbers.
const POINT: (u8, usize) = (4, 65);

/// A private key for which there is no certificate yet.
pub struct FreshKey(KeyPair);

impl FreshKey {
    /// Makes one that stands nowhere else.
    ///
    /// # Errors
    /// There is none to be had.
    pub fn draw() -> Result<Self, PkiError> {
        key().map(Self)
    }

    /// Makes one, and puts it into the file at `path`, in the place of any that is there.
    pub(super) fn create(path: &Path) -> Result<Self, PkiError> {
        let key = Self::draw()?;
        file::replace(path, key.0.serialize_pem().as_bytes(), PRIVATE)?;
        Ok(key)
    }

    /// The one in the file at `path`.
    pub(super) fn open(path: &Path) -> Result<Self, PkiError> {
        let text = follow::read(path).map_err(|reason| PkiError::file(path, reason))?;
        let key = KeyPair::from_pem(&String::from_utf8_lossy(&text));
        key.map(Self).map_err(|error| PkiError::file(path, error))
    }

    /// What an authority is shown.
    ///
    /// # Errors
    /// It cannot be signed.
    pub fn signing_request(&self) -> Result<Vec<u8>, PkiError> {
        let request = CertificateParams::default().serialize_request(&self.0).map_err(refused)?;
        Ok(request.der().to_vec())
    }

    /// Is `certificate` for this key?
    pub fn fits(&self, certificate: &CertificateDer<'_>) -> bool {
        public_key(certificate).is_ok_and(|key| key == self.0.der_bytes())
    }
}

/// A request whose sender has the key: its own signature is right.
#[derive(Debug)]
pub struct SigningRequest {
    pub(super) key: PublicKey,
}

impl SigningRequest {
    /// Reads a request in DER.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(der: &[u8]) -> Result<Self, String> {
        if der.len() > REQUEST_BYTES_MAX {
            return Err(format!("has {} bytes, {REQUEST_BYTES_MAX} at most are read", der.len()));
        }
        let request = CertificateSigningRequestParams::from_der(&CertificateSigningRequestDer::from(der))
            .map_err(|error| format!("is no request in PKCS #10 whose signature is right: {error}"))?;
        let key = request.public_key;
        let is_p256 = key.algorithm() == &rcgen::PKCS_ECDSA_P256_SHA256
            && (key.der_bytes().first().copied(), key.der_bytes().len()) == (Some(POINT.0), POINT.1);
        if is_p256 { Ok(Self { key }) } else { Err("has another key than one on P-256".to_owned()) }
    }

    /// The public key, as its owner is told by.
    pub fn public_key(&self) -> &[u8] {
        self.key.der_bytes()
    }
}
