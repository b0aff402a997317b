//! The immutable picture that every reader holds: the state, and beside it what makes a query cheap to answer.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use foldhash::fast::FixedState;
use imbl::shared_ptr::DefaultSharedPtr;
use imbl::{GenericHashMap, OrdMap};

use super::near_zones::NearZones;
use super::{Change, Plan, State, Statuses};
use crate::geo::{DigestedTable, Locator};
use crate::health::{Check, Patience, Tally};
use crate::model::{
    Caseless, Distances, Endpoint, EndpointId, LogIndex, Name, Profile, ProfileId, Revision, Routing, Zone,
};

/// What a member knows at one log index.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The state that it was built from.
    pub state: State,
    /// The last log entry that the state contains.
    pub applied: LogIndex,
    /// Rises, to the state's counter, whenever something that an agent must probe changed.
    pub checks_revision: Revision,
    /// Where clients are.
    pub locator: Locator,
    /// The status of each endpoint.
    pub statuses: Statuses,
    /// How far from every place those regions are in which endpoints of `performance` profiles live or once lived.
    distances: OrdMap<Caseless, Arc<Distances>>,
    /// The plan of each profile by its full name, of disabled ones too: `explain` has something to say of them. Names are the
    /// operator's, so a fast hash will do: nobody else can choose such as fall together.
    plans: GenericHashMap<Name, Arc<Plan>, FixedState, DefaultSharedPtr>,
    /// The [`Name::tree_key`] of each name that exists: zones, name servers with addresses, static records, profiles
    /// that [`Plan::exists`] says so of.
    present: OrdMap<Arc<[u8]>, ()>,
    /// The zones, where they are few.
    near_zones: NearZones,
    edition: Edition,
}

/// Stands for what answers are made of beside who asks, chance and where clients are: plans, statuses and zones. Equal to
/// itself alone and its clones, so what was made of a view holds for another one with the same edition.
#[derive(Clone, Debug, Default)]
pub struct Edition(Arc<()>);

impl PartialEq for Edition {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl View {
    /// The view of `state`, built from nothing: after a restart or a snapshot. What agents probed before is unknown, so
    /// the checks count as changed.
    pub fn of(state: State, applied: LogIndex) -> Self {
        let zones = state.zones.keys().cloned().map(Change::Zone);
        let profiles = state.profiles.keys().copied().map(Change::Profile);
        let records = state.records.values();
        let records = records.map(|set| Change::Records(set.full_name.clone(), set.record_type));
        let changes: Vec<Change> = zones.chain(profiles).chain(records).chain([Change::Geography]).collect();
        let view = Self::default().after(state, &changes, applied);
        Self { checks_revision: view.state.counter, ..view }
    }

    /// The view of another state, built from nothing; clients are where they were.
    pub fn anew(&self, state: State, applied: LogIndex) -> Self {
        let locator = self.locator.overridden(state.geography.override_map());
        Self { locator, ..Self::of(state, applied) }
    }

    /// The same view, but that clients are located by `geo_table`, below the operator's overrides.
    pub fn located_anew(&self, geo_table: DigestedTable) -> Self {
        let locator = Locator::new(geo_table, self.state.geography.override_map());
        Self { locator, ..self.clone() }
    }

    /// The view after `changes` led to `state`; costs no more the more profiles there are, unless a region moved.
    pub fn after(&self, state: State, changes: &[Change], applied: LogIndex) -> Self {
        let mut touched = Touched::by(changes, &self.state, &state);
        let mut next = Self { state, applied, ..self.clone() };
        for region in &touched.moved {
            next.distances.remove(region);
            touched.profiles.extend(self.distant_from(region));
        }
        if !self.state.zones.ptr_eq(&next.state.zones) {
            next.near_zones = NearZones::of(&next.state.zones);
        }
        if touched.geography {
            next.locator = next.locator.overridden(next.state.geography.override_map());
        }
        let out = touched.judged.iter().filter(|id| next.renew_statuses(**id));
        touched.profiles.extend(out);
        let turned = next.renew_plans(&touched);
        for name in touched.gone.iter().chain(&touched.zone_names).chain(&turned) {
            next.renew_presence(name);
        }
        if touched.checked.iter().any(|id| checks_of(&self.state, *id) != checks_of(&next.state, *id)) {
            next.checks_revision = next.state.counter;
        }
        let is_same_edition = self.plans.ptr_eq(&next.plans)
            && self.statuses.is_same(&next.statuses)
            && self.state.zones.ptr_eq(&next.state.zones);
        if !is_same_edition {
            next.edition = Edition::default();
        }
        next
    }

