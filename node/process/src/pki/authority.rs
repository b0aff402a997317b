//! The authority itself: made in a directory, opened again, issuing and taking back.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SanType,
    SerialNumber, date_time_ymd,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{CertificateRevocationList, FromDer, X509Certificate};

use super::described::{Subject, described, serial_of};
use super::file;
use crate::chance;
use crate::follow;
use crate::identity::{Identity, Role, check_realm};
use crate::tls::{Refusal, Verifier, believed_but_for_time};

/// The authority's certificate and, below it, what it has revoked: the file that `tls_authority` names.
pub const AUTHORITY: &str = "authority.pem";
/// The authority's private key.
pub const AUTHORITY_KEY: &str = "authority.key";
/// What the authority has issued: a line each of serial number, identity and expiry in seconds since 1970.
pub const ISSUED: &str = "issued.txt";

/// How long an authority lasts.
const AUTHORITY_LIFETIME: Duration = Duration::from_secs(3_650 * DAY_S);
/// How long an identity lasts if nobody says.
pub const LIFETIME: Duration = Duration::from_secs(90 * DAY_S);
const DAY_S: u64 = 24 * 3_600;

/// Certificates begin so long before they are made: clocks differ.
pub(super) const BACKDATED: Duration = Duration::from_secs(300);

/// Why nothing was made. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// Files are never overwritten.
    #[error("{} is there already, and is never overwritten; move it away, or name another place", .0.display())]
    Exists(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// What was asked for cannot be.
    #[error("{0}")]
    Refused(String),
}

