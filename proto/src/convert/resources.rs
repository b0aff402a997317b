//! Services, regions, agents, and the small messages that stand in others.

use bytes::Bytes;
use waymark_core::model::{
    Agent, AgentRun, Caseless, Header, HeaderValue, MemberId, Region, Revision, Service, StatusRange,
    Timestamp, Violation, parse_target,
};

use super::{Malformed, parsed};
use crate::admin::v1 as wire;

impl From<&Service> for wire::Service {
    fn from(service: &Service) -> Self {
        let Service { name, target, location, is_running, revision } = service;
        Self {
            name: name.to_string(),
            target: target.to_string(),
            location: location.as_ref().map(ToString::to_string),
            running: *is_running,
            revision: revision.0,
        }
    }
}

impl TryFrom<wire::Service> for Service {
    type Error = Malformed;

    fn try_from(message: wire::Service) -> Result<Self, Malformed> {
        let wire::Service { name, target, location, running, revision } = message;
        Ok(Self {
            name: Caseless::new(&name),
            target: parsed("service.target", &target, parse_target)?,
            location: location.as_deref().map(Caseless::new),
            is_running: running,
            revision: Revision(revision),
        })
    }
}

/// A secret that is not encrypted is left out: this is what comes to stand in the log (SEC-4).
impl From<&Header> for wire::Header {
    fn from(header: &Header) -> Self {
        let Header { name, value } = header;
        let (value, sealed) = match value {
            HeaderValue::Plain(text) => (text.clone(), None),
            HeaderValue::Secret(_) => (String::new(), Some(Bytes::new())),
            HeaderValue::Sealed(bytes) => (String::new(), Some(Bytes::copy_from_slice(bytes))),
        };
        Self { name: name.clone(), value, secret: sealed.is_some(), sealed: sealed.unwrap_or_default() }
    }
}

impl From<wire::Header> for Header {
    fn from(message: wire::Header) -> Self {
        let wire::Header { name, value, secret, sealed } = message;
        let value = match (secret, sealed.is_empty()) {
            (_, false) => HeaderValue::Sealed(sealed.as_ref().into()),
            (true, true) => HeaderValue::Secret(value),
            (false, true) => HeaderValue::Plain(value),
        };
        Self { name, value }
    }
}

impl From<&StatusRange> for wire::StatusRange {
    fn from(range: &StatusRange) -> Self {
        let StatusRange { min, max } = *range;
        Self { min, max }
    }
}

impl From<wire::StatusRange> for StatusRange {
    fn from(message: wire::StatusRange) -> Self {
        let wire::StatusRange { min, max } = message;
        Self { min, max }
    }
}

/// Millionths of a degree in a degree.
const E6: f64 = 1_000_000.0;

impl From<&Region> for wire::Region {
    fn from(region: &Region) -> Self {
        let Region { name, latitude_e6, longitude_e6, revision } = region;
        Self {
            name: name.to_string(),
            latitude: f64::from(*latitude_e6) / E6,
            longitude: f64::from(*longitude_e6) / E6,
            revision: revision.0,
        }
    }
}

/// Reads a region as somebody wishes it. Refuses a coordinate that is no place on Earth here already: core counts in
/// whole millionths of a degree, so such a value may not even fit.
pub fn region_wish(message: wire::Region) -> Result<Region, Vec<Violation>> {
    let wire::Region { name, latitude, longitude, revision } = message;
    let mut violations = Vec::new();
    let mut coordinate = |field: &'static str, degrees: f64, limit: f64| {
        if !(-limit..=limit).contains(&degrees) {
            violations.push(Violation::new(field, format!("{degrees} is outside -{limit}–{limit}")));
            return 0;
        }
        millionths(field, degrees).unwrap_or_default()
    };
    let latitude_e6 = coordinate("latitude", latitude, 90.0);
    let longitude_e6 = coordinate("longitude", longitude, 180.0);
    if !violations.is_empty() {
        return Err(violations);
    }
    Ok(Region { name: Caseless::new(&name), latitude_e6, longitude_e6, revision: Revision(revision) })
}

impl TryFrom<wire::Region> for Region {
    type Error = Malformed;

    fn try_from(message: wire::Region) -> Result<Self, Malformed> {
        let wire::Region { name, latitude, longitude, revision } = message;
        Ok(Self {
            name: Caseless::new(&name),
            latitude_e6: millionths("region.latitude", latitude)?,
            longitude_e6: millionths("region.longitude", longitude)?,
            revision: Revision(revision),
        })
    }
}

/// Exact for every value that came out of core, also for those that core will refuse: what is in the log must be read.
fn millionths(field: &'static str, degrees: f64) -> Result<i32, Malformed> {
    let rounded = (degrees * E6).round();
    if (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&rounded) {
        Ok(rounded as i32)
    } else {
        Err(Malformed::new(field, format!("{degrees} does not fit")))
    }
}

impl From<&Agent> for wire::Agent {
    /// The member's name is not core's to know: whoever knows the members fills it in.
    fn from(agent: &Agent) -> Self {
        let Agent { name, region, run, session, member, version, lost, is_blind, since } = agent;
        Self {
            name: name.to_string(),
            region: region.to_string(),
            member: String::new(),
            version: version.clone(),
            lost: *lost,
            since_ms: since.0,
            run: run.0,
            session: session.0,
            member_id: member.0,
            blind: *is_blind,
        }
    }
}

impl From<wire::Agent> for Agent {
    fn from(message: wire::Agent) -> Self {
        let wire::Agent { name, region, member: _, version, lost, since_ms, run, session, member_id, blind } =
            message;
        Self {
            name: Caseless::new(&name),
            region: Caseless::new(&region),
            run: AgentRun(run),
            session: Revision(session),
            member: MemberId(member_id),
            version,
            lost,
            is_blind: blind,
            since: Timestamp(since_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn val_1_a_place_off_the_earth_is_refused_with_both_coordinates() {
        let message = wire::Region { name: "moon".into(), latitude: f64::NAN, longitude: 180.1, revision: 0 };
        let fields: Vec<String> =
            region_wish(message).unwrap_err().into_iter().map(|found| found.to_string()).collect();
        assert_eq!(fields, ["latitude: NaN is outside -90–90", "longitude: 180.1 is outside -180–180"]);
    }

    proptest::proptest! {
        #[test]
        fn coordinates_survive_the_wire(latitude_e6: i32, longitude_e6: i32) {
            let region = Region { name: "r".into(), latitude_e6, longitude_e6, revision: Revision(7) };
            proptest::prop_assert_eq!(Region::try_from(wire::Region::from(&region)), Ok(region));
        }
    }
}
