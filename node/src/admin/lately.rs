//! What agents found last, put beside what the cluster agrees on. Trouble of an agent's own never counts, so that the
//! state does not know it (PRB-9), and of a failure the state keeps the class alone; the members that hold the agents'
//! streams are asked for both. One that does not answer in time is named and waited for no longer.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use waymark_core::model::{Agent, Caseless, EndpointId};
use waymark_core::state::View;
use waymark_proto::admin::v1::{AgentVerdict, ProfileStatus, RegionalVerdict};

use super::handles::Handles;
use super::limits::GATHER_WITHIN;
use crate::raft::LastOutcome;

/// Puts what agents found last into `profiles`, as `view` had them. Returns the names of the members whose agents' outcomes
/// are not all there.
pub(super) async fn tell(handles: &Handles, view: &View, profiles: &mut [ProfileStatus]) -> Vec<String> {
    let holders: BTreeSet<_> = living(view).map(|agent| agent.member).collect();
    let endpoints: Vec<EndpointId> =
        profiles.iter().flat_map(|profile| endpoints_of(view, profile)).collect();
    if holders.is_empty() || endpoints.is_empty() {
        return Vec::new();
    }
    let holders: Vec<_> = holders.into_iter().collect();
    let gathered = handles.consensus.last_outcomes(&holders, &endpoints, GATHER_WITHIN).await;
    let mut by_endpoint: HashMap<EndpointId, Vec<LastOutcome>> = HashMap::new();
    for (member, told) in gathered.outcomes {
        // What a blind agent found before is withdrawn (PRB-14).
        let counts = |agent: &&Arc<Agent>| !agent.lost && !agent.is_blind;
        let holder = view.state.agents.get(&told.agent).filter(counts).map(|agent| agent.member);
        let check = view.check(told.endpoint).map(|check| check.revision);
        // An agent that has moved on is heard elsewhere, and what an older check found says nothing of this one.
        if holder == Some(member) && check == Some(told.check) {
            by_endpoint.entry(told.endpoint).or_default().push(told);
        }
    }
    for profile in profiles {
        let ids = endpoints_of(view, profile);
        for (id, endpoint) in ids.into_iter().zip(&mut profile.endpoints) {
            for told in by_endpoint.remove(&id).unwrap_or_default() {
                if let Some(agent) = view.state.agents.get(&told.agent) {
                    put(&mut endpoint.regions, agent, &told);
                }
            }
        }
    }
    let names = handles.consensus.names();
    let name = |id| names.iter().find(|(known, _)| *known == id).map(|(_, name)| name.clone());
    gathered.incomplete.into_iter().map(|id| name(id).unwrap_or_else(|| format!("member {}", id.0))).collect()
}

fn living(view: &View) -> impl Iterator<Item = &Agent> {
    view.state.agents.values().map(AsRef::as_ref).filter(|agent| !agent.lost)
}

/// The numbers of the profile's endpoints, in their order.
fn endpoints_of(view: &View, profile: &ProfileStatus) -> Vec<EndpointId> {
    let profile = view.state.profile(&Caseless::new(&profile.name));
    profile.iter().flat_map(|profile| profile.endpoints.iter().map(|endpoint| endpoint.id)).collect()
}

/// Puts `told` beside the verdict of `agent`; one that has counted nothing yet gets a place among those of its region.
fn put(regions: &mut Vec<RegionalVerdict>, agent: &Agent, told: &LastOutcome) {
    let place = regions.binary_search_by(|region| Caseless::new(&region.region).cmp(&agent.region));
    let place = place.unwrap_or_else(|place| {
        let region = agent.region.to_string();
        regions.insert(place, RegionalVerdict { region, ..RegionalVerdict::default() });
        place
    });
    let agents = &mut regions[place].agents;
    let place = agents.binary_search_by(|verdict| Caseless::new(&verdict.name).cmp(&agent.name));
    let place = place.unwrap_or_else(|place| {
        agents.insert(place, AgentVerdict { name: agent.name.to_string(), ..AgentVerdict::default() });
        place
    });
    agents[place].last_outcome = Some(told.outcome.into());
    agents[place].detail = told.detail.clone();
}