impl PkiError {
    pub(crate) fn file(path: &Path, reason: impl ToString) -> Self {
        Self::File { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// An authority, ready to issue.
#[derive(Debug)]
pub struct Authority {
    directory: PathBuf,
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    /// The realm of all identities that it issues.
    pub trust_domain: String,
}

/// An identity that was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// Whose it is.
    pub identity: Identity,
    /// The file of the certificate.
    pub certificate: PathBuf,
    /// The file of its key.
    pub key: PathBuf,
    /// The certificate's serial number, in hexadecimal.
    pub serial: String,
    /// When it expires, in seconds since 1970.
    pub expires: u64,
}

/// A lifetime such as `90d` or `12h`.
///
/// # Errors
/// What is wrong with `text`, without repeating it.
pub fn lifetime(text: &str) -> Result<Duration, String> {
    let read = match text.strip_suffix('d').map(str::parse::<u32>) {
        Some(days) => days.map(|days| Duration::from_secs(u64::from(days) * DAY_S)).map_err(|_| ()),
        None => crate::duration::parse(text).map_err(|_| ()),
    };
    match read {
        Ok(lifetime) if (Duration::from_secs(60)..=AUTHORITY_LIFETIME).contains(&lifetime) => Ok(lifetime),
        _ => Err("is no lifetime from 1m to 3650d, as in 90d or 12h".to_owned()),
    }
}

impl Authority {
    /// Makes an authority in `directory`, which is made if it is missing.
    ///
    /// # Errors
    /// There is one already, or it cannot be written.
    pub fn create(directory: &Path, trust_domain: &str) -> Result<Self, PkiError> {
        check_realm(trust_domain).map_err(|reason| PkiError::Refused(format!("--trust-domain {reason}")))?;
        std::fs::create_dir_all(directory).map_err(|error| PkiError::file(directory, error))?;
        file::refuse_open_directory(directory)?;
        let key = key()?;
        // Two authorities of one trust domain, as there are in a rotation, are told apart by their names.
        let name = format!("Waymark authority of {trust_domain}, {:08x}", chance::draw() >> 32);
        let mut params = params(BACKDATED, AUTHORITY_LIFETIME, &name);
        params.subject_alt_names = vec![uri(&format!("spiffe://{trust_domain}"))?];
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(refused)?;
        let key_path = directory.join(AUTHORITY_KEY);
        file::create(&key_path, key.serialize_pem().as_bytes(), file::PRIVATE)?;
        let path = directory.join(AUTHORITY);
        file::create(&path, certificate.pem().as_bytes(), file::PUBLIC)
            .inspect_err(|_| drop(std::fs::remove_file(&key_path)))?;
        Self::open(directory)
    }

    /// The authority in `directory`.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn open(directory: &Path) -> Result<Self, PkiError> {
        let (path, key_path) = (directory.join(AUTHORITY), directory.join(AUTHORITY_KEY));
        let fault = |reason: String| PkiError::file(&path, reason);
        let none = "is it an authority's directory? 'waymark pki init' makes one";
        let text = follow::read(&path).map_err(|reason| fault(format!("{reason}; {none}")))?;
        let certificate = CertificateDer::from_pem_slice(&text)
            .map_err(|_| fault(format!("there is no certificate in it; {none}")))?;
        file::refuse_open_directory(directory)?;
        file::refuse_open_key(&key_path, "be the authority")?;
        let key = follow::read(&key_path).map_err(|reason| PkiError::file(&key_path, reason))?;
        let key = KeyPair::from_pem(&String::from_utf8_lossy(&key))
            .map_err(|error| PkiError::file(&key_path, error))?;
        let trust_domain = realm_of(&certificate).map_err(fault)?;
        let issuer = Issuer::from_ca_cert_der(&certificate, key).map_err(|error| fault(error.to_string()))?;
        Ok(Self { directory: directory.to_owned(), issuer, certificate, trust_domain })
    }

    /// Issues an identity for `role` that lasts for `lifetime`, as two files in the directory `into`.
    ///
    /// # Errors
    /// The files are there already or cannot be written, or it would outlast the authority.
    pub fn issue(&self, role: Role, lifetime: Duration, into: &Path) -> Result<Issued, PkiError> {
        let identity = Identity { trust_domain: self.trust_domain.clone(), role };
        let key = key()?;
        let expires = UnixTime::now().as_secs() + lifetime.as_secs();
        let (_, own) = X509Certificate::from_der(&self.certificate).map_err(refused)?;
        let last = u64::try_from(own.validity().not_after.timestamp()).unwrap_or_default();
        if expires >= last {
            return Err(PkiError::Refused(format!(
                "--for {}d: the identity would outlast its authority, which has {} days left; choose a shorter time, or make \
                 a new authority",
                lifetime.as_secs() / DAY_S,
                last.saturating_sub(UnixTime::now().as_secs()) / DAY_S
            )));
        }
        let params = identity_params(&identity, BACKDATED, lifetime)?;
        let signed = params.signed_by(&key, &self.issuer).map_err(refused)?;
        let base = identity.role.to_string().replace('/', "-");
        let (certificate, key_path) = (into.join(format!("{base}.pem")), into.join(format!("{base}.key")));
        if let Some(there) = [&certificate, &key_path].into_iter().find(|path| path.exists()) {
            return Err(PkiError::Exists(there.clone()));
        }
        let serial = serial_of(signed.der()).map_err(PkiError::Refused)?;
        // First, so that nothing is ever out of which the authority does not know.
        file::append(&self.directory.join(ISSUED), &format!("{serial} {identity} {expires}\n"))?;
        file::create(&key_path, key.serialize_pem().as_bytes(), file::PRIVATE)?;
        file::create(&certificate, signed.pem().as_bytes(), file::PUBLIC)
            .inspect_err(|_| drop(std::fs::remove_file(&key_path)))?;
        Ok(Issued { identity, certificate, key: key_path, serial, expires })
    }

    /// Takes the certificate in `file` back. Returns its serial number, and how many are revoked in all.
    ///
    /// # Errors
    /// This authority has not issued it; a file cannot be read or written.
    pub fn revoke_file(&self, file: &Path) -> Result<(String, usize), PkiError> {
        let fault = |reason: String| PkiError::file(file, reason);
        let certificate = CertificateDer::from_pem_slice(&follow::read(file).map_err(fault)?);
        let certificate = certificate.map_err(|_| fault("there is no certificate in it".to_owned()))?;
        let described = described(&certificate).map_err(fault)?;
        if matches!(described.subject, Subject::Authority(_)) {
            let advice = "an authority is dropped by taking it out of every file that trusts it";
            return Err(fault(format!("no identity is in it; {advice}")));
        }
        self.refuse_foreign(&certificate).map_err(|reason| {
            fault(format!(
                "this authority, {}, has not issued it, and cannot take it back: {reason}; its issuer is {}",
                self.directory.join(AUTHORITY).display(),
                described.issuer
            ))
        })?;
        let revoked = self.add_revoked(serial_bytes(&described.serial).map_err(PkiError::Refused)?)?;
        Ok((described.serial, revoked))
    }

    /// By its key, not by the record: that may be younger than the certificate.
    fn refuse_foreign(&self, certificate: &CertificateDer<'static>) -> Result<(), Refusal> {
        let own = pem_text(&self.certificate);
        let verifier = Verifier::new(own.as_bytes(), &self.trust_domain).map_err(Refusal::Other)?;
        believed_but_for_time(&verifier, std::slice::from_ref(certificate)).map(drop)
    }

    /// Takes the certificate with `serial` (hexadecimal) back: the list of what is revoked, which stands below the
    /// authority's certificate, is signed anew. Returns how many are on it; one that is on it already stays.
    ///
    /// # Errors
    /// The number is none, or not of a certificate that this authority has issued; a file cannot be read or written.
    pub fn revoke(&self, serial: &str) -> Result<usize, PkiError> {
        let bytes = serial_bytes(serial).map_err(PkiError::Refused)?;
        let record = self.directory.join(ISSUED);
        let digits = data_encoding::HEXLOWER.encode(&bytes);
        let text = match std::fs::read(&record) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(PkiError::file(&record, error));
            }
            read => read.unwrap_or_default(),
        };
        let is_issued =
            String::from_utf8_lossy(&text).lines().any(|line| line.split(' ').next() == Some(&digits));
        if !is_issued {
            return Err(PkiError::Refused(format!(
                "'{serial}' is not the serial number of an identity that this authority has issued: {} has them all, but for \
                 those of versions before it was kept, for which name the certificate's file, and those that a cluster has \
                 issued (--by-cluster)",
                record.display()
            )));
        }
        self.add_revoked(bytes)
    }

    /// The same for a certificate of which the record cannot know: that of an agent which a cluster has issued in this authority's
    /// name.
    ///
    /// # Errors
    /// The number is none; a file cannot be read or written.
    pub fn revoke_unrecorded(&self, serial: &str) -> Result<usize, PkiError> {
        self.add_revoked(serial_bytes(serial).map_err(PkiError::Refused)?)
    }

    fn add_revoked(&self, serial: Vec<u8>) -> Result<usize, PkiError> {
        let path = self.directory.join(AUTHORITY);
        let text = follow::read(&path).map_err(|reason| PkiError::file(&path, reason))?;
        let mut revoked = revoked_in(&text).map_err(|reason| PkiError::file(&path, reason))?;
        let now = UnixTime::now().as_secs();
        let moment = |seconds| date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds);
        if !revoked.iter().any(|(known, _)| *known == serial) {
            revoked.push((serial, now));
        }
        let entries = revoked.iter().map(|(serial, at)| RevokedCertParams {
            serial_number: SerialNumber::from_slice(serial),
            revocation_time: moment(*at),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: moment(now),
            // Members go by the list that they have: an old one is better than none.
            next_update: moment(now + AUTHORITY_LIFETIME.as_secs()),
            crl_number: SerialNumber::from(now),
            issuing_distribution_point: None,
            revoked_certs: entries.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = list.signed_by(&self.issuer).and_then(|list| list.pem()).map_err(refused)?;
        let certificate = pem_text(&self.certificate);
        file::replace(&path, format!("{certificate}{list}").as_bytes(), file::PUBLIC)?;
        Ok(revoked.len())
    }
}

