//! What an agent must probe, and what it found.

use waymark_core::health::Check;
use waymark_core::model::{EndpointId, Revision, parse_target};

use super::{Malformed, number, parsed};
use crate::admin::v1 as wire;
use crate::agent::v1 as mesh;

impl From<(EndpointId, &Check)> for mesh::Check {
    fn from((endpoint, check): (EndpointId, &Check)) -> Self {
        let Check { protocol, target, port, path, interval_ms, timeout_ms, expect, headers, revision } =
            check;
        Self {
            endpoint: endpoint.0,
            protocol: wire::Protocol::from(*protocol).into(),
            target: target.to_string(),
            port: u32::from(*port),
            path: path.clone(),
            interval_ms: *interval_ms,
            timeout_ms: *timeout_ms,
            expect: expect.iter().map(Into::into).collect(),
            headers: headers.iter().map(Into::into).collect(),
            revision: revision.0,
        }
    }
}

impl TryFrom<mesh::Check> for (EndpointId, Check) {
    type Error = Malformed;

    fn try_from(message: mesh::Check) -> Result<Self, Malformed> {
        let mesh::Check {
            endpoint,
            protocol,
            target,
            port,
            path,
            interval_ms,
            timeout_ms,
            expect,
            headers,
            revision,
        } = message;
        let check = Check {
            protocol: number::<wire::Protocol>("check.protocol", protocol)?.try_into()?,
            target: parsed("check.target", &target, parse_target)?,
            port: u16::try_from(port)
                .map_err(|_| Malformed::new("check.port", format!("{port} is no port")))?,
            path,
            interval_ms,
            timeout_ms,
            expect: expect.into_iter().map(Into::into).collect(),
            headers: headers.into_iter().map(Into::into).collect(),
            revision: Revision(revision),
        };
        Ok((EndpointId(endpoint), check))
    }
}
