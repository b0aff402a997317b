//! What an agent must probe: everything about an endpoint that a probe depends on, with defaults filled in.

use crate::model::{Endpoint, Header, Profile, Protocol, Revision, StatusRange, Target};

/// One endpoint's probe, complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What the probe speaks.
    pub protocol: Protocol,
    /// Whom it speaks to.
    pub target: Target,
    /// On which port.
    pub port: u16,
    /// Asking for which path.
    pub path: String,
    /// Milliseconds from probe to probe.
    pub interval_ms: u64,
    /// Milliseconds for one probe as a whole.
    pub timeout_ms: u64,
    /// Status codes that count as success.
    pub expect: Vec<StatusRange>,
    /// The headers to send: the profile's, with the endpoint's in their place or behind them (SET-10).
    pub headers: Vec<Header>,
    /// Of the checks that the endpoint has had, which: an outcome counts only for the check that found it (STA-11).
    pub revision: Revision,
}

impl Check {
    /// The check of `endpoint`, which belongs to `profile`, at `target`, its own or its service's. A tcp monitor without
    /// a port never passes validation.
    pub fn of(profile: &Profile, endpoint: &Endpoint, target: &Target) -> Self {
        let monitor = &profile.monitor;
        Self {
            protocol: monitor.protocol,
            target: target.clone(),
            port: monitor.effective_port().unwrap_or_default(),
            path: monitor.effective_path().to_owned(),
            interval_ms: monitor.effective_interval_ms(),
            timeout_ms: monitor.effective_timeout_ms(),
            expect: monitor.effective_expect(),
            headers: merged_headers(&monitor.headers, &endpoint.headers),
            revision: endpoint.check_revision,
        }
    }

    /// The `Host` header, if one is set.
    pub fn host(&self) -> Option<&str> {
        self.headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("host"))
            .and_then(|header| header.value.plain())
    }

    /// Do both ask the same, so that counts may go on (STA-11)? Headers other than `Host` do not matter, nor when
    /// either began.
    pub fn continues(&self, before: &Self) -> bool {
        let asked = |check: &Self| Self { headers: Vec::new(), revision: Revision(0), ..check.clone() };
        asked(self) == asked(before) && self.host() == before.host()
    }
}

fn merged_headers(profile: &[Header], endpoint: &[Header]) -> Vec<Header> {
    let own = |header: &Header| endpoint.iter().find(|mine| mine.name.eq_ignore_ascii_case(&header.name));
    let mut merged: Vec<Header> =
        profile.iter().map(|header| own(header).unwrap_or(header).clone()).collect();
    for header in endpoint {
        if !merged.iter().any(|have| have.name.eq_ignore_ascii_case(&header.name)) {
            merged.push(header.clone());
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, value: &str) -> Header {
        Header { name: name.into(), value: value.into() }
    }

    fn check(headers: &[Header]) -> Check {
        Check {
            protocol: Protocol::Http,
            target: Target::V4([192, 0, 2, 1].into()),
            port: 80,
            path: "/".into(),
            interval_ms: 30_000,
            timeout_ms: 10_000,
            expect: vec![StatusRange { min: 200, max: 200 }],
            headers: headers.to_vec(),
            revision: Revision(1),
        }
    }

    #[test]
    fn set_10_an_endpoints_header_takes_the_place_of_the_profiles() {
        let profile = [header("Host", "a.example"), header("X-A", "1")];
        let endpoint = [header("x-a", "2"), header("X-B", "3")];
        let merged = merged_headers(&profile, &endpoint);
        assert_eq!(merged, [header("Host", "a.example"), header("x-a", "2"), header("X-B", "3")]);
    }

    #[test]
    fn sta_11_of_the_headers_only_host_is_part_of_the_check() {
        let plain = check(&[header("X-A", "1")]);
        assert!(check(&[]).continues(&plain));
        assert!(Check { revision: Revision(9), ..check(&[]) }.continues(&plain));
        assert!(check(&[header("X-A", "2"), header("X-B", "3")]).continues(&plain));
        assert!(!check(&[header("host", "a.example")]).continues(&plain));
        assert!(check(&[header("HOST", "a.example")]).continues(&check(&[header("Host", "a.example")])));
        assert!(!check(&[header("Host", "b.example")]).continues(&check(&[header("Host", "a.example")])));
    }

    #[test]
    fn sta_11_everything_else_is() {
        let before = check(&[]);
        for after in [
            Check { protocol: Protocol::Https, ..before.clone() },
            Check { target: Target::V4([192, 0, 2, 2].into()), ..before.clone() },
            Check { port: 81, ..before.clone() },
            Check { path: "/x".into(), ..before.clone() },
            Check { interval_ms: 10_000, ..before.clone() },
            Check { timeout_ms: 5_000, ..before.clone() },
            Check { expect: Vec::new(), ..before.clone() },
        ] {
            assert!(!after.continues(&before), "{after:?}");
        }
    }
}
