//! An authority that lives in the cluster and issues agents' identities (SEC-1): by a certificate and a key that were handed to it.

use std::time::Duration;

use rcgen::{Issuer, KeyPair, PublicKeyData};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, UnixTime};
use waymark_core::state::IssuingAuthority;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::authority::{BACKDATED, identity_params, realm_of};
use super::described::{public_key, serial_of};
use super::request::SigningRequest;
use crate::identity::Identity;
use crate::secrets::Keys;

/// An authority, ready to issue.
pub struct Issuing {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate and those behind it.
    chain: Vec<CertificateDer<'static>>,
    /// The name in its certificate.
    pub subject: String,
    /// When it expires, in seconds since 1970.
    pub expires: u64,
}

/// A certificate that was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// In DER: itself, and those behind it that lead to one that is trusted.
    pub chain: Vec<CertificateDer<'static>>,
    /// Its serial number, in hexadecimal.
    pub serial: String,
    /// When it expires, in seconds since 1970.
    pub expires: u64,
}

/// The certificates in a PEM text.
///
/// # Errors
/// It is no PEM, or has none in it.
pub fn certificates_in(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err("there is no certificate in it".to_owned()),
        Err(_) => Err("it is no PEM, or damaged".to_owned()),
    }
}

impl Issuing {
    /// The authority with the certificate that stands first in `chain`, and its private key in PEM. A fault never repeats a part of
    /// the key.
    ///
    /// # Errors
    /// It is no authority, or not that of the key.
    pub fn new(chain: Vec<CertificateDer<'static>>, key: &str) -> Result<Self, String> {
        let own = chain.first().ok_or("there is no certificate in it")?;
        let (_, parsed) = X509Certificate::from_der(own).map_err(|error| error.to_string())?;
        if !parsed.is_ca() {
            return Err(
                "its first certificate is no authority's: it is not made for signing others".to_owned()
            );
        }
        if parsed.key_usage().ok().flatten().is_some_and(|usage| !usage.value.key_cert_sign()) {
            return Err("its first certificate may not sign others: its key usage does not say so".to_owned());
        }
        let pair = KeyPair::from_pem(key)
            .map_err(|_| "the key is no private key in PEM of a kind that is known here".to_owned())?;
        if public_key(own)? != pair.der_bytes() {
            return Err("the key is not the one that the first certificate was made for".to_owned());
        }
        let (subject, last) = (parsed.subject().to_string(), parsed.validity().not_after.timestamp());
        let issuer = Issuer::from_ca_cert_der(own, pair).map_err(|error| error.to_string())?;
        Ok(Self { issuer, subject, expires: u64::try_from(last).unwrap_or_default(), chain })
    }

    /// The authority that is installed in a cluster, whose key is encrypted with one of `keys`.
    ///
    /// # Errors
    /// The key is not here, or does not belong to the certificate.
    pub fn unseal(installed: &IssuingAuthority, keys: &Keys) -> Result<Self, String> {
        let chain: Vec<_> = installed.chain.iter().map(|part| CertificateDer::from(part.to_vec())).collect();
        let own = chain.first().ok_or("there is no certificate in it")?;
        let key = keys.unseal_authority(own, &installed.key.0).map_err(|error| error.to_string())?;
        Self::new(chain, &key)
    }

    /// The trust domain that its certificate names, if it names one; one of ours does.
    pub fn realm(&self) -> Option<String> {
        self.chain.first().and_then(|own| realm_of(own).ok())
    }

    /// Issues `identity` for the key of `request`. It lasts for `lifetime`, or as long as the authority itself if that is less.
    ///
    /// # Errors
    /// The authority has expired.
    pub fn issue(
        &self,
        request: &SigningRequest,
        identity: &Identity,
        lifetime: Duration,
    ) -> Result<Granted, String> {
        let now = UnixTime::now().as_secs();
        let left = Duration::from_secs(self.expires.saturating_sub(now));
        if left.is_zero() {
            return Err(
                "the issuing authority has expired; 'waymark pki install' puts another in its place".into()
            );
        }
        let lifetime = lifetime.min(left);
        // The middle of its life is to be when half of it is over.
        let backdated = BACKDATED.min(lifetime / 10);
        let params = identity_params(identity, backdated, lifetime).map_err(|error| error.to_string())?;
        let signed = params.signed_by(&request.key, &self.issuer).map_err(|error| error.to_string())?;
        let serial = serial_of(signed.der())?;
        let behind = self.chain.iter().filter(|certificate| !is_root(certificate)).cloned();
        let chain = std::iter::once(signed.der().clone()).chain(behind).collect();
        Ok(Granted { chain, serial, expires: now + lifetime.as_secs() })
    }
}

/// One that has signed itself is trusted or not; shown, it proves nothing.
fn is_root(certificate: &CertificateDer<'_>) -> bool {
    X509Certificate::from_der(certificate).is_ok_and(|(_, parsed)| parsed.subject() == parsed.issuer())
}

#[cfg(test)]
mod tests {
    use rcgen::{
        BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyUsagePurpose,
        date_time_ymd,
    };

    use super::*;
    use crate::identity::Role;
    use crate::pki::{AUTHORITY, AUTHORITY_KEY, Authority, FreshKey, Subject, describe};
    use crate::tls::{Refusal, Side, Verifier};

    fn agent() -> Identity {
        let role = Role::new("agent", Some("aws:eu"), "a1").unwrap();
        Identity { trust_domain: "x.test".into(), role }
    }

    fn request(key: &FreshKey) -> SigningRequest {
        SigningRequest::read(&key.signing_request().unwrap()).unwrap()
    }

