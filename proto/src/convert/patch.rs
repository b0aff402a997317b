//! From a message and a field mask to a patch, and back: what a wish says of each field (VAL-2, VAL-3).
//!
//! An empty list counts as not there, so `Set` of an empty list never comes out: it is `Clear`, which means the same.

use prost_types::FieldMask;
use waymark_core::model::{
    Edit, EndpointPatch, MonitorPatch, ProfilePatch, Protocol, Routing, ServicePatch, Violation,
};

use super::mask::{Fields, Named};
use crate::admin::v1 as wire;

pub(super) const NEVER_CHANGES: &str = "never changes; remove the object and create it anew";
pub(super) const OUTPUT_ONLY: &str = "is given by the cluster and can't be set";

/// The paths that an update of a profile may name.
pub const PROFILE_PATHS: [&str; 16] = [
    "routing",
    "ttl_seconds",
    "max_return",
    "flatten",
    "max_removal_percent",
    "removal_window_ms",
    "enabled",
    "monitor.protocol",
    "monitor.port",
    "monitor.path",
    "monitor.interval_ms",
    "monitor.timeout_ms",
    "monitor.tolerated_failures",
    "monitor.recovery_successes",
    "monitor.expect",
    "monitor.headers",
];
const PROFILE: Fields = Fields {
    noun: "profile",
    known: &PROFILE_PATHS,
    fixed: &[
        ("name", NEVER_CHANGES),
        ("zone", NEVER_CHANGES),
        ("relative_name", NEVER_CHANGES),
        ("revision", OUTPUT_ONLY),
        ("monitor", "is not named as a whole; name its fields, as in 'monitor.port'"),
        ("endpoints", "are not changed with their profile; change each endpoint by itself"),
    ],
};

/// The paths that an update of an endpoint may name.
pub const ENDPOINT_PATHS: [&str; 14] = [
    "target",
    "enabled",
    "priority",
    "weight",
    "location",
    "always_serve",
    "headers",
    "nested",
    "service",
    "endpoints_min",
    "endpoints_min_v4",
    "endpoints_min_v6",
    "geo",
    "subnets",
];
const ENDPOINT: Fields = Fields {
    noun: "endpoint",
    known: &ENDPOINT_PATHS,
    fixed: &[("name", NEVER_CHANGES), ("revision", OUTPUT_ONLY)],
};

/// The paths that a registration of a service may name.
pub const SERVICE_PATHS: [&str; 2] = ["target", "location"];
const SERVICE: Fields = Fields {
    noun: "service",
    known: &SERVICE_PATHS,
    fixed: &[
        ("name", NEVER_CHANGES),
        ("running", "is changed by starting and stopping the service"),
        ("revision", OUTPUT_ONLY),
    ],
};

/// What `profile` says of a profile's own fields; its endpoints are not looked at.
pub fn profile_patch(
    profile: wire::Profile,
    mask: Option<&FieldMask>,
) -> Result<ProfilePatch, Vec<Violation>> {
    let wire::Profile {
        name: _,
        zone: _,
        relative_name: _,
        routing,
        ttl_seconds,
        enabled,
        monitor,
        endpoints: _,
        revision: _,
        max_return,
        flatten,
        max_removal_percent,
        removal_window_ms,
    } = profile;
    let mut named = Named::read(mask, &PROFILE);
    let patch = ProfilePatch {
        routing: named.edit_word::<wire::Routing, Routing>(
            "routing",
            routing,
            &Routing::ALL.map(Routing::as_str),
        ),
        ttl: named.edit("ttl_seconds", ttl_seconds),
        max_return: named.edit("max_return", max_return),
        flatten: named.edit("flatten", flatten),
        max_removal: named.edit("max_removal_percent", max_removal_percent),
        removal_window_ms: named.edit("removal_window_ms", removal_window_ms),
        enabled: named.edit("enabled", enabled),
        monitor: monitor_patch(monitor.unwrap_or_default(), &mut named),
    };
    named.finish(patch)
}

