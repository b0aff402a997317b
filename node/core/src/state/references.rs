//! Who stands for whom: derived from the profiles, so that the cost of a change does not grow with their number.

use std::collections::{BTreeMap, BTreeSet};

use imbl::OrdSet;

use super::State;
use crate::model::{Caseless, Profile, ProfileId, profile_limits::NESTING_MAX};

/// Which profiles nest which, which use which service, and which are flattened. Derived, so never stored: see [`State::rebuild_references`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct References {
    /// Child and parent.
    parents: OrdSet<(ProfileId, ProfileId)>,
    /// Service and profile.
    users: OrdSet<(Caseless, ProfileId)>,
    /// Profiles that are flattened.
    flattened: OrdSet<ProfileId>,
}

impl References {
    /// The profiles that have a nested endpoint for `child`.
    pub fn parents(&self, child: ProfileId) -> impl Iterator<Item = ProfileId> + '_ {
        self.parents.range((child, ProfileId(0))..).take_while(move |(of, _)| *of == child).map(|(_, by)| *by)
    }

    /// The profiles in `changed` and all above them, each once and behind all of those below it: the order in which
    /// whatever follows from a profile's children is made anew (STA-10).
    pub(super) fn upward(&self, changed: &BTreeSet<ProfileId>) -> Vec<ProfileId> {
        let mut last_level: BTreeMap<ProfileId, usize> = changed.iter().map(|id| (*id, 0)).collect();
        let mut level = changed.clone();
        // Loops cannot be, so there is an end; none of a level's profiles is as far as the longest way leads.
        for number in 1..=NESTING_MAX {
            level = level.iter().flat_map(|id| self.parents(*id)).collect();
            last_level.extend(level.iter().map(|id| (*id, number)));
        }
        let mut ordered: Vec<(usize, ProfileId)> =
            last_level.into_iter().map(|(id, number)| (number, id)).collect();
        ordered.sort_unstable();
        ordered.into_iter().map(|(_, id)| id).collect()
    }

    /// The profiles whose endpoints' names are looked up (DNS-16).
    pub fn flattened(&self) -> impl Iterator<Item = ProfileId> + '_ {
        self.flattened.iter().copied()
    }

    /// The profiles that have an endpoint for `service`.
    pub fn users<'a>(&'a self, service: &'a Caseless) -> impl Iterator<Item = ProfileId> + 'a {
        let first = (service.clone(), ProfileId(0));
        self.users.range(first..).take_while(move |(of, _)| of == service).map(|(_, by)| *by)
    }
}

impl State {
    /// Derives from the profiles who stands for whom, and puts them beside their health, after they were read from a
    /// snapshot. Returns the first name that no profile and no service has.
    pub fn rebuild_references(&mut self) -> Result<(), Caseless> {
        self.references = References::default();
        for profile in self.profiles.clone().values() {
            self.health.set_profile(profile.id, Some(profile.clone()));
            let services = profile.endpoints.iter().filter_map(|endpoint| endpoint.service());
            let unknown = profile
                .children()
                .filter(|child| !self.profile_ids.contains_key(*child))
                .chain(services.filter(|service| !self.services.contains_key(*service)))
                .next();
            if let Some(unknown) = unknown {
                return Err(unknown.clone());
            }
            self.refer(profile);
        }
        Ok(())
    }

    /// Takes in whom `profile` stands for, and whether it is flattened. A child that is not there is passed over.
    pub(super) fn refer(&mut self, profile: &Profile) {
        for child in profile.children().filter_map(|name| self.profile_ids.get(name)) {
            self.references.parents.insert((*child, profile.id));
        }
        for service in profile.endpoints.iter().filter_map(|endpoint| endpoint.service()) {
            self.references.users.insert((service.clone(), profile.id));
        }
        if profile.flatten {
            self.references.flattened.insert(profile.id);
        }
    }

    /// Forgets whom `profile` stands for.
    pub(super) fn unrefer(&mut self, profile: &Profile) {
        for child in profile.children().filter_map(|name| self.profile_ids.get(name)) {
            self.references.parents.remove(&(*child, profile.id));
        }
        for service in profile.endpoints.iter().filter_map(|endpoint| endpoint.service()) {
            self.references.users.remove(&(service.clone(), profile.id));
        }
        self.references.flattened.remove(&profile.id);
    }
}
