//! DNS over streams: taking connections in (RFC 7766). What happens on one is in `connection`.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::connection;
use super::counters::{Counters, count};
use super::places::Places;
use super::responder::Answers;

/// How long the listener rests when a connection could not be taken in: out of descriptors, it would else spin.
const REST: Duration = Duration::from_millis(20);

/// What a listener gives to each connection.
#[derive(Clone, Debug)]
pub(super) struct Door {
    /// What is answered by.
    pub(super) answers: Answers,
    /// Where to count.
    pub(super) counters: Arc<Counters>,
    /// Who is connected.
    pub(super) places: Arc<Places>,
    /// When to stop.
    pub(super) shutdown: CancellationToken,
}

/// Serves connections until the door's shutdown; then answers what they and the system's queue of new ones hold.
pub(super) async fn serve(listener: TcpListener, door: Door) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = door.shutdown.cancelled() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, source)) => door.take_in(stream, source, &mut connections),
                Err(error) => door.rest(&error).await,
            }
        }
    }
    door.take_in_waiting(listener, &mut connections);
    while connections.join_next().await.is_some() {}
}

impl Door {
    fn take_in(&self, stream: TcpStream, source: SocketAddr, connections: &mut JoinSet<()>) {
        count(&self.counters.connections);
        let (place, evictions) = self.places.take(source.ip());
        self.counters.evictions.fetch_add(evictions, Ordering::Relaxed);
        let responder = self.answers.responder(self.counters.clone());
        let (idle_max, shutdown) = (self.places.limits().idle_max, self.shutdown.clone());
        connections.spawn(async move {
            let conversation = connection::serve(stream, source, responder, &place, idle_max, shutdown);
            tokio::select! {
                () = place.evicted() => {}
                // Whatever ends a connection is the client's doing and tells us nothing.
                _ = conversation => {}
            }
        });
    }

    /// A client that is gone is nothing; a lack of descriptors ends when somebody leaves.
    async fn rest(&self, error: &io::Error) {
        tracing::debug!(%error, "a DNS connection could not be taken in");
        count(&self.counters.failures);
        if error.kind() != io::ErrorKind::ConnectionAborted {
            self.counters.evictions.fetch_add(self.places.make_room(), Ordering::Relaxed);
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
