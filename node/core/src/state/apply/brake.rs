//! The removal brake (FAIL-2): no more than a share of a profile's endpoints leave its pool within a window by probing alone.
//!
//! ```text
//!   probes find it Degraded            there is room: in the order of the profile
//! in the pool ───────────────▶ held ─────────────────────────────────────────▶ left, and counted
//!      ▲                        │                                                 │ the window is over
//!      └── probes find it up ───┘                                                 ▼
//!           no event                                                         counted no more
//! ```
//!
//! Whoever is to leave is held first, and let go in the same step if there is room: so it does not matter in which order one command
//! tells of several. Operators' acts are never held and never counted.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::propagate::Occasion;
use super::step::Step;
use crate::health::{ByFamily, EndpointStatus};
use crate::model::{Endpoint, EndpointId, Profile, ProfileId, Revision};
use crate::state::{Brake, EventCause, Held, Rejection, Replaced};

/// A status, and of a nested endpoint its standing in each family.
pub(super) type Standing = (EndpointStatus, Option<ByFamily>);

/// Forgets departures whose window is over, and lets go whom there is room for. Never refused: the leader knew less.
pub(super) fn release(step: &mut Step<'_>, due: &[(ProfileId, Revision)]) -> Result<(), Rejection> {
    let mut touched = BTreeSet::new();
    for (id, up_to) in due {
        if step.change_brake(*id, |brake| brake.left.retain(|_, left| *left > *up_to)) {
            touched.insert(*id);
        }
    }
    step.ascend(&touched, Occasion::Counts);
    Ok(())
}

impl Step<'_> {
    /// What is in force of an endpoint of which `found` follows from its settings, its probes or its child, and `before` was in force;
    /// the first row that applies.
    ///
    /// | found | held | turned by probing alone, with a brake | in force |
    /// |---|---|---|---|
    /// | out, Unmonitored, or anything under an override | no longer, nor counted | – | what was found |
    /// | Online, CheckingEndpoint | no longer | – | what was found |
    /// | Degraded | yes | – | what it is held in |
    /// | Degraded | no | from Online or CheckingEndpoint | what was, held until [`Step::let_go`] |
    /// | Degraded | no | no | Degraded |
    pub(super) fn braked(
        &mut self,
        profile: &Profile,
        endpoint: &Endpoint,
        found: Standing,
        before: Standing,
        by_probing: bool,
    ) -> Standing {
        let brake = self.state.brakes.get(&profile.id);
        if brake.is_none() && profile.max_removal.is_none() {
            return found;
        }
        let id = endpoint.id;
        if !self.state.is_removable(id, found.0) {
            self.forget_braked(profile.id, id);
            return found;
        }
        if found.0 != EndpointStatus::Degraded {
            self.change_brake(profile.id, |brake| {
                brake.held.remove(&id);
            });
            return found;
        }
        if let Some(held) = brake.and_then(|brake| brake.held.get(&id)) {
            return held.in_place_of(found.1);
        }
        let was_in = matches!(before.0, EndpointStatus::Online | EndpointStatus::CheckingEndpoint);
        if !(by_probing && was_in && profile.max_removal.is_some()) {
            return found;
        }
        let (since, revision) = (self.context.at, self.revision);
        let held = Held { status: before.0, by_family: before.1, since, revision };
        self.change_brake(profile.id, |brake| {
            brake.held.insert(id, held);
        });
        held.in_place_of(found.1)
    }

    /// Lets those leave that are held, in the order of the profile, as far as there is room; all of them if it has no brake any more.
    /// Who has left within the window already takes no room again. Returns whether anybody left.
    pub(super) fn let_go(&mut self, profile: &Profile) -> bool {
        let Some(brake) = self.state.brakes.get(&profile.id) else { return false };
        let room = self.state.removal_room(profile);
        let mut free = room.map_or(usize::MAX, |room| room.saturating_sub(brake.left.len()));
        let mut leaving: Vec<(&Endpoint, Held)> = Vec::new();
        for endpoint in &profile.endpoints {
            let Some(held) = brake.held.get(&endpoint.id) else { continue };
            let is_counted = brake.left.contains_key(&endpoint.id);
            if is_counted || free > 0 {
                free -= usize::from(!is_counted);
                leaving.push((endpoint, *held));
            }
        }
        let revision = self.revision;
        self.change_brake(profile.id, |brake| {
            for (endpoint, _) in &leaving {
                brake.held.remove(&endpoint.id);
                brake.left.insert(endpoint.id, revision);
            }
            if room.is_none() {
                brake.left.clear();
            }
        });
        for (endpoint, held) in &leaving {
            let cause = self.departing.remove(&endpoint.id).filter(|_| held.revision == revision);
            let cause = cause.unwrap_or_else(|| self.released(endpoint, held));
            self.refresh_endpoint(profile, endpoint, false, || cause);
        }
        !leaving.is_empty()
    }

    /// Why an endpoint leaves that was held until now.
    fn released(&self, endpoint: &Endpoint, held: &Held) -> EventCause {
        let health = self.state.health.get(&endpoint.id);
        let regions = health.map(|health| self.state.regional_verdicts(health)).unwrap_or_default();
        let child = endpoint.child().map(|child| child.profile.clone());
        let held_ms = self.context.at.0.saturating_sub(held.since.0);
        EventCause::Brake { held_ms, child, regions }
    }

    /// Neither held nor counted any more.
    pub(super) fn forget_braked(&mut self, profile: ProfileId, id: EndpointId) {
        self.change_brake(profile, |brake| {
            brake.held.remove(&id);
            brake.left.remove(&id);
        });
    }

    /// Changes what the brake of a profile keeps; returns whether it keeps something else than before.
    pub(super) fn change_brake(&mut self, profile: ProfileId, change: impl FnOnce(&mut Brake)) -> bool {
        let before = self.state.brakes.get(&profile).cloned();
        let mut after = before.as_deref().cloned().unwrap_or_default();
        change(&mut after);
        if before.as_deref().map_or_else(|| after.is_empty(), |before| *before == after) {
            return false;
        }
        match after.is_empty() {
            true => self.state.brakes.remove(&profile),
            false => self.state.brakes.insert(profile, Arc::new(after)),
        };
        self.mark_changed();
        self.note_replaced(Replaced::Brake(profile, before));
        true
    }
}
