//! What is known of endpoints and profiles, by number: one tree, so that what changes together lies together.

use std::cmp::Ordering;
use std::ops::Index;
use std::sync::Arc;

use imbl::OrdMap;

use super::ProfileHealth;
use crate::health::EndpointHealth;
use crate::model::{EndpointId, Profile, ProfileId};

/// The health of endpoints and the statuses of profiles; and with these the profiles once more, derived like
/// [`super::References`].
///
/// The endpoints that a profile was made with have the numbers behind its own. So all that a turned status reads and
/// writes is nearly always in one leaf. Each way down another tree would cost some 3 µs more among 100,000 profiles:
/// nothing of it is in the processor's cache, nor are the counts of references that copying a node raises.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HealthTree {
    rows: OrdMap<Number, Row>,
}

/// Whose row it is. In the order of the numbers, which profiles and endpoints are given from one sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Profile(ProfileId),
    Endpoint(EndpointId),
}

#[derive(Clone, Debug, PartialEq)]
enum Row {
    Profile(ProfileRow),
    Endpoint(Arc<EndpointHealth>),
}

#[derive(Clone, Debug, Default, PartialEq)]
struct ProfileRow {
    profile: Option<Arc<Profile>>,
    status: Option<ProfileHealth>,
}

impl HealthTree {
    /// An endpoint's health.
    pub fn get(&self, id: &EndpointId) -> Option<&Arc<EndpointHealth>> {
        self.rows.get(&Number::Endpoint(*id)).and_then(Row::as_endpoint)
    }

    /// An endpoint's health, to be changed.
    pub fn get_mut(&mut self, id: &EndpointId) -> Option<&mut Arc<EndpointHealth>> {
        match self.rows.get_mut(&Number::Endpoint(*id))? {
            Row::Endpoint(health) => Some(health),
            Row::Profile(_) => None,
        }
    }

    /// Puts an endpoint's health in the place of what it had, which is returned.
    pub fn insert(&mut self, id: EndpointId, health: Arc<EndpointHealth>) -> Option<Arc<EndpointHealth>> {
        self.rows.insert(Number::Endpoint(id), Row::Endpoint(health)).and_then(Row::into_endpoint)
    }

    /// Takes an endpoint's health out.
    pub fn remove(&mut self, id: &EndpointId) -> Option<Arc<EndpointHealth>> {
        self.rows.remove(&Number::Endpoint(*id)).and_then(Row::into_endpoint)
    }

    /// The endpoints' health, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&EndpointId, &Arc<EndpointHealth>)> {
        self.rows.iter().filter_map(|(number, row)| match number {
            Number::Endpoint(id) => Some((id, row.as_endpoint()?)),
            Number::Profile(_) => None,
        })
    }

    /// The endpoints' numbers, in order.
    pub fn keys(&self) -> impl Iterator<Item = &EndpointId> {
        self.iter().map(|(id, _)| id)
    }

    /// The endpoints' health without their numbers, in their order.
    pub fn values(&self) -> impl Iterator<Item = &Arc<EndpointHealth>> {
        self.iter().map(|(_, health)| health)
    }

    /// How many endpoints there are; looks at all of them.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Is there no endpoint?
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// A profile's status and since when.
    pub fn status(&self, id: ProfileId) -> Option<ProfileHealth> {
        self.profile_row(id)?.status
    }

    /// The profiles' statuses, in the order of their numbers.
    pub fn statuses(&self) -> impl Iterator<Item = (ProfileId, ProfileHealth)> {
        self.rows.iter().filter_map(|(number, row)| match (number, row) {
            (Number::Profile(id), Row::Profile(row)) => Some((*id, row.status?)),
            _ => None,
        })
    }

    /// Puts a profile's status in the place of what it had, which is returned; `None` takes it out.
    pub fn set_status(&mut self, id: ProfileId, status: Option<ProfileHealth>) -> Option<ProfileHealth> {
        self.change_profile_row(id, |row| std::mem::replace(&mut row.status, status))
    }

    /// The profile of that number: the one in [`super::State::profiles`].
    pub fn profile(&self, id: ProfileId) -> Option<&Arc<Profile>> {
        self.profile_row(id)?.profile.as_ref()
    }

    /// Keeps up with [`super::State::profiles`].
    pub(crate) fn set_profile(&mut self, id: ProfileId, profile: Option<Arc<Profile>>) {
        self.change_profile_row(id, |row| row.profile = profile);
    }

    /// Is it the same tree, so that nothing in it is different?
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.rows.ptr_eq(&other.rows)
    }

    fn profile_row(&self, id: ProfileId) -> Option<&ProfileRow> {
        match self.rows.get(&Number::Profile(id))? {
            Row::Profile(row) => Some(row),
            Row::Endpoint(_) => None,
        }
    }

    /// A row with nothing in it is none.
    fn change_profile_row<R>(&mut self, id: ProfileId, change: impl FnOnce(&mut ProfileRow) -> R) -> R {
        let number = Number::Profile(id);
        let Row::Profile(row) =
            self.rows.entry(number).or_insert_with(|| Row::Profile(ProfileRow::default()))
        else {
            unreachable!("a profile's number has a profile's row")
        };
        let result = change(row);
        if row.profile.is_none() && row.status.is_none() {
            self.rows.remove(&number);
        }
        result
    }
}

