//! Commands as they stand in the log and travel to the leader.
//!
//! A command that was proposed must be readable for ever, also one that core refuses. Creations carry their resource,
//! in which what is not there is kept at its default; updates carry resource and mask.

use bytes::Bytes;
use prost_types::FieldMask;
use waymark_core::model::{Caseless, MemberId, Revision, ServicePatch, Timestamp, Violation, ZonePatch};
use waymark_core::model::{EndpointPatch, ProfilePatch};
use waymark_core::state::{Action, ApplyLevel, Command, CommandId};

use super::audit::audited;
use super::brake::{release_brakes, released_brakes};
use super::cookies::{found_message, founded, rotate_cookies, rotated_cookies};
use super::enrolment::{enrolment_message, stored_enrolment};
use super::flattened::{flatten_targets, flattened_targets};
use super::geography::{override_set, set_override, use_geo, used_geo};
use super::latency::{update_latency, updated_latency};
use super::learned::{forget_latencies, forgotten_latencies, learn_latencies, learned_latencies};
use super::overrides::{
    end_overrides, ended_overrides, lift_overrides, lifted_overrides, overridden_endpoints,
    override_endpoints,
};
use super::patch::{endpoint_message, joined, profile_message, service_message};
use super::records::{delete_records, records_deleted, records_set, set_records};
use super::report::{expire_verdicts, expired_verdicts, record_outcomes, recorded_outcomes};
use super::sessions::{open_session, opened_session, sight, sight_set};
use super::zone::zone_message;
use super::{Malformed, each, required, wish};
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;
use crate::storage::v1::command::Action as Wish;

/// The entry that holds `commands`, gathered at `at`.
pub fn entry_message(at: Timestamp, commands: &[Command]) -> stored::Entry {
    stored::Entry { at_ms: at.0, commands: commands.iter().map(Into::into).collect() }
}

/// When an entry was proposed, and its commands.
pub fn entry_parts(entry: stored::Entry) -> Result<(Timestamp, Vec<Command>), Malformed> {
    let stored::Entry { at_ms, commands } = entry;
    Ok((Timestamp(at_ms), each(commands)?))
}

/// The mark of a client's wish: 16 bytes, or none.
pub fn request_id(bytes: &[u8]) -> Result<Option<CommandId>, Violation> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let marked = <[u8; 16]>::try_from(bytes).map(u128::from_be_bytes).map(CommandId);
    marked.map(Some).map_err(|_| {
        Violation::new("write.request_id", format!("{} bytes; 16 random bytes are wanted", bytes.len()))
    })
}

pub(super) fn request_id_bytes(id: CommandId) -> Bytes {
    Bytes::copy_from_slice(&id.0.to_be_bytes())
}

impl From<&Command> for stored::Command {
    fn from(command: &Command) -> Self {
        let Command { id, author, note, action } = command;
        Self {
            id: id.map(request_id_bytes).unwrap_or_default(),
            author: author.clone(),
            note: note.as_ref().map(Into::into),
            action: Some(action.into()),
        }
    }
}

impl TryFrom<stored::Command> for Command {
    type Error = Malformed;

    fn try_from(message: stored::Command) -> Result<Self, Malformed> {
        let stored::Command { id, author, note, action } = message;
        Ok(Self {
            id: request_id(&id).map_err(|fault| Malformed::new("command.id", fault.description))?,
            author,
            note: note.map(Into::into),
            action: required("command.action", action)?.try_into()?,
        })
    }
}