pub(super) fn refused(error: impl ToString) -> PkiError {
    PkiError::Refused(error.to_string())
}

/// P-256, which whatever speaks TLS can read.
pub(super) fn key() -> Result<KeyPair, PkiError> {
    KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(refused)
}

fn uri(text: &str) -> Result<SanType, PkiError> {
    text.try_into().map(SanType::URI).map_err(refused)
}

/// What the certificate of an identity has.
pub(super) fn identity_params(
    identity: &Identity,
    backdated: Duration,
    lifetime: Duration,
) -> Result<CertificateParams, PkiError> {
    let mut params = params(backdated, lifetime, &identity.role.to_string());
    params.subject_alt_names = vec![uri(&identity.to_string())?];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
    params.is_ca = IsCa::ExplicitNoCa;
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

/// What every certificate has: dates, a number that nobody guesses, and a name for people.
fn params(backdated: Duration, lifetime: Duration, name: &str) -> CertificateParams {
    let now = date_time_ymd(1970, 1, 1) + Duration::from_secs(UnixTime::now().as_secs());
    let mut params = CertificateParams::default();
    params.not_before = now - backdated;
    params.not_after = now + lifetime;
    let mut serial = chance::bytes();
    // Positive, and of the same length always.
    serial[0] = serial[0] & 0x7f | 0x40;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// The trust domain of an authority's certificate.
pub(super) fn realm_of(certificate: &CertificateDer<'_>) -> Result<String, String> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|error| error.to_string())?;
    let names = parsed.subject_alternative_name().map_err(|error| error.to_string())?;
    let names = names.map_or(&[][..], |names| names.value.general_names.as_slice());
    let realm = names.iter().find_map(|name| match name {
        GeneralName::URI(uri) => uri.strip_prefix("spiffe://"),
        _ => None,
    });
    let realm = realm.ok_or("it is no authority's certificate: it names no trust domain")?;
    check_realm(realm).map(|()| realm.to_owned())
}

fn serial_bytes(text: &str) -> Result<Vec<u8>, String> {
    let wrong =
        || format!("'{text}' is neither a file nor a serial number: that has up to 40 hexadecimal digits");
    let digits: String = text.chars().filter(|character| *character != ':').collect();
    if digits.is_empty() || digits.len() > 40 || digits.len() % 2 == 1 || !digits.is_ascii() {
        return Err(wrong());
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| wrong())).collect()
}

/// Serial numbers and moments of what the lists in a bundle have revoked.
pub(super) fn revoked_in(text: &[u8]) -> Result<Vec<(Vec<u8>, u64)>, String> {
    let mut revoked = Vec::new();
    for list in CertificateRevocationListDer::pem_slice_iter(text) {
        let list = list.map_err(|error| error.to_string())?;
        let (_, list) = CertificateRevocationList::from_der(&list).map_err(|error| error.to_string())?;
        for entry in list.iter_revoked_certificates() {
            let at = u64::try_from(entry.revocation_date.timestamp()).unwrap_or_default();
            revoked.push((entry.raw_serial().to_vec(), at));
        }
    }
    Ok(revoked)
}

/// A certificate as PEM.
pub(super) fn pem_text(certificate: &CertificateDer<'_>) -> String {
    /// RFC 7468 §2.
    const LINE: usize = 64;
    let coded = data_encoding::BASE64.encode(certificate);
    let lines: Vec<&str> =
        coded.as_bytes().chunks(LINE).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}
