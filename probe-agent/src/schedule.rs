//! When each endpoint is probed (PRB-8). Pure: the time comes in.
//!
//! Time here is milliseconds since 1970 as the wall clock had it when the agent started, carried on by the monotonic
//! clock: a restart finds the same phases, and a clock that is set meanwhile moves nothing.
//!
//! ```text
//!  endpoint 7  |···x·········|···x·········|···x·····     x: interval × n + phase
//!  endpoint 8  |·········x···|·········x···|·········     phase: hash of (endpoint, agent) modulo the interval
//! ```

use std::collections::{BTreeSet, HashMap};
use std::hash::Hasher;

use siphasher::sip::SipHasher13;
use waymark_core::model::EndpointId;

/// Keys of the hash: fixed, so that a phase is the same in every run and version.
const HASH_KEYS: (u64, u64) = (0x7761_796d_6172_6b21, 0x7072_6f62_655f_6174);

/// The agent wakes up for probes at multiples of this: those whose turns are near each other share one awakening, which costs as much as a probe
/// itself (PERF-4). It is 1 % of the shortest interval.
const TICK_MS: u64 = 10;

/// A turn that is later than this is left out: after a pause of the whole machine, or of all probing, everything would
/// start at once. A loop that is merely busy is never that late.
const LATENESS_MAX_MS: u64 = 1_000;

/// The instants at which one agent's probes start.
#[derive(Debug)]
pub struct Schedule {
    agent: String,
    rhythms: HashMap<EndpointId, Rhythm>,
    due: BTreeSet<(u64, EndpointId)>,
    missed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Rhythm {
    interval_ms: u64,
    phase_ms: u64,
    due_ms: u64,
}

impl Schedule {
    /// An empty schedule of the agent with that name; names are compared without case.
    pub fn new(agent: &str) -> Self {
        Self { agent: agent.to_ascii_lowercase(), rhythms: HashMap::new(), due: BTreeSet::new(), missed: 0 }
    }

    /// Probes `endpoint` every `interval_ms` from its next turn at or after `now_ms` on; replaces an earlier rhythm.
    pub fn insert(&mut self, endpoint: EndpointId, interval_ms: u64, now_ms: u64) {
        self.remove(endpoint);
        let interval_ms = interval_ms.max(1);
        let phase_ms = phase_ms(endpoint, &self.agent, interval_ms);
        let due_ms = next_turn_ms(now_ms, interval_ms, phase_ms);
        self.rhythms.insert(endpoint, Rhythm { interval_ms, phase_ms, due_ms });
        self.due.insert((due_ms, endpoint));
    }

    /// Probes `endpoint` no more.
    pub fn remove(&mut self, endpoint: EndpointId) {
        if let Some(rhythm) = self.rhythms.remove(&endpoint) {
            self.due.remove(&(rhythm.due_ms, endpoint));
        }
    }

    /// When the next probe starts; `None` if there is nothing to probe.
    pub fn next_due_ms(&self) -> Option<u64> {
        self.due.first().map(|(due_ms, _)| *due_ms)
    }

    /// When the next probes are to be started: at the first tick at or after the next turn.
    pub fn next_tick_ms(&self) -> Option<u64> {
        Some(self.next_due_ms()?.next_multiple_of(TICK_MS))
    }

    /// An endpoint whose turn has come. Its next turn is the first after `now_ms`. Turns that were missed by more than a
    /// second, as by a machine that slept, are not made up for: each endpoint is probed in its own next turn.
    pub fn pop_due(&mut self, now_ms: u64) -> Option<EndpointId> {
        loop {
            let &(due_ms, endpoint) = self.due.first()?;
            if due_ms > now_ms {
                return None;
            }
            self.due.pop_first();
            let rhythm = self.rhythms.get_mut(&endpoint).expect("what is due has a rhythm");
            rhythm.due_ms = next_turn_ms(now_ms + 1, rhythm.interval_ms, rhythm.phase_ms);
            self.due.insert((rhythm.due_ms, endpoint));
            if now_ms - due_ms <= LATENESS_MAX_MS {
                return Some(endpoint);
            }
            self.missed += 1;
        }
    }

    /// How many endpoints have missed their turn since this was last asked.
    pub fn take_missed(&mut self) -> u64 {
        std::mem::take(&mut self.missed)
    }
}

/// The phase of an endpoint's probes by one agent, below `interval_ms`.
fn phase_ms(endpoint: EndpointId, agent: &str, interval_ms: u64) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(HASH_KEYS.0, HASH_KEYS.1);
    hasher.write(&endpoint.0.to_le_bytes());
    hasher.write(agent.as_bytes());
    hasher.finish() % interval_ms
}

