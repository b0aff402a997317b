//! A connection that was taken in, with who is at its other end.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tonic::transport::server::Connected;
use waymark_process::identity::Identity;
use waymark_process::tls::Connection;

use super::IdentityShare;

/// Who calls: stands among the extensions of every request.
#[derive(Clone, Debug)]
pub struct Peer {
    identity: Option<Arc<Identity>>,
    address: SocketAddr,
    is_crowded: bool,
}

impl Peer {
    /// In plain text on loopback nobody proves who they are.
    pub(crate) fn unknown(address: SocketAddr) -> Self {
        Self { identity: None, address, is_crowded: false }
    }

    pub(crate) fn known(identity: Identity, address: SocketAddr, is_crowded: bool) -> Self {
        Self { identity: Some(Arc::new(identity)), address, is_crowded }
    }

    /// Who it is, unless the connection is in plain text.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_deref()
    }

    /// Where it calls from.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Does the identity have more connections than it may? Then it is to be told so, and no more (SEC-6).
    pub fn is_crowded(&self) -> bool {
        self.is_crowded
    }
}

/// A connection and its places; given back when it is dropped.
#[derive(Debug)]
pub struct Accepted {
    connection: Connection,
    peer: Peer,
    _place: OwnedSemaphorePermit,
    _share: Option<IdentityShare>,
}

impl Accepted {
    pub(super) fn new(
        connection: Connection,
        peer: Peer,
        place: OwnedSemaphorePermit,
        share: Option<IdentityShare>,
    ) -> Self {
        Self { connection, peer, _place: place, _share: share }
    }
}

impl Connected for Accepted {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Accepted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl AsyncWrite for Accepted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }
}
