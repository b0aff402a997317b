//! One agent's count on one endpoint (STA-1).

use super::{Outcome, Verdict};
use crate::model::{AgentRun, Monitor};

/// How patient a monitor is, in outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Failures in a row that are still tolerated.
    pub tolerated_failures: u32,
    /// Successes in a row that bring a verdict from down to up.
    pub recovery_successes: u32,
}

impl From<&Monitor> for Patience {
    fn from(monitor: &Monitor) -> Self {
        Self {
            tolerated_failures: monitor.effective_tolerated_failures(),
            recovery_successes: monitor.effective_recovery_successes(),
        }
    }
}

/// Consecutive failures or successes, and the verdict that came of them.
///
/// ```text
///            success                failures > tolerated
///  unknown ──────────────▶ up ────────────────────────────▶ down
///     │                     ▲                                │ ▲
///     │                     └── recovery_successes in a row ─┘ │
///     └──────────────── failures > tolerated ──────────────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Failures since the last success, no further than the one that turned the verdict.
    pub failures: u32,
    /// Successes since the last failure, counted only while the verdict is down.
    pub successes: u32,
    /// The verdict; `None` before the first success or down.
    pub verdict: Option<Verdict>,
    /// The run of the agent that reported last.
    pub run: AgentRun,
    /// The sequence number of its last outcome that changed something.
    pub sequence: u64,
    /// That outcome.
    pub last: Outcome,
}

impl Tally {
    /// The count after `outcome`, the `sequence`th of `run`; `None` if it changes nothing (STA-7): a success that
    /// ends no failures, a failure beyond the one that turned the verdict, trouble of the agent's own.
    ///
    /// | outcome | count | verdict |
    /// |---|---|---|
    /// | success | failures 0; successes + 1 while down | up from unknown; up from down at `recovery_successes` |
    /// | failure | successes 0; failures + 1 until the verdict is down | down when failures > `tolerated_failures` |
    /// | agent | – | – |
    pub fn after(
        before: Option<&Self>,
        patience: Patience,
        run: AgentRun,
        sequence: u64,
        outcome: Outcome,
    ) -> Option<Self> {
        let (failures, successes, verdict) =
            before.map_or((0, 0, None), |tally| (tally.failures, tally.successes, tally.verdict));
        let (failures, successes, verdict) = match (outcome.class.success()?, verdict) {
            (true, Some(Verdict::Down)) if successes + 1 < patience.recovery_successes => {
                (0, successes + 1, Some(Verdict::Down))
            }
            (true, _) => (0, 0, Some(Verdict::Up)),
            (false, Some(Verdict::Down)) => (failures.max(1), 0, Some(Verdict::Down)),
            (false, _) if failures + 1 > patience.tolerated_failures => {
                (failures + 1, 0, Some(Verdict::Down))
            }
            (false, verdict) => (failures + 1, 0, verdict),
        };
        let unchanged = before.is_some_and(|tally| {
            (tally.failures, tally.successes, tally.verdict) == (failures, successes, verdict)
        });
        (!unchanged).then_some(Self { failures, successes, verdict, run, sequence, last: outcome })
    }
}
