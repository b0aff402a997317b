//! What commands replaced, as snapshots keep it.

use std::sync::Arc;

use waymark_core::health::ProfileStatus;
use waymark_core::model::{
    Agent, Caseless, EndpointId, LogIndex, Name, Network, Profile, ProfileId, Region, Revision, Service,
    Timestamp, Zone,
};
use waymark_core::state::{Past, ProfileHealth, Replaced};

use super::brake::{brake_record, recorded_brake};
use super::geography::{digest_bytes, override_message, stored_digest, stored_override};
use super::health::{health_message, stored_health};
use super::overrides::{override_record, replaced_override};
use super::profile::stored_profile;
use super::records::{no_record_set, replaced_no_record_set, replaced_record_set};
use super::{Malformed, number, parsed, required};
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;
use crate::storage::v1::replaced::Kind;

/// How much of a past stands in one record, in bytes, roughly; a larger object stands alone.
const RECORD_WEIGHT: usize = 1 << 20;

/// What the command that led to `counter` replaced, in as many records as it takes.
pub(super) fn past_messages(counter: Revision, past: &Past) -> impl Iterator<Item = stored::StoredPast> + '_ {
    let Past { at, index, replaced } = past;
    let mut left = replaced.iter().peekable();
    std::iter::from_fn(move || {
        let mut part = vec![left.next()?];
        let mut weight = part[0].weight();
        while let Some(next) = left.next_if(|next| weight + next.weight() <= RECORD_WEIGHT) {
            weight += next.weight();
            part.push(next);
        }
        let replaced = part.into_iter().map(|replaced| stored::Replaced { kind: Some(kind(replaced)) });
        Some(stored::StoredPast {
            counter: counter.0,
            index: index.0,
            at_ms: at.0,
            replaced: replaced.collect(),
        })
    })
}

/// The counter, and what the command that led to it replaced.
pub(super) fn stored_past(message: stored::StoredPast) -> Result<(Revision, Past), Malformed> {
    let stored::StoredPast { counter, index, at_ms, replaced } = message;
    let each = |stored::Replaced { kind }| replaced_of(required("past.replaced", kind)?);
    let replaced = replaced.into_iter().map(each).collect::<Result<_, _>>()?;
    Ok((Revision(counter), Past { at: Timestamp(at_ms), index: LogIndex(index), replaced }))
}

/// A profile as snapshots keep it, but for its status.
pub(super) fn profile_message(profile: &Profile) -> stored::StoredProfile {
    stored::StoredProfile {
        id: profile.id.0,
        profile: Some(profile.into()),
        endpoint_ids: profile.endpoints.iter().map(|endpoint| endpoint.id.0).collect(),
        ..stored::StoredProfile::default()
    }
}

fn kind(replaced: &Replaced) -> Kind {
    match replaced {
        Replaced::Zone(_, Some(zone)) => Kind::Zone(zone.as_ref().into()),
        Replaced::Zone(name, None) => Kind::NoZone(name.to_string()),
        Replaced::Profile(_, Some(profile)) => Kind::Profile(profile_message(profile)),
        Replaced::Profile(id, None) => Kind::NoProfile(id.0),
        Replaced::Status(id, Some(ProfileHealth { status, since })) => Kind::Status(stored::StoredStatus {
            profile: id.0,
            status: wire::Status::from(*status).into(),
            since_ms: since.0,
        }),
        Replaced::Status(id, None) => Kind::NoStatus(id.0),
        Replaced::Health(id, Some(health)) => Kind::Health(health_message(*id, health)),
        Replaced::Health(id, None) => Kind::NoHealth(id.0),
        Replaced::Records(_, _, Some(set)) => Kind::RecordSet(set.as_ref().into()),
        Replaced::Records(name, record_type, None) => Kind::NoRecordSet(no_record_set(name, *record_type)),
        Replaced::Service(_, Some(service)) => Kind::Service(service.as_ref().into()),
        Replaced::Service(name, None) => Kind::NoService(name.to_string()),
        Replaced::Region(_, Some(region)) => Kind::Region(region.as_ref().into()),
        Replaced::Region(name, None) => Kind::NoRegion(name.to_string()),
        Replaced::Agent(_, Some(agent)) => Kind::Agent(agent.as_ref().into()),
        Replaced::Agent(name, None) => Kind::NoAgent(name.to_string()),
        Replaced::LatencyRow(_, Some(row)) => Kind::LatencyRow(row.as_ref().into()),
        Replaced::LatencyRow(network, None) => Kind::NoLatencyRow(network.to_string()),
        Replaced::Override(id, Some(over)) => Kind::Override(override_record(*id, over)),
        Replaced::Override(id, None) => Kind::NoOverride(id.0),
        Replaced::Brake(id, Some(brake)) => Kind::Brake(brake_record(*id, brake)),
        Replaced::Brake(id, None) => Kind::NoBrake(id.0),
        Replaced::GeoTable(digest, revision) => {
            Kind::GeoTable(stored::GeoTableChoice { digest: digest_bytes(*digest), revision: revision.0 })
        }
        Replaced::GeoOverride(network, Some(found)) => Kind::GeoOverride(override_message(*network, *found)),
        Replaced::GeoOverride(network, None) => Kind::NoGeoOverride(network.to_string()),
    }
}

