//! Does an outcome change the replicated state? A pure question: outcome and state in, answer out (STA-6, STA-7).

use waymark_core::health::{Patience, Tally};
use waymark_core::model::{AgentRun, Caseless, EndpointId, Revision};
use waymark_core::state::{ReportedOutcome, State};

/// What a member does with an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relevance {
    /// May change the state: to be proposed.
    Propose,
    /// Says what is known already: it only shows that the endpoint is still probed.
    Confirm,
    /// Trouble of the agent's own, blindness included: shown, never counted (PRB-9, PRB-14).
    Trouble,
    /// Older than the verdict that it would support could get.
    Late,
    /// Counted before.
    Replayed,
    /// About an endpoint that is not probed (any more), or found by another check than the one in force (STA-11).
    NotAssigned,
}

/// What an agent's outcomes on one probed endpoint are held against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assigned<'a> {
    /// The check that is in force.
    pub(super) check: Revision,
    /// The agent's replicated count, if it has one.
    pub(super) tally: Option<&'a Tally>,
    /// How patient the monitor is.
    pub(super) patience: Patience,
    /// How long a verdict lives without a new outcome, in milliseconds (STA-5).
    pub(super) lifetime_ms: u64,
}

impl<'a> Assigned<'a> {
    /// What `state` holds on `endpoint` for `agent`; `None` if the endpoint is not probed.
    pub(super) fn of(state: &'a State, agent: &Caseless, endpoint: EndpointId) -> Option<Self> {
        let health = state.health.get(&endpoint)?;
        let profile = state.profiles.get(&health.profile)?;
        let endpoint =
            profile.endpoint_by_id(endpoint).filter(|endpoint| state.is_probed(profile, endpoint))?;
        let monitor = &profile.monitor;
        Some(Self {
            check: endpoint.check_revision,
            tally: health.tallies.get(agent),
            patience: monitor.into(),
            lifetime_ms: monitor.verdict_expiry_ms(),
        })
    }
}

/// Holds `outcome`, found in `run`, against what is `assigned`: the first row that applies.
///
/// | outcome | |
/// |---|---|
/// | on an endpoint that is not assigned, or of another check of it | NotAssigned |
/// | of class `agent` | Trouble |
/// | older than a verdict's lifetime | Late |
/// | not behind the last one of the same run that was counted | Replayed |
/// | on an endpoint with something still to be committed (`is_unsettled`) | Propose: the count is about to change |
/// | that would change the count | Propose |
/// | else | Confirm |
pub(super) fn judge(
    assigned: Option<&Assigned<'_>>,
    run: AgentRun,
    outcome: &ReportedOutcome,
    is_unsettled: bool,
) -> Relevance {
    let Some(assigned) = assigned.filter(|assigned| assigned.check == outcome.check) else {
        return Relevance::NotAssigned;
    };
    let is_counted = |tally: &Tally| tally.run == run && outcome.sequence <= tally.sequence;
    if outcome.outcome.class.success().is_none() {
        Relevance::Trouble
    } else if outcome.age_ms > assigned.lifetime_ms {
        Relevance::Late
    } else if assigned.tally.is_some_and(is_counted) {
        Relevance::Replayed
    } else if is_unsettled
        || Tally::after(assigned.tally, assigned.patience, run, outcome.sequence, outcome.outcome).is_some()
    {
        Relevance::Propose
    } else {
        Relevance::Confirm
    }
}
