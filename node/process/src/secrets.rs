//! Secrets at rest (SEC-4): the key file of a cluster, and what is encrypted with it. Members of a cluster have the same file;
//! nobody else needs it, and it is neither in the log nor in a backup.

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

use crate::chance;
use crate::follow;
use crate::pki::{PkiError, file};

/// Most keys in a file: one in use and one that is on its way out are the rule.
const KEYS_MAX: usize = 8;
/// How a sealed secret begins: the only form there is.
const FORM: u8 = 1;
/// Bytes of a key's number, which is drawn from the key itself.
const ID_BYTES: usize = 8;
/// Bytes of a nonce: enough for any number of them to be drawn blindly.
const NONCE_BYTES: usize = 24;
/// What a key's number is made with, and what each secret is bound to beside the name of its header.
const PURPOSE: &str = "waymark secret header";
/// What the key of an issuing authority is bound to beside its certificate.
const AUTHORITY_PURPOSE: &str = "waymark issuing authority";

/// The keys of a cluster; none, unless somebody has made a file.
#[derive(Debug, Default)]
pub struct Keys {
    /// The first one encrypts, all of them decrypt.
    keys: Vec<Key>,
}

struct Key {
    id: [u8; ID_BYTES],
    cipher: XChaCha20Poly1305,
}

/// Its number alone.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.id))
    }
}

/// Why a secret was not encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this member has no key to keep secrets with: give all members of the cluster the same secret_key_file ('waymark pki \
     secret-key FILE' makes one), or give the value as an ordinary header"
)]
pub struct NoKey;

/// Why a secret cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// The key is not there.
    #[error("it was encrypted with the key {0}, which is not in this member's secret_key_file")]
    UnknownKey(String),
    /// It is no secret of ours, or that of another header.
    #[error("it is damaged: its key is there, and does not fit")]
    Damaged,
}

impl Key {
    fn new(secret: [u8; 32]) -> Self {
        let cipher = XChaCha20Poly1305::new(&secret.into());
        // A tag over nothing: it tells keys apart, and nothing of the key.
        let tag =
            cipher.encrypt(&XNonce::from([0; NONCE_BYTES]), Payload { msg: &[], aad: PURPOSE.as_bytes() });
        let tag = tag.expect("nothing is not too long");
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&tag[..ID_BYTES]);
        Self { id, cipher }
    }
}

/// A secret stays with its header: in the place of another one's it does not decrypt.
fn to_header(header: &str) -> Vec<u8> {
    [PURPOSE.as_bytes(), &[0], header.to_ascii_lowercase().as_bytes()].concat()
}

/// The key of an authority stays with its certificate, and is no header's value.
fn to_authority(certificate: &[u8]) -> Vec<u8> {
    [AUTHORITY_PURPOSE.as_bytes(), &[0], certificate].concat()
}

impl Keys {
    /// Makes a file with one fresh key, which nobody else can read; returns the key's number.
    ///
    /// # Errors
    /// There is a file already, or it cannot be written.
    pub fn create(path: &Path) -> Result<String, PkiError> {
        let secret = [chance::bytes(), chance::bytes()].concat();
        file::create(path, (HEXLOWER.encode(&secret) + "\n").as_bytes(), file::PRIVATE)?;
        Ok(Self::open(path)?.ids().next().unwrap_or_default())
    }

    /// Reads the file at `path`: a key on each line; what stands behind `#` is not looked at.
    ///
    /// # Errors
    /// It cannot be read, everybody can read it, or a line is no key; a line is never repeated.
    pub fn open(path: &Path) -> Result<Self, PkiError> {
        file::refuse_open_key(path, "read what is encrypted with it")?;
        let content = follow::read(path).map_err(|reason| PkiError::file(path, reason))?;
        let text = String::from_utf8(content).map_err(|_| PkiError::file(path, "it is no text"))?;
        let mut keys = Vec::new();
        for (place, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let secret = HEXLOWER_PERMISSIVE.decode(line.as_bytes()).ok();
            let secret: Option<[u8; 32]> = secret.and_then(|bytes| bytes.try_into().ok());
            let wrong = || format!("line {} is no key of 64 hexadecimal digits", place + 1);
            keys.push(Key::new(secret.ok_or_else(|| PkiError::file(path, wrong()))?));
        }
        match keys.len() {
            0 => Err(PkiError::file(
                path,
                "there is no key in it; 'waymark pki secret-key FILE' makes a file with one",
            )),
            1..=KEYS_MAX => Ok(Self { keys }),
            more => {
                Err(PkiError::file(path, format!("it has {more} keys, {KEYS_MAX} are the most there may be")))
            }
        }
    }

    /// The keys' numbers, that of the one which encrypts first.
    pub fn ids(&self) -> impl Iterator<Item = String> + '_ {
        self.keys.iter().map(|key| HEXLOWER.encode(&key.id))
    }

    /// `value` of the header `header`, encrypted: a form, the key's number, a nonce, and what was made of it.
    ///
    /// # Errors
    /// There is no key.
    pub fn seal(&self, header: &str, value: &str) -> Result<Vec<u8>, NoKey> {
        self.seal_to(&to_header(header), value)
    }

    /// The value of the header `header` that was encrypted as `sealed`.
    ///
    /// # Errors
    /// The key is not here, or it is not what was made of a value of that header.
    pub fn unseal(&self, header: &str, sealed: &[u8]) -> Result<String, UnsealError> {
        self.unseal_from(&to_header(header), sealed)
    }

    /// The private key of the authority with the certificate `certificate` (DER), encrypted in the same way.
    ///
    /// # Errors
    /// There is no key to do it with.
    pub fn seal_authority(&self, certificate: &[u8], key: &str) -> Result<Vec<u8>, NoKey> {
        self.seal_to(&to_authority(certificate), key)
    }

    /// The private key of the authority with that certificate that was encrypted as `sealed`.
    ///
    /// # Errors
    /// As of [`Self::unseal`].
    pub fn unseal_authority(&self, certificate: &[u8], sealed: &[u8]) -> Result<String, UnsealError> {
        self.unseal_from(&to_authority(certificate), sealed)
    }

    fn seal_to(&self, bound: &[u8], value: &str) -> Result<Vec<u8>, NoKey> {
        let Key { id, cipher } = self.keys.first().ok_or(NoKey)?;
        let drawn = [chance::bytes(), chance::bytes()].concat();
        let mut nonce = [0; NONCE_BYTES];
        nonce.copy_from_slice(&drawn[..NONCE_BYTES]);
        let payload = Payload { msg: value.as_bytes(), aad: bound };
        let made = cipher.encrypt(&XNonce::from(nonce), payload).expect("what is sealed is short");
        Ok([&[FORM][..], id, &nonce, &made].concat())
    }

    fn unseal_from(&self, bound: &[u8], sealed: &[u8]) -> Result<String, UnsealError> {
        let sealed = sealed.strip_prefix(&[FORM]).ok_or(UnsealError::Damaged)?;
        let (id, sealed) = sealed.split_at_checked(ID_BYTES).ok_or(UnsealError::Damaged)?;
        let (nonce, made) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(UnsealError::Damaged)?;
        let key = self.keys.iter().find(|key| key.id == id);
        let key = key.ok_or_else(|| UnsealError::UnknownKey(HEXLOWER.encode(id)))?;
        let payload = Payload { msg: made, aad: bound };
        let value = key.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| UnsealError::Damaged)?;
        String::from_utf8(value).map_err(|_| UnsealError::Damaged)
    }
}
