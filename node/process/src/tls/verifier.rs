//! Whom to believe: by the authorities of this cluster, the dates, the purpose and the identity, never by a host name (SEC-1).

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls13_signature};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, OtherError, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, TrustAnchor, UnixTime};
use webpki::{
    CertRevocationList, EndEntityCert, KeyUsage, OwnedCertRevocationList, RevocationCheckDepth,
    RevocationOptionsBuilder, UnknownStatusPolicy, anchor_from_trusted_cert,
};

use super::pair::{certificates, reason};
use crate::identity::{Identity, IdentityError, Role};

/// The extended key usages that a certificate must name, as their encoded object ids: one that names none is refused.
const SERVER_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 1];
const CLIENT_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 2];

/// What a certificate is presented for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// By whoever was called: it must be a member.
    Called,
    /// By whoever calls: any role.
    Calling,
}

/// Why a certificate is not believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// By its dates, which may be a matter of clocks.
    #[error("it has expired")]
    Expired,
    /// By its dates, which may be a matter of clocks.
    #[error("it is not valid yet")]
    NotYet,
    /// Its authority has taken it back.
    #[error("it has been revoked")]
    Revoked,
    /// It is somebody else's.
    #[error("none of the authorities that are trusted here has issued it")]
    UnknownAuthority,
    /// It is for other ends.
    #[error("its extended key usage does not name this use: it needs both client and server authentication")]
    Purpose,
    /// It names nobody who is known here.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Only members are called.
    #[error("it is that of {0}, and a member was called")]
    NotMember(String),
    /// Anything else that is wrong with it.
    #[error("it cannot be used: {0}")]
    Other(String),
}

impl From<webpki::Error> for Refusal {
    fn from(error: webpki::Error) -> Self {
        match error {
            webpki::Error::CertExpired { .. } | webpki::Error::InvalidCertValidity => Self::Expired,
            webpki::Error::CertNotValidYet { .. } => Self::NotYet,
            webpki::Error::CertRevoked => Self::Revoked,
            webpki::Error::UnknownIssuer => Self::UnknownAuthority,
            webpki::Error::RequiredEkuNotFoundContext(_) => Self::Purpose,
            error => Self::Other(fault(&error).to_owned()),
        }
    }
}

/// What is wrong with a certificate, in the words of those who have to mend it.
fn fault(error: &webpki::Error) -> &'static str {
    use webpki::Error as E;
    match error {
        E::CaUsedAsEndEntity => "it is an authority's own certificate, and no identity's",
        E::EndEntityUsedAsCa => {
            "a certificate behind it in its file is no authority's, and cannot have issued it"
        }
        E::InvalidSignatureForPublicKey => {
            "its signature is not its authority's: it was changed, or the authority has another key by now"
        }
        E::MaximumPathDepthExceeded | E::PathLenConstraintViolated => {
            "there are more authorities between it and the trusted one than that one allows"
        }
        E::NameConstraintViolation => "its authority may not issue this name",
        E::UnsupportedCriticalExtension => {
            "it must be read by a rule that is not known here (a critical extension)"
        }
        E::UnsupportedCertVersion => "it is of another version than X.509 v3",
        E::UnsupportedSignatureAlgorithmContext(_)
        | E::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            "it is signed in a way that is not known here; ECDSA on P-256 is, as are P-384, Ed25519 and RSA of 2,048 bits or more"
        }
        _ => "it is damaged, or of a kind that is not known here",
    }
}

impl From<Refusal> for rustls::Error {
    /// So that the alert which goes out says what is wrong as well as TLS can.
    fn from(refusal: Refusal) -> Self {
        Self::InvalidCertificate(match refusal {
            Refusal::Expired => CertificateError::Expired,
            Refusal::NotYet => CertificateError::NotValidYet,
            Refusal::Revoked => CertificateError::Revoked,
            Refusal::UnknownAuthority => CertificateError::UnknownIssuer,
            Refusal::Purpose => CertificateError::InvalidPurpose,
            // The others have no alert of their own, so that both may have this one; the log tells them apart.
            refusal @ (Refusal::Identity(_) | Refusal::NotMember(_) | Refusal::Other(_)) => {
                CertificateError::Other(OtherError(Arc::new(refusal)))
            }
        })
    }
}

