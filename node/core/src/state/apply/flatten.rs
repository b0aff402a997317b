//! What the leader found the names of flattened profiles to stand for (DNS-16).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::propagate::Occasion;
use super::step::Step;
use crate::model::{EndpointId, Flattened, Profile, ProfileId};
use crate::state::{Change, FoundAddresses, Rejection};

/// Takes the addresses in, of those endpoints whose target still is that name. What leaves no address is passed over: the
/// last that were found stay. Never refused: the leader knew less.
pub(super) fn take_in(step: &mut Step<'_>, found: &[FoundAddresses]) -> Result<(), Rejection> {
    let mut profiles = BTreeSet::new();
    for found in found {
        if let Some(profile) = take_one(step, found) {
            profiles.insert(profile);
        }
    }
    profiles.iter().for_each(|id| step.note(Change::Profile(*id)));
    // How many of them count over a family may be another number now.
    step.ascend(&profiles, Occasion::Counts);
    Ok(())
}

/// Takes one endpoint's in; its profile if they are other ones.
fn take_one(step: &mut Step<'_>, found: &FoundAddresses) -> Option<ProfileId> {
    let FoundAddresses { endpoint, name, addresses } = found;
    let profile = step.state.health.get(endpoint)?.profile;
    let profile = step.profile_by_id(profile);
    let wanted = step.state.name_to_flatten(&profile, profile.endpoint_by_id(*endpoint)?)?;
    let flattened = Flattened::new(name.clone(), addresses, step.context.at).filter(|_| wanted == name)?;
    let health = step.health_mut(*endpoint)?;
    if health.flattened.as_ref().is_some_and(|known| known.is_like(&flattened)) {
        return None;
    }
    health.flattened = Some(Arc::new(flattened));
    Some(profile.id)
}

impl Step<'_> {
    /// Forgets the addresses of those endpoints of `profile` that are not flattened any more, or by another name.
    pub(super) fn forget_addresses(&mut self, profile: &Profile) {
        let is_forgotten = |id: &EndpointId| {
            let flattened = self.state.health.get(id).and_then(|health| health.flattened.as_ref());
            let wanted = profile.endpoint_by_id(*id);
            let wanted = wanted.and_then(|endpoint| self.state.name_to_flatten(profile, endpoint));
            flattened.is_some_and(|known| Some(known.name()) != wanted)
        };
        let ids = profile.endpoints.iter().map(|endpoint| endpoint.id);
        let forgotten: Vec<EndpointId> = ids.filter(is_forgotten).collect();
        for id in forgotten {
            if let Some(health) = self.health_mut(id) {
                health.flattened = None;
            }
        }
    }
}
