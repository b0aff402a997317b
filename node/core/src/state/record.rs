//! The state itself: ordered persistent maps, so that a copy costs nothing and equal states look equal everywhere.

use std::sync::Arc;

use imbl::OrdMap;

use super::{
    ApplyLevel, AuditTrail, Brake, CommandId, CookieSecrets, Enrolment, Event, EventId, Geography,
    HealthTree, History, LatencyTable, LearnedTable, References, Rejection, Reply,
};
use crate::geo::CloudRegion;
use crate::health::{EndpointHealth, ProfileStatus, RegionalVerdict, regional_verdicts};
use crate::model::{
    Agent, Caseless, EndpointId, Name, Override, Point, Profile, ProfileId, RecordKey, RecordSet, Region,
    Revision, Service, Timestamp, Zone,
};

/// A profile's status and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileHealth {
    /// The status in force.
    pub status: ProfileStatus,
    /// When it came into force.
    pub since: Timestamp,
}

/// A region that endpoints and agents may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRegion {
    /// Its name, in the letters that it was given.
    pub name: Caseless,
    /// Where it is.
    pub point: Point,
}

/// What a client's command came to, kept for its retries (CLI-4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// Its place in the order in which commands are forgotten.
    pub order: u64,
    /// What its author was told.
    pub reply: Result<Reply, Rejection>,
}

/// What the cluster agrees on. Changed by [`super::apply()`] alone; a clone shares everything with its original.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The cluster's id; empty until it is founded.
    pub cluster: String,
    /// The behaviour of `apply` that the cluster goes by (CLU-9).
    pub apply_level: ApplyLevel,
    /// Raised by one for each accepted command (OBJ-8).
    pub counter: Revision,
    /// The number that the next profile or endpoint gets.
    pub next_id: u64,
    /// The highest number that a member was allotted; 0 while none was.
    pub last_member: u64,
    /// Zones by name.
    pub zones: OrdMap<Name, Arc<Zone>>,
    /// Profiles by number.
    pub profiles: OrdMap<ProfileId, Arc<Profile>>,
    /// Profile numbers by profile name.
    pub profile_ids: OrdMap<Caseless, ProfileId>,
    /// Profile numbers by the [`Name::tree_key`] of the name that they answer for.
    pub owners: OrdMap<Arc<[u8]>, ProfileId>,
    /// Static records by owner and type.
    pub records: OrdMap<RecordKey, Arc<RecordSet>>,
    /// Services by name.
    pub services: OrdMap<Caseless, Arc<Service>>,
    /// Who stands for whom, derived from the profiles.
    pub references: References,
    /// How far clients are from regions, by the operator.
    pub latency: LatencyTable,
    /// How far clients are from regions, as it was measured: for those of whom the operator says nothing.
    pub learned: LearnedTable,
    /// Where clients are.
    pub geography: Geography,
    /// What DNS cookies are made and checked with.
    pub cookies: CookieSecrets,
    /// How agents come to identities by the cluster itself.
    pub enrolment: Enrolment,
    /// Regions by name.
    pub regions: OrdMap<Caseless, Arc<Region>>,
    /// Agents by name.
    pub agents: OrdMap<Caseless, Arc<Agent>>,
    /// Health by endpoint, one entry for each endpoint of each profile; and each profile's status.
    pub health: HealthTree,
    /// What operators put over what probes find, by endpoint (STA-13).
    pub overrides: OrdMap<EndpointId, Arc<Override>>,
    /// Who has left pools by probing, and who is held in them, by profile (FAIL-2).
    pub brakes: OrdMap<ProfileId, Arc<Brake>>,
    /// What commands of the last days replaced.
    pub history: History,
    /// The latest [`State::EVENTS_MAX`] events.
    pub events: OrdMap<EventId, Arc<Event>>,
    /// Who changed what.
    pub audit: AuditTrail,
    /// The latest [`State::REMEMBERED_MAX`] marked commands.
    pub remembered: OrdMap<CommandId, Arc<Remembered>>,
    /// Their marks in the order in which they came.
    pub remembered_order: OrdMap<u64, CommandId>,
}

impl State {
    /// Most events that are kept; the oldest go first.
    pub const EVENTS_MAX: usize = 10_000;
    /// Most marked commands that are kept for retries; the oldest go first.
    pub const REMEMBERED_MAX: usize = 10_000;

    /// Most regions that are declared, of which a cloud's need not be: ten times as many as a large plan has.
    pub const REGIONS_MAX: usize = 500;
    /// Most agents that are listed, lost ones among them: ten times as many as a large plan has.
    pub const AGENTS_MAX: usize = 2_000;

    /// The profile of that name.
    pub fn profile(&self, name: &Caseless) -> Option<&Arc<Profile>> {
        self.profiles.get(self.profile_ids.get(name)?)
    }

    /// The region of that name: one that the operator has declared, or a cloud's, which needs no declaring (OBJ-9,
    /// SET-14). Declaring a cloud's region moves it.
    pub fn region(&self, name: &Caseless) -> Option<KnownRegion> {
        let own = self.regions.get(name).map(|region| KnownRegion {
            name: region.name.clone(),
            point: Point { latitude_e6: region.latitude_e6, longitude_e6: region.longitude_e6 },
        });
        let of_a_cloud = || {
            let region = CloudRegion::find(name)?;
            Some(KnownRegion { name: Caseless::new(region.name()), point: region.point() })
        };
        own.or_else(of_a_cloud)
    }

    /// The closest zone that `name` lies in.
    pub fn enclosing_zone(&self, name: &Name) -> Option<&Arc<Zone>> {
        name.suffixes().find_map(|suffix| self.zones.get(suffix))
    }

    /// The closest zone around `name` that gives it addresses as a name server (DNS-1).
    pub fn addressing_zone(&self, name: &Name) -> Option<&Arc<Zone>> {
        let gives_addresses =
            |zone: &&Arc<Zone>| zone.name_server(name).is_some_and(|server| !server.addresses.is_empty());
        name.suffixes().filter_map(|suffix| self.zones.get(suffix)).find(gives_addresses)
    }

    /// What the regions say of an endpoint, from `health`, its health in this state (STA-2).
    pub fn regional_verdicts(&self, health: &EndpointHealth) -> Vec<RegionalVerdict> {
        let regions = |name| self.agents.get(name).map(|agent| &agent.region);
        regional_verdicts(
            health.tallies.iter().filter_map(|(name, tally)| Some((name, regions(name)?, tally))),
        )
    }
}
