//! One profile, ready to be decided on.

use std::sync::Arc;

use super::State;
use crate::health::{EndpointHealth, EndpointStatus};
use crate::model::{Caseless, Endpoint, Profile, ProfileId, Target};

/// A profile with its endpoints' health.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The profile.
    pub profile: Arc<Profile>,
    /// Its endpoints in order, each with what the pool depends on.
    pub endpoints: Vec<PlannedEndpoint>,
}

/// An endpoint and its health, and what its names stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedEndpoint {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// What it answers with, its own target or its service's; `None` if it is nested.
    pub target: Option<Target>,
    /// The profile that is asked in its place; `None` unless it is nested.
    pub child: Option<ProfileId>,
    /// The region in which it lives, its own or its service's.
    pub location: Option<Caseless>,
    /// Its status.
    pub status: EndpointStatus,
    /// What the status came from.
    pub health: Arc<EndpointHealth>,
}

impl Plan {
    /// The plan of `profile`, a profile of `state`.
    pub fn of(state: &State, profile: &Arc<Profile>) -> Self {
        let planned = |endpoint: &Endpoint| {
            let health = state.health.get(&endpoint.id).expect("each endpoint of a state has its health");
            let resolved = state.resolve(endpoint);
            PlannedEndpoint {
                target: resolved.target.cloned(),
                child: endpoint.child().and_then(|child| state.profile_ids.get(&child.profile)).copied(),
                location: resolved.location.cloned(),
                endpoint: endpoint.clone(),
                status: health.status,
                health: health.clone(),
            }
        };
        Self { profile: profile.clone(), endpoints: profile.endpoints.iter().map(planned).collect() }
    }

    /// Does the profile make its name exist (RTE-4)? A disabled one does not, nor one without an enabled endpoint.
    pub fn exists(&self) -> bool {
        self.profile.enabled
            && self.endpoints.iter().any(|planned| planned.status != EndpointStatus::Disabled)
    }
}
