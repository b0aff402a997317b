//! How status is shown: every endpoint with what each region says of it.

use std::collections::BTreeSet;

use waymark_core::health::{EndpointHealth, RegionalVerdict, regional_verdicts};
use waymark_core::model::{Agent, Caseless, Endpoint, Profile, ProfileId};
use waymark_core::state::State;
use waymark_proto::admin::v1;

/// A state, and what is the same for each of its endpoints.
pub(super) struct Shown<'a> {
    state: &'a State,
    /// The known regions in which an agent lives: they are shown even where they have no verdict.
    manned: BTreeSet<&'a Caseless>,
    /// Agents that abstain: they are shown although they have no verdict (PRB-14).
    blind: Vec<&'a Agent>,
}

impl<'a> Shown<'a> {
    /// Shows `state`.
    pub(super) fn of(state: &'a State) -> Self {
        let living = state.agents.values().filter(|agent| !agent.lost).map(|agent| &agent.region);
        let manned = living.filter(|region| state.region(region).is_some()).collect();
        let agents = state.agents.values().map(AsRef::as_ref);
        Self { state, manned, blind: agents.filter(|agent| agent.is_blind && !agent.lost).collect() }
    }

    /// A profile's status and that of its endpoints.
    pub(super) fn profile(&self, profile: &Profile) -> v1::ProfileStatus {
        let health = self.state.health.status(profile.id);
        v1::ProfileStatus {
            name: profile.name.to_string(),
            full_name: profile.full_name.to_string(),
            status: self.profile_status(profile.id).into(),
            since_ms: health.map(|health| health.since.0).unwrap_or_default(),
            routing: v1::Routing::from(profile.routing).into(),
            endpoints: profile.endpoints.iter().map(|endpoint| self.endpoint(profile, endpoint)).collect(),
            revision: profile.revision.0,
        }
    }

    /// The status of the profile of that number.
    pub(super) fn profile_status(&self, id: ProfileId) -> v1::Status {
        self.state.health.status(id).map(|health| health.status.into()).unwrap_or_default()
    }

    fn endpoint(&self, profile: &Profile, endpoint: &Endpoint) -> v1::EndpointStatus {
        let is_probed = self.state.is_probed(profile, endpoint);
        let health = self.state.health.get(&endpoint.id).map(AsRef::as_ref);
        v1::EndpointStatus {
            name: endpoint.name.to_string(),
            target: endpoint.kind.to_string(),
            status: health.map(|health| v1::Status::from(health.status)).unwrap_or_default().into(),
            since_ms: health.map(|health| health.since.0).unwrap_or_default(),
            stale_since_ms: health.and_then(|health| health.stale_since).map(|since| since.0),
            regions: self.regions(health.map(|health| self.verdicts(health)).unwrap_or_default(), is_probed),
            unprobed: !is_probed,
            overridden: self.state.overrides.get(&endpoint.id).map(|over| over.as_ref().into()),
            held: self.state.held(profile.id, endpoint.id).map(Into::into),
        }
    }

    fn verdicts(&self, health: &EndpointHealth) -> Vec<RegionalVerdict> {
        regional_verdicts(health.tallies.iter().filter_map(|(name, tally)| {
            let agent = self.state.agents.get(name)?;
            Some((name, &agent.region, tally))
        }))
    }

    /// `regions`, which are in the order of their names, and, of an endpoint that is probed, between them the manned ones
    /// that have said nothing.
    pub(super) fn regions(
        &self,
        mut regions: Vec<RegionalVerdict>,
        is_probed: bool,
    ) -> Vec<v1::RegionalVerdict> {
        for region in self.manned.iter().filter(|_| is_probed) {
            if let Err(place) = regions.binary_search_by(|found| found.region.cmp(region)) {
                let silent = RegionalVerdict { region: (*region).clone(), verdict: None, agents: Vec::new() };
                regions.insert(place, silent);
            }
        }
        let mut shown: Vec<v1::RegionalVerdict> = regions.iter().map(Into::into).collect();
        for agent in self.blind.iter().filter(|_| is_probed) {
            if let Ok(place) = regions.binary_search_by(|found| found.region.cmp(&agent.region)) {
                let agents = &mut shown[place].agents;
                let place = agents.partition_point(|other| Caseless::new(&other.name) < agent.name);
                let name = agent.name.to_string();
                agents.insert(place, v1::AgentVerdict { name, blind: true, ..Default::default() });
            }
        }
        shown
    }
}
