//! What the state was: for each command that changed what answers are made of, what it replaced. Undone one after the
//! other they lead back to any moment that is kept, so that the same functions can be asked about it (RTE-15). What was
//! measured of clients' networks is not kept: it would push out what operators did.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::OrdMap;

use super::{Brake, Change, LatencyRow, PlaceOverride, ProfileHealth, State};
use crate::geo::GeoDigest;
use crate::health::EndpointHealth;
use crate::model::{
    Agent, Caseless, Endpoint, EndpointId, Header, LogIndex, Name, Network, Override, Profile, ProfileId,
    RecordSet, RecordType, Region, Revision, Service, Timestamp, Zone,
};

/// What a command replaced: the object as it was, or that there was none.
#[derive(Clone, Debug, PartialEq)]
pub enum Replaced {
    /// A zone.
    Zone(Name, Option<Arc<Zone>>),
    /// A profile with its endpoints.
    Profile(ProfileId, Option<Arc<Profile>>),
    /// A profile's status.
    Status(ProfileId, Option<ProfileHealth>),
    /// An endpoint's health, where its status or a verdict became another. Counts alone are not kept.
    Health(EndpointId, Option<Arc<EndpointHealth>>),
    /// The static records of a name and type.
    Records(Name, RecordType, Option<Arc<RecordSet>>),
    /// A service.
    Service(Caseless, Option<Arc<Service>>),
    /// A region.
    Region(Caseless, Option<Arc<Region>>),
    /// An agent, where it was lost or found, went blind or saw again, or became one of another region.
    Agent(Caseless, Option<Arc<Agent>>),
    /// A row of the latency table.
    LatencyRow(Network, Option<Arc<LatencyRow>>),
    /// The choice of the geo table.
    GeoTable(Option<GeoDigest>, Revision),
    /// What an operator put over what probes find of an endpoint.
    Override(EndpointId, Option<Arc<Override>>),
    /// What the brake of a profile kept.
    Brake(ProfileId, Option<Arc<Brake>>),
    /// An override of the geo table.
    GeoOverride(Network, Option<PlaceOverride>),
}

/// What one command replaced, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// When the leader proposed the command.
    pub at: Timestamp,
    /// The log entry in which it stands.
    pub index: LogIndex,
    /// In the order in which it happened.
    pub replaced: Vec<Replaced>,
}

impl Replaced {
    /// How much room it takes, in bytes, roughly: the same on every member.
    pub fn weight(&self) -> usize {
        /// Of an object or a part of one, without what may be long in it.
        const OBJECT: usize = 128;
        /// Of a place's code, of a range of addresses, or of a record beside its data.
        const PLACE: usize = 32;
        /// Of an endpoint that a brake keeps.
        const BRAKED: usize = 48;
        /// Of the milliseconds to a region.
        const LATENCY: usize = 16;
        let headers = |headers: &[Header]| -> usize {
            headers.iter().map(|header| header.name.len() + header.value.weight()).sum()
        };
        OBJECT
            + match self {
                Self::Profile(_, Some(profile)) => {
                    let endpoint = |endpoint: &Endpoint| {
                        let places = endpoint.geo.len() + endpoint.subnets.len();
                        2 * OBJECT + headers(&endpoint.headers) + PLACE * places
                    };
                    headers(&profile.monitor.headers) + profile.endpoints.iter().map(endpoint).sum::<usize>()
                }
                Self::Records(_, _, Some(set)) => set.data.iter().map(|data| PLACE + data.len()).sum(),
                Self::Health(_, Some(health)) => {
                    let addresses = health.flattened.as_ref().map_or(0, |known| known.addresses().len());
                    health.tallies.len() * OBJECT + addresses * PLACE
                }
                Self::Override(_, Some(overridden)) => overridden.author.len() + overridden.reason.len(),
                Self::Brake(_, Some(brake)) => (brake.left.len() + brake.held.len()) * BRAKED,
                Self::LatencyRow(_, Some(row)) => row.latencies.len() * LATENCY,
                _ => 0,
            }
    }
}

impl Past {
    fn weight(&self) -> usize {
        self.replaced.iter().map(Replaced::weight).sum()
    }
}

/// The kept past, by the counter that each command led to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pasts: OrdMap<Revision, Arc<Past>>,
    /// The room that all of it takes.
    weight: usize,
    /// From when on all is kept: the moment of the last command that is forgotten.
    begins: Timestamp,
}

impl History {
    /// How long the past is kept, in milliseconds: seven days.
    pub const SPAN_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
    /// The most room that is taken, in bytes, roughly: 64 MiB. The oldest goes first.
    pub const WEIGHT_MAX: usize = 64 << 20;
    /// Stands for a beginning that nobody knows, until the next command is kept.
    pub const UNKNOWN: Timestamp = Timestamp(u64::MAX);

