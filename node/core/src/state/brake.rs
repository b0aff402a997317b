//! What the removal brakes of profiles keep (FAIL-2): who has left the pool by probing within the window, and who is held in it.
//!
//! No time stands here that anything is decided by. A departure counts until the leader, whose clock measures the window, says that
//! it counts no longer ([`super::Action::ReleaseBrakes`]).

use std::collections::BTreeMap;

use super::State;
use crate::health::{ByFamily, EndpointStatus};
use crate::model::{EndpointId, Profile, ProfileId, Revision, Timestamp};

/// One profile's brake at work. There is none where nobody has left and nobody is held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brake {
    /// The departures that still count, each by the counter at which it happened last.
    pub left: BTreeMap<EndpointId, Revision>,
    /// Who would have left, were there room.
    pub held: BTreeMap<EndpointId, Held>,
}

/// An endpoint that stays in the pool although probes find it Degraded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The status that it keeps: Online or CheckingEndpoint.
    pub status: EndpointStatus,
    /// A nested endpoint's standing in each family, which it keeps likewise.
    pub by_family: Option<ByFamily>,
    /// Since when it is held, for people to read.
    pub since: Timestamp,
    /// By which command: the counter after it.
    pub revision: Revision,
}

impl Brake {
    /// Most profiles whose departures one command lets go.
    pub const BATCH_MAX: usize = 1_000;

    /// Does it keep nothing?
    pub fn is_empty(&self) -> bool {
        self.left.is_empty() && self.held.is_empty()
    }

    /// How many of `endpoints`, which probing could take out of the pool, may leave it within a window: `max_removal` percent of
    /// them, rounded down, and one at least.
    pub fn room(max_removal: u32, endpoints: usize) -> usize {
        let share = endpoints * usize::try_from(max_removal).unwrap_or(usize::MAX).min(100) / 100;
        share.max(1)
    }
}

impl Held {
    /// What is in force in place of what was found: what there was, but nobody of a family who is not there.
    pub(super) fn in_place_of(&self, found: Option<ByFamily>) -> (EndpointStatus, Option<ByFamily>) {
        let kept = |kept: EndpointStatus, found: EndpointStatus| {
            if found == EndpointStatus::Stopped { found } else { kept }
        };
        let both = self.by_family.zip(found);
        let by_family =
            both.map(|(own, found)| ByFamily { v4: kept(own.v4, found.v4), v6: kept(own.v6, found.v6) });
        (self.status, by_family.or(found))
    }
}

impl State {
    /// Is the endpoint, one of the profile of that number, held in the pool by its brake, and since when?
    pub fn held(&self, profile: ProfileId, id: EndpointId) -> Option<&Held> {
        self.brakes.get(&profile)?.held.get(&id)
    }

    /// Could probing take the endpoint out of its pool, if `status` is in force of it? Not what is out already by a switch or by what
    /// it stands for, what is always served, and what has an override.
    pub(super) fn is_removable(&self, id: EndpointId, status: EndpointStatus) -> bool {
        !status.is_out() && status != EndpointStatus::Unmonitored && !self.overrides.contains_key(&id)
    }

    /// How many endpoints may leave the pool of `profile` within a window, those counted that have left; `None` without a brake.
    pub fn removal_room(&self, profile: &Profile) -> Option<usize> {
        let max_removal = profile.max_removal?;
        let is_counted =
            |id: EndpointId| self.health.get(&id).is_some_and(|health| self.is_removable(id, health.status));
        let endpoints = profile.endpoints.iter().filter(|endpoint| is_counted(endpoint.id)).count();
        Some(Brake::room(max_removal, endpoints))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use EndpointStatus::{Degraded, Online, Stopped};

    #[test]
    fn fail_2_the_room_is_the_share_rounded_down_and_one_at_least() {
        for (max_removal, endpoints, room) in [
            (20, 5, 1),
            (20, 4, 1),
            (1, 200, 2),
            (1, 199, 1),
            (50, 5, 2),
            (33, 3, 1),
            (34, 3, 1),
            (67, 3, 2),
            (100, 5, 5),
            (100, 0, 1),
            (1, 1, 1),
        ] {
            assert_eq!(Brake::room(max_removal, endpoints), room, "{max_removal} % of {endpoints}");
        }
    }

    #[test]
    fn fail_2_a_held_nested_endpoint_keeps_its_standing_in_the_families_that_there_are() {
        let kept = ByFamily { v4: Online, v6: Degraded };
        let (since, revision) = (Timestamp(1), Revision(1));
        let held = Held { status: Online, by_family: Some(kept), since, revision };
        let found = |v4, v6| Some(ByFamily { v4, v6 });
        assert_eq!(held.in_place_of(found(Degraded, Degraded)), (Online, Some(kept)));
        let alone = Some(ByFamily { v4: Stopped, v6: Degraded });
        assert_eq!(held.in_place_of(found(Stopped, Online)), (Online, alone));
        assert_eq!(Held { by_family: None, ..held }.in_place_of(None), (Online, None));
    }
}
