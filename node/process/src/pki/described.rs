//! What is in a PEM file of certificates, for people.

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::authority::{realm_of, revoked_in};
use crate::identity::Identity;

/// Whom a certificate is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Someone with a role.
    Identity(Identity),
    /// An authority, with its trust domain.
    Authority(String),
    /// Nobody, and why.
    Nobody(String),
}

/// One certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Whom it is for.
    pub subject: Subject,
    /// Its serial number, in hexadecimal.
    pub serial: String,
    /// The name of who has issued it.
    pub issuer: String,
    /// From when it is valid, in seconds since 1970.
    pub begins: u64,
    /// Until when.
    pub expires: u64,
}

/// The certificates in `text`, and the serial numbers (hexadecimal) of those that its lists have revoked.
///
/// # Errors
/// It is no PEM with a certificate in it.
pub fn describe(text: &[u8]) -> Result<(Vec<Described>, Vec<String>), String> {
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(text)
        .collect::<Result<_, _>>()
        .map_err(|_| "it is no PEM, or damaged".to_owned())?;
    if certificates.is_empty() {
        return Err("there is no certificate in it".to_owned());
    }
    let described = certificates.iter().map(described).collect::<Result<Vec<_>, _>>()?;
    let revoked = revoked_in(text)?.into_iter().map(|(serial, _)| hexadecimal(&serial)).collect();
    Ok((described, revoked))
}

/// The name of the subject of a certificate (DER), and when it expires, in seconds since 1970.
///
/// # Errors
/// It is no certificate.
pub fn name_of(certificate: &[u8]) -> Result<(String, u64), String> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|error| error.to_string())?;
    let expires = u64::try_from(parsed.validity().not_after.timestamp()).unwrap_or_default();
    Ok((parsed.subject().to_string(), expires))
}

/// The public key of a certificate, without what says its kind.
pub(super) fn public_key(certificate: &CertificateDer<'_>) -> Result<Vec<u8>, String> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|error| error.to_string())?;
    Ok(parsed.public_key().subject_public_key.data.to_vec())
}

/// The serial number of a certificate, in hexadecimal.
pub(super) fn serial_of(certificate: &CertificateDer<'_>) -> Result<String, String> {
    described(certificate).map(|described| described.serial)
}

/// What a certificate says.
pub(super) fn described(certificate: &CertificateDer<'_>) -> Result<Described, String> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|error| error.to_string())?;
    let subject = match (parsed.is_ca(), realm_of(certificate), Identity::of(certificate)) {
        (true, Ok(realm), _) => Subject::Authority(realm),
        (false, _, Ok(identity)) => Subject::Identity(identity),
        (true, Err(reason), _) => Subject::Nobody(reason),
        (false, _, Err(reason)) => Subject::Nobody(reason.to_string()),
    };
    let seconds = |time: x509_parser::time::ASN1Time| u64::try_from(time.timestamp()).unwrap_or_default();
    Ok(Described {
        subject,
        serial: hexadecimal(parsed.raw_serial()),
        issuer: parsed.issuer().to_string(),
        begins: seconds(parsed.validity().not_before),
        expires: seconds(parsed.validity().not_after),
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}
