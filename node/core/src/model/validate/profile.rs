//! A profile as a whole (SET-2), and what is allowed in one but probably not meant (VAL-5).

use super::endpoint::{EndpointDraft, Surroundings, validate_endpoints};
use super::header::warn_headers;
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
    check_brake(profile, violations);
    violations.within("monitor", |violations| check_monitor(&profile.monitor, violations));
}

/// FAIL-2.
fn check_brake(profile: &Profile, violations: &mut Violations) {
    if let Some(max_removal) = profile.max_removal.filter(|share| !(1..=limits::REMOVAL_MAX).contains(share))
    {
        violations.add("max_removal", format!("{max_removal}% is outside 1%–{}%", limits::REMOVAL_MAX));
    }
    let (min, max) = (limits::REMOVAL_WINDOW_MS_MIN, limits::REMOVAL_WINDOW_MS_MAX);
    let window_ms = profile.effective_removal_window_ms();
    if !(min..=max).contains(&window_ms) {
        violations.add("removal_window", format!("{} is outside 1s–1h", duration(window_ms)));
    }
}

/// What is allowed in a profile but probably not meant (VAL-5).
pub fn warn_profile(profile: &Profile, warnings: &mut Violations) {
    warn_ttl(profile, warnings);
    let monitor = &profile.monitor;
    warnings.within("monitor", |warnings| warn_headers(&monitor.headers, monitor.protocol, warnings));
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
