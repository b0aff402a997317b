//! How a profile is probed: SET-3 … SET-11.

use super::*;
use crate::model::{Header, MonitorPatch, Protocol, StatusRange, monitor_limits};

fn update(monitor: &MonitorPatch) -> Action {
    update_profile(ProfilePatch { monitor: monitor.clone(), ..ProfilePatch::default() })
}

fn table(rows: &[Row<'_, MonitorPatch>]) {
    check(&Cluster::with_web(1), &MonitorPatch::default(), update, rows);
}

fn tcp(monitor: &mut MonitorPatch) {
    monitor.protocol = Edit::Set(Protocol::Tcp);
    monitor.port = Edit::Set(5432);
}

#[test]
fn set_3_protocol() {
    table(&[
        ("http", |monitor| monitor.protocol = Edit::Set(Protocol::Http), TAKEN),
        ("https", |monitor| monitor.protocol = Edit::Set(Protocol::Https), TAKEN),
        ("tcp", tcp, TAKEN),
        ("missing", |monitor| monitor.protocol = Edit::Clear, TAKEN),
    ]);
}

#[test]
fn set_4_port() {
    table(&[
        ("too low", |monitor| monitor.port = Edit::Set(0), "monitor.port: 0 is outside 1–65535"),
        ("lowest", |monitor| monitor.port = Edit::Set(1), TAKEN),
        ("highest", |monitor| monitor.port = Edit::Set(65_535), TAKEN),
        ("too high", |monitor| monitor.port = Edit::Set(65_536), "monitor.port: 65536 is outside 1–65535"),
        ("missing", |monitor| monitor.port = Edit::Clear, TAKEN),
        (
            "missing for tcp",
            |monitor| monitor.protocol = Edit::Set(Protocol::Tcp),
            "monitor.port: is required for tcp",
        ),
    ]);
    let mut cluster = Cluster::with_web(1);
    for (protocol, port) in [(Protocol::Https, 443), (Protocol::Http, 80)] {
        let monitor = MonitorPatch { protocol: Edit::Set(protocol), ..MonitorPatch::default() };
        cluster.apply(update(&monitor)).unwrap();
        assert_eq!(cluster.profile("web").monitor.effective_port(), Some(port));
    }
}

#[test]
fn set_5_path() {
    table(&[
        ("shortest", |monitor| monitor.path = Edit::Set("/".into()), TAKEN),
        ("with a query", |monitor| monitor.path = Edit::Set("/health?deep=1&x=%20".into()), TAKEN),
        (
            "longest",
            |monitor| monitor.path = Edit::Set(format!("/{}", long(monitor_limits::PATH_MAX - 1))),
            TAKEN,
        ),
        (
            "too long",
            |monitor| monitor.path = Edit::Set(format!("/{}", long(monitor_limits::PATH_MAX))),
            "monitor.path: is 2049 bytes long; at most 2048 are allowed",
        ),
        ("missing", |monitor| monitor.path = Edit::Clear, TAKEN),
        ("empty", |monitor| monitor.path = Edit::Set("".into()), "monitor.path: '' must begin with '/'"),
        (
            "without a slash",
            |monitor| monitor.path = Edit::Set("health".into()),
            "monitor.path: 'health' must begin with '/'",
        ),
        (
            "a blank",
            |monitor| monitor.path = Edit::Set("/a b".into()),
            "monitor.path: '/a b' has a space or a control character; write it as %20 and the like",
        ),
        (
            "a character that no URL holds",
            |monitor| monitor.path = Edit::Set("/a<b".into()),
            "monitor.path: '/a<b' has a '<', which no URL holds; write it as %3C",
        ),
        (
            "a quotation mark in the query",
            |monitor| monitor.path = Edit::Set("/?q=\"a\"".into()),
            "monitor.path: '/?q=\\\"a\\\"' has a '\"', which no URL holds; write it as %22",
        ),
        (
            "a control character",
            |monitor| monitor.path = Edit::Set("/a\n".into()),
            "monitor.path: '/a\\n' has a space or a control character; write it as %20 and the like",
        ),
        (
            "a fragment",
            |monitor| monitor.path = Edit::Set("/a#b".into()),
            "monitor.path: '/a#b' has a '#': a fragment is never sent",
        ),
        (
            "outside ASCII",
            |monitor| monitor.path = Edit::Set("/\u{fc}".into()),
            "monitor.path: '/\u{fc}' has a character outside ASCII; write it as %C3%BC and the like",
        ),
        (
            "with tcp",
            |monitor| {
                tcp(monitor);
                monitor.path = Edit::Set("/".into());
            },
            "monitor.path: '/' has no meaning for tcp; only http and https ask for a path",
        ),
    ]);
}

#[test]
fn set_6_interval() {
    table(&[
        (
            "too low",
            |monitor| monitor.interval_ms = Edit::Set(999),
            "monitor.interval: 999ms is none of 30s, 10s, 5s, 1s",
        ),
        ("1 s", |monitor| monitor.interval_ms = Edit::Set(1_000), TAKEN),
        ("5 s", |monitor| monitor.interval_ms = Edit::Set(5_000), TAKEN),
        ("10 s", |monitor| monitor.interval_ms = Edit::Set(10_000), TAKEN),
        ("30 s", |monitor| monitor.interval_ms = Edit::Set(30_000), TAKEN),
        (
            "too high",
            |monitor| monitor.interval_ms = Edit::Set(31_000),
            "monitor.interval: 31s is none of 30s, 10s, 5s, 1s",
        ),
        (
            "between",
            |monitor| monitor.interval_ms = Edit::Set(7_500),
            "monitor.interval: 7500ms is none of 30s, 10s, 5s, 1s",
        ),
        ("missing", |monitor| monitor.interval_ms = Edit::Clear, TAKEN),
    ]);
}

/// What the interval allows, and what it stands for when no timeout is given.
#[test]
fn set_7_timeout() {
    for (interval_ms, min, max, allowed) in [
        (30_000, 5_000, 10_000, "5s–10s for the interval 30s"),
        (10_000, 5_000, 9_000, "5s–9s for the interval 10s"),
        (5_000, 1_000, 4_000, "1s–4s for the interval 5s"),
        (1_000, 200, 1_000, "200ms–1s for the interval 1s"),
    ] {
        for (timeout_ms, is_taken) in [(min - 1, false), (min, true), (max, true), (max + 1, false)] {
            let monitor = MonitorPatch {
                interval_ms: Edit::Set(interval_ms),
                timeout_ms: Edit::Set(timeout_ms),
                ..MonitorPatch::default()
            };
            let reply = Cluster::with_web(1).apply(update(&monitor));
            if is_taken {
                reply.unwrap();
            } else {
                assert_eq!(faults(reply), [format!("monitor.timeout: {timeout_ms}ms is outside {allowed}")]);
            }
        }
        let mut cluster = Cluster::with_web(1);
        let monitor = MonitorPatch { interval_ms: Edit::Set(interval_ms), ..MonitorPatch::default() };
        cluster.apply(update(&monitor)).unwrap();
        assert_eq!(cluster.profile("web").monitor.effective_timeout_ms(), max, "missing");
    }
    table(&[(
        "of another interval",
        |monitor| {
            monitor.interval_ms = Edit::Set(10_000);
            monitor.timeout_ms = Edit::Set(10_000);
        },
        "monitor.timeout: 10s is outside 5s–9s for the interval 10s",
    )]);
}

#[test]
fn set_8_tolerated_failures() {
    table(&[
        ("lowest", |monitor| monitor.tolerated_failures = Edit::Set(0), TAKEN),
        ("highest", |monitor| monitor.tolerated_failures = Edit::Set(9), TAKEN),
        (
            "too high",
            |monitor| monitor.tolerated_failures = Edit::Set(10),
            "monitor.tolerated_failures: 10 is outside 0–9",
        ),
        ("missing", |monitor| monitor.tolerated_failures = Edit::Clear, TAKEN),
    ]);
}

#[test]
fn set_9_expected_codes() {
    fn expect(monitor: &mut MonitorPatch, ranges: &[(u32, u32)]) {
        let range = |(min, max): &(u32, u32)| StatusRange { min: *min, max: *max };
        monitor.expect = Edit::Set(ranges.iter().map(range).collect());
    }
    table(&[
        ("too low", |monitor| expect(monitor, &[(99, 200)]), "monitor.expect[0]: 99-200 is outside 100–599"),
        ("lowest", |monitor| expect(monitor, &[(100, 100)]), TAKEN),
        ("widest", |monitor| expect(monitor, &[(100, 599)]), TAKEN),
        (
            "too high",
            |monitor| expect(monitor, &[(200, 600)]),
            "monitor.expect[0]: 200-600 is outside 100–599",
        ),
        (
            "reversed",
            |monitor| expect(monitor, &[(200, 299), (302, 301)]),
            "monitor.expect[1]: 302-301 ends before it begins",
        ),
        ("most", |monitor| expect(monitor, &[(200, 200); 8]), TAKEN),
        (
            "too many",
            |monitor| expect(monitor, &[(200, 200); 9]),
            "monitor.expect: 9 ranges are too many; at most 8 are allowed",
        ),
        ("missing", |monitor| monitor.expect = Edit::Clear, TAKEN),
        (
            "with tcp",
            |monitor| {
                tcp(monitor);
                expect(monitor, &[(200, 299)]);
            },
            "monitor.expect: has no meaning for tcp; only http and https answer with a status",
        ),
    ]);
}

fn headers(monitor: &mut MonitorPatch, headers: &[(&str, &str)]) {
    let header = |(name, value): &(&str, &str)| Header { name: (*name).into(), value: (*value).into() };
    monitor.headers = Edit::Set(headers.iter().map(header).collect());
}

fn many_headers(monitor: &mut MonitorPatch, count: usize) {
    let header = |number| Header { name: format!("X-{number}"), value: "v".into() };
    monitor.headers = Edit::Set((0..count).map(header).collect());
}

#[test]
fn set_10_headers() {
    table(&[
        ("most", |monitor| many_headers(monitor, 8), TAKEN),
        (
            "too many",
            |monitor| many_headers(monitor, 9),
            "monitor.headers: 9 are too many; at most 8 are allowed",
        ),
        ("missing", |monitor| monitor.headers = Edit::Clear, TAKEN),
        ("an empty value", |monitor| headers(monitor, &[("X-A", "")]), TAKEN),
        ("a star in another", |monitor| headers(monitor, &[("X-A", "yes, *")]), TAKEN),
        (
            "without case",
            |monitor| headers(monitor, &[("X-A", "1"), ("x-a", "2")]),
            "monitor.headers[1].name: 'x-a' is given twice",
        ),
        (
            "with tcp",
            |monitor| {
                tcp(monitor);
                headers(monitor, &[("X-A", "1")]);
            },
            "monitor.headers: are sent by http and https only, not by tcp",
        ),
        ("a name and a port", |monitor| headers(monitor, &[("Host", "web.example.org:8080")]), TAKEN),
        ("an address and a port", |monitor| headers(monitor, &[("host", "[2001:db8::1]:80")]), TAKEN),
        (
            "a pattern as Host",
            |monitor| headers(monitor, &[("Host", "*.example.org")]),
            "monitor.headers[0].value: has a '*': a Host must be one name, not a pattern",
        ),
        (
            "no Host",
            |monitor| headers(monitor, &[("hOST", "")]),
            "monitor.headers[0].value: is no host name with an optional port",
        ),
        (
            "a URL as Host",
            |monitor| headers(monitor, &[("Host", "a.example/x")]),
            "monitor.headers[0].value: is no host name with an optional port",
        ),
    ]);
}

/// What would break a request. The value is never repeated: it may be a secret (SEC-4).
#[test]
fn set_10_header_names_and_values() {
    table(&[
        ("no name", |monitor| headers(monitor, &[("", "x")]), "monitor.headers[0].name: is empty"),
        ("longest", |monitor| headers(monitor, &[(&long(256), &long(4_096))]), TAKEN),
        (
            "too long",
            |monitor| headers(monitor, &[(&long(257), &long(4_097))]),
            "monitor.headers[0].name: is 257 bytes long; at most 256 are allowed\n\
             monitor.headers[0].value: is 4097 bytes long; at most 4096 are allowed",
        ),
        (
            "a blank in the name",
            |monitor| headers(monitor, &[("a b", "x")]),
            "monitor.headers[0].name: 'a b' has a character that a header's name cannot have",
        ),
        (
            "a colon in the name",
            |monitor| headers(monitor, &[("a:", "x")]),
            "monitor.headers[0].name: 'a:' has a character that a header's name cannot have",
        ),
        (
            "the probe's own",
            |monitor| headers(monitor, &[("CONTENT-LENGTH", "3"), ("Connection", "close")]),
            "monitor.headers[0].name: 'CONTENT-LENGTH' is set by the probe itself\n\
             monitor.headers[1].name: 'Connection' is set by the probe itself",
        ),
        (
            "a line's end in the value",
            |monitor| headers(monitor, &[("X", "secret\r\nY: b")]),
            "monitor.headers[0].value: has a control character",
        ),
        (
            "outside ASCII",
            |monitor| headers(monitor, &[("X", "\u{fc}")]),
            "monitor.headers[0].value: has a character outside ASCII",
        ),
    ]);
}

#[test]
fn set_11_recovery_successes() {
    table(&[
        (
            "too low",
            |monitor| monitor.recovery_successes = Edit::Set(0),
            "monitor.recovery_successes: 0 is outside 1–10",
        ),
        ("lowest", |monitor| monitor.recovery_successes = Edit::Set(1), TAKEN),
        ("highest", |monitor| monitor.recovery_successes = Edit::Set(10), TAKEN),
        (
            "too high",
            |monitor| monitor.recovery_successes = Edit::Set(11),
            "monitor.recovery_successes: 11 is outside 1–10",
        ),
        ("missing", |monitor| monitor.recovery_successes = Edit::Clear, TAKEN),
    ]);
}
