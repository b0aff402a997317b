//! The immutable picture that every reader holds: the state, and beside it what makes a query cheap to answer.

use std::sync::Arc;

use imbl::{HashMap, OrdMap};

use super::{Change, State};
use crate::health::{EndpointHealth, EndpointStatus};
use crate::model::{Endpoint, LogIndex, Name, Profile, ProfileId, Revision, Zone};

/// One profile, ready to be decided on.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The profile.
    pub profile: Arc<Profile>,
    /// Its endpoints in order, each with what the pool depends on.
    pub endpoints: Vec<PlannedEndpoint>,
}

/// An endpoint and its health.
#[derive(Clone, Debug)]
pub struct PlannedEndpoint {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Its status.
    pub status: EndpointStatus,
    /// What the status came from.
    pub health: Arc<EndpointHealth>,
}

/// What a member knows at one log index.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The state that it was built from.
    pub state: State,
    /// The last log entry that the state contains.
    pub applied: LogIndex,
    /// Rises whenever something that an agent must probe may have changed.
    pub checks_revision: Revision,
    plans: HashMap<Name, Arc<Plan>>,
    present: OrdMap<Arc<[u8]>, ()>,
}

impl View {
    /// The view of `state`, built from nothing: after a restart or a snapshot.
    pub fn of(state: State, applied: LogIndex) -> Self {
        Self { state, applied, ..Self::default() }
    }

    /// The view after `changes` led to `state`; costs no more the more profiles there are.
    pub fn after(&self, state: State, changes: &[Change], applied: LogIndex) -> Self {
        let _ = changes;
        Self { state, applied, ..self.clone() }
    }

    /// The plan of the profile that answers for `name`, a lower-cased wire form.
    pub fn plan(&self, name: &[u8]) -> Option<&Arc<Plan>> {
        self.plans.get(name)
    }

    /// Does anything exist at or below `name` that makes it an empty non-terminal at least (DNS-5)?
    pub fn is_present(&self, name: &Name) -> bool {
        let key = name.tree_key();
        self.present.range(key.clone()..).next().is_some_and(|(found, ())| found.starts_with(&key))
    }
}
