//! SEC-1, SEC-3: files that cannot be used are named with their reason; and none of them stops what runs.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::stage::{Pki, files};
use crate::identity::Role;
use crate::pki::AUTHORITY;
use crate::tls::{CredentialFiles, Credentials, Refusal};

fn refused(files: &CredentialFiles) -> String {
    let error = Credentials::open(files.clone()).expect_err("they cannot be used").to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn sec_1_a_start_is_refused_with_file_and_reason() {
    let (pki, stranger) = (Pki::new(), Pki::new());
    let good = pki.issue("member", None, "m1");
    let other = pki.issue("member", None, "m2");
    assert_eq!(Credentials::open(good.clone()).unwrap().identity().role.to_string(), "member/m1");
    let nowhere = pki.path("nowhere.pem");
    let junk = pki.path("junk.pem");
    std::fs::write(&junk, "-----BEGIN CERTIFICATE-----\nMIIB").unwrap();
    for (files, words) in [
        (files(&nowhere, &good.key, &good.authority), ["tls_certificate ", "nowhere.pem", "cannot be read"]),
        (files(&good.certificate, &nowhere, &good.authority), ["tls_key ", "nowhere.pem", "cannot be read"]),
        (files(&good.certificate, &good.key, &nowhere), ["tls_authority ", "nowhere.pem", "cannot be read"]),
        (files(&junk, &good.key, &good.authority), ["tls_certificate ", "junk.pem", "damaged"]),
        (files(&good.certificate, &good.key, &junk), ["tls_authority ", "junk.pem", "damaged"]),
        (
            files(&good.certificate, &other.key, &good.authority),
            ["tls_certificate ", "tls_key ", "name a pair"],
        ),
        (
            files(&good.certificate, &good.key, &stranger.path(AUTHORITY)),
            ["tls_certificate ", "authority.pem", "none of the authorities"],
        ),
        (
            files(&good.authority, &pki.path("authority.key"), &good.authority),
            ["tls_certificate ", "authority.pem", "no identity"],
        ),
        (files(&pki.path(""), &good.key, &good.authority), ["tls_certificate ", "", "no regular file"]),
    ] {
        let error = refused(&files);
        assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    }
    std::fs::set_permissions(&good.key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let error = refused(&good);
    assert!(error.contains("tls_key") && error.contains("0644") && error.contains("chmod 600"), "{error}");
}

#[test]
fn sec_1_who_this_process_is_must_be_who_it_should_be() {
    let pki = Pki::new();
    let credentials = pki.credentials("agent", Some("eu"), "a1");
    assert!(credentials.expect("agent 'A1' in 'eu'", |own| own.role.is_agent("eu", "A1")).is_ok());
    let error = credentials.expect("member 'm1'", |own| own.role.is_member("m1")).unwrap_err().to_string();
    assert!(error.contains("it is that of agent/eu/a1, this process is member 'm1'"), "{error}");
}

/// SEC-1: an expired certificate starts nothing but trouble that is told of: DNS must go on.
#[test]
fn sec_1_an_expired_or_revoked_certificate_is_no_reason_not_to_start() {
    let pki = Pki::new();
    let good = pki.issue("member", None, "m1");
    let credentials = Credentials::open(good.clone()).unwrap();
    assert_eq!(credentials.trouble(), None);
    let old = expired(&pki);
    assert_eq!(Credentials::open(old).unwrap().trouble(), Some(Refusal::Expired));
    let serial =
        crate::pki::describe(&std::fs::read(&good.certificate).unwrap()).unwrap().0[0].serial.clone();
    pki.authority.revoke(&serial).unwrap();
    credentials.look(false);
    assert_eq!(credentials.trouble(), Some(Refusal::Revoked));
    assert_eq!(Credentials::open(good).unwrap().trouble(), Some(Refusal::Revoked));
}

/// The files of a member whose certificate expired in 2021.
fn expired(pki: &Pki) -> CredentialFiles {
    let key = rcgen::KeyPair::generate().unwrap();
    let own = std::fs::read_to_string(pki.path("authority.key")).unwrap();
    let authority = std::fs::read_to_string(pki.path(AUTHORITY)).unwrap();
    let issuer =
        rcgen::Issuer::from_ca_cert_pem(&authority, rcgen::KeyPair::from_pem(&own).unwrap()).unwrap();
    let mut params = rcgen::CertificateParams::default();
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2021, 1, 1);
    params.extended_key_usages =
        vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth, rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    let identity = format!("spiffe://{}/member/m1", super::stage::REALM);
    params.subject_alt_names = vec![rcgen::SanType::URI(identity.as_str().try_into().unwrap())];
    let certificate = pki.path("expired.pem");
    std::fs::write(&certificate, params.signed_by(&key, &issuer).unwrap().pem()).unwrap();
    let path = pki.path("expired.key");
    std::fs::write(&path, key.serialize_pem()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    files(&certificate, &path, &pki.path(AUTHORITY))
}

/// SEC-3: what is half written, or does not fit, leaves the ones before in force; and a process stays who it is.
#[test]
fn sec_3_while_the_new_ones_do_not_fit_the_old_ones_serve() {
    let pki = Pki::new();
    let own = pki.issue("member", None, "m1");
    let credentials = Credentials::open(own.clone()).unwrap();
    let before = credentials.server(false);
    let is_unchanged =
        |credentials: &Credentials| std::sync::Arc::ptr_eq(&before, &credentials.server(false));
    let good = std::fs::read(&own.certificate).unwrap();
    for length in [0, 1, good.len() / 2, good.len() - 30] {
        std::fs::write(&own.certificate, &good[..length]).unwrap();
        credentials.look(false);
        assert!(is_unchanged(&credentials), "{length} bytes");
    }
    let other = pki.issue("member", None, "m2");
    std::fs::copy(&other.certificate, &own.certificate).unwrap();
    credentials.look(false);
    assert!(is_unchanged(&credentials), "another's certificate with this one's key");
    std::fs::copy(&other.key, &own.key).unwrap();
    credentials.look(false);
    assert!(is_unchanged(&credentials), "another's identity as a whole");

    std::fs::remove_file(&own.certificate).unwrap();
    std::fs::remove_file(&own.key).unwrap();
    let directory = own.certificate.parent().unwrap();
    let role = Role::new("member", None, "m1").unwrap();
    pki.authority.issue(role, Duration::from_secs(86_400), directory).unwrap();
    credentials.look(false);
    assert!(!is_unchanged(&credentials), "a new pair of its own");
    assert_eq!(credentials.trouble(), None);
}
