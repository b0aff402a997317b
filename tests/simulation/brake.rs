//! FAIL-2, reckoned anew: who leaves a pool by probing, and how many of them count.

use std::collections::BTreeMap;

use waymark_core::health::EndpointStatus;
use waymark_core::model::{EndpointId, ProfileId, Revision};
use waymark_core::state::{Action, State};

use crate::world::Seen;

/// Who has left whose pool since its last release, by what statuses say and not by what the brake keeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departures(BTreeMap<(ProfileId, EndpointId), Revision>);

impl Departures {
    /// Follows what a command did: with a brake no more leave within a window than there is room for.
    pub(crate) fn follow(&mut self, before: &State, after: &State, action: &Action, seen: &mut Seen) {
        if let Action::ReleaseBrakes { due } = action {
            for (profile, up_to) in due {
                self.0.retain(|(of, _), left| of != profile || *left > *up_to);
            }
        }
        self.0.retain(|(profile, endpoint), _| {
            after.profiles.get(profile).is_some_and(|profile| profile.max_removal.is_some())
                && may_be_taken_out(after, *endpoint)
        });
        if before.health.ptr_eq(&after.health) {
            return;
        }
        for profile in after.profiles.values() {
            let Some(share) = profile.max_removal else { continue };
            let all = profile.endpoints.iter().map(|endpoint| endpoint.id);
            let leaving: Vec<EndpointId> =
                all.clone().filter(|id| leaves(before, after, profile.id, *id, action)).collect();
            if leaving.is_empty() {
                continue;
            }
            let counts = |id: &EndpointId| {
                let kept = before.brakes.get(&profile.id).is_some_and(|brake| brake.left.contains_key(id));
                kept || self.0.contains_key(&(profile.id, *id))
            };
            let needs_room = !leaving.iter().all(counts);
            for id in leaving {
                let is_released = before.held(profile.id, id).is_some();
                seen.count(if is_released { "released endpoints" } else { "departures under a brake" });
                self.0.insert((profile.id, id), after.counter);
            }
            let base = all.filter(|id| may_be_taken_out(after, *id)).count();
            let room = (base * share as usize / 100).max(1);
            let left = self.0.keys().filter(|(of, _)| *of == profile.id).count();
            let told = format!("{left} have left '{}', of {base} at most {share} %", profile.name);
            assert!(!needs_room || left <= room, "{told}");
        }
        let held = |state: &State| state.brakes.values().map(|brake| brake.held.len()).sum::<usize>();
        if held(after) > held(before) {
            seen.count("held endpoints");
        }
    }
}

/// Neither out by a switch or by what it stands for, nor always served, nor under an override.
fn may_be_taken_out(state: &State, id: EndpointId) -> bool {
    let is_in_question = |status| {
        matches!(status, EndpointStatus::Online | EndpointStatus::CheckingEndpoint | EndpointStatus::Degraded)
    };
    state.health.get(&id).is_some_and(|health| is_in_question(health.status))
        && !state.overrides.contains_key(&id)
}

/// Does it turn Degraded by probing, or as it is held no longer, and not by what an operator does to it?
fn leaves(before: &State, after: &State, profile: ProfileId, id: EndpointId, action: &Action) -> bool {
    let status = |state: &State| state.health.get(&id).map(|health| health.status);
    let was_in = matches!(status(before), Some(EndpointStatus::Online | EndpointStatus::CheckingEndpoint));
    let is_by_probing = matches!(
        action,
        Action::RecordOutcomes { .. }
            | Action::ExpireVerdicts { .. }
            | Action::LoseAgent { .. }
            | Action::SetSight { .. }
            | Action::OpenSession { .. }
            | Action::ForgetAgent { .. }
            | Action::ReleaseBrakes { .. }
    );
    was_in
        && status(after) == Some(EndpointStatus::Degraded)
        && may_be_taken_out(after, id)
        && (is_by_probing || before.held(profile, id).is_some())
}
