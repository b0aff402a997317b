//! SEC-1: fourteen kinds of certificates, of which four are good.

use std::sync::Arc;

use rcgen::{
    CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, SanType,
    date_time_ymd,
};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::stage::{Member, Pki, REALM};
use crate::pki::AUTHORITY_KEY;

/// A certificate of any kind, signed by the authority of `pki` or by itself.
struct Made {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2100, 1, 1);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
    params.subject_alt_names = vec![uri(&format!("spiffe://{REALM}/operator/alice"))];
    params
}

fn uri(text: &str) -> SanType {
    SanType::URI(text.try_into().unwrap())
}

fn made(pki: &Pki, change: impl FnOnce(&mut CertificateParams)) -> Made {
    let mut params = params();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let own = KeyPair::from_pem(&std::fs::read_to_string(pki.path(AUTHORITY_KEY)).unwrap()).unwrap();
    let text = std::fs::read(pki.path(crate::pki::AUTHORITY)).unwrap();
    let issuer =
        rcgen::Issuer::from_ca_cert_der(&CertificateDer::from_pem_slice(&text).unwrap(), own).unwrap();
    let signed = params.signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    Made { chain: vec![signed.der().clone()], key }
}

/// Calls `member` with `made`, however bad; what the member says of it.
async fn call(member: &mut Member, made: Option<Made>, version: &'static SupportedProtocolVersion) -> String {
    #[derive(Debug)]
    struct Anybody(Arc<rustls::crypto::CryptoProvider>);
    impl rustls::client::danger::ServerCertVerifier for Anybody {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: rustls_pki_types::UnixTime,
        ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
            Ok(rustls::client::danger::ServerCertVerified::assertion())
        }
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
        }
        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &rustls::DigitallySignedStruct,
        ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
            Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
        }
        fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
            self.0.signature_verification_algorithms.supported_schemes()
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[version])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider)));
    let mut config = match made {
        Some(Made { chain, key }) => builder.with_client_auth_cert(chain, key).unwrap(),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = TcpStream::connect(member.address).await.unwrap();
    let name = ServerName::try_from("member.invalid").unwrap();
    if let Ok(mut stream) = TlsConnector::from(Arc::new(config)).connect(name, stream).await {
        let _ = stream.read(&mut [0; 8]).await;
    }
    match member.accepted.recv().await.unwrap() {
        Ok(identity) => identity.role.to_string(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn sec_1_fourteen_kinds_of_certificates() {
    let pki = Pki::new();
    let mut member = Member::start(pki.credentials("member", None, "m1")).await;
    let named = |text: String| made(&pki, |params| params.subject_alt_names = vec![uri(&text)]);
    let good = [
        ("member/m2", named(format!("spiffe://{REALM}/member/m2"))),
        ("agent/eu/a1", named(format!("spiffe://{REALM}/agent/eu/a1"))),
        ("operator/alice", made(&pki, |_| {})),
        ("viewer/wall", named(format!("spiffe://{REALM}/viewer/wall"))),
    ];
    for (role, made) in good {
        assert_eq!(call(&mut member, Some(made), &TLS13).await, role);
    }
    let stranger = Pki::new();
    let selfmade = {
        let key = KeyPair::generate().unwrap();
        let signed = params().self_signed(&key).unwrap();
        Made { chain: vec![signed.der().clone()], key: PrivateKeyDer::try_from(key.serialize_der()).unwrap() }
    };
    let bad = [
        ("another authority's", made(&stranger, |_| {}), "none of the authorities"),
        ("its own", selfmade, "none of the authorities"),
        ("expired", made(&pki, |params| params.not_after = date_time_ymd(2021, 1, 1)), "has expired"),
        (
            "not valid yet",
            made(&pki, |params| params.not_before = date_time_ymd(2099, 1, 1)),
            "not valid yet",
        ),
        (
            "for servers only",
            made(&pki, |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth]),
            "extended key usage",
        ),
        ("for nothing", made(&pki, |params| params.extended_key_usages.clear()), "extended key usage"),
        (
            "without a name but the common one",
            made(&pki, |params| {
                params.subject_alt_names.clear();
                params.distinguished_name.push(DnType::CommonName, "operator/alice");
            }),
            "no URI",
        ),
        (
            "with two names",
            made(&pki, |params| params.subject_alt_names.push(uri(&format!("spiffe://{REALM}/member/m1")))),
            "2 URIs",
        ),
        (
            "of another trust domain",
            named("spiffe://elsewhere.test/operator/alice".into()),
            "another trust domain",
        ),
        ("with an unknown role", named(format!("spiffe://{REALM}/boss/alice")), "'boss' is no role"),
    ];
    for (kind, made, reason) in bad {
        let said = call(&mut member, Some(made), &TLS13).await;
        assert!(said.contains(reason), "{kind}: {said}");
    }
    // Beyond certificates: none at all, and an older TLS.
    assert!(call(&mut member, None, &TLS13).await.contains("none was shown"));
    let older = call(&mut member, Some(made(&pki, |_| {})), &TLS12).await;
    assert!(older.starts_with("the handshake failed: peer is incompatible"), "{older}");
}

/// SEC-1: who is called must be a member, and a caller is told what the member thinks of its certificate.
#[tokio::test]
async fn sec_1_each_side_says_why_it_refuses() {
    let (pki, stranger) = (Pki::new(), Pki::new());
    let (member, operator) =
        (pki.credentials("member", None, "m1"), pki.credentials("operator", None, "alice"));
    let impostor = Member::start(operator.clone()).await;
    let refused = impostor.called_by(&member).await.unwrap_err();
    assert!(refused.is_refusal() && refused.to_string().contains("operator/alice, and a member was called"));

    let member = Member::start(member).await;
    assert!(member.called_by(&operator).await.is_ok());
    let foreign = stranger.credentials("operator", None, "alice");
    let refused = member.called_by(&foreign).await.unwrap_err();
    assert!(refused.is_refusal() && refused.to_string().contains("none of the authorities"), "{refused}");

    // One that trusts the member and is not trusted by it: the refusal comes when its own handshake is done.
    let mut half = stranger.issue("operator", None, "bob");
    let both: Vec<u8> = [&pki, &stranger]
        .iter()
        .flat_map(|pki| std::fs::read(pki.path(crate::pki::AUTHORITY)).unwrap())
        .collect();
    half.authority = stranger.path("both.pem");
    std::fs::write(&half.authority, both).unwrap();
    let half = crate::tls::Credentials::open(half).unwrap();
    let refused = member.called_by(&half).await.unwrap_err();
    assert!(refused.is_refusal(), "{refused}");
    let said = refused.to_string();
    assert!(said.contains("the member refused this certificate: none of the authorities"), "{said}");
}
