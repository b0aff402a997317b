//! SEC-6: the limits of the door, with real sockets.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tonic::transport::server::Connected;
use waymark_process::identity::Role;
use waymark_process::pki::{AUTHORITY, Authority, LIFETIME};
use waymark_process::tls::{Connector, CredentialFiles};

use super::*;

const SOON: Duration = Duration::from_secs(30);

#[test]
fn sec_6_shares_are_counted_and_given_back() {
    let shares = Shares::default();
    let first = shares.take("a", 2).unwrap();
    let second = shares.take("a", 2).unwrap();
    assert_eq!((first.number, second.number), (1, 2));
    assert!(shares.take("a", 2).is_none() && shares.take("b", 2).is_some());
    drop(first);
    assert_eq!(shares.take("a", 2).unwrap().number, 2);
    drop(second);
    assert_eq!(shares.take("a", 1).unwrap().number, 1);
}

fn credentials(word: &str, authority: &Authority, dir: &std::path::Path) -> Arc<Credentials> {
    let role = Role::new(word, None, "x").unwrap();
    let issued = authority.issue(role, LIFETIME, dir).unwrap();
    let keys = ["tls_certificate", "tls_key", "tls_authority"];
    let files = CredentialFiles {
        keys,
        certificate: issued.certificate,
        key: issued.key,
        authority: dir.join(AUTHORITY),
    };
    Credentials::open(files).unwrap()
}

/// Beyond its share an identity is told so, beyond that it is hung up on; others are not concerned.
#[tokio::test(flavor = "multi_thread")]
async fn sec_6_connections_of_one_identity_are_limited() {
    waymark_process::descriptors::raise(4_096);
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::create(dir.path(), "x").unwrap();
    let member = credentials("member", &authority, dir.path());
    let (operator, viewer) =
        (credentials("operator", &authority, dir.path()), credentials("viewer", &authority, dir.path()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut connections = incoming(listener, Some(member), CancellationToken::new());
    let (sender, mut crowded) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Some(Ok(mut accepted)) = connections.next().await {
            accepted.write_all(b"x").await.unwrap();
            sender.send(accepted.connect_info().is_crowded()).await.unwrap();
            held.push(accepted);
        }
    });
    let call = |credentials: &Arc<Credentials>| {
        let uri = format!("https://{address}").parse().unwrap();
        tower_service::Service::call(&mut Connector::new(Some(credentials.clone())), uri)
    };
    let mut held = Vec::new();
    for number in 1..=IDENTITY_CONNECTIONS_MAX + IDENTITY_REFUSALS_MAX {
        held.push(call(&operator).await.unwrap());
        assert_eq!(crowded.recv().await, Some(number > IDENTITY_CONNECTIONS_MAX), "connection {number}");
    }
    assert!(call(&operator).await.is_err());
    assert!(call(&viewer).await.is_ok());
    assert_eq!(crowded.recv().await, Some(false));
}

/// Whoever begins handshakes and stops holds up neither others nor itself for longer than a handshake may take.
#[tokio::test(flavor = "multi_thread")]
async fn sec_6_silent_callers_keep_nobody_out() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::create(dir.path(), "x").unwrap();
    let (member, operator) =
        (credentials("member", &authority, dir.path()), credentials("operator", &authority, dir.path()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let mut connections = incoming(listener, Some(member), stop.clone());

    let mut silent = Vec::new();
    for _ in 0..ADDRESS_HANDSHAKES_MAX + 1 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let mut last = silent.pop().unwrap();
    let read = timeout(Duration::from_secs(4), last.read(&mut [0])).await;
    assert!(matches!(read, Ok(Ok(0) | Err(_))), "one too many is hung up on at once: {read:?}");
    for stream in &mut silent {
        // The others when their time is over; a TLS alert may come first.
        let ended = async { while matches!(stream.read(&mut [0; 64]).await, Ok(1..)) {} };
        timeout(SOON, ended).await.unwrap();
    }
    let call = async move {
        let uri = format!("https://{address}").parse().unwrap();
        tower_service::Service::call(&mut Connector::new(Some(operator)), uri).await
    };
    let called = tokio::spawn(call);
    let accepted = timeout(SOON, connections.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(Connected::connect_info(&accepted).identity().unwrap().role.to_string(), "operator/x");
    stop.cancel();
    drop((accepted, connections));
    let _ = called.await;
}
