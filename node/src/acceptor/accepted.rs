//! A connection that was taken in, with who is at its other end.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};
use tonic::transport::server::Connected;
use waymark_process::identity::Identity;
use waymark_process::tls::Connection;

use super::{IdentityShare, NEWCOMER_LIMIT};

/// Whom a connection stands for.
#[derive(Clone, Debug)]
pub(crate) enum Who {
    /// In plain text on loopback, with `--dev`: whoever they like to be.
    Anybody,
    /// Over TLS, without a certificate.
    Nobody,
    /// Who the certificate says.
    Known(Arc<Identity>),
}

/// Who calls: stands among the extensions of every request.
#[derive(Clone, Debug)]
pub struct Peer {
    who: Who,
    address: SocketAddr,
    is_crowded: bool,
}

impl Peer {
    /// In plain text on loopback nobody proves who they are.
    pub(crate) fn unknown(address: SocketAddr) -> Self {
        Self { who: Who::Anybody, address, is_crowded: false }
    }

    /// Over TLS and without a certificate, to come to one.
    pub(crate) fn nobody(address: SocketAddr) -> Self {
        Self { who: Who::Nobody, address, is_crowded: false }
    }

    pub(crate) fn known(identity: Identity, address: SocketAddr, is_crowded: bool) -> Self {
        Self { who: Who::Known(Arc::new(identity)), address, is_crowded }
    }

    /// Who it is, if a certificate says so.
    pub fn identity(&self) -> Option<&Identity> {
        match &self.who {
            Who::Known(identity) => Some(identity),
            Who::Anybody | Who::Nobody => None,
        }
    }

    /// The same with what there may be instead.
    pub(crate) fn who(&self) -> &Who {
        &self.who
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
    _shares: Vec<IdentityShare>,
    /// When whoever is nobody must be done.
    ends: Option<Pin<Box<Sleep>>>,
}

impl Accepted {
    pub(super) fn new(
        connection: Connection,
        peer: Peer,
        place: OwnedSemaphorePermit,
        shares: Vec<IdentityShare>,
    ) -> Self {
        let ends = matches!(peer.who, Who::Nobody).then(|| Box::pin(sleep(NEWCOMER_LIMIT)));
        Self { connection, peer, _place: place, _shares: shares, ends }
    }

    fn ensure_in_time(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.ends.as_mut().map(|ends| ends.as_mut().poll(context)) {
            Some(Poll::Ready(())) => {
                let reason = "the time of a caller without a certificate is up";
                Err(io::Error::new(io::ErrorKind::TimedOut, reason))
            }
            _ => Ok(()),
        }
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
        self.ensure_in_time(context)?;
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl AsyncWrite for Accepted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.ensure_in_time(context)?;
        Pin::new(&mut self.connection).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }
}
