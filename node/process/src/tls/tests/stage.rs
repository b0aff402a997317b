//! An authority with its files, a member that accepts, and callers.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::Uri;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tower_service::Service;

use crate::identity::{Identity, Role};
use crate::pki::{AUTHORITY, Authority, LIFETIME};
use crate::tls::{AcceptError, ConnectError, Connection, Connector, CredentialFiles, Credentials, accept};

pub(super) const REALM: &str = "waymark.test";

/// An authority in a directory of its own.
pub(super) struct Pki {
    pub(super) authority: Authority,
    directory: TempDir,
}

impl Pki {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { authority: Authority::create(directory.path(), REALM).unwrap(), directory }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The files of an identity that is issued now.
    pub(super) fn issue(&self, word: &str, region: Option<&str>, name: &str) -> CredentialFiles {
        let role = Role::new(word, region, name).unwrap();
        let issued = self.authority.issue(role, LIFETIME, self.directory.path()).unwrap();
        files(&issued.certificate, &issued.key, &self.path(AUTHORITY))
    }

    pub(super) fn credentials(&self, word: &str, region: Option<&str>, name: &str) -> Arc<Credentials> {
        Credentials::open(self.issue(word, region, name)).unwrap()
    }
}

pub(super) fn files(certificate: &Path, key: &Path, authority: &Path) -> CredentialFiles {
    CredentialFiles {
        keys: ["tls_certificate", "tls_key", "tls_authority"],
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        authority: authority.to_owned(),
    }
}

/// What came of a caller, as the member sees it.
pub(super) type Accepted = Result<Identity, AcceptError>;

/// A member that greets, and then answers what it hears.
pub(super) struct Member {
    pub(super) address: SocketAddr,
    pub(super) accepted: mpsc::Receiver<Accepted>,
}

impl Member {
    pub(super) async fn start(credentials: Arc<Credentials>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, accepted) = mpsc::channel(1_000);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                match accept(&credentials, stream, false).await {
                    Ok((connection, identity)) => {
                        let _ = sender.send(Ok(identity.expect("nobody is not let in"))).await;
                        tokio::spawn(echo(connection));
                    }
                    Err(error) => drop(sender.send(Err(error)).await),
                }
            }
        });
        Self { address, accepted }
    }

    pub(super) async fn called_by(
        &self,
        credentials: &Arc<Credentials>,
    ) -> Result<TokioIo<Connection>, ConnectError> {
        let uri: Uri = format!("https://{}", self.address).parse().unwrap();
        Connector::new(Some(credentials.clone())).call(uri).await
    }
}

async fn echo(mut connection: Connection) -> std::io::Result<()> {
    connection.write_all(b"hello").await?;
    let mut byte = [0];
    while connection.read(&mut byte).await? > 0 {
        connection.write_all(&byte).await?;
    }
    Ok(())
}

/// Does a connection still carry bytes both ways?
pub(super) async fn carries(connection: &mut Connection) -> bool {
    let carried = async {
        connection.write_all(b"?").await?;
        let mut byte = [0];
        while byte != *b"?" {
            connection.read_exact(&mut byte).await?;
        }
        std::io::Result::Ok(())
    };
    carried.await.is_ok()
}
