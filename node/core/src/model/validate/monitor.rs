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
    } else if let Some(character) = path.chars().find(|character| limits::PATH_UNSENDABLE.contains(character))
    {
        let code = u32::from(character);
        violations
            .add("path", format!("{shown} has a '{character}', which no URL holds; write it as %{code:02X}"));
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
        let mut violations = Violations::new();
        check_monitor(&monitor, &mut violations);
        assert_eq!(violations.into_vec().len(), 9);
    }
}
