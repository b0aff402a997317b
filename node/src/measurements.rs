//! How far networks of clients are from regions, as this member and the agents on its streams measure it, on the way to
//! the replicated state (RTE-7): the doors bring round trips, what is news is proposed.

mod proposing;
mod table;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use waymark_core::model::{Caseless, Network, Timestamp};
use waymark_core::state::{LearnedTable, News, State};

pub use proposing::start;
use table::{Askers, RoundTrips};

/// What is measured on a member. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    /// Where this member is; what it measures itself counts for nobody if it does not say.
    region: Option<Caseless>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    round_trips: Mutex<RoundTrips>,
    askers: Mutex<Askers>,
    /// Does an agent measure resolvers? Else nobody wants to know who asks.
    are_askers_wanted: AtomicBool,
}

impl Measurements {
    /// How many round trips make a measurement: one may be an accident.
    pub const SAMPLES_MIN: u32 = 3;

    /// Those of a member in `region`.
    pub fn of_member_in(region: Option<Caseless>) -> Self {
        Self { region, shared: Arc::default() }
    }

    /// Is what this member measures itself of use?
    pub fn has_region(&self) -> bool {
        self.region.is_some()
    }

    /// Takes in how long the way to `client` and back took this member.
    pub fn take_own(&self, client: IpAddr, round_trip: Duration) {
        if let Some(region) = &self.region {
            self.take(region, client, round_trip, 1);
        }
    }

    /// Takes in the shortest of `samples` round trips from `region` to `client`. Never waits: a listener would, and one
    /// more or less is nothing.
    pub fn take(&self, region: &Caseless, client: IpAddr, round_trip: Duration, samples: u32) {
        let network = LearnedTable::network_of(client.to_canonical());
        if let Ok(mut round_trips) = self.shared.round_trips.try_lock() {
            round_trips.add(region, network, round_trip, samples);
        }
    }

    /// `client` has asked something. Never waits: a listener would.
    pub fn note_asker(&self, client: IpAddr) {
        if self.shared.are_askers_wanted.load(Ordering::Relaxed)
            && let Ok(mut askers) = self.shared.askers.try_lock()
        {
            askers.add(client.to_canonical());
        }
    }

    /// Those who asked most in the last hours, the busiest first, whose networks' distance from `region` nobody has confirmed
    /// lately. The first call begins the counting.
    pub fn busiest(&self, state: &State, region: &Caseless, now: Timestamp) -> Vec<IpAddr> {
        self.shared.are_askers_wanted.store(true, Ordering::Relaxed);
        let is_open = |client: &IpAddr| {
            let network = LearnedTable::network_of(*client);
            let known = state.learned.rows.get(&network).and_then(|row| row.row.latency_ms(region));
            // What is known already would be the first news there is.
            news(state, &network, region, known.unwrap_or_default(), now) != News::Nothing
        };
        let askers = lock(&self.shared.askers).busiest();
        askers.into_iter().filter(is_open).collect()
    }

    /// The region that this member says it is in and the state does not know.
    fn unknown_region(&self, state: &State) -> Option<&Caseless> {
        self.region.as_ref().filter(|region| state.region(region).is_none())
    }

    /// What the state at `now` does not say yet, at most a command's worth for each region: first what changes anything.
    pub(crate) fn news(&self, state: &State, now: Timestamp) -> BTreeMap<Caseless, Vec<(Network, u32)>> {
        // Judged when the lock is free again: there may be many.
        let measured = lock(&self.shared.round_trips).measured(Self::SAMPLES_MIN);
        let mut found: BTreeMap<Caseless, [Vec<(Network, u32)>; 2]> = BTreeMap::new();
        for (region, network, ms) in measured {
            let place = match news(state, &network, &region, ms, now) {
                News::Changed => 0,
                News::Confirmed => 1,
                News::Nothing => continue,
            };
            found.entry(region).or_default()[place].push((network, ms));
        }
        let cut = |(region, [changed, confirmed]): (Caseless, [Vec<_>; 2])| {
            (region, changed.into_iter().chain(confirmed).take(LearnedTable::BATCH_MAX).collect())
        };
        found.into_iter().map(cut).collect()
    }

    /// Begins another hour: what was measured before the last one is forgotten, and who asked long ago counts for less.
    fn turn(&self) {
        lock(&self.shared.round_trips).turn();
        lock(&self.shared.askers).turn();
    }
}