    fn issued_by(issuing: &Issuing, lifetime: u64) -> (FreshKey, Granted) {
        let key = FreshKey::draw().unwrap();
        let granted = issuing.issue(&request(&key), &agent(), Duration::from_secs(lifetime)).unwrap();
        (key, granted)
    }

    #[test]
    fn sec_1_an_installed_authority_issues_what_members_believe() {
        let directory = tempfile::tempdir().unwrap();
        Authority::create(directory.path(), "x.test").unwrap();
        let read = |name: &str| std::fs::read(directory.path().join(name)).unwrap();
        let (bundle, key) = (read(AUTHORITY), String::from_utf8(read(AUTHORITY_KEY)).unwrap());
        let issuing = Issuing::new(certificates_in(&bundle).unwrap(), &key).unwrap();
        assert_eq!(issuing.realm().as_deref(), Some("x.test"));
        let (own, granted) = issued_by(&issuing, 30 * 86_400);
        assert!(own.fits(&granted.chain[0]) && !FreshKey::draw().unwrap().fits(&granted.chain[0]));
        assert_eq!(granted.chain.len(), 1, "a root proves nothing");
        let verifier = Verifier::new(&bundle, "x.test").unwrap();
        assert_eq!(verifier.verify(&granted.chain, Side::Calling, UnixTime::now()), Ok(agent()));
        let pem = crate::pki::authority::pem_text(&granted.chain[0]);
        let shown = &describe(pem.as_bytes()).unwrap().0[0];
        assert_eq!((&shown.serial, &shown.subject), (&granted.serial, &Subject::Identity(agent())));
        assert_eq!((shown.expires, shown.expires - shown.begins), (granted.expires, 30 * 86_400 + 300));
        // A life of seconds does not begin minutes before.
        let (_, granted) = issued_by(&issuing, 20);
        let pem = crate::pki::authority::pem_text(&granted.chain[0]);
        let shown = &describe(pem.as_bytes()).unwrap().0[0];
        assert_eq!(shown.expires - shown.begins, 22);
        // Nothing outlasts its authority.
        let (_, granted) = issued_by(&issuing, 20 * 365 * 86_400);
        assert!(granted.expires.abs_diff(issuing.expires) <= 1);

        let other = KeyPair::generate().unwrap().serialize_pem();
        let refused =
            |chain: &[u8], key: &str| Issuing::new(certificates_in(chain).unwrap(), key).err().unwrap();
        assert!(refused(&bundle, &other).contains("not the one"));
        let fault = refused(&bundle, "-----BEGIN PRIVATE KEY-----\ntopsecret\n-----END PRIVATE KEY-----\n");
        assert!(fault.contains("no private key") && !fault.contains("topsecret"));
        assert!(refused(pem.as_bytes(), &key).contains("no authority's"));
        assert!(certificates_in(key.as_bytes()).is_err());
    }

    #[test]
    fn sec_1_an_authority_below_a_trusted_one_is_shown_with_what_it_issues() {
        let ca = |name: &str, expires| {
            let mut params = CertificateParams::default();
            params.distinguished_name.push(DnType::CommonName, name);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
            // Asked for all the way up to what is trusted.
            params.extended_key_usages =
                vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
            params.not_after = date_time_ymd(expires, 1, 1);
            (params, KeyPair::generate().unwrap())
        };
        let ((root, root_key), (below, key)) = (ca("root", 4000), ca("below", 3000));
        let trusted = root.self_signed(&root_key).unwrap();
        let signer = Issuer::from_params(&root, &root_key);
        let certificate = below.signed_by(&key, &signer).unwrap();
        let chain = vec![certificate.der().clone(), trusted.der().clone()];
        let issuing = Issuing::new(chain, &key.serialize_pem()).unwrap();
        assert_eq!(issuing.realm(), None);
        let (_, granted) = issued_by(&issuing, 3_600);
        assert_eq!(granted.chain.len(), 2);
        let verifier = |bundle: String| Verifier::new(bundle.as_bytes(), "x.test").unwrap();
        let verify = |verifier: Verifier| verifier.verify(&granted.chain, Side::Calling, UnixTime::now());
        assert_eq!(verify(verifier(trusted.pem())), Ok(agent()));
        let stranger = ca("root", 4000);
        let stranger = stranger.0.self_signed(&stranger.1).unwrap();
        assert!(matches!(
            verify(verifier(stranger.pem())),
            Err(Refusal::UnknownAuthority | Refusal::Other(_))
        ));

        let (mut past, key) = ca("past", 2020);
        past.not_before = date_time_ymd(2019, 1, 1);
        let over =
            Issuing::new(vec![past.self_signed(&key).unwrap().der().clone()], &key.serialize_pem()).unwrap();
        let refused = over.issue(&request(&FreshKey::draw().unwrap()), &agent(), Duration::from_secs(60));
        assert!(refused.unwrap_err().contains("has expired"));
    }

    #[test]
    fn sec_1_a_request_proves_that_its_sender_has_the_key() {
        let good = FreshKey::draw().unwrap().signing_request().unwrap();
        assert!(SigningRequest::read(&good).is_ok());
        let mut forged = good.clone();
        *forged.last_mut().unwrap() ^= 1;
        let other = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap();
        let other = CertificateParams::default().serialize_request(&other).unwrap();
        for (bytes, words) in [
            (&forged[..], "signature is right"),
            (&good[..good.len() - 1], "no request"),
            (&b""[..], "no request"),
            (&other.der()[..], "another key than one on P-256"),
            (&[0; 5_000][..], "5000 bytes"),
        ] {
            let refused = SigningRequest::read(bytes).unwrap_err();
            assert!(refused.contains(words), "{words}: {refused}");
        }
    }
}
