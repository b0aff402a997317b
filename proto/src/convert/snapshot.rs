//! A state as a header and one record for each object, and back.

use std::collections::HashSet;
use std::sync::Arc;

use waymark_core::health::ProfileStatus;
use waymark_core::model::{
    Agent, EndpointId, Profile, ProfileId, RecordSet, Region, Revision, Service, Timestamp, Zone,
};
use waymark_core::state::{
    ApplyLevel, AuditTrail, Brake, CommandId, Event, History, ProfileHealth, Remembered, State,
};

use super::audit::{audit_entry, audit_message};
use super::brake::{brake_record, recorded_brake};
use super::command::{request_id, request_id_bytes};
use super::cookies::{cookies_message, stored_cookies};
use super::enrolment::{enrolment_records, recorded_authority, recorded_token};
use super::geography::{choice_message, override_message, stored_digest, stored_override};
use super::health::{health_message, stored_health};
use super::history::{past_messages, profile_message, stored_past};
use super::learned::stored_learned_row;
use super::overrides::{override_record, recorded_override};
use super::profile::stored_profile;
use super::{Malformed, number, required};
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;
use crate::storage::v1::snapshot_record::Kind;

/// The format that this version writes, and the only one that it reads.
pub const SNAPSHOT_FORMAT: u32 = 1;

/// The header's part that comes from the state. Id, log position and membership are Raft's to fill in.
pub fn snapshot_header(state: &State) -> stored::SnapshotHeader {
    stored::SnapshotHeader {
        format_version: SNAPSHOT_FORMAT,
        snapshot_id: String::new(),
        last: None,
        membership_at: None,
        membership: None,
        cluster: state.cluster.clone(),
        counter: state.counter.0,
        next_id: state.next_id,
        last_member: state.last_member,
        apply_level: state.apply_level.0,
    }
}

/// Everything in `state` that the header does not say, one object each, in an order that is the same on every member.
pub fn snapshot_records(state: &State) -> impl Iterator<Item = stored::SnapshotRecord> + '_ {
    // What can be derived from the rest is left out: the maps from names to numbers, who stands for
    // whom, and the order of the replies.
    let State {
        cluster: _,
        counter: _,
        next_id: _,
        last_member: _,
        apply_level: _,
        zones,
        profiles,
        profile_ids: _,
        owners: _,
        records,
        services,
        references: _,
        latency,
        learned,
        geography,
        cookies,
        enrolment,
        regions,
        agents,
        health,
        overrides: over,
        brakes,
        history,
        events,
        audit,
        remembered,
        remembered_order: _,
    } = state;
    let zones = zones.values().map(|zone| Kind::Zone(zone.as_ref().into()));
    let records = records.values().map(|set| Kind::RecordSet(set.as_ref().into()));
    let services = services.values().map(|service| Kind::Service(service.as_ref().into()));
    let rows = latency.rows.iter().map(|(_, row)| Kind::LatencyRow(row.as_ref().into()));
    let table = (latency.revision != Revision::default()).then(|| {
        Kind::LatencyTable(stored::LatencyTable { revision: latency.revision.0, at_ms: latency.at.0 })
    });
    let learned = learned.rows.iter().map(|(_, row)| Kind::LearnedRow(row.as_ref().into()));
    let overrides = geography.overrides.iter();
    let overrides = overrides.map(|(network, found)| Kind::GeoOverride(override_message(*network, *found)));
    let regions = regions.values().map(|region| Kind::Region(region.as_ref().into()));
    let agents = agents.values().map(|agent| Kind::Agent(agent.as_ref().into()));
    let profiles = profiles.iter().map(|(id, profile)| profile_record(profile, health.status(*id)));
    let health = health.iter().map(|(id, health)| Kind::Health(health_message(*id, health)));
    let pasts = history.iter().flat_map(|(counter, past)| past_messages(counter, past).map(Kind::Past));
    let beginning = [Kind::History(stored::HistoryBeginning { begins_ms: history.begins().0 })];
    let events = events.values().map(|event| Kind::Event(event.as_ref().into()));
    let audit = audit.entries.values().map(|entry| Kind::Audit(audit_message(entry)));
    let replies = remembered.iter().map(|(id, remembered)| Kind::Reply(reply_message(*id, remembered)));
    zones
        .chain(records)
        .chain(regions)
        .chain(rows)
        .chain(table)
        .chain(learned)
        .chain(overrides)
        .chain(choice_message(geography).map(Kind::GeoTable))
        .chain(cookies_message(cookies).map(Kind::Cookies))
        .chain(enrolment_records(enrolment))
        .chain(services)
        .chain(agents)
        .chain(profiles)
        .chain(health)
        .chain(over.iter().map(|(id, over)| Kind::Override(override_record(*id, over))))
        .chain(brakes.iter().map(|(id, brake)| Kind::Brake(brake_record(*id, brake))))
        .chain(beginning)
        .chain(pasts)
        .chain(events)
        .chain(audit)
        .chain(replies)
        .map(|kind| stored::SnapshotRecord { kind: Some(kind) })
}

