//! Outcomes, tallies and verdicts.

use waymark_core::health::{
    AgentVerdict, ByFamily, EndpointHealth, EndpointStatus, Judgement, Outcome, RegionalVerdict, Tally,
    Verdict,
};
use waymark_core::model::{AgentRun, Caseless, EndpointId, LogIndex, ProfileId, Timestamp};

use super::flattened::{addresses_message, stored_addresses};
use super::{Malformed, each, number, required};
use crate::{admin::v1 as wire, storage::v1 as stored};

impl From<Outcome> for wire::Outcome {
    fn from(outcome: Outcome) -> Self {
        let Outcome { class, status } = outcome;
        Self { class: wire::OutcomeClass::from(class).into(), status: status.map(u32::from) }
    }
}

impl TryFrom<wire::Outcome> for Outcome {
    type Error = Malformed;

    fn try_from(message: wire::Outcome) -> Result<Self, Malformed> {
        let wire::Outcome { class, status } = message;
        let status_code = |code: u32| {
            u16::try_from(code)
                .map_err(|_| Malformed::new("outcome.status", format!("{code} is no status code")))
        };
        Ok(Self {
            class: number::<wire::OutcomeClass>("outcome.class", class)?.try_into()?,
            status: status.map(status_code).transpose()?,
        })
    }
}

/// A verdict, or that there is none, on the wire.
pub fn verdict_message(verdict: Option<Verdict>) -> wire::Verdict {
    verdict.map(Into::into).unwrap_or_default()
}

/// The verdict behind a number on the wire.
pub fn verdict_of(word: i32) -> Result<Option<Verdict>, Malformed> {
    match number("verdict", word)? {
        wire::Verdict::Unspecified => Ok(None),
        word => Verdict::try_from(word).map(Some),
    }
}

impl From<&AgentVerdict> for wire::AgentVerdict {
    fn from(verdict: &AgentVerdict) -> Self {
        let AgentVerdict { name, verdict, failures, last } = verdict;
        Self {
            name: name.to_string(),
            verdict: verdict_message(*verdict).into(),
            failures: *failures,
            last_outcome: Some((*last).into()),
            detail: String::new(),
            blind: false,
        }
    }
}

impl TryFrom<wire::AgentVerdict> for AgentVerdict {
    type Error = Malformed;

    fn try_from(message: wire::AgentVerdict) -> Result<Self, Malformed> {
        let wire::AgentVerdict { name, verdict, failures, last_outcome, detail: _, blind: _ } = message;
        Ok(Self {
            name: Caseless::new(&name),
            verdict: verdict_of(verdict)?,
            failures,
            last: required("last_outcome", last_outcome)?.try_into()?,
        })
    }
}

impl From<&RegionalVerdict> for wire::RegionalVerdict {
    fn from(verdict: &RegionalVerdict) -> Self {
        let RegionalVerdict { region, verdict, agents } = verdict;
        Self {
            region: region.to_string(),
            verdict: verdict_message(*verdict).into(),
            agents: agents.iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<wire::RegionalVerdict> for RegionalVerdict {
    type Error = Malformed;

    fn try_from(message: wire::RegionalVerdict) -> Result<Self, Malformed> {
        let wire::RegionalVerdict { region, verdict, agents } = message;
        Ok(Self { region: Caseless::new(&region), verdict: verdict_of(verdict)?, agents: each(agents)? })
    }
}

fn tally_message(agent: &Caseless, tally: &Tally) -> stored::StoredTally {
    let Tally { failures, successes, verdict, run, sequence, last } = *tally;
    stored::StoredTally {
        agent: agent.to_string(),
        failures,
        successes,
        verdict: verdict_message(verdict).into(),
        run: run.0,
        sequence,
        last: Some(last.into()),
    }
}

fn stored_tally(message: stored::StoredTally) -> Result<(Caseless, Tally), Malformed> {
    let stored::StoredTally { agent, failures, successes, verdict, run, sequence, last } = message;
    let tally = Tally {
        failures,
        successes,
        verdict: verdict_of(verdict)?,
        run: AgentRun(run),
        sequence,
        last: required("tally.last", last)?.try_into()?,
    };
    Ok((Caseless::new(&agent), tally))
}

/// The health of `endpoint`, as snapshots keep it.
pub(super) fn health_message(endpoint: EndpointId, health: &EndpointHealth) -> stored::StoredHealth {
    let EndpointHealth {
        profile,
        tallies,
        judgement,
        stale_since,
        status,
        by_family,
        since,
        since_index,
        flattened,
    } = health;
    let standing = |of: fn(&ByFamily) -> EndpointStatus| standing(by_family.as_ref(), of);
    stored::StoredHealth {
        endpoint: endpoint.0,
        profile: profile.0,
        tallies: tallies.iter().map(|(agent, tally)| tally_message(agent, tally)).collect(),
        judgement: judgement.map(wire::Status::from).unwrap_or_default().into(),
        stale_since_ms: stale_since.map(|since| since.0),
        status: wire::Status::from(*status).into(),
        since_ms: since.0,
        since_index: since_index.0,
        status_v4: standing(|by_family| by_family.v4),
        status_v6: standing(|by_family| by_family.v6),
        flattened: flattened.as_deref().map(addresses_message),
    }
}

/// The endpoint and its health, out of a snapshot.
pub(super) fn stored_health(
    message: stored::StoredHealth,
) -> Result<(EndpointId, EndpointHealth), Malformed> {
    let stored::StoredHealth {
        endpoint,
        profile,
        tallies,
        judgement,
        stale_since_ms,
        status,
        since_ms,
        since_index,
        status_v4,
        status_v6,
        flattened,
    } = message;
    let health = EndpointHealth {
        profile: ProfileId(profile),
        tallies: tallies.into_iter().map(stored_tally).collect::<Result<_, _>>()?,
        judgement: match number("health.judgement", judgement)? {
            wire::Status::Unspecified => None,
            word => Some(Judgement::try_from(word)?),
        },
        stale_since: stale_since_ms.map(Timestamp),
        status: EndpointStatus::try_from(number::<wire::Status>("health.status", status)?)?,
        by_family: by_family(status_v4, status_v6)?,
        since: Timestamp(since_ms),
        since_index: LogIndex(since_index),
        flattened: flattened.map(stored_addresses).transpose()?,
    };
    Ok((EndpointId(endpoint), health))
}

/// A nested endpoint's standing in one family; unspecified of the others.
pub(super) fn standing(by_family: Option<&ByFamily>, of: fn(&ByFamily) -> EndpointStatus) -> i32 {
    by_family.map(|by_family| wire::Status::from(of(by_family))).unwrap_or_default().into()
}

/// A nested endpoint's standing; the others have none.
pub(super) fn by_family(v4: i32, v6: i32) -> Result<Option<ByFamily>, Malformed> {
    match (number("health.status_v4", v4)?, number("health.status_v6", v6)?) {
        (wire::Status::Unspecified, wire::Status::Unspecified) => Ok(None),
        (v4, v6) => Ok(Some(ByFamily { v4: v4.try_into()?, v6: v6.try_into()? })),
    }
}
