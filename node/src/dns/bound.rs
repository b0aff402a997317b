//! Serving DNS on the addresses that were taken, and closing them without losing a query (DNS-22).

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::bind::{BindError, Listener, Sockets};
use super::counters::Statistics;
use super::datagram::Clerk;
use super::door::Door;
use super::encrypted::{Encrypted, EncryptedSockets};
use super::places::{Limits, Places};
use super::responder::Answers;
use super::stale;
use super::tcp::{self, Protocol};
use super::udp;
use crate::config::AnswerSettings;
use crate::measurements::Measurements;
use crate::publication::Reader;

/// How long listeners may take to answer what they hold when they are told to stop; DNS-22 allows the process 5 s.
const DRAIN_MAX: Duration = Duration::from_secs(4);

/// Addresses that are taken and not yet served.
#[derive(Debug)]
pub struct Bound {
    sockets: Vec<Sockets>,
    encrypted: EncryptedSockets,
    limits: Limits,
    measurements: Measurements,
}

impl Bound {
    pub(super) fn new(sockets: Vec<Sockets>, limits: Limits) -> Self {
        Self {
            sockets,
            encrypted: EncryptedSockets::default(),
            limits,
            measurements: Measurements::default(),
        }
    }

    /// Takes the addresses of `encrypted` as well (DNS-15).
    ///
    /// # Errors
    /// One of them cannot be had.
    pub fn with_encrypted(self, encrypted: &Encrypted) -> Result<Self, BindError> {
        Ok(Self { encrypted: EncryptedSockets::bind(encrypted)?, ..self })
    }

    /// Has `measurements` told how far those are who ask.
    pub fn measuring(self, measurements: Measurements) -> Self {
        Self { measurements, ..self }
    }

    /// The addresses in the order in which they were asked for, with the real ports.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.sockets.iter().map(|sockets| sockets.address).collect()
    }

    /// The addresses of encrypted transports with their real ports, each with the setting that named it.
    pub fn encrypted_addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        self.encrypted.addresses()
    }

    /// What the listeners count, to be read while they serve.
    pub fn statistics(&self) -> Statistics {
        let plain = self.sockets.iter().flat_map(|sockets| {
            let datagrams = sockets.datagrams.iter().map(|listener| listener.counters.clone());
            datagrams.chain([sockets.streams.counters.clone()])
        });
        plain.chain(self.encrypted.counters()).collect()
    }

    /// Answers from the latest view of `reader`, as `settings` say, until `shutdown`; then answers what the sockets hold, closes them and
    /// returns, after 4 s at the latest. However old the view gets, it is answered from, unless they say otherwise (DNS-21).
    pub async fn serve(self, reader: Reader, settings: AnswerSettings, shutdown: CancellationToken) {
        tokio::spawn(stale::narrate(reader.clone(), shutdown.clone()));
        let answers = Answers::new(reader, settings, self.measurements);
        let places = Arc::new(Places::new(self.limits));
        let clerks = self.sockets.iter().map(|sockets| sockets.datagrams.len()).sum();
        let mut listeners = JoinSet::new();
        for Sockets { datagrams, streams, .. } in self.sockets {
            for Listener { socket, counters } in datagrams {
                let clerk = Clerk::one_among(clerks, answers.clone(), counters);
                let shutdown = shutdown.clone();
                let (ended, end) = oneshot::channel::<()>();
                let serve = move || {
                    udp::serve(&socket, clerk, &shutdown);
                    drop(ended);
                };
                // A thread of its own: the runtime's are for what ends.
                match std::thread::Builder::new().name("dns-udp".to_owned()).spawn(serve) {
                    Ok(_) => drop(listeners.spawn(async { drop(end.await) })),
                    Err(error) => {
                        tracing::error!(%error, "a DNS listener has no thread: its queries go unanswered")
                    }
                }
            }
            let Listener { socket, counters } = streams;
            let (answers, places, shutdown) = (answers.clone(), places.clone(), shutdown.clone());
            let door = Door { answers, counters, places, shutdown };
            listeners.spawn(tcp::serve(socket, Protocol::Plain, door));
        }
        self.encrypted.serve(&answers, &places, &shutdown, &mut listeners);
        let drained = async {
            shutdown.cancelled().await;
            tokio::time::sleep(DRAIN_MAX).await;
        };
        tokio::select! {
            () = join_all(&mut listeners) => {}
            () = drained => tracing::warn!("DNS listeners were still draining after {DRAIN_MAX:?} and are closed"),
        }
    }
}

async fn join_all(listeners: &mut JoinSet<()>) {
    while let Some(ended) = listeners.join_next().await {
        if let Err(error) = ended {
            tracing::error!(%error, "a DNS listener ended on a broken invariant");
        }
    }
}
