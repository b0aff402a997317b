//! Random wishes for how a profile is probed, few of them bad.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{edit, one_of};
use crate::model::{Edit, Header, MonitorPatch, Protocol, StatusRange};

pub(super) fn headers() -> BoxedStrategy<Vec<Header>> {
    let header = (one_of(&["Host", "X-A", "x-a", "Connection"]), one_of(&["a.example", "1", "*"]));
    vec(header.prop_map(|(name, value)| Header { name, value: value.into() }), 0..3).boxed()
}

pub(super) fn monitor() -> BoxedStrategy<MonitorPatch> {
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
