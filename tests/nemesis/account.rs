//! What a run came to, and whether that is as it should be.

use std::time::Duration;

use crate::clients;
use crate::history::Checked;
use crate::outages;
use crate::watch::Seen;

/// The longest time without an acknowledged write. What a cluster is held to is measured by `make bench`; this is where a busy machine
/// ends and a cluster that does not come back begins.
const GAP_MAX: Duration = Duration::from_secs(120);

/// One fault of a run: what, from when to when (healed and whole), and what was seen instead of its effect.
#[derive(Clone, Debug)]
pub(crate) struct Befallen {
    pub(crate) fault: &'static str,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    pub(crate) effect: Result<(), String>,
}

/// What a run came to.
pub(crate) struct Account {
    pub(crate) befallen: Vec<Befallen>,
    pub(crate) took: Duration,
    pub(crate) clients: clients::Told,
    pub(crate) checked: Checked,
    pub(crate) seen: Vec<Seen>,
    /// The last value that the counting operator wrote.
    pub(crate) last: u64,
    /// What members answered in the end instead of that.
    pub(crate) converged: Result<(), String>,
    pub(crate) outages: outages::Told,
}

impl Account {
    /// Everything that is not as it should be, in words.
    pub(crate) fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let Checked { illegal, undecided, .. } = &self.checked;
        wrong.extend(illegal.iter().map(|key| format!("CLU-7: no register could have shown key {key}")));
        wrong.extend(undecided.iter().map(|key| format!("key {key} could not be checked in time")));
        wrong.extend(self.clients.strange.iter().cloned());
        for Befallen { fault, from, effect, .. } in &self.befallen {
            if let Err(seen) = effect {
                wrong.push(format!("not exercised: {fault} at {:.0} s: {seen}", from.as_secs_f64()));
            }
        }
        for (number, seen) in (1..).zip(&self.seen) {
            wrong.extend(seen.wrong.iter().cloned());
            if seen.lost > 0 {
                wrong.push(format!("DNS-20: {} queries to m{number} got no reply", seen.lost));
            }
        }
        wrong.extend(self.converged.as_ref().err().cloned());
        wrong.extend(self.outages.wrong.iter().cloned());
        if self.outages.outages.is_empty() {
            wrong.push("no endpoint was broken".to_owned());
        }
        let gap = self.gap(Duration::ZERO, self.took);
        if gap > GAP_MAX {
            wrong.push(format!("CLU-8: no write was acknowledged for {gap:.1?}"));
        }
        wrong
    }

    fn gap(&self, from: Duration, to: Duration) -> Duration {
        longest_gap(&self.clients.writes, from, to, self.took)
    }

    /// Prints a table.
    pub(crate) fn print(&self) {
        let row = |what: &str, value: String| println!("| {what} | {value} |");
        row("what", "value".into());
        println!("|---|---|");
        row("time", format!("{:.0} s", self.took.as_secs_f64()));
        let mut names: Vec<&str> = self.befallen.iter().map(|befallen| befallen.fault).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let of: Vec<&Befallen> = self.befallen.iter().filter(|befallen| befallen.fault == name).collect();
            let exercised = of.iter().filter(|befallen| befallen.effect.is_ok()).count();
            let gap =
                of.iter().map(|befallen| self.gap(befallen.from, befallen.to)).max().unwrap_or_default();
            row(name, format!("{exercised} of {}, longest write gap {:.1} s", of.len(), gap.as_secs_f64()));
        }
        let Checked { keys, acts, unknown, illegal, undecided } = &self.checked;
        row("acts acknowledged", format!("{}, {} of them writes", acts - unknown, self.clients.writes.len()));
        row("acts with an unknown outcome", unknown.to_string());
        row("calls that were not carried out", self.clients.failed.to_string());
        row("keys", format!("{keys}, illegal {}, undecided {}", illegal.len(), undecided.len()));
        row("longest write gap", format!("{:.1} s", self.gap(Duration::ZERO, self.took).as_secs_f64()));
        let sum = |of: fn(&Seen) -> u64| self.seen.iter().map(of).sum::<u64>();
        row("queries", format!("{}, lost {}", sum(|seen| seen.asked), sum(|seen| seen.lost)));
        row("values that were counted up", self.last.to_string());
        let outages::Told { outages, blips, events, .. } = &self.outages;
        row("endpoints' outages", format!("{}, events {}, blips {blips}", outages.len(), events.len()));
        let wrong = self.wrong();
        for what in &wrong {
            row("WRONG", what.clone());
        }
        let verdict = if wrong.is_empty() { "nothing lost, wrong or invented" } else { "NOT CLEAN" };
        row("verdict", verdict.into());
    }
}

/// The longest time without an acknowledged one of these `writes` that touches this span of a run that `took` so long.
pub(crate) fn longest_gap(writes: &[Duration], from: Duration, to: Duration, took: Duration) -> Duration {
    let ends = std::iter::once(Duration::ZERO).chain(writes.iter().copied());
    let next = writes.iter().copied().chain([took]);
    let touches = |(begin, end): &(Duration, Duration)| *begin < to && *end > from;
    ends.zip(next).filter(touches).map(|(begin, end)| end.saturating_sub(begin)).max().unwrap_or_default()
}
