//! SEC-1, SEC-3: certificates and authorities change hands while connections are open.

use std::time::Duration;

use tokio::time::timeout;

use super::stage::{Member, Pki, carries};
use crate::identity::Role;
use crate::pki::{AUTHORITY, LIFETIME};
use crate::tls::{CredentialFiles, Credentials};

const SOON: Duration = Duration::from_secs(20);

fn serial(files: &CredentialFiles) -> String {
    crate::pki::describe(&std::fs::read(&files.certificate).unwrap()).unwrap().0[0].serial.clone()
}

/// SEC-1: open streams too, at both ends; who was not revoked notices nothing.
#[tokio::test]
async fn sec_1_a_revoked_certificate_is_cut_off() {
    let pki = Pki::new();
    let member_files = pki.issue("member", None, "m1");
    let member = Credentials::open(member_files.clone()).unwrap();
    let (lost, kept) = (pki.issue("operator", None, "lost"), pki.credentials("operator", None, "kept"));
    let (lost_serial, lost) = (serial(&lost), Credentials::open(lost).unwrap());
    let server = Member::start(member.clone()).await;
    let mut open = server.called_by(&lost).await.unwrap().into_inner();
    let mut other = server.called_by(&kept).await.unwrap().into_inner();
    assert!(carries(&mut open).await && carries(&mut other).await);

    pki.authority.revoke(&lost_serial).unwrap();
    member.look(false);
    assert!(!timeout(SOON, carries(&mut open)).await.unwrap(), "an open connection");
    let refused = server.called_by(&lost).await.unwrap_err();
    assert!(
        refused.to_string().contains("the member refused this certificate: it has been revoked"),
        "{refused}"
    );
    assert!(carries(&mut other).await);

    // The member's own: callers leave it.
    pki.authority.revoke(&serial(&member_files)).unwrap();
    kept.look(false);
    assert!(!timeout(SOON, carries(&mut other)).await.unwrap());
    let refused = server.called_by(&kept).await.unwrap_err();
    assert!(refused.is_refusal() && refused.to_string().contains("revoked"), "{refused}");
}

/// SEC-3: old authority, both, the new one alone; certificates change while both are trusted.
#[tokio::test]
async fn sec_3_authorities_are_rotated_without_a_gap() {
    let (old, new) = (Pki::new(), Pki::new());
    let both = [old.path(AUTHORITY), new.path(AUTHORITY)].map(|path| std::fs::read(path).unwrap()).concat();
    let parties = [("member", "m1"), ("operator", "alice"), ("operator", "late")];
    let files = parties.map(|(word, name)| old.issue(word, None, name));
    let all = files.clone().map(|files| Credentials::open(files).unwrap());
    let [member, caller, late] = &all;
    let server = Member::start(member.clone()).await;
    let mut open = server.called_by(caller).await.unwrap().into_inner();

    // All of them name the one file.
    std::fs::write(old.path(AUTHORITY), &both).unwrap();
    all.iter().for_each(|credentials| credentials.look(false));
    assert!(carries(&mut open).await);
    for (files, (word, name)) in files.iter().zip(parties).take(2) {
        let role = Role::new(word, None, name).unwrap();
        let issued = new.authority.issue(role, LIFETIME, new.path("").as_path()).unwrap();
        std::fs::copy(issued.certificate, &files.certificate).unwrap();
        std::fs::copy(issued.key, &files.key).unwrap();
    }
    for credentials in &all {
        credentials.look(false);
        assert!(server.called_by(caller).await.is_ok() && server.called_by(late).await.is_ok());
    }
    let mut renewed = server.called_by(caller).await.unwrap().into_inner();
    assert!(carries(&mut open).await, "opened by the old certificate, which is still believed");

    std::fs::copy(new.path(AUTHORITY), old.path(AUTHORITY)).unwrap();
    member.look(false);
    caller.look(false);
    assert!(!timeout(SOON, carries(&mut open)).await.unwrap(), "the old authority's are believed no longer");
    assert!(carries(&mut renewed).await);
    assert!(server.called_by(caller).await.is_ok());
    let refused = server.called_by(late).await.unwrap_err();
    assert!(refused.to_string().contains("none of the authorities"), "{refused}");
}
