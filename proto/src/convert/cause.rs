//! Why a status changed, as one line for people (STA-12).

use waymark_core::health::{Outcome, RegionalVerdict, Verdict};
use waymark_core::model::Caseless;
use waymark_core::state::{EventCause, OverrideAct};

/// An outcome in words: `ok 200`, `status 503`, `timeout`.
pub fn outcome_text(outcome: Outcome) -> String {
    let Outcome { class, status } = outcome;
    status.map_or_else(|| class.as_str().to_owned(), |status| format!("{} {status}", class.as_str()))
}

/// The line, as in `4th failure in a row (timeout) seen by a1 in eu; regions: eu down, us up`.
pub fn cause_text(cause: &EventCause) -> String {
    match cause {
        EventCause::Outcome { agent, outcome, regions } => {
            let (place, failures) = place_of(agent, regions);
            let what = match outcome.class.success() {
                Some(true) => "success".to_owned(),
                _ => format!("{} failure in a row", nth(failures)),
            };
            format!("{what} ({}) seen by {place}; {}", outcome_text(*outcome), regions_text(regions))
        }
        EventCause::Silence { agent, is_blind, regions } => {
            let (place, _) = place_of(agent, regions);
            let what = if *is_blind { "no canary target is seen by" } else { "nothing was heard from" };
            format!("{what} {place}; {}", regions_text(regions))
        }
        EventCause::Configuration { author } => format!("configuration changed by {author}"),
        EventCause::Endpoints => "follows from its endpoints".to_owned(),
        EventCause::Service { name, is_running, author } => {
            format!("service '{name}' {} by {author}", if *is_running { "started" } else { "stopped" })
        }
        EventCause::Override { act, kind, author, reason, ends: _ } => match act {
            OverrideAct::Made => format!("{} by {author}: {reason}", kind.participle()),
            OverrideAct::Lifted => format!("{} lifted by {author}: {reason}", kind.as_str()),
            OverrideAct::Ended => {
                format!("{} by {author} ended, as its time was up: {reason}", kind.as_str())
            }
        },
        EventCause::Child { profile } => format!("follows from profile '{profile}'"),
        EventCause::Brake { held_ms, child, regions } => {
            let why = child
                .as_ref()
                .map_or_else(|| regions_text(regions), |child| format!("follows from profile '{child}'"));
            let held = match held_ms {
                ..1_000 => format!("{held_ms} ms"),
                _ => format!("{} s", held_ms / 1_000),
            };
            format!("was held by brake for {held}; {why}")
        }
    }
}

/// The agent with its region, and its failures in a row, as far as `regions` know them.
fn place_of(agent: &Caseless, regions: &[RegionalVerdict]) -> (String, u32) {
    let in_region = |region: &RegionalVerdict| {
        let found = region.agents.iter().find(|found| found.name == *agent)?;
        Some((format!("{agent} in {}", region.region), found.failures))
    };
    regions.iter().find_map(in_region).unwrap_or_else(|| (agent.to_string(), 1))
}

fn regions_text(regions: &[RegionalVerdict]) -> String {
    if regions.is_empty() {
        return "no region has a verdict".to_owned();
    }
    let word = |region: &RegionalVerdict| format!("{} {}", region.region, Verdict::as_str(region.verdict));
    format!("regions: {}", regions.iter().map(word).collect::<Vec<_>>().join(", "))
}

/// `1st`, `2nd`, `3rd`, `4th` …
fn nth(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use waymark_core::health::{AgentVerdict, OutcomeClass};
    use waymark_core::model::OverrideKind;

    use super::*;

    fn region(name: &str, verdict: Verdict, agent: &str, failures: u32) -> RegionalVerdict {
        let last = Outcome { class: OutcomeClass::Timeout, status: None };
        let agents = vec![AgentVerdict { name: agent.into(), verdict: Some(verdict), failures, last }];
        RegionalVerdict { region: name.into(), verdict: Some(verdict), agents }
    }

    fn outcome(class: OutcomeClass, status: Option<u16>) -> EventCause {
        let regions = vec![region("eu", Verdict::Down, "a1", 4), region("us", Verdict::Up, "a2", 0)];
        EventCause::Outcome { agent: "a1".into(), outcome: Outcome { class, status }, regions }
    }

    fn overriding(act: OverrideAct) -> EventCause {
        let (author, reason) = ("alice".to_owned(), "a move".to_owned());
        EventCause::Override { act, kind: OverrideKind::Drain, author, reason, ends: None }
    }

    #[test]
    fn sta_12_a_cause_names_the_outcome_the_agent_and_the_regions() {
        for (cause, line) in [
            (
                outcome(OutcomeClass::Timeout, None),
                "4th failure in a row (timeout) seen by a1 in eu; regions: eu down, us up",
            ),
            (
                outcome(OutcomeClass::Status, Some(503)),
                "4th failure in a row (status 503) seen by a1 in eu; regions: eu down, us up",
            ),
            (
                outcome(OutcomeClass::Ok, Some(200)),
                "success (ok 200) seen by a1 in eu; regions: eu down, us up",
            ),
            (
                EventCause::Silence { agent: "a9".into(), is_blind: false, regions: Vec::new() },
                "nothing was heard from a9; no region has a verdict",
            ),
            (
                EventCause::Silence { agent: "a9".into(), is_blind: true, regions: Vec::new() },
                "no canary target is seen by a9; no region has a verdict",
            ),
            (EventCause::Configuration { author: "operator".into() }, "configuration changed by operator"),
            (EventCause::Endpoints, "follows from its endpoints"),
            (
                EventCause::Service { name: "db".into(), is_running: false, author: "operator".into() },
                "service 'db' stopped by operator",
            ),
            (
                EventCause::Service { name: "db".into(), is_running: true, author: "operator".into() },
                "service 'db' started by operator",
            ),
            (overriding(OverrideAct::Made), "drained by alice: a move"),
            (overriding(OverrideAct::Lifted), "drain lifted by alice: a move"),
            (overriding(OverrideAct::Ended), "drain by alice ended, as its time was up: a move"),
            (EventCause::Child { profile: "eu".into() }, "follows from profile 'eu'"),
            (
                EventCause::Brake {
                    held_ms: 30_999,
                    child: None,
                    regions: vec![region("eu", Verdict::Down, "a1", 4)],
                },
                "was held by brake for 30 s; regions: eu down",
            ),
            (
                EventCause::Brake { held_ms: 999, child: Some("eu".into()), regions: Vec::new() },
                "was held by brake for 999 ms; follows from profile 'eu'",
            ),
        ] {
            assert_eq!(cause_text(&cause), line);
        }
    }

    #[test]
    fn ordinals_read_as_english() {
        let shown: Vec<String> = [1, 2, 3, 4, 10, 11, 12, 13, 21, 112].into_iter().map(nth).collect();
        assert_eq!(shown, ["1st", "2nd", "3rd", "4th", "10th", "11th", "12th", "13th", "21st", "112th"]);
    }
}