    /// What answers are made of, to see whether another view's are made of the same.
    pub fn edition(&self) -> &Edition {
        &self.edition
    }

    /// The plan of the profile that answers for `name`, a lower-cased wire form.
    pub fn plan(&self, name: &[u8]) -> Option<&Arc<Plan>> {
        self.plans.get(name)
    }

    /// The zone of that name.
    pub fn zone(&self, name: &Name) -> Option<&Arc<Zone>> {
        self.near_zones.get(&self.state.zones, name)
    }

    /// The closest zone around `name`, a lower-cased wire form; none also where zones are many.
    pub fn near_zone_around(&self, name: &[u8]) -> Option<&Zone> {
        self.near_zones.around(name)
    }

    /// Does `name` lie in a zone of ours?
    pub fn is_ours(&self, name: &Name) -> bool {
        !self.near_zones.are_surely_without(name) && self.state.enclosing_zone(name).is_some()
    }

    /// The plan of the profile of that number: of a nested endpoint's child.
    pub fn plan_by_id(&self, id: ProfileId) -> Option<&Arc<Plan>> {
        self.plans.get(self.state.profiles.get(&id)?.full_name.as_wire())
    }

    /// Does anything exist at or below `name` that makes it an empty non-terminal at least (DNS-5)?
    pub fn is_present(&self, name: &Name) -> bool {
        let key = name.tree_key();
        self.present.range(key.clone()..).next().is_some_and(|(found, ())| found.starts_with(&key))
    }

    /// The addresses that `name` has as a name server of the closest zone around it that gives it any (DNS-1).
    pub fn name_server_addresses(&self, name: &Name) -> &[IpAddr] {
        let server = self.state.addressing_zone(name).and_then(|zone| zone.name_server(name));
        server.map(|server| server.addresses.as_slice()).unwrap_or_default()
    }

    /// How far `region` is from every place, if it is known to matter.
    pub(super) fn distances(&self, region: &Caseless) -> Option<&Arc<Distances>> {
        self.distances.get(region)
    }

    /// The profile and the endpoint of that number.
    pub fn endpoint(&self, id: EndpointId) -> Option<(&Arc<Profile>, &Endpoint)> {
        let health = self.state.health.get(&id)?;
        let profile = self.state.profiles.get(&health.profile)?;
        Some((profile, profile.endpoint_by_id(id)?))
    }

    /// What an agent must probe of that endpoint; `None` if there is none, or it is not to be probed (PRB-11).
    pub fn check(&self, id: EndpointId) -> Option<Check> {
        let (profile, endpoint) = self.endpoint(id)?;
        self.state.check(profile, endpoint)
    }

    /// Everything that an agent must probe (PRB-11), by profile in the order of their numbers.
    pub fn checks(&self) -> impl Iterator<Item = (EndpointId, Check)> + '_ {
        self.state.profiles.values().flat_map(|profile| profile_checks(&self.state, profile))
    }

    /// How patient the monitor of that endpoint is.
    pub fn patience(&self, id: EndpointId) -> Option<Patience> {
        self.endpoint(id).map(|(profile, _)| Patience::from(&profile.monitor))
    }

    /// What `agent` has counted on that endpoint.
    pub fn tally(&self, id: EndpointId, agent: &Caseless) -> Option<&Tally> {
        self.state.health.get(&id)?.tallies.get(agent)
    }

    /// Renews the statuses of a profile's endpoints; returns whether any of them is out that was not, or the reverse.
    fn renew_statuses(&mut self, id: ProfileId) -> bool {
        let mut is_turned = false;
        for endpoint in self.state.health.profile(id).into_iter().flat_map(|profile| &profile.endpoints) {
            let health =
                self.state.health.get(&endpoint.id).expect("each endpoint of a state has its health");
            let (before, status) = (self.statuses.get(endpoint.id), health.status);
            if before != status {
                self.statuses.set(endpoint.id, status);
                is_turned |= before.is_out() || status.is_out();
            }
        }
        is_turned
    }

    /// Renews the plans of the profiles of `touched`, and those of the parents of profiles that can answer other types
    /// than before; each once, behind those of its children. Returns the names of those that exist and did not, or no
    /// longer do.
    fn renew_plans(&mut self, touched: &Touched) -> Vec<Name> {
        let mut turned = Vec::new();
        for name in &touched.gone {
            self.plans.remove(name);
        }
        let mut due = touched.profiles.clone();
        for id in self.state.references.upward(&touched.profiles) {
            let Some(profile) = self.state.profiles.get(&id).filter(|_| due.contains(&id)).cloned() else {
                continue;
            };
            self.know_distances(&profile);
            let plan = Arc::new(Plan::of(self, &profile));
            let before = self.plans.insert(profile.full_name.clone(), plan.clone());
            if before.as_ref().is_some_and(|before| before.exists()) != plan.exists() {
                turned.push(profile.full_name.clone());
            }
            if before.is_none_or(|before| before.serves() != plan.serves()) {
                due.extend(self.state.references.parents(id));
            }
        }
        turned
    }

