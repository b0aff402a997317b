//! Serving DNS on the addresses that were taken, and closing them without losing a query (DNS-22).

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::bind::{Listener, Sockets};
use super::counters::Statistics;
use super::places::{Limits, Places};
use super::responder::Answers;
use super::settings::Settings;
use super::tcp::{self, Door};
use super::udp;
use crate::publication::Reader;

/// How long listeners may take to answer what they hold when they are told to stop; DNS-22 allows the process 5 s.
const DRAIN_MAX: Duration = Duration::from_secs(4);

/// Addresses that are taken and not yet served.
#[derive(Debug)]
pub struct Bound {
    sockets: Vec<Sockets>,
    limits: Limits,
    statistics: Statistics,
}

impl Bound {
    pub(super) fn new(sockets: Vec<Sockets>, limits: Limits) -> Self {
        let counters = sockets.iter().flat_map(|sockets| {
            let datagrams = sockets.datagrams.iter().map(|listener| listener.counters.clone());
            datagrams.chain([sockets.streams.counters.clone()])
        });
        let statistics = counters.collect();
        Self { sockets, limits, statistics }
    }

    /// The addresses in the order in which they were asked for, with the real ports.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.sockets.iter().map(|sockets| sockets.address).collect()
    }

    /// What the listeners count, to be read while they serve.
    pub fn statistics(&self) -> Statistics {
        self.statistics.clone()
    }

    /// Answers from the latest view of `reader`, as `settings` say, until `shutdown`; then answers what the sockets hold, closes them and
    /// returns, after 4 s at the latest. However old the view gets, it is answered from (DNS-21).
    pub async fn serve(self, reader: Reader, settings: Settings, shutdown: CancellationToken) {
        let answers = Answers::new(reader, settings);
        let places = Arc::new(Places::new(self.limits));
        let mut listeners = JoinSet::new();
        for Sockets { datagrams, streams, .. } in self.sockets {
            for Listener { socket, counters } in datagrams {
                let responder = answers.responder(counters);
                listeners.spawn(udp::serve(socket, responder, shutdown.clone()));
            }
            let Listener { socket, counters } = streams;
            let (answers, places, shutdown) = (answers.clone(), places.clone(), shutdown.clone());
            listeners.spawn(tcp::serve(socket, Door { answers, counters, places, shutdown }));
        }
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
