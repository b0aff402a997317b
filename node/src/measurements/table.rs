//! Bounded tables of round trips and of who asks.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::Duration;

use waymark_core::model::{Caseless, Network};
use waymark_core::state::{LatencyRow, LearnedTable};

/// The shortest round trip of an hour: the way itself, without what waited on it.
#[derive(Clone, Copy, Debug, Default)]
struct Shortest {
    micros: u32,
    samples: u32,
}

impl Shortest {
    fn add(&mut self, micros: u32, samples: u32) {
        self.micros = if self.samples == 0 { micros } else { self.micros.min(micros) };
        self.samples = self.samples.saturating_add(samples);
    }
}

/// Round trips by region and network, of this hour and the one before.
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    known: BTreeMap<(Caseless, Network), [Shortest; 2]>,
}

impl RoundTrips {
    /// Most networks, each counted for each region that measures it: some MiB.
    const NETWORKS_MAX: usize = 20_000;

    /// Takes in the shortest of some round trips. Beyond the bounds a network that is not known waits for the next hour.
    pub(super) fn add(&mut self, region: &Caseless, network: Network, round_trip: Duration, samples: u32) {
        let key = (region.clone(), network);
        if samples > 0 && (self.known.contains_key(&key) || self.has_room_for(&key)) {
            let micros = u32::try_from(round_trip.as_micros()).unwrap_or(u32::MAX);
            self.known.entry(key).or_default()[0].add(micros, samples);
        }
    }

    /// As in the state, one provider does not take all places.
    fn has_room_for(&self, (region, network): &(Caseless, Network)) -> bool {
        let block = Network::around(network.address(), LearnedTable::BLOCK_PREFIX);
        let within = self.known.range((region.clone(), block)..);
        let within =
            within.take_while(|((known, network), _)| known == region && block.contains(network.address()));
        let is_v4 = network.address().is_ipv4();
        self.known.len() < Self::NETWORKS_MAX && (is_v4 || within.count() < LearnedTable::ROWS_PER_BLOCK_MAX)
    }

    /// Each network with at least that many round trips, and its milliseconds, region by region. This hour counts alone where
    /// it has enough, and the last one helps where it has not: what nobody has measured in this hour is not told of.
    pub(super) fn measured(&self, samples_min: u32) -> Vec<(Caseless, Network, u32)> {
        let measured = self.known.iter().filter_map(|((region, network), [this, last])| {
            let mut found = *this;
            if (1..samples_min).contains(&this.samples) && last.samples > 0 {
                found.add(last.micros, last.samples);
            }
            let ms = (found.micros / 1_000).saturating_add(u32::from(found.micros % 1_000 >= 500));
            let is_measured = found.samples >= samples_min;
            is_measured.then(|| (region.clone(), *network, ms.min(LatencyRow::LATENCY_MS_MAX)))
        });
        measured.collect()
    }

    /// Begins another hour.
    pub(super) fn turn(&mut self) {
        self.known.retain(|_, hours| {
            *hours = [Shortest::default(), hours[0]];
            hours[1].samples > 0
        });
    }
}

/// Who asks how often.
#[derive(Debug, Default)]
pub(super) struct Askers {
    counts: HashMap<IpAddr, u32>,
}

impl Askers {
    /// Most addresses that are counted.
    const ADDRESSES_MAX: usize = 4_096;

    /// One more. When the table is full, the least busy make room.
    pub(super) fn add(&mut self, asker: IpAddr) {
        if self.counts.len() >= Self::ADDRESSES_MAX && !self.counts.contains_key(&asker) {
            self.turn();
        }
        // All of them may be busier than this one.
        if self.counts.len() < Self::ADDRESSES_MAX || self.counts.contains_key(&asker) {
            let count = self.counts.entry(asker).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Halves all counts, and forgets those of little.
    pub(super) fn turn(&mut self) {
        self.counts.retain(|_, count| {
            *count /= 2;
            *count > 0
        });
    }

    /// All of them, those first who asked most.
    pub(super) fn busiest(&self) -> Vec<IpAddr> {
        let mut all: Vec<(u32, IpAddr)> = self.counts.iter().map(|(asker, count)| (*count, *asker)).collect();
        all.sort_by_key(|(count, asker)| (std::cmp::Reverse(*count), *asker));
        all.into_iter().map(|(_, asker)| asker).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(number: u32) -> Network {
        Network::around(std::net::Ipv4Addr::from(number << 8).into(), 24)
    }

    #[test]
    fn rte_7_the_shortest_of_this_hour_counts() {
        let (mut table, here) = (RoundTrips::default(), Caseless::new("here"));
        let ms = |table: &RoundTrips| table.measured(3).first().map(|(_, _, ms)| *ms);
        table.add(&here, network(1), Duration::from_micros(20_500), 2);
        assert_eq!(ms(&table), None);
        table.add(&here, network(1), Duration::from_micros(31_000), 1);
        assert_eq!(ms(&table), Some(21), "rounded");
        table.turn();
        assert_eq!(ms(&table), None, "nobody has measured it in this hour");
        table.add(&here, network(1), Duration::from_millis(40), 2);
        assert_eq!(ms(&table), Some(21), "too few for this hour alone");
        table.add(&here, network(1), Duration::from_millis(40), 1);
        assert_eq!(ms(&table), Some(40), "the way has become longer");
        table.turn();
        table.turn();
        assert!(table.known.is_empty());
    }

    #[test]
    fn rte_7_both_tables_are_bounded() {
        let (mut table, here) = (RoundTrips::default(), Caseless::new("here"));
        for number in 0..RoundTrips::NETWORKS_MAX as u32 + 9 {
            table.add(&here, network(number), Duration::from_millis(1), 3);
        }
        assert_eq!(table.measured(3).len(), RoundTrips::NETWORKS_MAX);
        let mut table = RoundTrips::default();
        for low in 0..999_u128 {
            let network = Network::around(std::net::Ipv6Addr::from(0x2001_0db8 << 96 | low << 80).into(), 48);
            table.add(&here, network, Duration::from_millis(1), 3);
            table.add(&"there".into(), network, Duration::from_millis(1), 3);
        }
        assert_eq!(table.measured(3).len(), 2 * LearnedTable::ROWS_PER_BLOCK_MAX);
        let mut askers = Askers::default();
        let busy: IpAddr = "192.0.2.1".parse().expect("an address");
        (0..99).for_each(|_| askers.add(busy));
        for number in 0..3 * Askers::ADDRESSES_MAX as u32 {
            askers.add(std::net::Ipv4Addr::from(number).into());
            assert!(askers.counts.len() <= Askers::ADDRESSES_MAX);
        }
        assert_eq!(askers.busiest().first(), Some(&busy));
    }
}
