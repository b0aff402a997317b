//! How a profile's endpoints may be probed (SET-3 … SET-11).

use super::header::check_headers;
use crate::model::{Interval, Monitor, StatusRange, Violations, monitor_limits as limits, quote};

/// Judges a monitor, as it would be stored.
pub(super) fn check_monitor(monitor: &Monitor, violations: &mut Violations) {
    check_port(monitor, violations);
    check_path(monitor, violations);
    check_times(monitor, violations);
    let tolerated = u64::from(monitor.effective_tolerated_failures());
    violations.range("tolerated_failures", tolerated, 0, limits::TOLERATED_FAILURES_MAX.into());
    let recovery = u64::from(monitor.effective_recovery_successes());
    violations.range("recovery_successes", recovery, 1, limits::RECOVERY_SUCCESSES_MAX.into());
    check_expect(monitor, violations);
    check_headers(&monitor.headers, monitor.protocol, violations);
}

/// SET-4.
fn check_port(monitor: &Monitor, violations: &mut Violations) {
    match monitor.port {
        Some(port) => violations.range("port", port.into(), 1, limits::PORT_MAX.into()),
        None if monitor.protocol.default_port().is_none() => {
            violations.add("port", format!("is required for {}", monitor.protocol.as_str()));
        }
        None => {}
    }
}

/// SET-5.
fn check_path(monitor: &Monitor, violations: &mut Violations) {
    let Some(path) = monitor.path.as_deref() else { return };
    let shown = quote(path);
    if !monitor.protocol.is_http() {
        violations.add("path", format!("{shown} has no meaning for tcp; only http and https ask for a path"));
    }
    if path.len() > limits::PATH_MAX {
        violations
            .add("path", format!("is {} bytes long; at most {} are allowed", path.len(), limits::PATH_MAX));
        return;
    }
    if !path.starts_with('/') {
        violations.add("path", format!("{shown} must begin with '/'"));
    }
    if path.contains('#') {
        violations.add("path", format!("{shown} has a '#': a fragment is never sent"));
    }
    if path.chars().any(|character| character.is_control() || character.is_whitespace()) {
        violations
            .add("path", format!("{shown} has a space or a control character; write it as %20 and the like"));
    } else if !path.is_ascii() {
        violations
            .add("path", format!("{shown} has a character outside ASCII; write it as %C3%BC and the like"));
    }
}

/// SET-6 and SET-7.
fn check_times(monitor: &Monitor, violations: &mut Violations) {
    let interval_ms = monitor.effective_interval_ms();
    let Some(row) = Interval::of(interval_ms) else {
        let known = Interval::ALL.map(|row| duration(row.interval_ms)).join(", ");
        violations.add("interval", format!("{} is none of {known}", duration(interval_ms)));
        return;
    };
    let timeout_ms = monitor.effective_timeout_ms();
    if !(row.timeout_ms_min..=row.timeout_ms_max).contains(&timeout_ms) {
        violations.add(
            "timeout",
            format!(
                "{} is outside {}–{} for the interval {}",
                duration(timeout_ms),
                duration(row.timeout_ms_min),
                duration(row.timeout_ms_max),
                duration(interval_ms)
            ),
        );
    }
}

/// SET-9.
fn check_expect(monitor: &Monitor, violations: &mut Violations) {
    if !monitor.expect.is_empty() && !monitor.protocol.is_http() {
        violations.add("expect", "has no meaning for tcp; only http and https answer with a status");
    }
    if monitor.expect.len() > limits::EXPECT_MAX {
        violations.add(
            "expect",
            format!(
                "{} ranges are too many; at most {} are allowed",
                monitor.expect.len(),
                limits::EXPECT_MAX
            ),
        );
    }
    for (place, StatusRange { min, max }) in monitor.expect.iter().enumerate().take(limits::EXPECT_MAX) {
        let field = format!("expect[{place}]");
        let known = limits::STATUS_MIN..=limits::STATUS_MAX;
        if !known.contains(min) || !known.contains(max) {
            violations
                .add(&field, format!("{min}-{max} is outside {}–{}", limits::STATUS_MIN, limits::STATUS_MAX));
        } else if min > max {
            violations.add(&field, format!("{min}-{max} ends before it begins"));
        }
    }
}