fn replaced_of(kind: Kind) -> Result<Replaced, Malformed> {
    Ok(match kind {
        Kind::Zone(zone) => {
            let zone = Zone::try_from(zone)?;
            Replaced::Zone(zone.name.clone(), Some(Arc::new(zone)))
        }
        Kind::NoZone(name) => Replaced::Zone(parsed("past.no_zone", &name, Name::parse)?, None),
        Kind::Profile(stored::StoredProfile { id, profile, endpoint_ids, .. }) => {
            let profile = required("past.profile", profile)?;
            let profile = stored_profile(profile, ProfileId(id), &endpoint_ids)?;
            Replaced::Profile(profile.id, Some(Arc::new(profile)))
        }
        Kind::NoProfile(id) => Replaced::Profile(ProfileId(id), None),
        Kind::Status(stored::StoredStatus { profile, status, since_ms }) => {
            let status = ProfileStatus::try_from(number::<wire::Status>("past.status", status)?)?;
            let health = ProfileHealth { status, since: Timestamp(since_ms) };
            Replaced::Status(ProfileId(profile), Some(health))
        }
        Kind::NoStatus(id) => Replaced::Status(ProfileId(id), None),
        Kind::Health(health) => {
            let (endpoint, health) = stored_health(health)?;
            Replaced::Health(endpoint, Some(Arc::new(health)))
        }
        Kind::NoHealth(id) => Replaced::Health(EndpointId(id), None),
        Kind::RecordSet(set) => replaced_record_set(set)?,
        Kind::NoRecordSet(name) => replaced_no_record_set(name)?,
        Kind::Service(service) => {
            let service = Service::try_from(service)?;
            Replaced::Service(service.name.clone(), Some(Arc::new(service)))
        }
        Kind::Override(message) => replaced_override(message)?,
        Kind::NoOverride(id) => Replaced::Override(EndpointId(id), None),
        Kind::Brake(message) => {
            let (profile, brake) = recorded_brake(message)?;
            Replaced::Brake(profile, Some(brake))
        }
        Kind::NoBrake(id) => Replaced::Brake(ProfileId(id), None),
        Kind::NoService(name) => Replaced::Service(Caseless::new(&name), None),
        kind => replaced_place(kind)?,
    })
}

/// The same for what is about where things are.
fn replaced_place(kind: Kind) -> Result<Replaced, Malformed> {
    let network =
        |field, text: &str| text.parse::<Network>().map_err(|fault| Malformed::new(field, fault.to_string()));
    Ok(match kind {
        Kind::Region(region) => {
            let region = Region::try_from(region)?;
            Replaced::Region(region.name.clone(), Some(Arc::new(region)))
        }
        Kind::NoRegion(name) => Replaced::Region(Caseless::new(&name), None),
        Kind::Agent(agent) => {
            let agent = Agent::from(agent);
            Replaced::Agent(agent.name.clone(), Some(Arc::new(agent)))
        }
        Kind::NoAgent(name) => Replaced::Agent(Caseless::new(&name), None),
        Kind::LatencyRow(row) => {
            let row = waymark_core::state::LatencyRow::try_from(row)?;
            Replaced::LatencyRow(row.network, Some(Arc::new(row)))
        }
        Kind::NoLatencyRow(text) => Replaced::LatencyRow(network("past.no_latency_row", &text)?, None),
        Kind::GeoTable(stored::GeoTableChoice { digest, revision }) => {
            Replaced::GeoTable(stored_digest("past.geo_table", &digest)?, Revision(revision))
        }
        Kind::GeoOverride(message) => {
            let (network, found) = stored_override(message)?;
            Replaced::GeoOverride(network, Some(found))
        }
        Kind::NoGeoOverride(text) => Replaced::GeoOverride(network("past.no_geo_override", &text)?, None),
        other => return Err(Malformed::new("past.replaced", format!("{other:?} is not known"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F-CLU-09: a record that is longer than a reader takes would make a snapshot that nobody reads.
    #[test]
    fn a_large_past_is_written_in_parts() {
        let region = |number: usize| Replaced::Region(Caseless::new(&format!("r{number}")), None);
        let past = Past { at: Timestamp(7), index: LogIndex(7), replaced: (0..50_000).map(region).collect() };
        let parts: Vec<_> = past_messages(Revision(9), &past).collect();
        assert!(parts.len() > 1 && parts.iter().all(|part| part.replaced.len() <= RECORD_WEIGHT / 128));
        let read: Vec<Replaced> =
            parts.into_iter().flat_map(|part| stored_past(part).unwrap().1.replaced).collect();
        assert_eq!(read, past.replaced);
    }
}
