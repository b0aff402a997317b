//! What a run came to, and whether that is as it should be.

use std::collections::BTreeMap;
use std::time::Duration;

use harness::load::{Latency, Tallied};

/// The most that the median of any second may lie above that of the quiet beginning.
const SHIFT_MAX: Duration = Duration::from_millis(100);

/// What a run came to, before it is summed up.
pub(crate) struct Ended {
    pub(crate) queries: Tallied,
    /// What happened, and how often.
    pub(crate) happened: BTreeMap<&'static str, u64>,
    /// Configuration changes that were acknowledged.
    pub(crate) changes: u64,
}

/// What a run came to.
pub(crate) struct Account {
    ended: Ended,
    quiet: Duration,
    worst: Duration,
    slowest: Duration,
}

impl Account {
    /// Sums up a run whose first `quiet` nothing happened in.
    pub(crate) fn of(ended: Ended, quiet: Duration) -> Self {
        let mut seconds: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for Latency { due_ms, took_us } in &ended.queries.latencies.0 {
            seconds.entry(due_ms / 1_000).or_default().push(*took_us);
        }
        let slowest = ended.queries.latencies.0.iter().map(|latency| latency.took_us).max();
        let quiet_s = u32::try_from(quiet.as_secs()).unwrap_or(u32::MAX);
        let mut beginning: Vec<u32> = seconds.range(..quiet_s).flat_map(|(_, took)| took.clone()).collect();
        let worst = seconds.values_mut().map(|took| median(took)).max();
        let quiet = micros(median(&mut beginning));
        Self {
            ended,
            quiet,
            worst: micros(worst.unwrap_or_default()),
            slowest: micros(slowest.unwrap_or_default()),
        }
    }

    /// Nothing lost, nothing wrong, nothing late?
    pub(crate) fn is_clean(&self) -> bool {
        let queries = &self.ended.queries;
        queries.sent > 0
            && (queries.lost, queries.bad) == (0, 0)
            && self.worst.saturating_sub(self.quiet) <= SHIFT_MAX
            && self.ended.changes > 0
    }

    /// Prints a table.
    pub(crate) fn print(&self, took: Duration) {
        let Ended { queries, happened, changes } = &self.ended;
        let rate = |count: u64| count as f64 / took.as_secs_f64();
        let row = |what: &str, value: String| println!("| {what} | {value} |");
        row("what", "value".into());
        println!("|---|---|");
        row("time", format!("{:.0} s", took.as_secs_f64()));
        row("queries", format!("{}, {:.0} a second", queries.sent, rate(queries.sent)));
        row("lost", queries.lost.to_string());
        row("told anything but an answer", queries.bad.to_string());
        row("median while nothing happens", format!("{:.2} ms", millis(self.quiet)));
        row("worst median of a second", format!("{:.2} ms", millis(self.worst)));
        row("slowest answer", format!("{:.1} ms", millis(self.slowest)));
        row("configuration changes", format!("{changes}, {:.0} a second", rate(*changes)));
        for (what, count) in happened {
            row(what, count.to_string());
        }
        let verdict = if self.is_clean() { "nothing lost, wrong or late" } else { "NOT CLEAN" };
        row("verdict", verdict.into());
    }
}

fn median(of: &mut [u32]) -> u32 {
    of.sort_unstable();
    of.get(of.len() / 2).copied().unwrap_or_default()
}

fn micros(count: u32) -> Duration {
    Duration::from_micros(count.into())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