/// Milliseconds as an operator writes them: `10s`, `200ms`.
pub(super) fn duration(milliseconds: u64) -> String {
    if milliseconds.is_multiple_of(1_000) {
        format!("{}s", milliseconds / 1_000)
    } else {
        format!("{milliseconds}ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Header, Protocol};

    fn http() -> Monitor {
        Monitor::default()
    }

    fn tcp() -> Monitor {
        Monitor { protocol: Protocol::Tcp, port: Some(5432), ..Monitor::default() }
    }

    fn faults(monitor: &Monitor) -> Vec<String> {
        let mut violations = Violations::new();
        check_monitor(monitor, &mut violations);
        violations.into_vec().iter().map(ToString::to_string).collect()
    }

    /// Does `monitor` break exactly one rule, of `field`, or none if there is no field?
    #[track_caller]
    fn expect(monitor: &Monitor, field: Option<&str>) {
        let found = faults(monitor);
        match field {
            None => assert!(found.is_empty(), "{monitor:?}: {found:?}"),
            Some(field) => {
                assert_eq!(found.len(), 1, "{monitor:?}: {found:?}");
                assert!(found[0].starts_with(&format!("{field}: ")), "{found:?}");
            }
        }
    }

    #[test]
    fn set_4_ports() {
        for (port, field) in [
            (Some(0), Some("port")),
            (Some(1), None),
            (Some(65_535), None),
            (Some(65_536), Some("port")),
            (None, None),
        ] {
            expect(&Monitor { port, ..http() }, field);
        }
        expect(&Monitor { port: None, ..tcp() }, Some("port"));
        expect(&tcp(), None);
        assert_eq!(faults(&Monitor { port: Some(65_536), ..http() }), ["port: 65536 is outside 1–65535"]);
    }

    #[test]
    fn set_5_paths() {
        for (path, field) in [
            ("/", None),
            ("/health?deep=1&x=%20", None),
            ("", Some("path")),
            ("health", Some("path")),
            ("/a b", Some("path")),
            ("/a\n", Some("path")),
            ("/a#b", Some("path")),
            ("/\u{fc}", Some("path")),
        ] {
            expect(&Monitor { path: Some(path.into()), ..http() }, field);
        }
        let of_length = |length: usize| Some(format!("/{}", "a".repeat(length - 1)));
        expect(&Monitor { path: of_length(limits::PATH_MAX), ..http() }, None);
        expect(&Monitor { path: of_length(limits::PATH_MAX + 1), ..http() }, Some("path"));
        expect(&Monitor { path: Some("/".into()), ..tcp() }, Some("path"));
    }

    #[test]
    fn set_6_intervals() {
        for interval_ms in [1_000, 5_000, 10_000, 30_000] {
            expect(&Monitor { interval_ms: Some(interval_ms), ..http() }, None);
        }
        for interval_ms in [0, 999, 1_001, 7_000, 60_000, u64::MAX] {
            expect(&Monitor { interval_ms: Some(interval_ms), ..http() }, Some("interval"));
        }
        let found = faults(&Monitor { interval_ms: Some(7_500), ..http() });
        assert_eq!(found, ["interval: 7500ms is none of 30s, 10s, 5s, 1s"]);
    }

    #[test]
    fn set_7_timeouts_go_with_the_interval() {
        for (interval_ms, min, max) in [
            (None, 5_000, 10_000),
            (Some(10_000), 5_000, 9_000),
            (Some(5_000), 1_000, 4_000),
            (Some(1_000), 200, 1_000),
        ] {
            for (timeout_ms, field) in [
                (Some(min - 1), Some("timeout")),
                (Some(min), None),
                (Some(max), None),
                (Some(max + 1), Some("timeout")),
                (None, None),
            ] {
                expect(&Monitor { interval_ms, timeout_ms, ..http() }, field);
            }
        }
        let found = faults(&Monitor { interval_ms: Some(10_000), timeout_ms: Some(10_000), ..http() });
        assert_eq!(found, ["timeout: 10s is outside 5s–9s for the interval 10s"]);
        let found = faults(&Monitor { interval_ms: Some(1_000), timeout_ms: Some(100), ..http() });
        assert_eq!(found, ["timeout: 100ms is outside 200ms–1s for the interval 1s"]);
    }

    #[test]
    fn set_8_set_11_patience() {
        for (failures, field) in [(0, None), (9, None), (10, Some("tolerated_failures"))] {
            expect(&Monitor { tolerated_failures: Some(failures), ..tcp() }, field);
        }
        for (successes, field) in
            [(0, Some("recovery_successes")), (1, None), (10, None), (11, Some("recovery_successes"))]
        {
            expect(&Monitor { recovery_successes: Some(successes), ..tcp() }, field);
        }
    }

    #[test]
    fn set_9_expected_codes() {
        for (min, max, field) in [
            (99, 200, Some("expect[0]")),
            (100, 100, None),
            (100, 599, None),
            (200, 600, Some("expect[0]")),
            (300, 200, Some("expect[0]")),
        ] {
            expect(&Monitor { expect: vec![StatusRange { min, max }], ..http() }, field);
        }
        let ok = StatusRange { min: 200, max: 200 };
        expect(&Monitor { expect: vec![ok; 8], ..http() }, None);
        expect(&Monitor { expect: vec![ok; 9], ..http() }, Some("expect"));
        expect(&Monitor { expect: vec![ok], ..tcp() }, Some("expect"));
    }

    #[test]
    fn val_1_all_faults_at_once() {
        let monitor = Monitor {
            protocol: Protocol::Tcp,
            port: None,
            path: Some("x".into()),
            timeout_ms: Some(1),
            tolerated_failures: Some(10),
            recovery_successes: Some(0),
            expect: vec![StatusRange { min: 1, max: 2 }],
            headers: vec![Header { name: "X".into(), value: "y".into() }],
            ..Monitor::default()
        };
        assert_eq!(faults(&monitor).len(), 9);
    }
}
