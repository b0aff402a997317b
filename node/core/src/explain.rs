//! An answer with everything that led to it (RTE-15), by the same function that answers queries.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::answer::{Answer, Query, decide};
use crate::geo::Location;
use crate::health::{EndpointStatus, RegionalVerdict};
use crate::model::{Name, Override, Target};
use crate::routing::{ChoiceDetails, Client, EndpointStanding, PoolKind, Standing, Trace};
use crate::state::{ClientRow, Held, LatencyRow, Plan, PlannedEndpoint, State, View};

/// An answer and its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The zone that encloses the name, if one of ours does.
    pub zone: Option<Name>,
    /// Who asks, as that zone sees it.
    pub client: Option<ClientExplanation>,
    /// The answer.
    pub answer: Answer,
    /// The profiles that were asked, in the order in which the chain and its nested levels went through them.
    pub profiles: Vec<ProfileExplanation>,
    /// One line: which rule made the answer; in a chain each name's, joined by `; then `.
    pub reason: String,
}

/// Who asks, and what is known of him.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientExplanation {
    /// The address, and where it comes from (RTE-1).
    pub client: Client,
    /// Where it is, and who says so.
    pub location: Option<Location>,
    /// The row of latencies that counts for it.
    pub latency: Option<LatencyRow>,
    /// Was that row measured, and not imported by the operator?
    pub is_learned: bool,
}

/// How one profile chose.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileExplanation {
    /// How many nested levels below the profile that answers for the name.
    pub depth: u32,
    /// The profile with its endpoints.
    pub plan: Arc<Plan>,
    /// What the pool was made of.
    pub pool: PoolKind,
    /// For each endpoint, in order.
    pub endpoints: Vec<EndpointExplanation>,
    /// The endpoints that were chosen, by their positions, in the order in which they are answered.
    pub chosen: Vec<usize>,
    /// One line: the rule that chose, or why there was nobody to choose.
    pub rule: String,
    /// The draw at this level.
    pub draw: u64,
}

/// Whether an endpoint was in the pool, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointExplanation {
    /// Its status.
    pub status: EndpointStatus,
    /// In the pool or why not.
    pub standing: Standing,
    /// The reason in one line, as in `out: Degraded, and 1 healthier endpoint is in the pool`.
    pub reason: String,
    /// What an operator put over what probes find of it (STA-13).
    pub overridden: Option<Arc<Override>>,
    /// Is it held in the pool by the removal brake although probes find it Degraded (FAIL-2)?
    pub held: Option<Held>,
    /// Do agents probe it (PRB-11)?
    pub is_probed: bool,
    /// What each region says of it.
    pub regions: Vec<RegionalVerdict>,
}

/// Answers `query` and keeps every reason.
pub fn explain(view: &View, query: &Query, draw: u64) -> Explanation {
    let mut collector =
        Collector { state: &view.state, zone: None, profiles: Vec::new(), reasons: Vec::new() };
    let answer = decide(view, query, draw, &mut collector);
    let Collector { zone, profiles, reasons, .. } = collector;
    let client = view
        .state
        .answering_zone(&query.name, query.record_type)
        .map(|zone| explain_client(view, Client::of(query.source, query.subnet, zone)));
    Explanation { zone, client, answer, profiles, reason: reasons.join("; then ") }
}

fn explain_client(view: &View, client: Client) -> ClientExplanation {
    let row = view.state.latency_row_of(client.address).1;
    ClientExplanation {
        client,
        location: view.locator.locate(client.address),
        latency: row.map(|row| row.row().clone()),
        is_learned: matches!(row, Some(ClientRow::Learned(_))),
    }
}

/// Why the name of a flattened endpoint will not be looked up, if it is one of ours and has no address (DNS-16).
fn never_resolved(state: &State, planned: &PlannedEndpoint) -> Option<String> {
    let PlannedEndpoint { target: Some(Target::Name(name)), is_flattened: true, flattened: None, .. } =
        planned
    else {
        return None;
    };
    let zone = state.enclosing_zone(name)?;
    Some(format!("out: {name} lies in the zone '{}' of this cluster, and is never looked up", zone.name))
}

/// A trace that keeps everything.
struct Collector<'a> {
    state: &'a State,
    zone: Option<Name>,
    profiles: Vec<ProfileExplanation>,
    reasons: Vec<String>,
}

impl Trace for Collector<'_> {
    fn zone(&mut self, zone: &Name) {
        self.zone.get_or_insert_with(|| zone.clone());
    }

    fn choice(&mut self, plan: &Arc<Plan>, details: impl FnOnce() -> ChoiceDetails) {
        let ChoiceDetails { depth, pool, standings, chosen, rule, draw } = details();
        let explained = |(planned, standing): (&PlannedEndpoint, EndpointStanding)| {
            let health = &self.state.health[&planned.id];
            let held = self.state.held(plan.profile.id, planned.id).copied();
            EndpointExplanation {
                status: health.status,
                standing: standing.standing,
                reason: match standing.standing {
                    Standing::Type => never_resolved(self.state, planned).unwrap_or(standing.reason),
                    Standing::In if held.is_some() => {
                        format!("in: {}, held by brake: probes find it Degraded", health.status.as_str())
                    }
                    _ => standing.reason,
                },
                held,
                overridden: planned.overridden.clone(),
                is_probed: self.state.is_probed(&plan.profile, &planned.endpoint),
                regions: self.state.regional_verdicts(health),
            }
        };
        let endpoints = plan.endpoints.iter().zip(standings).map(explained).collect();
        let plan = plan.clone();
        self.profiles.push(ProfileExplanation { depth, plan, pool, endpoints, chosen, rule, draw });
    }

    fn reason(&mut self, reason: impl FnOnce() -> String) {
        self.reasons.push(reason());
    }
}
