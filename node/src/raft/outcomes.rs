//! What agents found last, asked of the members that hold their streams: it is not replicated, each member knows its own
//! agents' outcomes alone. For people; nothing is decided by it.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;
use waymark_core::health::Outcome;
use waymark_core::model::{Caseless, EndpointId, MemberId, Revision};
use waymark_proto::Malformed;
use waymark_proto::peer::v1 as wire;

use super::base::Base;
use super::forward::{peer, timed};
use super::seat::Seat;

/// Most endpoints that are asked about at once: a look at each of them for each agent that a member holds, some
/// milliseconds in all.
const ENDPOINTS_MAX: usize = 10_000;
/// Most outcomes that a member tells at once: 2 MiB with the longest details.
const OUTCOMES_MAX: usize = 5_000;

/// An agent's last outcome on an endpoint, where it was no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastOutcome {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The agent.
    pub agent: Caseless,
    /// The check that found it.
    pub check: Revision,
    /// What was found.
    pub outcome: Outcome,
    /// One line for people: why it is no success.
    pub detail: String,
}

/// Tells the last outcomes on these endpoints of the agents whose streams this member holds; successes are left out.
pub type OutcomeSource = Box<dyn Fn(&[EndpointId]) -> Vec<LastOutcome> + Send + Sync>;

/// What was gathered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Each outcome, and the member that told it.
    pub outcomes: Vec<(MemberId, LastOutcome)>,
    /// The members that did not answer in time, or not completely.
    pub incomplete: Vec<MemberId>,
}

/// Tells what agents found last, and asks for it. Cheap to clone.
#[derive(Clone)]
pub struct LastOutcomes {
    base: Arc<Base>,
    source: Arc<OnceLock<OutcomeSource>>,
}

impl fmt::Debug for LastOutcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastOutcomes").finish_non_exhaustive()
    }
}

impl LastOutcomes {
    pub(super) fn new(base: Arc<Base>) -> Self {
        Self { base, source: Arc::default() }
    }

    /// Lets this member tell from `source`, once; until then it has nothing to tell.
    pub fn tell_from(&self, source: OutcomeSource) {
        // A second source would be a fault of the program that no operator could do anything about: the first stays.
        let _ = self.source.set(source);
    }

    /// Asks `members`, this one among them, about `endpoints`, of which the first 10,000 are looked at. Over by `within`.
    pub async fn gather(&self, members: &[MemberId], endpoints: &[EndpointId], within: Duration) -> Gathered {
        let Some(seat) = self.base.seat() else { return Gathered::default() };
        let seat = &*seat;
        let asked = &endpoints[..endpoints.len().min(ENDPOINTS_MAX)];
        let answers = members.iter().map(|&member| async move {
            let told = timeout(within, self.ask(seat, member, asked, within)).await;
            (member, told.unwrap_or(None))
        });
        let mut gathered = Gathered::default();
        for (member, told) in join_all(answers).await {
            let (outcomes, is_complete) = told.unwrap_or((Vec::new(), false));
            gathered.outcomes.extend(outcomes.into_iter().map(|outcome| (member, outcome)));
            if !is_complete || asked.len() < endpoints.len() {
                gathered.incomplete.push(member);
            }
        }
        gathered
    }

    /// What `member` tells, and whether that is all; `None` if it cannot be reached.
    async fn ask(
        &self,
        seat: &Seat,
        member: MemberId,
        endpoints: &[EndpointId],
        within: Duration,
    ) -> Option<(Vec<LastOutcome>, bool)> {
        if seat.member == member.0 {
            return Some(self.own(endpoints));
        }
        let metrics = seat.metrics();
        let node = metrics.membership_config.membership().get_node(&member.0)?;
        let mut peer = peer(&self.base, seat, member.0, node).ok()?;
        let endpoints = endpoints.iter().map(|endpoint| endpoint.0).collect();
        let request = timed(wire::ListLastOutcomesRequest { endpoints }, within);
        let wire::ListLastOutcomesResponse { outcomes, truncated } =
            peer.list_last_outcomes(request).await.ok()?.into_inner();
        let count = outcomes.len();
        // What a newer member tells and this one cannot read is missing, no more.
        let outcomes: Vec<_> =
            outcomes.into_iter().filter_map(|told| LastOutcome::try_from(told).ok()).collect();
        let is_complete = !truncated && outcomes.len() == count;
        Some((outcomes, is_complete))
    }

    fn own(&self, endpoints: &[EndpointId]) -> (Vec<LastOutcome>, bool) {
        let mut outcomes = self.source.get().map(|source| source(endpoints)).unwrap_or_default();
        let is_complete = outcomes.len() <= OUTCOMES_MAX;
        outcomes.truncate(OUTCOMES_MAX);
        (outcomes, is_complete)
    }

    /// The answer to another member.
    pub(super) fn answer(&self, request: wire::ListLastOutcomesRequest) -> wire::ListLastOutcomesResponse {
        let endpoints: Vec<_> = request.endpoints.into_iter().take(ENDPOINTS_MAX).map(EndpointId).collect();
        let (outcomes, is_complete) = self.own(&endpoints);
        wire::ListLastOutcomesResponse {
            outcomes: outcomes.into_iter().map(Into::into).collect(),
            truncated: !is_complete,
        }
    }
}

impl From<LastOutcome> for wire::LastOutcome {
    fn from(told: LastOutcome) -> Self {
        let LastOutcome { endpoint, agent, check, outcome, detail } = told;
        Self {
            endpoint: endpoint.0,
            agent: agent.to_string(),
            check_revision: check.0,
            outcome: Some(outcome.into()),
            detail,
        }
    }
}

impl TryFrom<wire::LastOutcome> for LastOutcome {
    type Error = Malformed;

    fn try_from(message: wire::LastOutcome) -> Result<Self, Malformed> {
        let wire::LastOutcome { endpoint, agent, check_revision, outcome, detail } = message;
        Ok(Self {
            endpoint: EndpointId(endpoint),
            agent: Caseless::new(&agent),
            check: Revision(check_revision),
            outcome: outcome.unwrap_or_default().try_into()?,
            detail,
        })
    }
}
