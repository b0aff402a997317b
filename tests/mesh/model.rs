//! What an endpoint's status must have been, reckoned as plainly as the rules are written (STA-1 … STA-6): from what each agent was
//! answered, and from when none of the members heard it. One agent stands for each region.
//!
//! ```text
//!  answered:   ✓    ✗    ✗    ✗    ✗    ✓          each counts when it is brought, if it is not too old by then
//!  heard:      ───────┐           ┌──────          what was found meanwhile is brought when the agent is heard again;
//!                     └─── gap ───┘                in a gap of 15 s and more all that it had counted is gone
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

/// How long an agent may be unheard (STA-5).
const LOST_AFTER: Duration = Duration::from_secs(15);

/// Nearer than this to a limit nobody can tell on which side of it something was: answers are read both ways, and gaps must not be so.
const MARGIN: Duration = Duration::from_secs(2);

/// How an endpoint is probed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probing {
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
    pub(crate) tolerated: u32,
    pub(crate) recovery: u32,
}

impl Probing {
    /// How old an outcome may be (STA-5, STA-6).
    fn lifetime(&self) -> Duration {
        3 * self.interval + self.timeout
    }
}

/// What an agent found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) agent: String,
    pub(crate) at: Duration,
    pub(crate) is_good: bool,
}

/// When no member heard an agent.
#[derive(Clone, Debug)]
pub(crate) struct Gap {
    pub(crate) agent: String,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Online,
    Degraded,
}

/// The statuses, one after the other. An error says what cannot be told.
pub(crate) fn statuses(probing: Probing, found: &[Found], gaps: &[Gap]) -> Result<Vec<Status>, String> {
    for gap in gaps {
        let length = gap.to - gap.from;
        if length.abs_diff(LOST_AFTER) < MARGIN {
            return Err(format!("{gap:?} lasted {length:?}: was the agent lost or not?"));
        }
        if (probing.lifetime().saturating_sub(MARGIN)..LOST_AFTER).contains(&length) {
            return Err(format!("{gap:?} is longer than a verdict lives: did it expire or not?"));
        }
    }
    let early = told(probing, found, gaps, probing.lifetime().saturating_sub(MARGIN));
    let late = told(probing, found, gaps, probing.lifetime() + MARGIN);
    if early == late { Ok(early) } else { Err(format!("{early:?} or {late:?}: was an outcome late or not?")) }
}

/// What is brought, or lost.
enum Step {
    Brought { is_good: bool, age: Duration },
    Lost,
}

fn told(probing: Probing, found: &[Found], gaps: &[Gap], lifetime: Duration) -> Vec<Status> {
    let mut steps: Vec<(Duration, &str, Step)> = Vec::new();
    for Found { agent, at, is_good } in found {
        let gap = gaps.iter().find(|gap| gap.agent == *agent && (gap.from..gap.to).contains(at));
        let brought = gap.map_or(*at, |gap| gap.to);
        steps.push((brought, agent, Step::Brought { is_good: *is_good, age: brought - *at }));
    }
    for gap in gaps.iter().filter(|gap| gap.to - gap.from > LOST_AFTER) {
        steps.push((gap.from + LOST_AFTER, &gap.agent, Step::Lost));
    }
    // Stable: what an agent found stays in its order.
    steps.sort_by_key(|(at, ..)| *at);
    let mut opinions: BTreeMap<&str, Opinion> = BTreeMap::new();
    let mut statuses = Vec::new();
    for (_, agent, step) in steps {
        match step {
            Step::Lost => drop(opinions.remove(agent)),
            Step::Brought { age, .. } if age > lifetime => {}
            Step::Brought { is_good, .. } => opinions.entry(agent).or_default().hear(is_good, probing),
        }
        let verdicts: Vec<bool> = opinions.values().filter_map(|opinion| opinion.is_up).collect();
        if verdicts.is_empty() {
            continue;
        }
        let ups = verdicts.iter().filter(|is_up| **is_up).count();
        let status = if 2 * ups >= verdicts.len() { Status::Online } else { Status::Degraded };
        if statuses.last() != Some(&status) {
            statuses.push(status);
        }
    }
    statuses
}