fn profile_record(profile: &Profile, health: Option<ProfileHealth>) -> Kind {
    Kind::Profile(stored::StoredProfile {
        status: health.map(|health| wire::Status::from(health.status)).unwrap_or_default().into(),
        since_ms: health.map(|health| health.since.0).unwrap_or_default(),
        ..profile_message(profile)
    })
}

fn reply_message(id: CommandId, remembered: &Remembered) -> stored::StoredReply {
    let Remembered { order, reply } = remembered;
    stored::StoredReply { id: request_id_bytes(id), order: *order, reply: Some(reply.into()) }
}

/// Puts a state together from the parts of a snapshot, record by record.
#[derive(Debug)]
pub struct StateBuilder {
    state: State,
    endpoints: HashSet<u64>,
}

impl StateBuilder {
    /// Begins with the header; refuses a format of another version.
    pub fn new(header: &stored::SnapshotHeader) -> Result<Self, Malformed> {
        if header.format_version != SNAPSHOT_FORMAT {
            let description = format!(
                "{} is not readable by this version, which reads {SNAPSHOT_FORMAT}",
                header.format_version
            );
            return Err(Malformed::new("format_version", description));
        }
        let apply_level = ApplyLevel(header.apply_level).max(ApplyLevel::LOWEST);
        if apply_level > ApplyLevel::HIGHEST {
            let highest = ApplyLevel::HIGHEST;
            let description =
                format!("{apply_level} is above what this version supports, which is {highest}");
            return Err(Malformed::new("apply_level", description));
        }
        let mut state = State {
            apply_level,
            cluster: header.cluster.clone(),
            counter: Revision(header.counter),
            next_id: header.next_id,
            last_member: header.last_member,
            ..State::default()
        };
        // A snapshot of a version without a history does not say that nothing was forgotten.
        state.history.begin_at(History::UNKNOWN);
        Ok(Self { state, endpoints: HashSet::new() })
    }

    /// Takes one record, in any order; refuses what it cannot read or has seen already.
    #[expect(clippy::too_many_lines, reason = "a row for each kind, and nothing else")]
    pub fn add(&mut self, record: stored::SnapshotRecord) -> Result<(), Malformed> {
        match required("record", record.kind)? {
            Kind::Zone(zone) => {
                let zone = Zone::try_from(zone)?;
                fresh("zone.name", self.state.zones.insert(zone.name.clone(), Arc::new(zone)))
            }
            Kind::RecordSet(set) => {
                let set = RecordSet::try_from(set)?;
                fresh("record_set", self.state.records.insert(set.key(), Arc::new(set)))
            }
            Kind::Service(service) => {
                let service = Service::try_from(service)?;
                fresh("service.name", self.state.services.insert(service.name.clone(), Arc::new(service)))
            }
            Kind::LatencyRow(row) => {
                let is_other = self.state.latency.insert(row.try_into()?);
                if is_other { Ok(()) } else { Err(Malformed::new("latency_row.network", "is there twice")) }
            }
            Kind::LatencyTable(stored::LatencyTable { revision, at_ms }) => {
                self.state.latency.revision = Revision(revision);
                self.state.latency.at = Timestamp(at_ms);
                Ok(())
            }
            Kind::LearnedRow(message) => {
                fresh("learned_row.network", self.state.learned.insert(stored_learned_row(message)?))
            }
            Kind::GeoOverride(message) => {
                let (network, found) = stored_override(message)?;
                fresh("geo_override.network", self.state.geography.overrides.insert(network, found))
            }
            Kind::GeoTable(stored::GeoTableChoice { digest, revision }) => {
                self.state.geography.table = stored_digest("geo_table.digest", &digest)?;
                self.state.geography.revision = Revision(revision);
                Ok(())
            }
            Kind::Cookies(message) => {
                self.state.cookies = stored_cookies(message)?;
                Ok(())
            }
            Kind::IssuingAuthority(message) => {
                let authority = Arc::new(recorded_authority(message)?);
                fresh("issuing_authority", self.state.enrolment.authority.replace(authority))
            }
            Kind::JoinToken(message) => {
                let (hash, token) = recorded_token(message)?;
                fresh("join_token.hash", self.state.enrolment.tokens.insert(hash, Arc::new(token)))
            }
            Kind::Region(region) => {
                let region = Region::try_from(region)?;
                fresh("region.name", self.state.regions.insert(region.name.clone(), Arc::new(region)))
            }
            Kind::Agent(agent) => {
                let agent = Agent::from(agent);
                fresh("agent.name", self.state.agents.insert(agent.name.clone(), Arc::new(agent)))
            }
            Kind::Profile(profile) => self.add_profile(profile),
            Kind::Health(health) => {
                let (endpoint, health) = stored_health(health)?;
                fresh("health.endpoint", self.state.health.insert(endpoint, Arc::new(health)))
            }
            Kind::Override(message) => {
                let (endpoint, over) = recorded_override(message)?;
                fresh("override.endpoint", self.state.overrides.insert(endpoint, over))
            }
            Kind::Brake(message) => {
                let (profile, brake) = recorded_brake(message)?;
                fresh("brake.profile", self.state.brakes.insert(profile, brake))
            }
            Kind::Past(message) => {
                let (counter, past) = stored_past(message)?;
                self.state.history.add(counter, past);
                Ok(())
            }
            Kind::History(stored::HistoryBeginning { begins_ms }) => {
                self.state.history.begin_at(Timestamp(begins_ms));
                Ok(())
            }
            Kind::Event(event) => {
                let event = Event::try_from(event)?;
                fresh("event.counter", self.state.events.insert(event.id, Arc::new(event)))
            }
            Kind::Audit(message) => {
                let entry = audit_entry(message)?;
                fresh("audit.number", self.state.audit.entries.insert(entry.number, Arc::new(entry)))
            }
            Kind::Reply(reply) => self.add_reply(reply),
        }
    }