fn monitor_patch(monitor: wire::Monitor, named: &mut Named<'_>) -> MonitorPatch {
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
    } = monitor;
    MonitorPatch {
        protocol: named.edit_word::<wire::Protocol, Protocol>(
            "monitor.protocol",
            protocol,
            &Protocol::ALL.map(Protocol::as_str),
        ),
        port: named.edit("monitor.port", port),
        path: named.edit("monitor.path", path),
        interval_ms: named.edit("monitor.interval_ms", interval_ms),
        timeout_ms: named.edit("monitor.timeout_ms", timeout_ms),
        tolerated_failures: named.edit("monitor.tolerated_failures", tolerated_failures),
        recovery_successes: named.edit("monitor.recovery_successes", recovery_successes),
        expect: named.edit_list("monitor.expect", expect.into_iter().map(Into::into).collect()),
        headers: named.edit_list("monitor.headers", headers.into_iter().map(Into::into).collect()),
    }
}

/// What `endpoint` says of an endpoint's fields.
pub fn endpoint_patch(
    endpoint: wire::Endpoint,
    mask: Option<&FieldMask>,
) -> Result<EndpointPatch, Vec<Violation>> {
    let wire::Endpoint {
        name: _,
        target,
        enabled,
        priority,
        weight,
        location,
        always_serve,
        headers,
        revision: _,
        check_revision: _,
        nested,
        service,
        endpoints_min,
        endpoints_min_v4,
        endpoints_min_v6,
        geo,
        subnets,
    } = endpoint;
    let named = Named::read(mask, &ENDPOINT);
    let patch = EndpointPatch {
        target: named.edit("target", present(target)),
        nested: named.edit("nested", present(nested)),
        service: named.edit("service", present(service)),
        endpoints_min: named.edit("endpoints_min", endpoints_min),
        endpoints_min_v4: named.edit("endpoints_min_v4", endpoints_min_v4),
        endpoints_min_v6: named.edit("endpoints_min_v6", endpoints_min_v6),
        enabled: named.edit("enabled", enabled),
        priority: named.edit("priority", priority),
        weight: named.edit("weight", weight),
        location: named.edit("location", location),
        geo: named.edit_list("geo", geo),
        subnets: named.edit_list("subnets", subnets),
        always_serve: named.edit("always_serve", always_serve),
        headers: named.edit_list("headers", headers.into_iter().map(Into::into).collect()),
    };
    named.finish(patch)
}

/// What `service` says of a service's fields.
pub fn service_patch(
    service: wire::Service,
    mask: Option<&FieldMask>,
) -> Result<ServicePatch, Vec<Violation>> {
    let wire::Service { name: _, target, location, running: _, revision: _ } = service;
    let named = Named::read(mask, &SERVICE);
    let patch = ServicePatch {
        target: named.edit("target", present(target)),
        location: named.edit("location", location),
    };
    named.finish(patch)
}

/// An empty text counts as not there.
fn present(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// Collects the paths that a patch names, while its values go into a message.
#[derive(Default)]
pub(super) struct Paths(pub(super) FieldMask);

impl Paths {
    /// The value to put into the message, if the wish has one.
    pub(super) fn take<'a, T>(&mut self, path: &str, edit: &'a Edit<T>) -> Option<&'a T> {
        if edit.is_named() {
            self.0.paths.push(path.to_owned());
        }
        match edit {
            Edit::Set(value) => Some(value),
            Edit::Keep | Edit::Clear => None,
        }
    }

    /// The values to put into the message.
    pub(super) fn take_list<C, W: for<'a> From<&'a C>>(&mut self, path: &str, edit: &Edit<Vec<C>>) -> Vec<W> {
        self.take(path, edit).into_iter().flatten().map(W::from).collect()
    }
}

