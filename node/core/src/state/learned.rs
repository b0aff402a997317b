//! How far networks of clients are from regions by what members and agents measured themselves (RTE-7).

use std::net::IpAddr;
use std::sync::Arc;

use super::{LatencyRow, State};
use crate::geo::NetworkMap;
use crate::model::{Caseless, Family, Network, Timestamp};

/// What was measured of one network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedRow {
    /// The milliseconds that are gone by.
    pub row: LatencyRow,
    /// When each was last found to be so, in the order of the row's regions.
    pub confirmed: Vec<Timestamp>,
}

impl LearnedRow {
    fn of(network: Network) -> Self {
        Self { row: LatencyRow { network, latencies: Vec::new() }, confirmed: Vec::new() }
    }

    /// Milliseconds to `region`, and when they were last found.
    fn cell(&self, region: &Caseless) -> Option<(u32, Timestamp)> {
        let at = self.row.latencies.binary_search_by(|(known, _)| known.cmp(region)).ok()?;
        Some((self.row.latencies[at].1, self.confirmed[at]))
    }

    fn set(&mut self, region: &Caseless, ms: u32, at: Timestamp) {
        match self.row.latencies.binary_search_by(|(known, _)| known.cmp(region)) {
            Ok(place) => {
                self.row.latencies[place].1 = ms;
                self.confirmed[place] = at;
            }
            Err(place) => {
                self.row.latencies.insert(place, (region.clone(), ms));
                self.confirmed.insert(place, at);
            }
        }
    }

    /// The row with those of its regions alone that `is_kept` says yes to; none if nothing is left.
    fn with(&self, is_kept: impl Fn(&Caseless, Timestamp) -> bool) -> Option<Self> {
        let mut left = Self::of(self.row.network);
        for ((region, ms), at) in self.row.latencies.iter().zip(&self.confirmed) {
            if is_kept(region, *at) {
                left.row.latencies.push((region.clone(), *ms));
                left.confirmed.push(*at);
            }
        }
        (!left.confirmed.is_empty()).then_some(left)
    }
}

/// The row that counts for a client, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientRow<'a> {
    /// The operator's: of the longest network that holds the client.
    Imported(&'a LatencyRow),
    /// Measured; the operator says nothing of this client.
    Learned(&'a LatencyRow),
}

impl<'a> ClientRow<'a> {
    /// The network with its milliseconds.
    pub fn row(self) -> &'a LatencyRow {
        match self {
            Self::Imported(row) | Self::Learned(row) => row,
        }
    }
}

impl State {
    /// The row that counts for `client`, if there is one, and the largest network around the client for all of which that very
    /// row counts, or none.
    pub fn latency_row_of(&self, client: IpAddr) -> (Network, Option<ClientRow<'_>>) {
        let (around, imported) = self.latency.row_of(client);
        if let Some(row) = imported {
            return (around, Some(ClientRow::Imported(row)));
        }
        let (within, learned) = self.learned.rows.longest(client);
        // Both hold the client: the one with the longer prefix lies in the other.
        let alike = if within.prefix() > around.prefix() { within } else { around };
        (alike, learned.map(|learned| ClientRow::Learned(&learned.row)))
    }
}

/// What a measurement does to what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Nothing: it says what is known, and that was confirmed lately.
    Nothing,
    /// It says what is known, give or take; the milliseconds stay.
    Confirmed,
    /// The milliseconds become others.
    Changed,
}

/// All that was learned. Who is held by a row of the operator's is not looked up here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LearnedTable {
    /// The rows by their networks, all of them as long as [`LearnedTable::network_of`] makes them.
    pub rows: NetworkMap<Arc<LearnedRow>>,
}

