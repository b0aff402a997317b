//! Endpoints, as they are stored and shown.

use std::str::FromStr;

use waymark_core::model::{
    Caseless, Child, Endpoint, EndpointId, EndpointKind, Revision, Target, parse_target,
};

use super::{Malformed, parsed, required};
use crate::admin::v1 as wire;

impl From<&Endpoint> for wire::Endpoint {
    fn from(endpoint: &Endpoint) -> Self {
        let Endpoint {
            id: _,
            name,
            kind,
            enabled,
            priority,
            weight,
            location,
            geo,
            subnets,
            always_serve,
            headers,
            revision,
            check_revision,
        } = endpoint;
        let message = Self {
            name: name.to_string(),
            enabled: Some(*enabled),
            priority: Some(*priority),
            weight: *weight,
            location: location.as_ref().map(ToString::to_string),
            geo: geo.iter().map(ToString::to_string).collect(),
            subnets: subnets.iter().map(ToString::to_string).collect(),
            always_serve: Some(*always_serve),
            headers: headers.iter().map(Into::into).collect(),
            revision: revision.0,
            check_revision: check_revision.0,
            ..Self::default()
        };
        with_kind(message, kind)
    }
}

fn with_kind(message: wire::Endpoint, kind: &EndpointKind) -> wire::Endpoint {
    match kind {
        EndpointKind::External(target) => wire::Endpoint { target: target.to_string(), ..message },
        EndpointKind::Service(service) => wire::Endpoint { service: service.to_string(), ..message },
        EndpointKind::Nested(Child { profile, endpoints_min, endpoints_min_v4, endpoints_min_v6 }) => {
            wire::Endpoint {
                nested: profile.to_string(),
                endpoints_min: *endpoints_min,
                endpoints_min_v4: *endpoints_min_v4,
                endpoints_min_v6: *endpoints_min_v6,
                ..message
            }
        }
    }
}

/// The endpoint in `message`, numbered `id`.
pub(super) fn stored_endpoint(message: wire::Endpoint, id: EndpointId) -> Result<Endpoint, Malformed> {
    let wire::Endpoint {
        name,
        target,
        enabled,
        priority,
        weight,
        location,
        always_serve,
        headers,
        revision,
        check_revision,
        nested,
        service,
        endpoints_min,
        endpoints_min_v4,
        endpoints_min_v6,
        geo,
        subnets,
    } = message;
    let kind = match (nested.as_str(), service.as_str()) {
        ("", "") => EndpointKind::External(parsed::<Target, _>("endpoint.target", &target, parse_target)?),
        ("", service) => EndpointKind::Service(Caseless::new(service)),
        (nested, _) => EndpointKind::Nested(Child {
            profile: Caseless::new(nested),
            endpoints_min,
            endpoints_min_v4,
            endpoints_min_v6,
        }),
    };
    Ok(Endpoint {
        id,
        name: Caseless::new(&name),
        kind,
        enabled: enabled.unwrap_or(true),
        priority: required("endpoint.priority", priority)?,
        weight,
        location: location.as_deref().map(Caseless::new),
        geo: texts("endpoint.geo", &geo)?,
        subnets: texts("endpoint.subnets", &subnets)?,
        always_serve: always_serve.unwrap_or(false),
        headers: headers.into_iter().map(Into::into).collect(),
        revision: Revision(revision),
        check_revision: Revision(check_revision),
    })
}

fn texts<T: FromStr<Err: ToString>>(field: &'static str, texts: &[String]) -> Result<Vec<T>, Malformed> {
    texts.iter().map(|text| parsed(field, text, str::parse)).collect()
}