impl From<&Action> for Wish {
    #[expect(clippy::too_many_lines, reason = "a row for each action, and nothing else")]
    fn from(action: &Action) -> Self {
        match action {
            Action::Found { cluster, cookies } => Self::Found(found_message(cluster, *cookies)),
            Action::CreateZone { name, fields } => Self::CreateZone(zone_wish(name, fields, &None, false)),
            Action::UpdateZone { name, fields, if_revision } => {
                Self::UpdateZone(zone_wish(name, fields, if_revision, true))
            }
            Action::DeleteZone { name, if_revision } => Self::DeleteZone(gone(name, if_revision)),
            Action::CreateProfile { name, zone, relative_name, fields, endpoints } => {
                Self::CreateProfile(new_profile(name, zone, relative_name, fields, endpoints))
            }
            Action::UpdateProfile { name, fields, if_revision } => {
                Self::UpdateProfile(profile_wish(name, fields, if_revision))
            }
            Action::DeleteProfile { name, if_revision } => Self::DeleteProfile(gone(name, if_revision)),
            Action::AddEndpoint { profile, name, fields, if_revision } => {
                Self::AddEndpoint(endpoint_wish(profile, name, fields, if_revision, false))
            }
            Action::UpdateEndpoint { profile, name, fields, if_revision } => {
                Self::UpdateEndpoint(endpoint_wish(profile, name, fields, if_revision, true))
            }
            Action::RemoveEndpoint { profile, name, if_revision } => {
                Self::RemoveEndpoint(remove(profile, name, if_revision))
            }
            Action::OverrideEndpoints { pattern, kind, reason, span_ms, even_last } => {
                Self::OverrideEndpoints(override_endpoints(pattern, *kind, reason, *span_ms, *even_last))
            }
            Action::LiftOverrides { pattern, reason } => Self::LiftOverrides(lift_overrides(pattern, reason)),
            Action::EndOverrides { ended } => Self::EndOverrides(end_overrides(ended)),
            Action::ReleaseBrakes { due } => Self::ReleaseBrakes(release_brakes(due)),
            Action::SetRecords { zone, relative_name, record_type, ttl, data, if_revision } => {
                Self::SetRecords(set_records((zone, relative_name, *record_type), *ttl, data, if_revision))
            }
            Action::DeleteRecords { zone, relative_name, record_type, if_revision } => {
                Self::DeleteRecords(delete_records((zone, relative_name, *record_type), if_revision))
            }
            Action::RegisterService { name, fields, if_revision } => {
                Self::RegisterService(service_wish(name, fields, if_revision))
            }
            Action::SwitchService { name, is_running, if_revision } => {
                Self::SwitchService(service_switch(name, *is_running, if_revision))
            }
            Action::DeleteService { name, if_revision } => Self::DeleteService(gone(name, if_revision)),
            Action::UpdateLatency { set, remove } => Self::UpdateLatency(update_latency(set, remove)),
            Action::LearnLatencies { region, found } => Self::LearnLatencies(learn_latencies(region, found)),
            Action::ForgetLatencies { before } => Self::ForgetLatencies(forget_latencies(*before)),
            Action::UseGeo { digest, if_revision } => Self::UseGeo(use_geo(*digest, if_revision)),
            Action::SetGeoOverride { network, place } => Self::SetGeoOverride(set_override(network, place)),
            Action::DeleteGeoOverride { network, if_revision } => {
                Self::DeleteGeoOverride(gone(network, if_revision))
            }
            Action::SetRegion(region) => Self::SetRegion(region.into()),
            Action::DeleteRegion { name, if_revision } => Self::DeleteRegion(gone(name, if_revision)),
            Action::OpenSession { agent, region, run, version, member, is_blind } => {
                Self::OpenSession(open_session(agent, region, *run, version, *member, *is_blind))
            }
            Action::SetSight { agent, session, is_blind } => {
                Self::SetSight(sight(agent, *session, *is_blind))
            }
            Action::RecordOutcomes { agent, run, outcomes } => {
                Self::RecordOutcomes(record_outcomes(agent, *run, outcomes))
            }
            Action::ExpireVerdicts { agent, session, endpoints } => {
                Self::ExpireVerdicts(expire_verdicts(agent, *session, endpoints))
            }
            Action::LoseAgent { agent, session } => Self::LoseAgent(lose_agent(agent, *session)),
            Action::AllotMember { number } => Self::AllotMember(stored::AllotMember { number: number.0 }),
            Action::RaiseApplyLevel { to } => Self::RaiseApplyLevel(stored::RaiseApplyLevel { to: to.0 }),
            Action::Audit { outcome } => {
                Self::Audit(stored::Audit { outcome: wire::AuditOutcome::from(*outcome).into() })
            }
            Action::ForgetHistory { before } => Self::ForgetHistory(forget_history(*before)),
            Action::RotateCookies { fresh } => Self::RotateCookies(rotate_cookies(*fresh)),
            Action::FlattenTargets { found } => Self::FlattenTargets(flatten_targets(found)),
            Action::Enrolment(wish) => Self::Enrolment(enrolment_message(wish)),
            Action::ForgetAgent { name } => Self::ForgetAgent(gone(name, &None)),
        }
    }
}

/// The end of what has a name of its own.
fn gone(name: &str, if_revision: &Option<Revision>) -> stored::Removal {
    remove("", name, if_revision)
}

fn lose_agent(agent: &Caseless, session: Revision) -> stored::LoseAgent {
    stored::LoseAgent { agent: agent.to_string(), session: session.0 }
}