/// What a measurement is to the cluster: nothing either where the operator has said how far the network is, or of a region
/// that nobody knows.
fn news(state: &State, network: &Network, region: &Caseless, ms: u32, now: Timestamp) -> News {
    let is_of_use = state.region(region).is_some() && state.latency.row_of(network.address()).1.is_none();
    if is_of_use { state.learned.news(network, region, ms, now) } else { News::Nothing }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is left half done in either.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use waymark_core::state::{Action, Command, Context, apply};

    use super::*;

    const CLIENT: &str = "198.51.100.7";

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn measured(samples: u32, ms: u64) -> Measurements {
        let here = Measurements::of_member_in(Some("aws:eu-west-1".into()));
        (0..samples).for_each(|_| here.take_own(address(CLIENT), Duration::from_millis(ms)));
        here
    }

    fn learn(state: &State, at: Timestamp, news: BTreeMap<Caseless, Vec<(Network, u32)>>) -> State {
        news.into_iter().fold(state.clone(), |state, (region, found)| {
            let action = Action::LearnLatencies { region: region.to_string(), found };
            let command = Command::of_cluster(action);
            let applied = apply(&state, Context { index: waymark_core::model::LogIndex(1), at }, &command);
            applied.reply.expect("a cloud's region is known");
            applied.state
        })
    }

    /// RTE-7: three round trips are a measurement, which is news once.
    #[test]
    fn rte_7_what_is_news_is_told_until_it_is_known() {
        let (state, now) = (State::default(), Timestamp(5));
        assert!(measured(2, 20).news(&state, now).is_empty());
        let here = measured(3, 20);
        let news = here.news(&state, now);
        let network: Network = "198.51.100.0/24".parse().expect("a network");
        assert_eq!(news, [("aws:eu-west-1".into(), vec![(network, 20)])].into());
        let known = learn(&state, now, news);
        assert!(here.news(&known, now).is_empty());
        assert!(measured(3, 17).news(&known, now).is_empty(), "much the same");
        assert_eq!(measured(3, 9).news(&known, now).len(), 1);
        let later = Timestamp(now.0 + LearnedTable::CONFIRM_EVERY_MS);
        assert_eq!(here.news(&known, later).len(), 1, "confirmed");

        let mut told = state;
        let network = "198.51.0.0/16".parse().expect("a network");
        told.latency.insert(waymark_core::state::LatencyRow { network, latencies: vec![("r".into(), 5)] });
        assert!(here.news(&told, now).is_empty(), "the operator has said how far it is");
    }

    #[test]
    fn rte_7_a_member_that_does_not_say_where_it_is_measures_for_nobody() {
        let nowhere = Measurements::default();
        (0..9).for_each(|_| nowhere.take_own(address(CLIENT), Duration::from_millis(3)));
        assert!(nowhere.news(&State::default(), Timestamp(5)).is_empty());
        let lost = Measurements::of_member_in(Some("aws:eu-wst-1".into()));
        (0..9).for_each(|_| lost.take_own(address(CLIENT), Duration::from_millis(3)));
        assert!(lost.news(&State::default(), Timestamp(5)).is_empty());
        assert_eq!(lost.unknown_region(&State::default()), Some(&"aws:eu-wst-1".into()));
        assert_eq!(measured(1, 1).unknown_region(&State::default()), None);
    }

    /// RTE-7: what changes anything does not wait behind what only confirms.
    #[test]
    fn rte_7_changes_go_first() {
        let here = Measurements::default();
        let region = Caseless::new("aws:eu-west-1");
        let client = |number: u32| std::net::Ipv4Addr::from(0x0b00_0000 + (number << 8)).into();
        let count = LearnedTable::BATCH_MAX as u32;
        (0..count).for_each(|number| here.take(&region, client(number), Duration::from_millis(9), 3));
        let state = learn(&State::default(), Timestamp(5), here.news(&State::default(), Timestamp(5)));
        here.take(&region, client(count), Duration::from_millis(9), 3);
        let later = Timestamp(5 + LearnedTable::CONFIRM_EVERY_MS);
        let news = here.news(&state, later);
        assert_eq!(news[&region].len(), LearnedTable::BATCH_MAX);
        assert_eq!(news[&region][0].0, LearnedTable::network_of(client(count)));
    }

    /// RTE-7: no more than a command takes, the rest when that is known.
    #[test]
    fn rte_7_news_come_in_bounded_batches() {
        let here = Measurements::default();
        let count = LearnedTable::BATCH_MAX + 7;
        for number in 0..count {
            let client = std::net::Ipv4Addr::from(0x0b00_0000 + (u32::try_from(number).expect("few") << 8));
            for region in ["aws:eu-west-1", "aws:us-east-1"] {
                here.take(&region.into(), client.into(), Duration::from_millis(9), 3);
            }
        }
        let mut state = State::default();
        for expected in [LearnedTable::BATCH_MAX, 7] {
            let news = here.news(&state, Timestamp(5));
            assert_eq!(news.values().map(Vec::len).collect::<Vec<_>>(), [expected; 2]);
            state = learn(&state, Timestamp(5), news);
        }
        assert!(here.news(&state, Timestamp(5)).is_empty());
    }

    /// RTE-7: those whose networks are unknown come first by how often they ask; nobody is counted before anybody wants it.
    #[test]
    fn rte_7_the_busiest_are_those_of_whom_nothing_is_known() {
        let (here, now, region) = (measured(3, 20), Timestamp(5), Caseless::new("aws:eu-west-1"));
        let ask = |client: &str, times| (0..times).for_each(|_| here.note_asker(address(client)));
        ask(CLIENT, 1);
        assert_eq!(here.busiest(&State::default(), &region, now), [] as [IpAddr; 0]);
        ask(CLIENT, 5);
        ask("203.0.113.9", 2);
        ask("2001:db8::9", 3);
        let all = here.busiest(&State::default(), &region, now);
        assert_eq!(all, [CLIENT, "2001:db8::9", "203.0.113.9"].map(address));
        let state = learn(&State::default(), now, here.news(&State::default(), now));
        assert_eq!(here.busiest(&state, &region, now), ["2001:db8::9", "203.0.113.9"].map(address));
        // Another hour: who does not ask any more falls behind.
        here.turn();
        here.turn();
        ask("203.0.113.9", 1);
        assert_eq!(here.busiest(&state, &region, now), [address("203.0.113.9")]);
    }
}
