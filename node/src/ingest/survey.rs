//! Which resolvers an agent is asked to measure, if it said that it would (RTE-7).

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use waymark_core::model::{Caseless, Name, Timestamp};
use waymark_core::state::{LearnedTable, View};
use waymark_proto::agent::v1 as wire;

use super::session::millis;
use crate::measurements::Measurements;

/// How often an agent is told whom to measure.
const ASK_EVERY: Duration = Duration::from_secs(60);

/// How long nobody is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(LearnedTable::CONFIRM_EVERY_MS);

/// Queries that an agent sends to one resolver at most.
const QUERIES_PER_RESOLVER: u32 = Measurements::SAMPLES_MIN;

/// Most resolvers in one message, whatever an agent offers.
const RESOLVERS_MAX: u32 = 200;

/// The label below a zone's name that measuring queries ask for: whoever sees one can tell what it is.
const LABEL: &str = "latency-measurement";

/// What one agent is asked, and what it was asked last.
#[derive(Debug)]
pub(super) struct Survey {
    region: Caseless,
    measurements: Measurements,
    resolvers_max: usize,
    due_ms: u64,
    /// Not sent yet.
    request: Option<wire::Measure>,
    /// Who was asked about in the last hour, and when: what the agent may tell of. Most resolvers answer no stranger; whoever
    /// does not is not to be asked again at once.
    asked: BTreeMap<IpAddr, u64>,
}

impl Survey {
    /// Of an agent in `region` that sends at most so many queries in a minute.
    pub(super) fn new(measurements: Measurements, region: &str, queries_per_minute: u32) -> Self {
        let resolvers_max = (queries_per_minute / QUERIES_PER_RESOLVER).min(RESOLVERS_MAX) as usize;
        let (region, asked) = (Caseless::new(region), BTreeMap::new());
        Self { region, measurements, resolvers_max, due_ms: 0, request: None, asked }
    }

    /// When [`Survey::tick`] is next to be called, if ever.
    pub(super) fn next_ms(&self) -> Option<u64> {
        (self.resolvers_max > 0).then_some(self.due_ms)
    }

    /// Decides whom to ask about, when it is time.
    pub(super) fn tick(&mut self, view: &View, now_ms: u64, wall: Timestamp) {
        if self.next_ms().is_none_or(|due_ms| now_ms < due_ms) {
            return;
        }
        self.due_ms = now_ms + millis(ASK_EVERY);
        let state = &view.state;
        let name = Name::parse(LABEL)
            .ok()
            .and_then(|label| state.zones.keys().find_map(|zone| label.join(zone).ok()));
        let Some(name) = name else { return };
        let again_ms = millis(ASK_AGAIN);
        self.asked.retain(|_, asked_ms| now_ms.saturating_sub(*asked_ms) < again_ms);
        let busiest = self.measurements.busiest(state, &self.region, wall);
        let others = busiest.into_iter().filter(|resolver| !self.asked.contains_key(resolver));
        let resolvers: Vec<IpAddr> = others.take(self.resolvers_max).collect();
        self.asked.extend(resolvers.iter().map(|resolver| (*resolver, now_ms)));
        self.request = (!resolvers.is_empty()).then(|| wire::Measure {
            resolvers: resolvers.iter().map(ToString::to_string).collect(),
            name: name.to_string(),
        });
    }

    /// Is there a request to send?
    pub(super) fn has_request(&self) -> bool {
        self.request.is_some()
    }

    /// The request to send, once.
    pub(super) fn request(&mut self) -> Option<wire::Measure> {
        self.request.take()
    }

    /// Takes in what the agent found. What it was not asked for counts for nothing.
    pub(super) fn take(&self, found: &wire::Measured) {
        let Ok(resolver) = found.resolver.parse() else { return };
        if self.asked.contains_key(&resolver) {
            let round_trip = Duration::from_micros(found.microseconds.into());
            let samples = found.samples.min(QUERIES_PER_RESOLVER);
            self.measurements.take(&self.region, resolver, round_trip, samples);
        }
    }
}