fn lost_agent(message: stored::LoseAgent) -> Action {
    Action::LoseAgent { agent: Caseless::new(&message.agent), session: Revision(message.session) }
}

fn forget_history(before: Timestamp) -> stored::ForgetHistory {
    stored::ForgetHistory { before_ms: before.0 }
}

fn forgotten_history(message: stored::ForgetHistory) -> Action {
    Action::ForgetHistory { before: Timestamp(message.before_ms) }
}

fn profile_wish(name: &str, fields: &ProfilePatch, if_revision: &Option<Revision>) -> stored::ProfileWish {
    let (profile, mask) = profile_message(name, fields);
    stored::ProfileWish {
        profile: Some(profile),
        mask: Some(mask),
        if_revision: if_revision.map(|revision| revision.0),
    }
}

fn service_wish(name: &str, fields: &ServicePatch, if_revision: &Option<Revision>) -> stored::ServiceWish {
    let (service, mask) = service_message(name, fields);
    stored::ServiceWish {
        service: Some(service),
        mask: Some(mask),
        if_revision: if_revision.map(|revision| revision.0),
    }
}

fn service_switch(name: &str, is_running: bool, if_revision: &Option<Revision>) -> stored::ServiceSwitch {
    stored::ServiceSwitch {
        name: name.to_owned(),
        running: is_running,
        if_revision: if_revision.map(|revision| revision.0),
    }
}

fn zone_wish(
    name: &str,
    fields: &ZonePatch,
    if_revision: &Option<Revision>,
    masked: bool,
) -> stored::ZoneWish {
    let (zone, mask) = zone_message(name, fields);
    stored::ZoneWish {
        zone: Some(zone),
        mask: masked.then_some(mask),
        if_revision: if_revision.map(|revision| revision.0),
    }
}

fn endpoint_wish(
    profile: &str,
    name: &str,
    fields: &EndpointPatch,
    if_revision: &Option<Revision>,
    masked: bool,
) -> stored::EndpointWish {
    let (endpoint, mask) = endpoint_message(name, fields);
    stored::EndpointWish {
        profile: profile.to_owned(),
        endpoint: Some(endpoint),
        mask: masked.then_some(mask),
        if_revision: if_revision.map(|revision| revision.0),
    }
}

fn new_profile(
    name: &str,
    zone: &str,
    relative_name: &str,
    fields: &ProfilePatch,
    endpoints: &[(String, EndpointPatch)],
) -> stored::ProfileWish {
    let (profile, _) = profile_message(name, fields);
    let profile = wire::Profile {
        zone: zone.to_owned(),
        relative_name: relative_name.to_owned(),
        endpoints: endpoints.iter().map(|(name, fields)| endpoint_message(name, fields).0).collect(),
        ..profile
    };
    stored::ProfileWish { profile: Some(profile), mask: None, if_revision: None }
}

fn remove(parent: &str, name: &str, if_revision: &Option<Revision>) -> stored::Removal {
    stored::Removal {
        parent: parent.to_owned(),
        name: name.to_owned(),
        if_revision: if_revision.map(|revision| revision.0),
    }
}

impl TryFrom<Wish> for Action {
    type Error = Malformed;

