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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::OutcomeClass;

    fn patience(tolerated_failures: u32, recovery_successes: u32) -> Patience {
        Patience { tolerated_failures, recovery_successes }
    }

    /// `outcomes` one after the other: `+` a success, `-` a failure, `?` trouble of the agent's own. Gives for each
    /// failures, successes and verdict, or `.` where nothing changed.
    fn story(patience: Patience, outcomes: &str) -> String {
        let mut tally = None;
        let mut told = Vec::new();
        for (sequence, letter) in (1..).zip(outcomes.chars()) {
            let class = match letter {
                '+' => OutcomeClass::Ok,
                '-' => OutcomeClass::Refused,
                _ => OutcomeClass::Agent,
            };
            let outcome = Outcome { class, status: None };
            match Tally::after(tally.as_ref(), patience, AgentRun(1), sequence, outcome) {
                Some(after) => {
                    assert_eq!((after.sequence, after.last), (sequence, outcome));
                    told.push(format!(
                        "{}/{} {}",
                        after.failures,
                        after.successes,
                        Verdict::as_str(after.verdict)
                    ));
                    tally = Some(after);
                }
                None => told.push(".".into()),
            }
        }
        told.join(", ")
    }

    #[test]
    fn sta_1_failures_count_up_to_the_verdict_and_no_further() {
        assert_eq!(story(patience(3, 1), "+-----+"), "0/0 up, 1/0 up, 2/0 up, 3/0 up, 4/0 down, ., 0/0 up");
        assert_eq!(story(patience(0, 1), "-+-"), "1/0 down, 0/0 up, 1/0 down");
        assert_eq!(
            story(patience(9, 1), "----------"),
            (1..=9).map(|n| format!("{n}/0 unknown, ")).collect::<String>() + "10/0 down"
        );
    }

    #[test]
    fn sta_1_a_success_sets_the_count_to_0_and_is_a_verdict() {
        assert_eq!(story(patience(3, 5), "--+"), "1/0 unknown, 2/0 unknown, 0/0 up");
        assert_eq!(story(patience(1, 1), "+-+-+"), "0/0 up, 1/0 up, 0/0 up, 1/0 up, 0/0 up");
    }

    #[test]
    fn set_11_successes_count_only_while_down_and_in_a_row() {
        assert_eq!(
            story(patience(0, 3), "-++-+++"),
            "1/0 down, 0/1 down, 0/2 down, 1/0 down, 0/1 down, 0/2 down, 0/0 up"
        );
    }

    #[test]
    fn sta_7_what_changes_nothing_is_none() {
        assert_eq!(story(patience(0, 1), "++?-?-"), "0/0 up, ., ., 1/0 down, ., .");
        assert_eq!(story(patience(0, 1), "??"), "., .");
    }

    #[test]
    fn sta_11_a_changed_patience_acts_from_the_next_outcome_on() {
        let up = Tally {
            failures: 5,
            successes: 0,
            verdict: Some(Verdict::Up),
            run: AgentRun(1),
            sequence: 6,
            last: Outcome { class: OutcomeClass::Timeout, status: None },
        };
        let after = |patience, class| {
            Tally::after(Some(&up), patience, AgentRun(1), 7, Outcome { class, status: None })
        };
        let down = after(patience(2, 1), OutcomeClass::Timeout).unwrap();
        assert_eq!((down.failures, down.verdict), (6, Some(Verdict::Down)));
        let still_up = after(patience(9, 1), OutcomeClass::Timeout).unwrap();
        assert_eq!((still_up.failures, still_up.verdict), (6, Some(Verdict::Up)));
    }
}