impl LearnedTable {
    /// Most rows: the networks of more resolvers than any zone is asked by regularly.
    pub const ROWS_MAX: usize = 50_000;
    /// Most rows of IPv6 networks within one /32, what a provider is given.
    pub const ROWS_PER_BLOCK_MAX: usize = 256;
    /// See [`LearnedTable::ROWS_PER_BLOCK_MAX`].
    pub const BLOCK_PREFIX: u8 = 32;
    /// Most networks in one command.
    pub const BATCH_MAX: usize = 250;
    /// Milliseconds that are always taken for the same: less moves no client.
    pub const STEP_MS: u32 = 5;
    /// Milliseconds are taken for the same within this part of what is known, too.
    const STEP_PART: u32 = 5;
    /// How often what is known is confirmed, in milliseconds: an hour.
    pub const CONFIRM_EVERY_MS: u64 = 3_600_000;
    /// How long nobody must have confirmed what is known before it becomes longer, in milliseconds: two hours. Members of
    /// one region measure from different places; the shortest time counts, and they do not take turns.
    pub const LONGER_AFTER_MS: u64 = 2 * Self::CONFIRM_EVERY_MS;
    /// How long what nobody confirms is kept, in milliseconds: seven days.
    pub const SPAN_MS: u64 = 7 * 24 * 3_600_000;

    /// The network that what is measured of `address` is taken for: the /24 or /48 around it.
    pub fn network_of(address: IpAddr) -> Network {
        let prefix = match Family::of(address) {
            Family::V4 => 24,
            Family::V6 => 48,
        };
        Network::around(address, prefix)
    }

    /// What `ms` from `network` to `region` is beside what is known at `now`. Members ask before they propose, `apply` asks
    /// again.
    pub fn news(&self, network: &Network, region: &Caseless, ms: u32, now: Timestamp) -> News {
        let row = self.rows.get(network);
        let Some((known, confirmed)) = row.and_then(|row| row.cell(region)) else {
            let has_room = row.map_or_else(
                || self.has_room_for(network),
                |row| row.confirmed.len() < LatencyRow::REGIONS_MAX,
            );
            return if has_room { News::Changed } else { News::Nothing };
        };
        let age = now.0.saturating_sub(confirmed.0);
        let step = Self::STEP_MS.max(known / Self::STEP_PART);
        if ms + step <= known || ms >= known + step && age >= Self::LONGER_AFTER_MS {
            News::Changed
        } else if ms < known + step && age >= Self::CONFIRM_EVERY_MS {
            News::Confirmed
        } else {
            News::Nothing
        }
    }

    /// May another row be added? One who owns a /32 has 65,536 networks to ask from, and must not take everybody's place.
    fn has_room_for(&self, network: &Network) -> bool {
        let block = Network::around(network.address(), Self::BLOCK_PREFIX);
        let is_within = |row: &&Network| block.contains(row.address());
        let in_block = || self.rows.behind(Some(&block)).map(|(row, _)| row).take_while(is_within).count();
        let is_v4 = network.address().is_ipv4();
        self.rows.len() < Self::ROWS_MAX && (is_v4 || in_block() < Self::ROWS_PER_BLOCK_MAX)
    }

    /// Takes a measurement in. Returns what it was.
    pub(crate) fn learn(&mut self, network: Network, region: &Caseless, ms: u32, now: Timestamp) -> News {
        let news = self.news(&network, region, ms, now);
        if news == News::Nothing {
            return news;
        }
        let mut row = self.rows.get(&network).map_or_else(|| LearnedRow::of(network), |row| (**row).clone());
        let kept = row.cell(region).map(|(known, _)| known).filter(|_| news == News::Confirmed);
        row.set(region, kept.unwrap_or(ms), now);
        self.insert(Arc::new(row));
        news
    }

    /// Is anything known that was last confirmed before `end`?
    pub fn is_overdue(&self, end: Timestamp) -> bool {
        self.rows.iter().any(|(_, row)| row.confirmed.iter().any(|at| *at < end))
    }

    /// Forgets of each row the regions that `is_kept` says no to. Returns whether there were any.
    pub(super) fn keep(&mut self, is_kept: impl Fn(&Caseless, Timestamp) -> bool) -> bool {
        let has_any_to_go = |row: &&Arc<LearnedRow>| {
            row.row.latencies.iter().zip(&row.confirmed).any(|((region, _), at)| !is_kept(region, *at))
        };
        let touched: Vec<_> = self.rows.iter().map(|(_, row)| row).filter(has_any_to_go).cloned().collect();
        for row in &touched {
            match row.with(&is_kept) {
                Some(left) => self.insert(Arc::new(left)),
                None => self.rows.remove(&row.row.network),
            };
        }
        !touched.is_empty()
    }