/// The first instant at or after `now_ms` that is `phase_ms` beyond a multiple of `interval_ms`.
fn next_turn_ms(now_ms: u64, interval_ms: u64, phase_ms: u64) -> u64 {
    let turn = now_ms - now_ms % interval_ms + phase_ms;
    if turn >= now_ms { turn } else { turn + interval_ms }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START_MS: u64 = 1_764_000_123_457;

    /// Runs the schedule for `span_ms` from `start_ms` on; the starts in order.
    fn starts(schedule: &mut Schedule, start_ms: u64, span_ms: u64) -> Vec<(u64, EndpointId)> {
        let mut starts = Vec::new();
        while let Some(due_ms) = schedule.next_due_ms().filter(|due_ms| *due_ms < start_ms + span_ms) {
            let endpoint = schedule.pop_due(due_ms).expect("it is due");
            starts.push((due_ms, endpoint));
        }
        starts
    }

    fn schedule(agent: &str, endpoints: u64, interval_ms: u64, now_ms: u64) -> Schedule {
        let mut schedule = Schedule::new(agent);
        (1..=endpoints).for_each(|id| schedule.insert(EndpointId(id), interval_ms, now_ms));
        schedule
    }

    /// PRB-8, F-PRB-15: no second of the interval holds more than twice the mean, from the first second on.
    #[test]
    fn prb_8_starts_are_spread_evenly_and_without_a_burst() {
        for agent in ["eu-1", "us-1", "ap-1", "agent-a", "agent-b"] {
            let mut schedule = schedule(agent, 500, 30_000, START_MS);
            let mut buckets = [0_u32; 30];
            for (start_ms, _) in starts(&mut schedule, START_MS, 30_000) {
                buckets[usize::try_from((start_ms - START_MS) / 1_000).expect("below 30")] += 1;
            }
            assert_eq!(buckets.iter().sum::<u32>(), 500, "each once: {buckets:?}");
            assert!(buckets.iter().all(|count| *count <= 33), "{agent}: {buckets:?}");
        }
    }

    /// PRB-8, PERF-4: those whose turns come within one tick start together, none before its turn and none later than a tick after it.
    #[test]
    fn prb_8_turns_of_one_tick_come_together() {
        let mut schedule = schedule("eu-1", 2_000, 1_000, START_MS);
        let (mut started, mut awakenings) = (0, 0);
        while let Some(tick_ms) = schedule.next_tick_ms().filter(|tick_ms| *tick_ms < START_MS + 1_000) {
            let due_ms = schedule.next_due_ms().unwrap();
            assert!(tick_ms % TICK_MS == 0 && (due_ms..due_ms + TICK_MS).contains(&tick_ms));
            started += std::iter::from_fn(|| schedule.pop_due(tick_ms)).count();
            awakenings += 1;
        }
        assert!(started > 1_900 && awakenings <= 100, "{started} at {awakenings} awakenings");
    }

    /// PRB-8: the same phases after a restart, whenever that is.
    #[test]
    fn prb_8_a_restart_keeps_the_phases() {
        let mut before = schedule("eu-1", 50, 10_000, START_MS);
        let mut after = schedule("EU-1", 50, 10_000, START_MS + 123_456);
        let phases = |starts: Vec<(u64, EndpointId)>| {
            starts.into_iter().map(|(ms, id)| (id, ms % 10_000)).collect::<std::collections::BTreeMap<_, _>>()
        };
        let first = phases(starts(&mut before, START_MS, 10_000));
        assert_eq!(first, phases(starts(&mut after, START_MS + 123_456, 10_000)));
        let mut other = schedule("eu-2", 50, 10_000, START_MS);
        assert_ne!(first, phases(starts(&mut other, START_MS, 10_000)), "agents differ");
    }

    /// PRB-8: after a pause, whatever was missed waits for its own next turn: there is no burst.
    #[test]
    fn prb_8_missed_turns_make_no_burst() {
        for pause_ms in [30_500, 45_000, 3_600_000] {
            let mut schedule = schedule("eu-1", 500, 30_000, START_MS);
            let late_ms = START_MS + pause_ms;
            let at_once = std::iter::from_fn(|| schedule.pop_due(late_ms)).count();
            assert!(at_once <= 33, "one second's share: {at_once}");
            assert_eq!(schedule.take_missed() + at_once as u64, 500);
            assert_eq!(schedule.take_missed(), 0);
            let mut buckets = [0_u32; 30];
            for (start_ms, _) in starts(&mut schedule, late_ms, 30_000) {
                buckets[usize::try_from((start_ms - late_ms) / 1_000).expect("below 30")] += 1;
            }
            assert_eq!(buckets.iter().sum::<u32>(), 500, "each once: {buckets:?}");
            assert!(buckets.iter().all(|count| *count <= 33), "{buckets:?}");
        }
    }

    /// PRB-8: a loop that comes a little late leaves nothing out, and nobody is probed twice for it.
    #[test]
    fn prb_8_a_little_late_is_not_missed() {
        let mut schedule = schedule("eu-1", 20, 1_000, START_MS);
        let late_ms = START_MS + 999;
        let mut popped: Vec<_> = std::iter::from_fn(|| schedule.pop_due(late_ms)).collect();
        popped.sort_unstable();
        popped.dedup();
        assert_eq!((popped.len(), schedule.take_missed()), (20, 0), "each once");
        assert!(schedule.next_due_ms() > Some(late_ms));
    }

    #[test]
    fn prb_11_what_is_removed_never_comes_up() {
        let mut schedule = schedule("eu-1", 2, 1_000, START_MS);
        schedule.remove(EndpointId(1));
        schedule.insert(EndpointId(2), 5_000, START_MS);
        let starts = starts(&mut schedule, START_MS, 10_000);
        assert_eq!(starts.iter().map(|(_, id)| id.0).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(starts[1].0 - starts[0].0, 5_000);
        schedule.remove(EndpointId(2));
        assert_eq!(schedule.next_due_ms(), None);
    }

    proptest! {
        /// PRB-8: exactly one start in each interval, at the same distance from the one before.
        #[test]
        fn prb_8_one_start_per_interval(
            id in any::<u64>(), agent in "[a-z]{1,8}", now_ms in 0..u64::MAX / 4,
            interval_ms in prop::sample::select(vec![1_000_u64, 5_000, 10_000, 30_000]),
        ) {
            let mut schedule = Schedule::new(&agent);
            schedule.insert(EndpointId(id), interval_ms, now_ms);
            let starts = starts(&mut schedule, now_ms, 5 * interval_ms);
            prop_assert_eq!(starts.len(), 5);
            prop_assert!(starts.windows(2).all(|pair| pair[1].0 - pair[0].0 == interval_ms));
        }
    }
}