/// What one agent holds of the endpoint.
#[derive(Default)]
struct Opinion {
    failures: u32,
    successes: u32,
    is_up: Option<bool>,
}

impl Opinion {
    fn hear(&mut self, is_good: bool, probing: Probing) {
        if is_good {
            (self.failures, self.successes) = (0, self.successes + 1);
            if self.is_up != Some(false) || self.successes >= probing.recovery {
                self.is_up = Some(true);
            }
        } else {
            (self.failures, self.successes) = (self.failures + 1, 0);
            if self.failures > probing.tolerated {
                self.is_up = Some(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBING: Probing = Probing {
        interval: Duration::from_secs(5),
        timeout: Duration::from_secs(1),
        tolerated: 3,
        recovery: 2,
    };

    /// `+` and `-`, one each five seconds.
    fn found(agent: &str, story: &str) -> Vec<Found> {
        let at = |number: u64| Duration::from_secs(5 * number);
        let one =
            |(number, letter)| Found { agent: agent.to_owned(), at: at(number), is_good: letter == '+' };
        (0..).zip(story.chars()).map(one).collect()
    }

    fn gap(agent: &str, from: u64, to: u64) -> Gap {
        Gap { agent: agent.to_owned(), from: Duration::from_secs(from), to: Duration::from_secs(to) }
    }

    fn told(story: &str, gaps: &[Gap]) -> Result<Vec<Status>, String> {
        statuses(PROBING, &found("a", story), gaps)
    }

    #[test]
    fn sta_1_the_fourth_failure_turns_it_and_the_second_success_turns_it_back() {
        assert_eq!(told("+---+---+", &[]).unwrap(), [Status::Online]);
        assert_eq!(told("+----", &[]).unwrap(), [Status::Online, Status::Degraded]);
        assert_eq!(told("+-----+-++", &[]).unwrap(), [Status::Online, Status::Degraded, Status::Online]);
        assert!(told("---", &[]).unwrap().is_empty());
    }

    #[test]
    fn sta_3_half_of_the_regions_are_enough() {
        let two = [found("a", "+----"), found("b", "+++++")].concat();
        assert_eq!(statuses(PROBING, &two, &[]).unwrap(), [Status::Online]);
        let three = [found("a", "+----"), found("b", "+----"), found("c", "+++++")].concat();
        assert_eq!(statuses(PROBING, &three, &[]).unwrap(), [Status::Online, Status::Degraded]);
    }

    #[test]
    fn sta_5_short_gaps_lose_nothing_and_long_ones_all() {
        assert_eq!(told("+----", &[gap("a", 7, 15)]).unwrap(), [Status::Online, Status::Degraded]);
        // Three before a gap of 38 s and three that are not late after it: not four in a row.
        assert_eq!(told("+----------", &[gap("a", 16, 54)]).unwrap(), [Status::Online]);
        assert_eq!(told("+-----------", &[gap("a", 16, 54)]).unwrap(), [Status::Online, Status::Degraded]);
    }

    #[test]
    fn sta_6_what_is_too_old_changes_nothing() {
        assert_eq!(told("+-----++++++", &[gap("a", 3, 53)]).unwrap(), [Status::Online]);
    }

    #[test]
    fn what_cannot_be_told_is_no_status() {
        assert!(told("+----", &[gap("a", 3, 17)]).is_err());
        // The first failure is 17 s old when it is brought: it counts or does not.
        assert!(told("+-----++++++", &[gap("a", 3, 33)]).is_ok());
        assert!(told("+++++++----+", &[gap("a", 3, 52)]).is_err());
        let short = Probing { interval: Duration::from_secs(1), ..PROBING };
        assert!(statuses(short, &found("a", "+"), &[gap("a", 3, 11)]).is_err());
    }
}
