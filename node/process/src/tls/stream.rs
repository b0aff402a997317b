//! A connection of either kind, plain or TLS; a TLS one ends when the certificate at its other end is believed no longer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::watched::Place;

/// A connection to or from a member.
#[derive(Debug)]
pub enum Connection {
    /// Plain text: on loopback, with `--dev`.
    Plain(TcpStream),
    /// TLS.
    Secure(Box<Secure>),
}

/// A TLS connection that is watched.
#[derive(Debug)]
pub struct Secure {
    stream: TlsStream<TcpStream>,
    /// What was read before the connection was handed on, and how much of it has been taken.
    ahead: (Vec<u8>, usize),
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    _place: Option<Place>,
}

impl Secure {
    /// One without a `place` is never cut: nobody is at its other end, or it is called by nobody.
    pub(super) fn new(stream: impl Into<TlsStream<TcpStream>>, ahead: Vec<u8>, place: Option<Place>) -> Self {
        let cut = place.as_ref().map(|place| place.cut.clone()).unwrap_or_default();
        let cut = Box::pin(cut.cancelled_owned());
        Self { stream: stream.into(), ahead: (ahead, 0), cut, _place: place }
    }

    fn ensure_believed(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.cut.as_mut().poll(context) {
            Poll::Pending => Ok(()),
            Poll::Ready(()) => {
                let reason = "the certificate at the other end is believed no longer";
                Err(io::Error::new(io::ErrorKind::ConnectionAborted, reason))
            }
        }
    }
}

impl AsyncRead for Secure {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.ensure_believed(context)?;
        let (ahead, taken) = &mut self.ahead;
        if *taken < ahead.len() {
            let length = buffer.remaining().min(ahead.len() - *taken);
            buffer.put_slice(&ahead[*taken..*taken + length]);
            *taken += length;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Secure {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.ensure_believed(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Secure(stream) => Pin::new(stream.as_mut()).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Secure(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Secure(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Secure(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
        }
    }
}
