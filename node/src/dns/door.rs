//! What the listeners of all connections have in common, and a connection that was taken in: who asks over it, who
//! answers, and the place that it has among the others.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::counters::{Counters, count};
use super::places::{Place, Places};
use super::respond::Transport;
use super::responder::{Answers, Responder};
use crate::measurements::Measurements;

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

/// The far end of a connection.
#[derive(Debug)]
pub(super) struct Guest {
    source: IpAddr,
    transport: Transport,
    responder: Responder,
    place: Place,
    /// How long the way to it and back took, until it asks something: it may be nobody who asks.
    round_trip: Option<Duration>,
    measurements: Measurements,
    /// When it last got an answer, or was taken in.
    active: Instant,
}

impl Door {
    /// Gives a connection from `source` its place, for which another may have to go.
    pub(super) fn admit(&self, source: IpAddr, transport: Transport, round_trip: Option<Duration>) -> Guest {
        count(&self.counters.connections);
        let (place, evictions) = self.places.take(source);
        self.counters.evictions.fetch_add(evictions, Ordering::Relaxed);
        let responder = self.answers.responder(self.counters.clone());
        Guest {
            source,
            transport,
            responder,
            place,
            round_trip,
            measurements: self.answers.measurements.clone(),
            active: Instant::now(),
        }
    }

    /// Returns when the door has been shut for `grace`.
    pub(super) async fn shut_for(&self, grace: Duration) {
        self.shutdown.cancelled().await;
        tokio::time::sleep(grace).await;
    }
}

impl Guest {
    /// The reply to `message`, if it gets one, and for how many seconds caches may use it; who gets one is not idle.
    pub(super) fn answer(&mut self, message: &[u8]) -> Option<(&[u8], Option<u32>)> {
        let is_crowded = self.place.is_in_a_crowd();
        let reply = self.responder.answer(message, self.transport, self.source, is_crowded)?;
        self.place.touch();
        self.active = Instant::now();
        if let Some(round_trip) = self.round_trip.take() {
            self.measurements.take_own(self.source, round_trip);
        }
        Some(reply)
    }

    /// When it last got an answer, or was taken in.
    pub(super) fn active(&self) -> Instant {
        self.active
    }

    /// Is cancelled when its place is needed for somebody else.
    pub(super) fn evicted(&self) -> CancellationToken {
        self.place.evicted()
    }
}