    /// The kept commands, oldest first, each by the counter that it led to.
    pub fn iter(&self) -> impl Iterator<Item = (Revision, &Arc<Past>)> {
        self.pasts.iter().map(|(counter, past)| (*counter, past))
    }

    /// From when on all is kept; 0 if nothing was ever forgotten.
    pub fn begins(&self) -> Timestamp {
        self.begins
    }

    /// Is there anything that is older than [`History::SPAN_MS`] at `now`?
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        let end = now.0.saturating_sub(Self::SPAN_MS);
        // Leaders' clocks differ: the oldest need not bear the earliest time.
        self.pasts.values().any(|past| past.at.0 < end)
    }

    /// Takes in what the next command replaced, or more of what the last one did, and forgets the oldest beyond
    /// [`History::WEIGHT_MAX`].
    pub fn add(&mut self, counter: Revision, past: Past) {
        if self.begins == Self::UNKNOWN {
            self.begins = past.at;
        }
        self.weight += past.weight();
        match self.pasts.get_mut(&counter) {
            Some(known) => Arc::make_mut(known).replaced.extend(past.replaced),
            None => {
                self.pasts.insert(counter, Arc::new(past));
            }
        }
        while self.weight > Self::WEIGHT_MAX {
            self.forget_oldest();
        }
    }

    /// Forgets everything up to the last command before `end`.
    pub(super) fn forget(&mut self, end: Timestamp) {
        let last = self.pasts.iter().rfind(|(_, past)| past.at < end).map(|(counter, _)| *counter);
        while self.pasts.get_min().is_some_and(|(counter, _)| Some(*counter) <= last) {
            self.forget_oldest();
        }
    }

    /// Says from when on all is kept, as a snapshot has it.
    pub fn begin_at(&mut self, begins: Timestamp) {
        self.begins = begins;
    }

    fn forget_oldest(&mut self) {
        let Some((counter, oldest)) = self.pasts.get_min().cloned() else { return };
        self.pasts.remove(&counter);
        self.weight -= oldest.weight();
        // A clock that was ahead must not put the beginning into the future.
        self.begins = self.pasts.get_min().map_or(oldest.at, |(_, next)| oldest.at.min(next.at));
    }
}

/// A moment that is not kept any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kept history begins {} ms after 1970", .begins.0)]
pub struct Forgotten {
    /// When it begins.
    pub begins: Timestamp,
}

impl State {
    /// The state at a moment, without a history of its own, and the last log entry that had changed it by then. `applied`
    /// is the last entry of this state.
    pub fn at(&self, moment: Timestamp, applied: LogIndex) -> Result<(Self, LogIndex), Forgotten> {
        if moment < self.history.begins {
            return Err(Forgotten { begins: self.history.begins });
        }
        let mut state = Self { history: History::default(), ..self.clone() };
        let mut index = applied;
        for (counter, past) in self.history.pasts.iter().rev() {
            if past.at <= moment {
                index = past.index;
                break;
            }
            past.replaced.iter().rev().for_each(|replaced| state.put_back(replaced));
            state.counter = Revision(counter.0 - 1);
            index = LogIndex(past.index.0 - 1);
        }
        // Profiles and services that were there together named each other rightly.
        let _ = state.rebuild_references();
        Ok((state, index))
    }

    fn put_back(&mut self, replaced: &Replaced) {
        match replaced {
            Replaced::Zone(name, before) => put(&mut self.zones, name, before),
            Replaced::Profile(id, before) => self.put_profile_back(*id, before.as_ref()),
            Replaced::Status(id, before) => {
                self.health.set_status(*id, *before);
            }
            Replaced::Health(id, Some(before)) => {
                self.health.insert(*id, before.clone());
            }
            Replaced::Health(id, None) => {
                self.health.remove(id);
            }
            Replaced::Records(name, record_type, before) => {
                put(&mut self.records, &(name.tree_key(), *record_type), before);
            }
            Replaced::Service(name, before) => put(&mut self.services, name, before),
            Replaced::Region(name, before) => put(&mut self.regions, name, before),
            Replaced::Agent(name, before) => put(&mut self.agents, name, before),
            Replaced::Override(id, before) => put(&mut self.overrides, id, before),
            Replaced::Brake(id, before) => put(&mut self.brakes, id, before),
            Replaced::LatencyRow(_, Some(before)) => {
                self.latency.insert((**before).clone());
            }
            Replaced::LatencyRow(network, None) => {
                self.latency.remove(network);
            }
            Replaced::GeoTable(digest, revision) => {
                self.geography.table = *digest;
                self.geography.revision = *revision;
            }
            Replaced::GeoOverride(network, before) => put(&mut self.geography.overrides, network, before),
        }
    }

