//! Damped opinions, and how they are put together (STA-2, STA-3).

use super::{Judgement, Outcome, Tally};
use crate::model::Caseless;

/// What an agent, or a region's agents together, say of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It works.
    Up,
    /// It does not.
    Down,
}

impl Verdict {
    /// The word for it in output; no verdict is `unknown`.
    pub fn as_str(verdict: Option<Self>) -> &'static str {
        match verdict {
            Some(Self::Up) => "up",
            Some(Self::Down) => "down",
            None => "unknown",
        }
    }
}

/// What one agent says, and from which count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentVerdict {
    /// The agent.
    pub name: Caseless,
    /// Its verdict.
    pub verdict: Option<Verdict>,
    /// Its failures in a row, no further than the one that turned the verdict.
    pub failures: u32,
    /// Its last outcome that changed something.
    pub last: Outcome,
}

/// What a region's agents together say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionalVerdict {
    /// The region.
    pub region: Caseless,
    /// Up if at least half of its agents that have a verdict say up; `None` if none has one (STA-2).
    pub verdict: Option<Verdict>,
    /// Its agents that have counted anything.
    pub agents: Vec<AgentVerdict>,
}

/// The verdict of every region in which an agent has counted anything, in the order of the regions' names.
///
/// `tallies` gives each agent's name, its region and its count.
pub fn regional_verdicts<'a>(
    tallies: impl IntoIterator<Item = (&'a Caseless, &'a Caseless, &'a Tally)>,
) -> Vec<RegionalVerdict> {
    let mut regions: std::collections::BTreeMap<&Caseless, Vec<AgentVerdict>> = Default::default();
    for (name, region, tally) in tallies {
        regions.entry(region).or_default().push(AgentVerdict {
            name: name.clone(),
            verdict: tally.verdict,
            failures: tally.failures,
            last: tally.last,
        });
    }
    let of_region = |(region, agents): (&Caseless, Vec<AgentVerdict>)| RegionalVerdict {
        region: region.clone(),
        verdict: majority(agents.iter().map(|agent| agent.verdict)),
        agents,
    };
    regions.into_iter().map(of_region).collect()
}

/// The agreement from regional verdicts to a conclusion (STA-3).
///
/// | regions up ÷ regions with a verdict | conclusion |
/// |---|---|
/// | ≥ 0.5 | Online |
/// | < 0.5 | Degraded |
/// | none has a verdict | none |
pub fn judge(regions: &[RegionalVerdict]) -> Option<Judgement> {
    majority(regions.iter().map(|region| region.verdict)).map(|verdict| match verdict {
        Verdict::Up => Judgement::Online,
        Verdict::Down => Judgement::Degraded,
    })
}

/// Up if at least half of those that have a verdict say up; none if none has one.
fn majority(verdicts: impl Iterator<Item = Option<Verdict>>) -> Option<Verdict> {
    let (up, all) = verdicts
        .flatten()
        .fold((0_usize, 0_usize), |(up, all), verdict| (up + usize::from(verdict == Verdict::Up), all + 1));
    match all {
        0 => None,
        all if 2 * up >= all => Some(Verdict::Up),
        _ => Some(Verdict::Down),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::OutcomeClass;
    use crate::model::AgentRun;

    const UP: Option<Verdict> = Some(Verdict::Up);
    const DOWN: Option<Verdict> = Some(Verdict::Down);

    fn tally(verdict: Option<Verdict>) -> Tally {
        Tally {
            failures: 2,
            successes: 0,
            verdict,
            run: AgentRun(1),
            sequence: 1,
            last: Outcome { class: OutcomeClass::Status, status: Some(503) },
        }
    }

    fn regions(agents: &[(&str, &str, Option<Verdict>)]) -> Vec<RegionalVerdict> {
        let agents: Vec<_> = agents
            .iter()
            .map(|(name, region, verdict)| (Caseless::new(name), Caseless::new(region), tally(*verdict)))
            .collect();
        regional_verdicts(agents.iter().map(|(name, region, tally)| (name, region, tally)))
    }

    #[test]
    fn sta_2_at_least_half_of_those_with_a_verdict() {
        for (verdicts, expected) in [
            (vec![], None),
            (vec![None], None),
            (vec![UP], UP),
            (vec![DOWN], DOWN),
            (vec![UP, DOWN], UP),
            (vec![UP, DOWN, DOWN], DOWN),
            (vec![UP, DOWN, None, None], UP),
            (vec![UP, UP, DOWN, DOWN], UP),
            (vec![UP, DOWN, DOWN, None], DOWN),
        ] {
            assert_eq!(majority(verdicts.iter().copied()), expected, "{verdicts:?}");
        }
    }

    #[test]
    fn sta_2_agents_are_put_together_by_region_without_case() {
        let found = regions(&[("a1", "R1", UP), ("a2", "r2", None), ("a3", "r1", DOWN), ("a4", "r1", DOWN)]);
        let told: Vec<_> = found
            .iter()
            .map(|region| (region.region.as_str(), region.verdict, region.agents.len()))
            .collect();
        assert_eq!(told, [("R1", DOWN, 3), ("r2", None, 1)]);
        let agent = &found[0].agents[1];
        assert_eq!((agent.name.as_str(), agent.verdict, agent.failures), ("a3", DOWN, 2));
        assert_eq!(agent.last.status, Some(503));
    }

    #[test]
    fn sta_3_at_least_half_of_the_regions_with_a_verdict() {
        for (verdicts, expected) in [
            (vec![], None),
            (vec![None, None], None),
            (vec![UP, None], Some(Judgement::Online)),
            (vec![UP, DOWN], Some(Judgement::Online)),
            (vec![UP, DOWN, DOWN], Some(Judgement::Degraded)),
            (vec![DOWN, None], Some(Judgement::Degraded)),
        ] {
            let agents: Vec<_> =
                verdicts.iter().enumerate().map(|(n, verdict)| (format!("r{n}"), *verdict)).collect();
            let agents: Vec<_> =
                agents.iter().map(|(region, verdict)| ("a", region.as_str(), *verdict)).collect();
            assert_eq!(judge(&regions(&agents)), expected, "{verdicts:?}");
        }
    }
}