    /// Reckons how far the regions of `profile` are from every place, where nobody asked before.
    fn know_distances(&mut self, profile: &Profile) {
        if profile.routing != Routing::Performance {
            return;
        }
        for endpoint in &profile.endpoints {
            let Some(region) = self.state.resolve(endpoint).location else { continue };
            if self.distances.contains_key(region) {
                continue;
            }
            if let Some(known) = self.state.region(region) {
                self.distances.insert(known.name, Arc::new(Distances::to(known.point)));
            }
        }
    }

    /// The profiles whose plans know how far `region` is: a look at all of them, as rarely as regions move.
    fn distant_from(&self, region: &Caseless) -> Vec<ProfileId> {
        if !self.distances.contains_key(region) {
            return Vec::new();
        }
        let lives_there = |plan: &&Arc<Plan>| {
            plan.profile.routing == Routing::Performance
                && plan.endpoints.iter().any(|planned| planned.location.as_ref() == Some(region))
        };
        self.plans.values().filter(lives_there).map(|plan| plan.profile.id).collect()
    }

    fn renew_presence(&mut self, name: &Name) {
        let exists = self.state.zones.contains_key(name)
            || self.plans.get(name).is_some_and(|plan| plan.exists())
            || !self.name_server_addresses(name).is_empty()
            || self.state.record_sets(name).next().is_some();
        let key = name.tree_key();
        match (exists, self.present.contains_key(&key)) {
            (true, false) => self.present.insert(key, ()),
            (false, true) => self.present.remove(&key),
            (true, true) | (false, false) => None,
        };
    }
}

/// What must be looked at anew. A name may have more than one reason to exist and changes may come in any order, so
/// each name is judged by the new state as a whole, not by the change that touched it.
#[derive(Debug, Default)]
struct Touched {
    /// Profiles whose plans are to be made anew.
    profiles: BTreeSet<ProfileId>,
    /// Profiles whose endpoints' statuses may be different.
    judged: BTreeSet<ProfileId>,
    /// Full names of profiles that were taken away; others may have them now.
    gone: BTreeSet<Name>,
    /// Names of zones, of their name servers and of static records.
    zone_names: BTreeSet<Name>,
    /// Profiles whose checks may be different.
    checked: BTreeSet<ProfileId>,
    /// Regions that are new, elsewhere or gone.
    moved: BTreeSet<Caseless>,
    /// Are the operator's words on where clients are different?
    geography: bool,
}

impl Touched {
    fn by(changes: &[Change], before: &State, after: &State) -> Self {
        let mut touched = Self::default();
        for change in changes {
            match change {
                Change::Zone(name) => {
                    touched.add_zone(name, before);
                    touched.add_zone(name, after);
                }
                Change::Records(name, _) => {
                    touched.zone_names.insert(name.clone());
                }
                Change::Profile(id) => {
                    touched.checked.insert(*id);
                    touched.profiles.insert(*id);
                    touched.judged.insert(*id);
                }
                Change::ProfileRemoved(id, name) => {
                    touched.checked.insert(*id);
                    touched.gone.insert(name.clone());
                }
                Change::Health(id) => {
                    touched.judged.insert(*id);
                }
                Change::Region(name) => {
                    touched.moved.insert(name.clone());
                }
                Change::Geography => touched.geography = true,
                Change::Service(_) | Change::Latency | Change::Agent(_) | Change::Event(_) => {}
            }
        }
        touched
    }

    fn add_zone(&mut self, name: &Name, state: &State) {
        self.zone_names.insert(name.clone());
        let servers = state.zones.get(name).into_iter().flat_map(|zone| &zone.name_servers);
        self.zone_names.extend(servers.map(|server| server.name.clone()));
    }
}

fn profile_checks<'a>(
    state: &'a State,
    profile: &'a Profile,
) -> impl Iterator<Item = (EndpointId, Check)> + 'a {
    profile.endpoints.iter().filter_map(|endpoint| Some((endpoint.id, state.check(profile, endpoint)?)))
}

fn checks_of(state: &State, id: ProfileId) -> Vec<(EndpointId, Check)> {
    state.profiles.get(&id).into_iter().flat_map(|profile| profile_checks(state, profile)).collect()
}
