//! One profile, ready to be decided on.

use std::sync::Arc;

use super::State;
use crate::health::{EndpointHealth, EndpointStatus};
use crate::model::{Endpoint, Profile};

/// A profile with its endpoints' health.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The profile.
    pub profile: Arc<Profile>,
    /// Its endpoints in order, each with what the pool depends on.
    pub endpoints: Vec<PlannedEndpoint>,
}

/// An endpoint and its health.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedEndpoint {
    /// The endpoint.
    pub endpoint: Endpoint,
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
            PlannedEndpoint { endpoint: endpoint.clone(), status: health.status, health: health.clone() }
        };
        Self { profile: profile.clone(), endpoints: profile.endpoints.iter().map(planned).collect() }
    }

    /// Does the profile make its name exist (RTE-4)? A disabled one does not, nor one without an enabled endpoint.
    pub fn exists(&self) -> bool {
        self.profile.enabled
            && self.endpoints.iter().any(|planned| planned.status != EndpointStatus::Disabled)
    }
}