    fn put_profile_back(&mut self, id: ProfileId, before: Option<&Arc<Profile>>) {
        if let Some(now) = self.profiles.remove(&id) {
            self.profile_ids.remove(&now.name);
            self.owners.remove(&now.full_name.tree_key());
            self.health.set_profile(id, None);
        }
        if let Some(before) = before {
            self.profile_ids.insert(before.name.clone(), id);
            self.owners.insert(before.full_name.tree_key(), id);
            self.profiles.insert(id, before.clone());
        }
    }
}

fn put<K: Ord + Clone, V: Clone>(map: &mut OrdMap<K, V>, key: &K, before: &Option<V>) {
    match before {
        Some(value) => map.insert(key.clone(), value.clone()),
        None => map.remove(key),
    };
}

/// What `changes` replaced on the way from `before` to `after`; rows, overrides and brakes have been told of in `told`.
pub(super) fn replaced(
    before: &State,
    after: &State,
    changes: &[Change],
    told: Vec<Replaced>,
) -> Vec<Replaced> {
    let mut found = told;
    let mut profiles: BTreeSet<ProfileId> = BTreeSet::new();
    for change in changes {
        match change {
            Change::Zone(name) => found.push(Replaced::Zone(name.clone(), before.zones.get(name).cloned())),
            Change::Profile(id) | Change::ProfileRemoved(id, _) | Change::Health(id) => {
                profiles.insert(*id);
            }
            Change::Records(name, record_type) => {
                let old = before.record_set(name, *record_type).cloned();
                found.push(Replaced::Records(name.clone(), *record_type, old));
            }
            Change::Service(name) => {
                found.push(Replaced::Service(name.clone(), before.services.get(name).cloned()));
            }
            Change::Region(name) => {
                found.push(Replaced::Region(name.clone(), before.regions.get(name).cloned()));
            }
            Change::Agent(name) => {
                let (old, new) = (before.agents.get(name), after.agents.get(name));
                let seen = |agent: &Arc<Agent>| (agent.region.clone(), agent.lost, agent.is_blind);
                if old.map(seen) != new.map(seen) {
                    found.push(Replaced::Agent(name.clone(), old.cloned()));
                }
            }
            Change::Latency | Change::Geography | Change::Event(_) => {}
        }
    }
    profiles.into_iter().for_each(|id| replaced_of_profile(before, after, id, &mut found));
    found
}

fn replaced_of_profile(before: &State, after: &State, id: ProfileId, found: &mut Vec<Replaced>) {
    let (old, new) = (before.health.profile(id), after.health.profile(id));
    if !is_same(old, new) {
        found.push(Replaced::Profile(id, old.cloned()));
    }
    let status = before.health.status(id);
    if status != after.health.status(id) {
        found.push(Replaced::Status(id, status));
    }
    let mut add = |endpoint: EndpointId| {
        let (old, new) = (before.health.get(&endpoint), after.health.get(&endpoint));
        if !is_same(old, new) && !is_seen_alike(old, new) {
            found.push(Replaced::Health(endpoint, old.cloned()));
        }
    };
    let endpoints = |profile: Option<&Arc<Profile>>| {
        profile
            .cloned()
            .into_iter()
            .flat_map(|profile| profile.endpoints.iter().map(|endpoint| endpoint.id).collect::<Vec<_>>())
    };
    endpoints(old).for_each(&mut add);
    if !is_same(old, new) {
        let is_new = |id: &EndpointId| old.is_none_or(|old| old.endpoint_by_id(*id).is_none());
        endpoints(new).filter(is_new).for_each(&mut add);
    }
}

fn is_same<T>(old: Option<&Arc<T>>, new: Option<&Arc<T>>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => Arc::ptr_eq(old, new),
        (None, None) => true,
        _ => false,
    }
}

/// Do both lead to the same answers and verdicts?
fn is_seen_alike(old: Option<&Arc<EndpointHealth>>, new: Option<&Arc<EndpointHealth>>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return false };
    let rest =
        |health: &EndpointHealth| (health.status, health.judgement, health.stale_since, health.by_family);
    rest(old) == rest(new)
        && old.flattened == new.flattened
        && old
            .tallies
            .iter()
            .map(|(agent, tally)| (agent, tally.verdict))
            .eq(new.tallies.iter().map(|(agent, tally)| (agent, tally.verdict)))
}
