//! How a profile's endpoints are probed: as it was given, and as it counts with the defaults filled in.

use serde::Serialize;
use waymark_core::model::Monitor;
use waymark_proto::admin::v1 as wire;

use crate::flags::duration;
use crate::output::words;

/// A monitor as it was given.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Given {
    protocol: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerated_failures: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery_successes: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expect: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headers: Vec<Header>,
}

/// One header of a probe's request.
#[derive(Debug, Serialize)]
pub(crate) struct Header {
    name: String,
    value: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret: bool,
}

impl From<wire::Header> for Header {
    fn from(message: wire::Header) -> Self {
        let wire::Header { name, value, secret, sealed: _ } = message;
        Self { name, value, secret }
    }
}

impl Header {
    /// As the flag takes it, unless it is a secret.
    pub(crate) fn line(&self) -> String {
        format!("{}: {}{}", self.name, self.value, if self.secret { " (secret)" } else { "" })
    }
}

impl From<wire::Monitor> for Given {
    fn from(message: wire::Monitor) -> Self {
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
        Self {
            protocol: words::protocol(protocol),
            port,
            path,
            interval: interval_ms.map(duration::text),
            timeout: timeout_ms.map(duration::text),
            tolerated_failures,
            recovery_successes,
            expect: expect.into_iter().map(|wire::StatusRange { min, max }| range_text(min, max)).collect(),
            headers: headers.into_iter().map(Into::into).collect(),
        }
    }
}

/// As the flag takes it: `200-299`, or `204` for one code.
fn range_text(min: u32, max: u32) -> String {
    if min == max { min.to_string() } else { format!("{min}-{max}") }
}

/// A monitor as it counts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Effective {
    port: Option<u16>,
    path: Option<String>,
    interval: String,
    timeout: String,
    tolerated_failures: u32,
    recovery_successes: u32,
    expect: Vec<String>,
}

impl From<&Monitor> for Effective {
    fn from(monitor: &Monitor) -> Self {
        let is_http = monitor.protocol.is_http();
        let expect = monitor.effective_expect().into_iter().map(|range| range_text(range.min, range.max));
        Self {
            port: monitor.effective_port(),
            path: is_http.then(|| monitor.effective_path().to_owned()),
            interval: duration::text(monitor.effective_interval_ms()),
            timeout: duration::text(monitor.effective_timeout_ms()),
            tolerated_failures: monitor.effective_tolerated_failures(),
            recovery_successes: monitor.effective_recovery_successes(),
            expect: if is_http { expect.collect() } else { Vec::new() },
        }
    }
}

/// A word and its value for each line of a monitor; a value that nobody gave is marked as the default.
pub(crate) fn pairs(given: &Given, effective: &Effective) -> Vec<(&'static str, String)> {
    let marked = |value: String, is_given: bool| if is_given { value } else { format!("{value} (default)") };
    let mut pairs = vec![("protocol", given.protocol.clone())];
    if let Some(port) = effective.port {
        pairs.push(("port", marked(port.to_string(), given.port.is_some())));
    }
    if let Some(path) = &effective.path {
        pairs.push(("path", marked(path.clone(), given.path.is_some())));
    }
    pairs.extend([
        ("interval", marked(effective.interval.clone(), given.interval.is_some())),
        ("timeout", marked(effective.timeout.clone(), given.timeout.is_some())),
        (
            "tolerated failures",
            marked(effective.tolerated_failures.to_string(), given.tolerated_failures.is_some()),
        ),
        (
            "recovery successes",
            marked(effective.recovery_successes.to_string(), given.recovery_successes.is_some()),
        ),
    ]);
    if !effective.expect.is_empty() {
        pairs.push(("expect", marked(effective.expect.join(", "), !given.expect.is_empty())));
    }
    pairs.extend(given.headers.iter().map(|header| ("header", header.line())));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_1_what_was_given_is_shown_back_beside_what_counts() {
        let message = wire::Monitor {
            protocol: wire::Protocol::Https.into(),
            interval_ms: Some(10_000),
            expect: vec![wire::StatusRange { min: 200, max: 299 }],
            ..Default::default()
        };
        let core = Monitor::try_from(message.clone()).unwrap();
        let (given, effective) = (Given::from(message), Effective::from(&core));
        let given_json = serde_json::to_value(&given).unwrap();
        let wanted = serde_json::json!({ "protocol": "https", "interval": "10s", "expect": ["200-299"] });
        assert_eq!(given_json, wanted);
        let lines = pairs(&given, &effective);
        assert!(lines.contains(&("timeout", "9s (default)".into())), "{lines:?}");
        assert!(lines.contains(&("interval", "10s".into())), "{lines:?}");
        assert!(lines.contains(&("port", "443 (default)".into())), "{lines:?}");
    }
}