/// What TLS says of a refused certificate, in the words of a [`Refusal`].
pub(super) fn in_words(error: &CertificateError) -> String {
    let refusal = match error {
        CertificateError::Expired => Refusal::Expired,
        CertificateError::NotValidYet => Refusal::NotYet,
        CertificateError::Revoked => Refusal::Revoked,
        CertificateError::UnknownIssuer => Refusal::UnknownAuthority,
        CertificateError::InvalidPurpose => Refusal::Purpose,
        CertificateError::BadSignature => {
            Refusal::Other(fault(&webpki::Error::InvalidSignatureForPublicKey).to_owned())
        }
        CertificateError::Other(OtherError(refusal)) => return refusal.to_string(),
        _ => Refusal::Other(fault(&webpki::Error::BadDer).to_owned()),
    };
    refusal.to_string()
}

/// What is trusted: authorities, what they have revoked, and one trust domain.
pub struct Verifier {
    anchors: Vec<TrustAnchor<'static>>,
    revocations: Vec<CertRevocationList<'static>>,
    trust_domain: String,
    algorithms: WebPkiSupportedAlgorithms,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verifier of '{}' with {} authorities", self.trust_domain, self.anchors.len())
    }
}

impl Verifier {
    /// One that goes by a bundle in PEM: certificates of authorities, and lists of what they have revoked (CRL).
    ///
    /// # Errors
    /// What is wrong with the bundle.
    pub(crate) fn new(bundle: &[u8], trust_domain: &str) -> Result<Self, String> {
        let anchor = |certificate: &CertificateDer<'_>| {
            anchor_from_trusted_cert(certificate).map(|anchor| anchor.to_owned())
        };
        let anchors = certificates(bundle)?
            .iter()
            .map(anchor)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| format!("a certificate in it: {}", fault(&error)))?;
        let mut revocations = Vec::new();
        for list in CertificateRevocationListDer::pem_slice_iter(bundle) {
            let list = list.map_err(|error| reason(&error))?;
            let list = OwnedCertRevocationList::from_der(&list);
            revocations
                .push(list.map_err(|_| "a list of revoked certificates in it is damaged".to_owned())?.into());
        }
        let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
        Ok(Self { anchors, revocations, trust_domain: trust_domain.to_owned(), algorithms })
    }

    /// Whom the first certificate of `chain` is for, if it is believed at `now`.
    ///
    /// # Errors
    /// Why it is not.
    pub fn verify(
        &self,
        chain: &[CertificateDer<'_>],
        side: Side,
        now: UnixTime,
    ) -> Result<Identity, Refusal> {
        let (first, intermediates) =
            chain.split_first().ok_or_else(|| Refusal::Other("there is no certificate".into()))?;
        let certificate = EndEntityCert::try_from(first)?;
        let usage = KeyUsage::required(match side {
            Side::Called => SERVER_AUTH,
            Side::Calling => CLIENT_AUTH,
        });
        let lists: Vec<&CertRevocationList<'_>> = self.revocations.iter().collect();
        // An authority that has revoked nothing has no list.
        let revocation = RevocationOptionsBuilder::new(&lists).ok().map(|options| {
            let options = options.with_status_policy(UnknownStatusPolicy::Allow);
            options.with_depth(RevocationCheckDepth::Chain).build()
        });
        certificate.verify_for_usage(
            self.algorithms.all,
            &self.anchors,
            intermediates,
            now,
            usage,
            revocation,
            None,
        )?;
        let identity = Identity::of(first)?.within(&self.trust_domain)?;
        match (side, &identity.role) {
            (Side::Called, role) if !matches!(role, Role::Member { .. }) => {
                Err(Refusal::NotMember(role.to_string()))
            }
            _ => Ok(identity),
        }
    }

    fn verify_presented(
        &self,
        first: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        side: Side,
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        let chain: Vec<CertificateDer<'_>> = std::iter::once(first).chain(intermediates).cloned().collect();
        Ok(self.verify(&chain, side, now).map(drop)?)
    }
}

/// TLS 1.2 is not spoken, so nothing is ever signed by its rules.
fn no_tls12() -> rustls::Error {
    rustls::Error::General("TLS 1.2 is not spoken between members".to_owned())
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.verify_presented(end_entity, intermediates, Side::Called, now)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(no_tls12())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// The verifier as callers meet it.
#[derive(Debug)]
pub(super) struct Callers {
    pub(super) verifier: Arc<Verifier>,
    /// May they come without a certificate? Then they are nobody.
    pub(super) may_be_nobody: bool,
}

impl ClientCertVerifier for Callers {
    fn client_auth_mandatory(&self) -> bool {
        !self.may_be_nobody
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        // A caller has one certificate: there is nothing to choose by.
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.verifier.verify_presented(end_entity, intermediates, Side::Calling, now)?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(no_tls12())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        ServerCertVerifier::verify_tls13_signature(&*self.verifier, message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.algorithms.supported_schemes()
    }
}
