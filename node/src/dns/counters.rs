//! What the listeners count: relaxed atomics of their own, summed when somebody reads.

use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Response codes that are counted by themselves: 0 to BADCOOKIE (23).
pub(super) const RCODES: usize = 24;

/// One listener's counters.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Packets taken in.
    pub(super) queries: AtomicU64,
    /// Replies by response code.
    pub(super) replies: [AtomicU64; RCODES],
    /// Packets that must not be answered (DNS-13).
    pub(super) drops: AtomicU64,
    /// Replies that were cut because their network had its share (DNS-19).
    pub(super) cuts: AtomicU64,
    /// Replies that were held back for it.
    pub(super) silences: AtomicU64,
    /// Replies or packets that the system would not send or hand out.
    pub(super) failures: AtomicU64,
    /// Connections taken in.
    pub(super) connections: AtomicU64,
    /// Connections closed to make room for others.
    pub(super) evictions: AtomicU64,
}

/// Raises a counter by one.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Raises by one a counter that nobody else raises: several times cheaper.
pub(super) fn count_alone(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// What was counted since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets taken in.
    pub queries: u64,
    /// Replies; the index is the response code.
    pub replies: [u64; RCODES],
    /// Packets that must not be answered (DNS-13).
    pub drops: u64,
    /// Replies that were cut because their network had its share (DNS-19).
    pub cuts: u64,
    /// Replies that were held back for it.
    pub silences: u64,
    /// Replies or packets that the system would not send or hand out.
    pub failures: u64,
    /// Connections taken in.
    pub connections: u64,
    /// Connections closed to make room for others.
    pub evictions: u64,
}

impl Counters {
    fn read(&self) -> Counts {
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            queries: value(&self.queries),
            replies: std::array::from_fn(|code| value(&self.replies[code])),
            drops: value(&self.drops),
            cuts: value(&self.cuts),
            silences: value(&self.silences),
            failures: value(&self.failures),
            connections: value(&self.connections),
            evictions: value(&self.evictions),
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        let Self { queries, replies, drops, cuts, silences, failures, connections, evictions } = other;
        self.queries += queries;
        self.replies.iter_mut().zip(replies).for_each(|(sum, more)| *sum += more);
        self.drops += drops;
        self.cuts += cuts;
        self.silences += silences;
        self.failures += failures;
        self.connections += connections;
        self.evictions += evictions;
    }
}

/// Reads the counters of every listener of one [`super::Bound`].
#[derive(Clone, Debug, Default)]
pub struct Statistics(Vec<Arc<Counters>>);

impl Statistics {
    /// The sum over all listeners.
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.0.iter().for_each(|counters| sum += counters.read());
        sum
    }
}

impl FromIterator<Arc<Counters>> for Statistics {
    fn from_iter<I: IntoIterator<Item = Arc<Counters>>>(counters: I) -> Self {
        Self(counters.into_iter().collect())
    }
}
