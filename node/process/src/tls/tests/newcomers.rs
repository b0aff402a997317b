//! SEC-1: callers without a certificate, who are nobody where that may be and are refused elsewhere; and whom they believe.

use http::Uri;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tower_service::Service;

use super::stage::{Pki, REALM};
use crate::identity::Identity;
use crate::pki::AUTHORITY;
use crate::tls::{AcceptError, ConnectError, Connector, Trust, accept};

/// What comes of a call by nobody in `realm` who believes `theirs`, to a member of `pki` as it was told: as both sides see it.
async fn meet(
    pki: &Pki,
    theirs: &Pki,
    realm: &str,
    may_be_nobody: bool,
) -> (Result<Option<Identity>, AcceptError>, Result<(), ConnectError>) {
    // A name for each: files are never overwritten.
    let directory = tempfile::tempdir().unwrap();
    let role = crate::identity::Role::new("member", None, "m1").unwrap();
    let issued = pki.authority.issue(role, crate::pki::LIFETIME, directory.path()).unwrap();
    let files = super::stage::files(&issued.certificate, &issued.key, &pki.path(AUTHORITY));
    let member = crate::tls::Credentials::open(files).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri: Uri = format!("https://{}", listener.local_addr().unwrap()).parse().unwrap();
    let accepting = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (mut connection, identity) = accept(&member, stream, may_be_nobody).await?;
        let _ = connection.write_all(b"hello").await;
        Ok(identity)
    });
    let trust = Trust::open("tls_authority", &theirs.path(AUTHORITY), realm).unwrap();
    let called = Connector::of_nobody(trust).call(uri).await.map(drop);
    (accepting.await.unwrap(), called)
}

#[tokio::test]
async fn sec_1_a_caller_without_a_certificate_is_nobody_where_that_may_be() {
    let pki = Pki::new();
    let (accepted, called) = meet(&pki, &pki, REALM, true).await;
    assert!(matches!(accepted, Ok(None)), "{accepted:?}");
    called.unwrap();
    let (accepted, called) = meet(&pki, &pki, REALM, false).await;
    assert!(
        matches!(&accepted, Err(AcceptError::Refused(reason)) if reason == "none was shown"),
        "{accepted:?}"
    );
    assert!(matches!(called, Err(ConnectError::Refused("none was shown"))), "{called:?}");
}

#[tokio::test]
async fn sec_1_nobody_believes_no_stranger() {
    let (pki, other) = (Pki::new(), Pki::new());
    let (_, called) = meet(&pki, &other, REALM, true).await;
    assert!(
        matches!(&called, Err(ConnectError::Untrusted(reason)) if reason.contains("none of the authorities"))
    );
    let (_, called) = meet(&pki, &pki, "elsewhere.test", true).await;
    assert!(
        matches!(&called, Err(ConnectError::Untrusted(reason)) if reason.contains("another trust domain"))
    );
}