    /// Puts a row in the place of the one with its network; returns that one.
    pub fn insert(&mut self, row: Arc<LearnedRow>) -> Option<Arc<LearnedRow>> {
        self.rows.insert(row.row.network, row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = LearnedTable::CONFIRM_EVERY_MS;

    fn network() -> Network {
        LearnedTable::network_of("198.51.100.7".parse().expect("an address"))
    }

    /// Each known time, what is measured how much later, and what that is.
    #[test]
    fn rte_7_small_differences_and_longer_ways_move_nobody_at_once() {
        let here = Caseless::new("here");
        for (known, ms, later, news) in [
            (20, 20, HOUR - 1, News::Nothing),
            (20, 20, HOUR, News::Confirmed),
            (20, 24, HOUR, News::Confirmed),
            (20, 16, HOUR - 1, News::Nothing),
            (20, 15, 0, News::Changed),
            (20, 25, 2 * HOUR - 1, News::Nothing),
            (20, 25, 2 * HOUR, News::Changed),
            (200, 161, 0, News::Nothing),
            (200, 160, 0, News::Changed),
            (200, 239, HOUR, News::Confirmed),
            (200, 240, 2 * HOUR, News::Changed),
            (0, 4, HOUR, News::Confirmed),
        ] {
            let mut table = LearnedTable::default();
            assert_eq!(table.learn(network(), &here, known, Timestamp(7)), News::Changed);
            let case = format!("{known} ms are known, {ms} ms are measured {later} ms later");
            assert_eq!(table.learn(network(), &"HERE".into(), ms, Timestamp(7 + later)), news, "{case}");
            let kept = if news == News::Changed { ms } else { known };
            let at = if news == News::Nothing { 7 } else { 7 + later };
            assert_eq!(
                table.rows.get(&network()).unwrap().cell(&here),
                Some((kept, Timestamp(at))),
                "{case}"
            );
        }
    }

    #[test]
    fn rte_7_what_nobody_confirms_is_forgotten_region_by_region() {
        let mut table = LearnedTable::default();
        table.learn(network(), &"a".into(), 10, Timestamp(1));
        table.learn(network(), &"b".into(), 20, Timestamp(5));
        assert!(!table.is_overdue(Timestamp(1)) && table.is_overdue(Timestamp(2)));
        assert!(!table.keep(|_, at| at >= Timestamp(1)));
        assert!(table.keep(|_, at| at >= Timestamp(5)));
        assert_eq!(table.rows.get(&network()).unwrap().row.latencies, [("b".into(), 20)]);
        table.keep(|region, _| *region != "B".into());
        assert_eq!(table, LearnedTable::default());
    }

    #[test]
    fn rte_7_a_full_table_takes_no_new_network() {
        let mut table = LearnedTable::default();
        for number in 0..LearnedTable::ROWS_MAX as u32 {
            let network = LearnedTable::network_of(std::net::Ipv4Addr::from(number << 8).into());
            assert_eq!(table.learn(network, &"a".into(), 10, Timestamp(1)), News::Changed);
        }
        assert_eq!(table.learn(network(), &"a".into(), 10, Timestamp(1)), News::Nothing);
        let known = LearnedTable::network_of("0.0.1.9".parse().expect("an address"));
        assert_eq!(table.learn(known, &"b".into(), 10, Timestamp(1)), News::Changed);
    }

    #[test]
    fn rte_7_one_provider_does_not_take_all_places() {
        let mut table = LearnedTable::default();
        let network = |high: u128, low: u128| {
            LearnedTable::network_of(std::net::Ipv6Addr::from(high << 96 | low << 80).into())
        };
        for low in 0..LearnedTable::ROWS_PER_BLOCK_MAX as u128 {
            assert_eq!(table.learn(network(0x2001_0db8, low), &"a".into(), 9, Timestamp(1)), News::Changed);
        }
        assert_eq!(table.learn(network(0x2001_0db8, 999), &"a".into(), 9, Timestamp(1)), News::Nothing);
        assert_eq!(table.learn(network(0x2001_0db8, 7), &"b".into(), 9, Timestamp(1)), News::Changed);
        assert_eq!(table.learn(network(0x2001_0db9, 999), &"a".into(), 9, Timestamp(1)), News::Changed);
    }
}
