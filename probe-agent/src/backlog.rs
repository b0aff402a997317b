//! The outcomes that no member has acknowledged yet (STA-6). Pure: the time comes in.
//!
//! ```text
//!  front                                      back
//!   │ 7 │ 8 │ 9 │ 10 │ 11 │ 12 │ 13 │
//!   └── sent ───────┘└─ not sent ───┘      acknowledge(9) takes 7, 8 and 9 away;
//!                    ▲                     a new stream sends all that is left again, in order, with its age
//!                  `sent`
//! ```

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use waymark_core::health::Outcome;
use waymark_core::model::{EndpointId, Revision, monitor_limits};

use crate::probe::ProbeReport;

/// Outcomes of one kind in a row that can still turn a verdict: those leave at once, the rest may wait for company.
const DECIDING_STREAK: u32 = {
    let failures = monitor_limits::TOLERATED_FAILURES_MAX + 1;
    let successes = monitor_limits::RECOVERY_SUCCESSES_MAX;
    if failures > successes { failures } else { successes }
};

/// One outcome that waits for its acknowledgement.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number in the agent's run, from 1.
    pub sequence: u64,
    /// What was probed.
    pub endpoint: EndpointId,
    /// The revision of the check that was carried out.
    pub check: Revision,
    /// When the probe ended.
    pub ended: Instant,
    /// What it found.
    pub report: ProbeReport,
}

/// How soon an outcome should leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// It differs from the endpoint's last one, or may be the one that turns a verdict.
    AtOnce,
    /// It says what is known already and may wait a moment for others.
    Soon,
}

/// The outcomes of one agent's run, bounded: the oldest give way.
#[derive(Debug)]
pub struct Backlog {
    capacity: usize,
    entries: VecDeque<Entry>,
    /// How many of `entries`, from the front, have gone out on the stream there is.
    sent: usize,
    last_sequence: u64,
    dropped: u64,
    streaks: HashMap<EndpointId, Streak>,
}

#[derive(Clone, Copy, Debug)]
struct Streak {
    check: Revision,
    last: Outcome,
    /// Outcomes that count alike, in a row.
    length: u32,
    /// Has the endpoint failed in this run? If not, successes say nothing new.
    has_failed: bool,
}

impl Backlog {
    /// An empty backlog for `capacity` outcomes, at least one.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            entries: VecDeque::new(),
            sent: 0,
            last_sequence: 0,
            dropped: 0,
            streaks: HashMap::new(),
        }
    }

    /// Takes an outcome of the check of that revision in and numbers it; if there is no room, the oldest is dropped and
    /// counted.
    pub fn push(
        &mut self,
        endpoint: EndpointId,
        check: Revision,
        report: ProbeReport,
        ended: Instant,
    ) -> Urgency {
        if self.entries.len() == self.capacity {
            self.entries.pop_front();
            self.sent = self.sent.saturating_sub(1);
            self.dropped += 1;
        }
        self.last_sequence += 1;
        let urgency = self.note(endpoint, check, report.outcome);
        self.entries.push_back(Entry { sequence: self.last_sequence, endpoint, check, ended, report });
        urgency
    }

    fn note(&mut self, endpoint: EndpointId, check: Revision, outcome: Outcome) -> Urgency {
        let success = outcome.class.success();
        let before = self.streaks.get(&endpoint).copied().filter(|before| before.check == check);
        let alike = before.filter(|before| before.last.class.success() == success);
        let streak = Streak {
            check,
            last: outcome,
            length: alike.map_or(1, |before| before.length.saturating_add(1)),
            has_failed: success == Some(false) || before.is_some_and(|before| before.has_failed),
        };
        self.streaks.insert(endpoint, streak);
        let differs = before.is_none_or(|before| before.last != outcome);
        if differs || (streak.has_failed && streak.length <= DECIDING_STREAK) {
            Urgency::AtOnce
        } else {
            Urgency::Soon
        }
    }

    /// The next outcomes to send, at most `max`, in order; from then on they count as sent.
    pub fn take_batch(&mut self, max: usize) -> impl Iterator<Item = &Entry> {
        let from = self.sent;
        self.sent = from.saturating_add(max).min(self.entries.len());
        self.entries.range(from..self.sent)
    }

    /// Everything up to `sequence` is done with; false if that is no news. A member can't acknowledge what it was never
    /// sent.
    pub fn acknowledge(&mut self, sequence: u64) -> bool {
        let before = self.sent;
        while self.sent > 0 && self.entries.front().is_some_and(|entry| entry.sequence <= sequence) {
            self.entries.pop_front();
            self.sent -= 1;
        }
        self.sent < before
    }

    /// A new stream has begun: what is unacknowledged will go out again.
    pub fn resend(&mut self) {
        self.sent = 0;
    }

    /// Drops what was found by checks that `is_current` says no to: an outcome counts only for the check that found it.
    pub fn retain(&mut self, is_current: impl Fn(EndpointId, Revision) -> bool) {
        let is_kept = |entry: &Entry| is_current(entry.endpoint, entry.check);
        self.sent = self.entries.range(..self.sent).filter(|entry| is_kept(entry)).count();
        self.entries.retain(is_kept);
        self.streaks.retain(|endpoint, streak| is_current(*endpoint, streak.check));
    }

    /// Is anything waiting for an acknowledgement, or to be sent?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many outcomes have not gone out on the stream there is.
    pub fn unsent(&self) -> usize {
        self.entries.len() - self.sent
    }

    /// Does anything that was sent wait for an acknowledgement?
    pub fn is_unanswered(&self) -> bool {
        self.sent > 0
    }

    /// How many outcomes were dropped for want of room, in the agent's run.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
#[path = "backlog_tests.rs"]
mod tests;