    fn add_profile(&mut self, message: stored::StoredProfile) -> Result<(), Malformed> {
        let stored::StoredProfile { id, profile, endpoint_ids, status, since_ms } = message;
        let id = ProfileId(id);
        if !endpoint_ids.iter().all(|endpoint| self.endpoints.insert(*endpoint)) {
            return Err(Malformed::new("profile.endpoint_ids", "has a number twice"));
        }
        let profile = stored_profile(required("profile.profile", profile)?, id, &endpoint_ids)?;
        let health = ProfileHealth {
            status: ProfileStatus::try_from(number::<wire::Status>("profile.status", status)?)?,
            since: Timestamp(since_ms),
        };
        fresh("profile.name", self.state.profile_ids.insert(profile.name.clone(), id))?;
        fresh("profile.relative_name", self.state.owners.insert(profile.full_name.tree_key(), id))?;
        fresh("profile.id", self.state.health.set_status(id, Some(health)))?;
        fresh("profile.id", self.state.profiles.insert(id, Arc::new(profile)))
    }

    fn add_reply(&mut self, message: stored::StoredReply) -> Result<(), Malformed> {
        let stored::StoredReply { id, order, reply } = message;
        let id = request_id(&id).map_err(|fault| Malformed::new("reply.id", fault.description))?;
        let id = required("reply.id", id)?;
        let reply = required("reply.reply", reply)?.try_into()?;
        fresh("reply.order", self.state.remembered_order.insert(order, id))?;
        fresh("reply.id", self.state.remembered.insert(id, Arc::new(Remembered { order, reply })))
    }

    /// The state; refuses one whose endpoints and healths do not belong together, or whose endpoints stand for what is
    /// not there, or records in a zone that is not.
    pub fn finish(self) -> Result<State, Malformed> {
        let Self { mut state, endpoints } = self;
        if let Err(name) = state.rebuild_references() {
            return Err(Malformed::new("endpoint", format!("'{name}' is no profile and no service")));
        }
        AuditTrail::check(state.audit.entries.values().map(AsRef::as_ref))
            .map_err(|(_, fault)| Malformed::new("audit", fault.to_string()))?;
        let mut records = state.records.values();
        if let Some(set) = records.find(|set| !state.zones.contains_key(&set.zone)) {
            return Err(Malformed::new("record_set.zone", format!("'{}' is no zone", set.zone)));
        }
        if let Some(stray) = state.overrides.keys().find(|endpoint| !endpoints.contains(&endpoint.0)) {
            return Err(Malformed::new("override.endpoint", format!("{} is of no profile", stray.0)));
        }
        let is_own = |profile: &ProfileId, id: &EndpointId| {
            state.profiles.get(profile).is_some_and(|profile| profile.endpoint_by_id(*id).is_some())
        };
        let kept = |brake: &Brake| brake.left.keys().chain(brake.held.keys()).copied().collect::<Vec<_>>();
        if let Some((stray, _)) =
            state.brakes.iter().find(|(id, brake)| !kept(brake).iter().all(|endpoint| is_own(id, endpoint)))
        {
            return Err(Malformed::new("brake.profile", format!("{} has not all of its endpoints", stray.0)));
        }
        let stray = state.health.keys().copied().find(|endpoint| !endpoints.contains(&endpoint.0));
        match stray {
            Some(endpoint) => {
                Err(Malformed::new("health.endpoint", format!("{} is of no profile", endpoint.0)))
            }
            None if state.health.len() < endpoints.len() => {
                let missing = endpoints.len() - state.health.len();
                Err(Malformed::new("health", format!("is missing for {missing} endpoints")))
            }
            None => Ok(state),
        }
    }
}

fn fresh<T>(field: &'static str, before: Option<T>) -> Result<(), Malformed> {
    match before {
        None => Ok(()),
        Some(_) => Err(Malformed::new(field, "is there twice")),
    }
}
