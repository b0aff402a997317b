//! What agents' streams put into the log: outcomes, and that nothing was heard.

use waymark_core::model::{AgentRun, Caseless, EndpointId, Revision};
use waymark_core::state::{Action, ReportedOutcome};

use super::{Malformed, each, required};
use crate::storage::v1 as stored;

pub(super) fn record_outcomes(
    agent: &Caseless,
    run: AgentRun,
    outcomes: &[ReportedOutcome],
) -> stored::RecordOutcomes {
    stored::RecordOutcomes {
        agent: agent.to_string(),
        run: run.0,
        outcomes: outcomes.iter().map(Into::into).collect(),
    }
}

pub(super) fn recorded_outcomes(record: stored::RecordOutcomes) -> Result<Action, Malformed> {
    let stored::RecordOutcomes { agent, run, outcomes } = record;
    let (agent, run) = (Caseless::new(&agent), AgentRun(run));
    Ok(Action::RecordOutcomes { agent, run, outcomes: each(outcomes)? })
}

pub(super) fn expire_verdicts(
    agent: &Caseless,
    session: Revision,
    endpoints: &[EndpointId],
) -> stored::ExpireVerdicts {
    stored::ExpireVerdicts {
        agent: agent.to_string(),
        session: session.0,
        endpoints: endpoints.iter().map(|endpoint| endpoint.0).collect(),
    }
}

pub(super) fn expired_verdicts(silence: stored::ExpireVerdicts) -> Action {
    let stored::ExpireVerdicts { agent, session, endpoints } = silence;
    Action::ExpireVerdicts {
        agent: Caseless::new(&agent),
        session: Revision(session),
        endpoints: endpoints.into_iter().map(EndpointId).collect(),
    }
}

impl From<&ReportedOutcome> for stored::ReportedOutcome {
    fn from(reported: &ReportedOutcome) -> Self {
        let ReportedOutcome { endpoint, check, sequence, age_ms, outcome } = *reported;
        Self {
            endpoint: endpoint.0,
            sequence,
            age_ms,
            outcome: Some(outcome.into()),
            check_revision: check.0,
        }
    }
}

impl TryFrom<stored::ReportedOutcome> for ReportedOutcome {
    type Error = Malformed;

    fn try_from(message: stored::ReportedOutcome) -> Result<Self, Malformed> {
        let stored::ReportedOutcome { endpoint, sequence, age_ms, outcome, check_revision } = message;
        Ok(Self {
            endpoint: EndpointId(endpoint),
            check: Revision(check_revision),
            sequence,
            age_ms,
            outcome: required("outcome", outcome)?.try_into()?,
        })
    }
}