impl Index<&EndpointId> for HealthTree {
    type Output = Arc<EndpointHealth>;

    /// The health of an endpoint that is known to be there.
    fn index(&self, id: &EndpointId) -> &Arc<EndpointHealth> {
        self.get(id).expect("each endpoint of a state has its health")
    }
}

impl Row {
    fn as_endpoint(&self) -> Option<&Arc<EndpointHealth>> {
        if let Self::Endpoint(health) = self { Some(health) } else { None }
    }

    fn into_endpoint(self) -> Option<Arc<EndpointHealth>> {
        if let Self::Endpoint(health) = self { Some(health) } else { None }
    }
}

impl Number {
    /// Not even a snapshot that gives one number to both makes them one.
    fn order(self) -> (u64, bool) {
        match self {
            Self::Profile(id) => (id.0, false),
            Self::Endpoint(id) => (id.0, true),
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{add_profile, remove_profile};
    use crate::health::EndpointStatus::{Degraded, Online};
    use crate::health::ProfileStatus;
    use crate::model::Timestamp;
    use crate::state::State;

    #[test]
    fn obj_5_profiles_and_endpoints_lie_in_one_tree_and_are_told_apart() {
        let mut state = State::default();
        let targets = [("192.0.2.1", Online), ("192.0.2.2", Degraded)];
        let profiles = ["a", "b"].map(|name| add_profile(&mut state, "example.com", name, &targets));
        let endpoints: Vec<EndpointId> = state
            .profiles
            .values()
            .flat_map(|profile| &profile.endpoints)
            .map(|endpoint| endpoint.id)
            .collect();
        assert!(state.health.keys().eq(&endpoints));
        assert_eq!((state.health.len(), state.health.values().count()), (4, 4));
        assert!(state.health.statuses().map(|(id, _)| id).eq(profiles));
        for (id, profile) in &state.profiles {
            assert!(Arc::ptr_eq(profile, state.health.profile(*id).unwrap()));
        }
        let same = (ProfileId(endpoints[0].0), EndpointId(profiles[0].0));
        assert!(state.health.profile(same.0).is_none() && state.health.status(same.0).is_none());
        assert!(state.health.get(&same.1).is_none());

        let before = state.health.clone();
        assert!(before.ptr_eq(&state.health));
        let down = ProfileHealth { status: ProfileStatus::Degraded, since: Timestamp(9) };
        let was = state.health.set_status(profiles[0], Some(down));
        assert_eq!((was, state.health.status(profiles[0])), (before.status(profiles[0]), Some(down)));
        assert!(!before.ptr_eq(&state.health));

        profiles.into_iter().for_each(|id| drop(remove_profile(&mut state, id)));
        assert!(state.health.is_empty());
        assert_eq!(state.health, HealthTree::default(), "a row with nothing in it is none");
    }
}
