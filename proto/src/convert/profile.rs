//! Whole profiles and monitors, as they are stored and shown.

use waymark_core::model::{
    Caseless, EndpointId, Monitor, Name, Profile, ProfileId, Protocol, RelativeName, Revision,
};

use super::endpoint::stored_endpoint;
use super::{Malformed, number, parsed, required};
use crate::admin::v1 as wire;

impl From<&Profile> for wire::Profile {
    /// The numbers of profile and endpoints do not cross: snapshots carry them beside.
    fn from(profile: &Profile) -> Self {
        let Profile {
            id: _,
            name,
            zone,
            relative_name,
            full_name: _,
            routing,
            ttl,
            max_return,
            flatten,
            max_removal,
            removal_window_ms,
            enabled,
            monitor,
            endpoints,
            revision,
        } = profile;
        Self {
            name: name.to_string(),
            zone: zone.to_string(),
            relative_name: relative_name.to_string(),
            routing: wire::Routing::from(*routing).into(),
            ttl_seconds: *ttl,
            enabled: Some(*enabled),
            monitor: Some(monitor.into()),
            endpoints: endpoints.iter().map(Into::into).collect(),
            revision: revision.0,
            max_return: *max_return,
            // Off is what nothing means, in older versions too.
            flatten: flatten.then_some(true),
            max_removal_percent: *max_removal,
            removal_window_ms: *removal_window_ms,
        }
    }
}

/// The profile in `message`, numbered `id`, its endpoints numbered by `endpoint_ids` in their order.
pub(super) fn stored_profile(
    message: wire::Profile,
    id: ProfileId,
    endpoint_ids: &[u64],
) -> Result<Profile, Malformed> {
    let wire::Profile {
        name,
        zone,
        relative_name,
        routing,
        ttl_seconds,
        enabled,
        monitor,
        endpoints,
        revision,
        max_return,
        flatten,
        max_removal_percent,
        removal_window_ms,
    } = message;
    if endpoints.len() != endpoint_ids.len() {
        let description = format!("{} for {} endpoints", endpoint_ids.len(), endpoints.len());
        return Err(Malformed::new("profile.endpoint_ids", description));
    }
    let zone = parsed("profile.zone", &zone, Name::parse)?;
    let relative_name = parsed("profile.relative_name", &relative_name, RelativeName::parse)?;
    let full_name = parsed("profile.relative_name", &name, |_| relative_name.within(&zone))?;
    Ok(Profile {
        id,
        name: Caseless::new(&name),
        zone,
        relative_name,
        full_name,
        routing: number::<wire::Routing>("profile.routing", routing)?.try_into()?,
        ttl: ttl_seconds,
        max_return,
        flatten: flatten.unwrap_or(false),
        max_removal: max_removal_percent,
        removal_window_ms,
        enabled: enabled.unwrap_or(true),
        monitor: required("profile.monitor", monitor)?.try_into()?,
        endpoints: endpoints
            .into_iter()
            .zip(endpoint_ids)
            .map(|(endpoint, id)| stored_endpoint(endpoint, EndpointId(*id)))
            .collect::<Result<_, _>>()?,
        revision: Revision(revision),
    })
}

impl From<&Monitor> for wire::Monitor {
    fn from(monitor: &Monitor) -> Self {
        let Monitor {
            protocol,
            port,
            path,
            interval_ms,
            timeout_ms,
            tolerated_failures,
            recovery_successes,
            expect,
            headers,
        } = monitor;
        Self {
            protocol: wire::Protocol::from(*protocol).into(),
            port: *port,
            path: path.clone(),
            interval_ms: *interval_ms,
            timeout_ms: *timeout_ms,
            tolerated_failures: *tolerated_failures,
            recovery_successes: *recovery_successes,
            expect: expect.iter().map(Into::into).collect(),
            headers: headers.iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<wire::Monitor> for Monitor {
    type Error = Malformed;

    fn try_from(message: wire::Monitor) -> Result<Self, Malformed> {
        let wire::Monitor {
            protocol,
            port,
            path,
            interval_ms,
            timeout_ms,
            tolerated_failures,
            recovery_successes,
            expect,
            headers,
        } = message;
        Ok(Self {
            protocol: match number("monitor.protocol", protocol)? {
                wire::Protocol::Unspecified => Protocol::default(),
                word => word.try_into()?,
            },
            port,
            path,
            interval_ms,
            timeout_ms,
            tolerated_failures,
            recovery_successes,
            expect: expect.into_iter().map(Into::into).collect(),
            headers: headers.into_iter().map(Into::into).collect(),
        })
    }
}