    fn try_from(wish: Wish) -> Result<Self, Malformed> {
        match wish {
            Wish::Found(message) => founded(message),
            Wish::CreateZone(stored::ZoneWish { zone, mask: _, if_revision: _ }) => {
                readable(wish::create_zone(required("create_zone.zone", zone)?))
            }
            Wish::UpdateZone(stored::ZoneWish { zone, mask, if_revision }) => {
                let mask = required_mask(mask)?;
                readable(wish::update_zone(required("update_zone.zone", zone)?, Some(&mask), if_revision))
            }
            Wish::CreateProfile(stored::ProfileWish { profile, mask: _, if_revision: _ }) => {
                readable(wish::create_profile(required("create_profile.profile", profile)?))
            }
            Wish::UpdateProfile(stored::ProfileWish { profile, mask, if_revision }) => {
                let profile = required("update_profile.profile", profile)?;
                readable(wish::update_profile(profile, Some(&required_mask(mask)?), if_revision))
            }
            Wish::AddEndpoint(stored::EndpointWish { profile, endpoint, mask: _, if_revision }) => {
                let endpoint = required("add_endpoint.endpoint", endpoint)?;
                readable(wish::add_endpoint(profile, endpoint, if_revision))
            }
            Wish::UpdateEndpoint(stored::EndpointWish { profile, endpoint, mask, if_revision }) => {
                let endpoint = required("update_endpoint.endpoint", endpoint)?;
                readable(wish::update_endpoint(profile, endpoint, Some(&required_mask(mask)?), if_revision))
            }
            Wish::OverrideEndpoints(message) => overridden_endpoints(message),
            Wish::LiftOverrides(message) => Ok(lifted_overrides(message)),
            Wish::EndOverrides(message) => Ok(ended_overrides(message)),
            Wish::ReleaseBrakes(message) => Ok(released_brakes(message)),
            Wish::SetRecords(message) => records_set(message),
            Wish::DeleteRecords(message) => records_deleted(message),
            Wish::RegisterService(message) => registered_service(message),
            Wish::SwitchService(message) => Ok(switched_service(message)),
            Wish::DeleteService(removal) => {
                Ok(removal_of(removal, |name, if_revision| Self::DeleteService { name, if_revision }))
            }
            Wish::UpdateLatency(message) => Ok(updated_latency(message)),
            Wish::LearnLatencies(message) => learned_latencies(message),
            Wish::ForgetLatencies(message) => Ok(forgotten_latencies(message)),
            Wish::UseGeo(choice) => used_geo(choice),
            Wish::SetGeoOverride(message) => Ok(override_set(message)),
            Wish::DeleteGeoOverride(removal) => Ok(removal_of(removal, |network, if_revision| {
                Self::DeleteGeoOverride { network, if_revision }
            })),
            Wish::SetRegion(region) => Ok(Self::SetRegion(region.try_into()?)),
            Wish::DeleteZone(removal) => {
                Ok(removal_of(removal, |name, if_revision| Self::DeleteZone { name, if_revision }))
            }
            Wish::DeleteProfile(removal) => {
                Ok(removal_of(removal, |name, if_revision| Self::DeleteProfile { name, if_revision }))
            }
            Wish::RemoveEndpoint(removal) => Ok(removed_endpoint(removal)),
            Wish::DeleteRegion(removal) => {
                Ok(removal_of(removal, |name, if_revision| Self::DeleteRegion { name, if_revision }))
            }
            Wish::RaiseApplyLevel(message) => Ok(Action::RaiseApplyLevel { to: ApplyLevel(message.to) }),
            Wish::AllotMember(message) => Ok(Action::AllotMember { number: MemberId(message.number) }),
            Wish::Audit(message) => audited(message),
            Wish::ForgetHistory(message) => Ok(forgotten_history(message)),
            Wish::FlattenTargets(message) => flattened_targets(message),
            Wish::RotateCookies(message) => rotated_cookies(message),
            Wish::Enrolment(message) => stored_enrolment(message).map(Self::Enrolment),
            Wish::ForgetAgent(removal) => Ok(Self::ForgetAgent { name: removal.name }),
            Wish::OpenSession(session) => Ok(opened_session(session)),
            Wish::SetSight(message) => Ok(sight_set(message)),
            Wish::RecordOutcomes(record) => recorded_outcomes(record),
            Wish::ExpireVerdicts(silence) => Ok(expired_verdicts(silence)),
            Wish::LoseAgent(message) => Ok(lost_agent(message)),
        }
    }
}

fn registered_service(message: stored::ServiceWish) -> Result<Action, Malformed> {
    let stored::ServiceWish { service, mask, if_revision } = message;
    let service = required("register_service.service", service)?;
    readable(wish::register_service(service, Some(&required_mask(mask)?), if_revision))
}

fn switched_service(message: stored::ServiceSwitch) -> Action {
    let stored::ServiceSwitch { name, running, if_revision } = message;
    Action::SwitchService { name, is_running: running, if_revision: if_revision.map(Revision) }
}

fn removed_endpoint(removal: stored::Removal) -> Action {
    let stored::Removal { parent: profile, name, if_revision } = removal;
    Action::RemoveEndpoint { profile, name, if_revision: if_revision.map(Revision) }
}

fn removal_of(removal: stored::Removal, action: impl FnOnce(String, Option<Revision>) -> Action) -> Action {
    let stored::Removal { parent: _, name, if_revision } = removal;
    action(name, if_revision.map(Revision))
}

/// A mask without paths names nothing, which is not the same as none: an update in the log always has one.
fn required_mask(mask: Option<FieldMask>) -> Result<FieldMask, Malformed> {
    required("command.mask", mask)
}

fn readable(action: Result<Action, Vec<Violation>>) -> Result<Action, Malformed> {
    action.map_err(|violations| Malformed::new("command.action", joined(&violations)))
}
