//! The last outcomes of each agent and endpoint, kept on the member that heard them: never replicated, always bounded.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use waymark_core::health::Outcome;
use waymark_core::model::{AgentRun, Caseless, EndpointId, Revision, Timestamp};

use super::limits::{RECENT_AGENTS_MAX, RECENT_MAX};
use super::rings::{Budget, Rings, lock};
use crate::raft::LastOutcome;

/// One outcome with everything that the agent told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentOutcome {
    /// When it was found, by this member's wall clock and the age that the agent gave; for people.
    pub at: Timestamp,
    /// The run in which it was found.
    pub run: AgentRun,
    /// The check that found it.
    pub check: Revision,
    /// Its number in that run.
    pub sequence: u64,
    /// What was found.
    pub outcome: Outcome,
    /// The address that was probed, if one was reached for.
    pub address: Option<IpAddr>,
    /// How long it took.
    pub phases: Phases,
    /// What the endpoint presented; https only.
    pub certificate: Option<Certificate>,
    /// One line for people; empty for a success.
    pub detail: Box<str>,
}

/// How long the parts of a probe took, in microseconds; `None` for a part that was not reached or is not told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Resolving the target's name.
    pub resolve_us: Option<u32>,
    /// Connecting.
    pub connect_us: Option<u32>,
    /// The TLS handshake.
    pub tls_us: Option<u32>,
    /// From the request to the first byte of the answer.
    pub first_byte_us: Option<u32>,
}

/// A certificate as a probe saw it (PRB-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Its end, in seconds since 1970 UTC.
    pub expiry: i64,
    /// Would it pass validation?
    pub is_valid: bool,
}

/// The recent outcomes that this member has heard. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recent {
    agents: Arc<Mutex<Agents>>,
    budget: Arc<Budget>,
}

#[derive(Debug, Default)]
struct Agents {
    by_name: BTreeMap<Caseless, Held>,
    /// Counts the streams that have ended, so that the agents silent for longest go first.
    endings: u64,
}

#[derive(Debug)]
struct Held {
    rings: Arc<Rings>,
    /// Its streams that live: two while a newer one replaces an older.
    streams: usize,
    /// The ending of the last of them.
    ended: u64,
}

impl Default for Recent {
    fn default() -> Self {
        Self { agents: Arc::default(), budget: Arc::new(Budget::new(RECENT_MAX)) }
    }
}

impl Recent {
    /// What is kept of `endpoint`, by agent, the latest outcome last.
    pub fn of(&self, endpoint: EndpointId) -> Vec<(Caseless, Vec<RecentOutcome>)> {
        let agents: Vec<_> = lock(&self.agents)
            .by_name
            .iter()
            .map(|(name, held)| (name.clone(), held.rings.clone()))
            .collect();
        let outcomes = agents.into_iter().map(|(name, rings)| (name, rings.of(endpoint)));
        outcomes.filter(|(_, outcomes)| !outcomes.is_empty()).collect()
    }

    /// The last outcome of each agent whose stream is open on each of `endpoints`, where it was no success.
    pub fn last(&self, endpoints: &[EndpointId]) -> Vec<LastOutcome> {
        let open = |held: &Held| held.streams > 0;
        let agents: Vec<_> = lock(&self.agents)
            .by_name
            .iter()
            .filter(|(_, held)| open(held))
            .map(|(name, held)| (name.clone(), held.rings.clone()))
            .collect();
        let told = |(agent, rings): (Caseless, Arc<Rings>)| {
            rings.last(endpoints).into_iter().map(move |(endpoint, found)| LastOutcome {
                endpoint,
                agent: agent.clone(),
                check: found.check,
                outcome: found.outcome,
                detail: found.detail.into(),
            })
        };
        agents.into_iter().flat_map(told).collect()
    }

    /// The place for what `agent` brings on a stream that begins.
    pub(super) fn open(&self, agent: &Caseless) -> Arc<Rings> {
        let mut agents = lock(&self.agents);
        let fresh = || Held { rings: Arc::new(Rings::new(self.budget.clone())), streams: 0, ended: 0 };
        let held = agents.by_name.entry(agent.clone()).or_insert_with(fresh);
        held.streams += 1;
        held.rings.clone()
    }

    /// A stream of the agent has ended: what it brought stays until too many others have ended since.
    pub(super) fn close(&self, agent: &Caseless) {
        let mut agents = lock(&self.agents);
        agents.endings += 1;
        let ending = agents.endings;
        if let Some(held) = agents.by_name.get_mut(agent) {
            held.streams = held.streams.saturating_sub(1);
            held.ended = ending;
        }
        let ended = agents.by_name.iter().filter(|(_, held)| held.streams == 0);
        let mut ended: Vec<_> = ended.map(|(name, held)| (held.ended, name.clone())).collect();
        ended.sort();
        for (_, name) in ended.iter().take(ended.len().saturating_sub(RECENT_AGENTS_MAX)) {
            agents.by_name.remove(name);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use waymark_core::health::OutcomeClass;

    const ENDPOINT: EndpointId = EndpointId(7);

    pub(in crate::ingest) fn outcome(sequence: u64) -> RecentOutcome {
        RecentOutcome {
            at: Timestamp(sequence),
            run: AgentRun(1),
            check: Revision(1),
            sequence,
            outcome: Outcome { class: OutcomeClass::Ok, status: Some(200) },
            address: None,
            phases: Phases::default(),
            certificate: None,
            detail: "".into(),
        }
    }

    #[test]
    fn sec_6_agents_that_have_gone_are_kept_up_to_a_number() {
        let recent = Recent::default();
        let name = |number: usize| Caseless::new(&format!("agent-{number:05}"));
        for number in 0..RECENT_AGENTS_MAX + 2 {
            recent.open(&name(number)).keep([(ENDPOINT, outcome(1))]);
        }
        recent.open(&name(0));
        for number in 0..RECENT_AGENTS_MAX + 2 {
            recent.close(&name(number));
        }
        let kept: Vec<_> = recent.of(ENDPOINT).into_iter().map(|(name, _)| name).collect();
        // The first has a second stream still; the second was the first to end.
        assert_eq!(kept.len(), RECENT_AGENTS_MAX + 1);
        assert_eq!(kept[..2], [name(0), name(2)]);
        assert_eq!(recent.budget.held(), RECENT_AGENTS_MAX + 1);
    }

    #[test]
    fn prb_9_the_last_outcome_of_each_open_stream_where_it_was_no_success() {
        let recent = Recent::default();
        let trouble = |sequence| RecentOutcome {
            outcome: Outcome { class: OutcomeClass::Agent, status: None },
            detail: "no route".into(),
            ..outcome(sequence)
        };
        recent.open(&"troubled".into()).keep([(ENDPOINT, outcome(1)), (ENDPOINT, trouble(2))]);
        recent.open(&"well".into()).keep([(ENDPOINT, trouble(1)), (ENDPOINT, outcome(2))]);
        recent.open(&"gone".into()).keep([(ENDPOINT, trouble(1))]);
        recent.close(&"gone".into());
        let told = LastOutcome {
            endpoint: ENDPOINT,
            agent: "troubled".into(),
            check: Revision(1),
            outcome: trouble(2).outcome,
            detail: "no route".into(),
        };
        assert_eq!(recent.last(&[ENDPOINT, EndpointId(8)]), [told]);
        assert_eq!(recent.last(&[EndpointId(8)]), []);
    }
}