/// The message and the mask that say what `patch` says of the profile `name`; zone, relative name and endpoints are
/// left empty.
pub fn profile_message(name: &str, patch: &ProfilePatch) -> (wire::Profile, FieldMask) {
    let ProfilePatch { routing, ttl, max_return, flatten, max_removal, removal_window_ms, enabled, monitor } =
        patch;
    let mut paths = Paths::default();
    let routing = paths.take("routing", routing).map(|routing| wire::Routing::from(*routing));
    let message = wire::Profile {
        name: name.to_owned(),
        routing: routing.unwrap_or_default().into(),
        ttl_seconds: paths.take("ttl_seconds", ttl).copied(),
        max_return: paths.take("max_return", max_return).copied(),
        flatten: paths.take("flatten", flatten).copied(),
        max_removal_percent: paths.take("max_removal_percent", max_removal).copied(),
        removal_window_ms: paths.take("removal_window_ms", removal_window_ms).copied(),
        enabled: paths.take("enabled", enabled).copied(),
        monitor: Some(monitor_message(monitor, &mut paths)),
        ..wire::Profile::default()
    };
    (message, paths.0)
}

fn monitor_message(patch: &MonitorPatch, paths: &mut Paths) -> wire::Monitor {
    let MonitorPatch {
        protocol,
        port,
        path,
        interval_ms,
        timeout_ms,
        tolerated_failures,
        recovery_successes,
        expect,
        headers,
    } = patch;
    let protocol = paths.take("monitor.protocol", protocol).map(|protocol| wire::Protocol::from(*protocol));
    wire::Monitor {
        protocol: protocol.unwrap_or_default().into(),
        port: paths.take("monitor.port", port).copied(),
        path: paths.take("monitor.path", path).cloned(),
        interval_ms: paths.take("monitor.interval_ms", interval_ms).copied(),
        timeout_ms: paths.take("monitor.timeout_ms", timeout_ms).copied(),
        tolerated_failures: paths.take("monitor.tolerated_failures", tolerated_failures).copied(),
        recovery_successes: paths.take("monitor.recovery_successes", recovery_successes).copied(),
        expect: paths.take_list("monitor.expect", expect),
        headers: paths.take_list("monitor.headers", headers),
    }
}

/// The message and the mask that say what `patch` says of the endpoint `name`.
pub fn endpoint_message(name: &str, patch: &EndpointPatch) -> (wire::Endpoint, FieldMask) {
    let EndpointPatch {
        target,
        nested,
        service,
        endpoints_min,
        endpoints_min_v4,
        endpoints_min_v6,
        enabled,
        priority,
        weight,
        location,
        geo,
        subnets,
        always_serve,
        headers,
    } = patch;
    let mut paths = Paths::default();
    let message = wire::Endpoint {
        name: name.to_owned(),
        target: paths.take("target", target).cloned().unwrap_or_default(),
        enabled: paths.take("enabled", enabled).copied(),
        priority: paths.take("priority", priority).copied(),
        weight: paths.take("weight", weight).copied(),
        location: paths.take("location", location).cloned(),
        always_serve: paths.take("always_serve", always_serve).copied(),
        headers: paths.take_list("headers", headers),
        revision: 0,
        check_revision: 0,
        nested: paths.take("nested", nested).cloned().unwrap_or_default(),
        service: paths.take("service", service).cloned().unwrap_or_default(),
        endpoints_min: paths.take("endpoints_min", endpoints_min).copied(),
        endpoints_min_v4: paths.take("endpoints_min_v4", endpoints_min_v4).copied(),
        endpoints_min_v6: paths.take("endpoints_min_v6", endpoints_min_v6).copied(),
        geo: paths.take("geo", geo).cloned().unwrap_or_default(),
        subnets: paths.take("subnets", subnets).cloned().unwrap_or_default(),
    };
    (message, paths.0)
}

/// The message and the mask that say what `patch` says of the service `name`.
pub fn service_message(name: &str, patch: &ServicePatch) -> (wire::Service, FieldMask) {
    let ServicePatch { target, location } = patch;
    let mut paths = Paths::default();
    let message = wire::Service {
        name: name.to_owned(),
        target: paths.take("target", target).cloned().unwrap_or_default(),
        location: paths.take("location", location).cloned(),
        ..wire::Service::default()
    };
    (message, paths.0)
}

/// All of them in one line.
pub(super) fn joined(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
