//! DNS over streams, within TLS or without: taking connections in (RFC 7766, RFC 7858, RFC 8484). What happens on one is
//! in `connection` and `https`.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::connection;
use super::counters::count;
use super::door::{Door, Guest};
use super::https;
use super::respond::Transport;
use super::round_trip::round_trip;

/// How long the listener rests when a connection could not be taken in: out of descriptors, it would else spin.
const REST: Duration = Duration::from_millis(20);

/// How much longer a handshake may take when the door shuts: a round trip around the world.
const HANDSHAKE_GRACE: Duration = Duration::from_millis(500);

/// What is spoken on a listener's connections.
#[derive(Clone, Debug)]
pub(super) enum Protocol {
    /// Messages behind their lengths.
    Plain,
    /// The same within TLS.
    Tls(Arc<ServerConfig>),
    /// HTTP within TLS.
    Https(Arc<ServerConfig>),
}

/// A listener that connections come in by.
#[derive(Clone, Debug)]
struct Hall {
    protocol: Protocol,
    door: Door,
}

/// Serves connections until the door's shutdown; then answers what they and the system's queue of new ones hold.
pub(super) async fn serve(listener: TcpListener, protocol: Protocol, door: Door) {
    let (hall, mut connections) = (Hall { protocol, door }, JoinSet::new());
    loop {
        tokio::select! {
            biased;
            () = hall.door.shutdown.cancelled() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, source)) => hall.take_in(stream, source, &mut connections),
                Err(error) => hall.rest(&error).await,
            }
        }
    }
    hall.take_in_waiting(listener, &mut connections);
    while connections.join_next().await.is_some() {}
}

impl Protocol {
    fn transport(&self) -> Transport {
        match self {
            Self::Plain => Transport::Tcp,
            Self::Tls(_) => Transport::Tls,
            Self::Https(_) => Transport::Https,
        }
    }
}

impl Hall {
    fn take_in(&self, stream: TcpStream, source: SocketAddr, connections: &mut JoinSet<()>) {
        let is_of_use = self.door.answers.measurements.has_region();
        let round_trip = is_of_use.then(|| round_trip(&stream)).flatten();
        let guest = self.door.admit(source.ip(), self.protocol.transport(), round_trip);
        let evicted = guest.evicted();
        let conversation = self.clone().converse(stream, guest);
        // Whatever ends a connection is the client's doing and tells us nothing.
        connections.spawn(async move { drop(evicted.run_until_cancelled(conversation).await) });
    }

    async fn converse(self, stream: TcpStream, guest: Guest) -> io::Result<()> {
        // A reply must not wait for the acknowledgement of the one before.
        stream.set_nodelay(true)?;
        match &self.protocol {
            Protocol::Plain => connection::serve(stream, guest, &self.door).await,
            Protocol::Tls(tls) => {
                connection::serve(self.secured(tls, stream).await?, guest, &self.door).await
            }
            Protocol::Https(tls) => https::serve(self.secured(tls, stream).await?, guest, &self.door).await,
        }
    }

    /// `stream` within TLS. Who does not shake hands in time is gone; the place is taken meanwhile.
    async fn secured(&self, tls: &Arc<ServerConfig>, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let handshake = TlsAcceptor::from(tls.clone()).accept(stream);
        tokio::select! {
            secured = timeout(self.door.places.limits().handshake_max, handshake) => secured?,
            () = self.door.shut_for(HANDSHAKE_GRACE) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// A client that is gone is nothing; a lack of descriptors ends when somebody leaves.
    async fn rest(&self, error: &io::Error) {
        tracing::debug!(%error, "a DNS connection could not be taken in");
        count(&self.door.counters.failures);
        if error.kind() != io::ErrorKind::ConnectionAborted {
            self.door.counters.evictions.fetch_add(self.door.places.make_room(), Ordering::Relaxed);
            tokio::time::sleep(REST).await;
        }
    }

    /// Connections that the system has made and nobody has taken in yet may hold queries too.
    fn take_in_waiting(&self, listener: TcpListener, connections: &mut JoinSet<()>) {
        let Ok(listener) = listener.into_std() else { return };
        while let Ok((stream, source)) = listener.accept() {
            let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
            if let Ok(stream) = stream {
                self.take_in(stream, source, connections);
            }
        }
    }
}
