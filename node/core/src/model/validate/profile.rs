//! A profile as a whole (SET-2), and what is allowed in one but probably not meant (VAL-5).

use super::endpoint::{EndpointDraft, Surroundings, validate_endpoints};
use super::monitor::{check_monitor, duration};
use super::name::check_profile_name;
use crate::model::{Endpoint, Place, Profile, Resolved, Routing, Violations, profile_limits as limits};

/// Judges a whole profile, as it would be stored; `resolve` looks its endpoints' targets and locations up.
pub fn validate_profile<'a>(
    profile: &'a Profile,
    resolve: impl Fn(&'a Endpoint) -> Resolved<'a>,
    violations: &mut Violations,
) {
    validate_settings(profile, violations);
    validate_endpoints(
        &EndpointDraft::all(&profile.endpoints, resolve),
        Surroundings::from(profile),
        violations,
    );
}

/// Judges everything of a profile but its endpoints.
pub fn validate_settings(profile: &Profile, violations: &mut Violations) {
    check_profile_name("name", profile.name.as_str(), violations);
    violations.range("ttl", profile.effective_ttl().into(), 0, limits::TTL_MAX.into());
    violations.range("max_return", profile.effective_max_return().into(), 1, limits::RETURN_MAX.into());
    violations.within("monitor", |violations| check_monitor(&profile.monitor, violations));
}

/// What is allowed in a profile but probably not meant (VAL-5).
pub fn warn_profile(profile: &Profile, warnings: &mut Violations) {
    warn_ttl(profile, warnings);
    let mut endpoints = profile.endpoints.iter();
    match profile.routing {
        Routing::Geographic if !endpoints.any(|endpoint| endpoint.geo.contains(&Place::WORLD)) => {
            warnings.add(
                "endpoints",
                "none has WORLD: clients from anywhere else, or from nowhere known, get no answer",
            );
        }
        Routing::Subnet if endpoints.all(|endpoint| !endpoint.subnets.is_empty()) => {
            warnings.add(
                "endpoints",
                "none is without subnets: there is no fallback, and resolvers may keep the empty answer of one \
                 client for all of theirs (RFC 7871 §7.4)",
            );
        }
        _ => {}
    }
}

fn warn_ttl(profile: &Profile, warnings: &mut Violations) {
    /// Above this many detection times the TTL, not the probing, decides how long an outage lasts.
    const DETECTION_TIMES_MAX: u64 = 10;
    let monitor = &profile.monitor;
    let probes = u64::from(monitor.effective_tolerated_failures()) + 1;
    let detection_ms = monitor.effective_interval_ms() * probes + monitor.effective_timeout_ms();
    let ttl = u64::from(profile.effective_ttl());
    if ttl * 1_000 > DETECTION_TIMES_MAX * detection_ms {
        warnings.add(
            "ttl",
            format!(
                "{ttl}s is above ten times the {} that it takes to see an endpoint fail: resolvers will keep the \
                 old answer far longer",
                duration(detection_ms)
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Caseless, Monitor, Name, ProfileId, RelativeName, Revision};

    fn profile(ttl: Option<u32>) -> Profile {
        let zone = Name::parse("example.com").unwrap();
        Profile {
            id: ProfileId(1),
            name: Caseless::new("web"),
            full_name: zone.clone(),
            zone,
            relative_name: RelativeName::Apex,
            routing: Routing::Priority,
            ttl,
            max_return: None,
            enabled: true,
            monitor: Monitor::default(),
            endpoints: Vec::new(),
            revision: Revision(0),
        }
    }

    #[test]
    fn set_2_times_to_live() {
        for (ttl, wrong) in
            [(None, 0), (Some(0), 0), (Some(2_147_483_647), 0), (Some(2_147_483_648), 1), (Some(u32::MAX), 1)]
        {
            let mut violations = Violations::new();
            validate_profile(&profile(ttl), |_| Resolved::default(), &mut violations);
            assert_eq!(violations.into_vec().len(), wrong, "{ttl:?}");
        }
    }

    #[test]
    fn val_1_paths_lead_through_the_monitor() {
        let mut profile = profile(None);
        profile.monitor.timeout_ms = Some(4_999);
        let mut violations = Violations::new();
        validate_profile(&profile, |_| Resolved::default(), &mut violations);
        let found = violations.into_vec();
        assert_eq!(found[0].to_string(), "monitor.timeout: 4999ms is outside 5s–10s for the interval 30s");
    }

    #[test]
    fn val_5_a_ttl_above_ten_detection_times_is_warned_about() {
        // 30 s × 4 + 10 s = 130 s.
        for (ttl, warned) in [(1_300, 0), (1_301, 1), (limits::TTL_MAX, 1)] {
            let mut warnings = Violations::new();
            warn_profile(&profile(Some(ttl)), &mut warnings);
            assert_eq!(warnings.into_vec().len(), warned, "{ttl}");
        }
    }
}
