//! Random wishes for how a profile is probed, few of them bad.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{edit, one_of};
use crate::model::{Edit, Header, MonitorPatch, ProfilePatch, Protocol, Routing, StatusRange};

pub(super) fn headers() -> BoxedStrategy<Vec<Header>> {
    let header = (one_of(&["Host", "X-A", "x-a", "Connection"]), one_of(&["a.example", "1", "*"]));
    vec(header.prop_map(|(name, value)| Header { name, value: value.into() }), 0..3).boxed()
}

fn monitor() -> BoxedStrategy<MonitorPatch> {
    let times =
        (edit(prop::sample::select(&[1_000_u64, 5_000, 10_000, 30_000, 7_000][..])), edit(200_u64..11_000));
    let patience = (edit(0_u32..=10), edit(0_u32..=3));
    let asked = (edit(one_of(&["/", "/health", "health"])), edit(vec((199_u32..=201, 199_u32..=299), 0..2)));
    let protocol = (edit(prop::sample::select(&Protocol::ALL[..])), edit(0_u32..=65_536));
    (times, patience, asked, protocol, edit(headers()))
        .prop_map(
            |(
                (interval_ms, timeout_ms),
                (tolerated_failures, recovery_successes),
                (path, expect),
                (protocol, port),
                headers,
            )| {
                let range = |(min, max)| StatusRange { min, max };
                let expect = match expect {
                    Edit::Keep => Edit::Keep,
                    Edit::Clear => Edit::Clear,
                    Edit::Set(ranges) => Edit::Set(ranges.into_iter().map(range).collect()),
                };
                MonitorPatch {
                    protocol,
                    port,
                    path,
                    interval_ms,
                    timeout_ms,
                    tolerated_failures,
                    recovery_successes,
                    expect,
                    headers,
                }
            },
        )
        .boxed()
}

/// The settings of a removal brake (FAIL-2): mostly kept, few bad.
fn brake() -> BoxedStrategy<(Edit<u32>, Edit<u64>)> {
    let shares = prop::sample::select(&[1, 30, 50, 100, 101][..]);
    let max_removal = prop_oneof![2 => Just(Edit::Keep), 1 => edit(shares)];
    let window_ms = prop_oneof![9 => Just(Edit::Keep), 1 => edit(900_u64..=60_000)];
    (max_removal, window_ms).boxed()
}

/// The fields of a profile.
pub(super) fn profile_fields() -> BoxedStrategy<ProfilePatch> {
    // A profile that asks nothing unusual of its monitor is the rule.
    let monitor = prop_oneof![3 => Just(MonitorPatch::default()), 1 => monitor()];
    let routing = edit(prop::sample::select(&Routing::ALL[..]));
    let max_return = prop_oneof![9 => Just(Edit::Keep), 1 => edit(0_u32..=9)];
    let numbers = (edit(0_u32..100_000), max_return);
    (routing, numbers, brake(), edit(any::<bool>()), edit(any::<bool>()), monitor)
        .prop_map(
            |(routing, (ttl, max_return), (max_removal, removal_window_ms), flatten, enabled, monitor)| {
                ProfilePatch {
                    routing,
                    ttl,
                    max_return,
                    flatten,
                    max_removal,
                    removal_window_ms,
                    enabled,
                    monitor,
                }
            },
        )
        .boxed()
}
