//! Random wishes for what an endpoint stands for and for whom it is, and for the latency table.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{edit, one_of, region_name};
use crate::model::{Edit, ServicePatch, Timestamp};
use crate::state::{Action, LatencyRowDraft};

/// Codes and subnets, few of them bad.
pub(super) fn mapping() -> impl Strategy<Value = (Edit<Vec<String>>, Edit<Vec<String>>)> {
    let codes = vec(one_of(&["WORLD", "GEO-EU", "de", "US-CA", "XX"]), 0..3);
    let subnets = vec(
        one_of(&[
            "198.51.100.0/25",
            "198.51.100.7-198.51.101.7",
            "203.0.113.0/24",
            "2001:db8::/46",
            "10.0.0.1/8",
        ]),
        0..3,
    );
    (edit(codes), edit(subnets))
}

/// For all endpoints, over IPv4 and over IPv6.
pub(super) fn minima() -> BoxedStrategy<[Edit<u32>; 3]> {
    [edit(0_u32..4).boxed(), edit(0_u32..3).boxed(), edit(0_u32..3).boxed()].boxed()
}

pub(super) fn service_name() -> impl Strategy<Value = String> {
    one_of(&["db", "DB", "cdn", "gone"])
}

pub(super) fn service_wish() -> BoxedStrategy<Action> {
    let target = edit(one_of(&["192.0.2.1", "192.0.2.9", "2001:db8::9", "a.example"]));
    let fields =
        (target, edit(region_name())).prop_map(|(target, location)| ServicePatch { target, location });
    prop_oneof![
        3 => (service_name(), fields)
            .prop_map(|(name, fields)| Action::RegisterService { name, fields, if_revision: None }),
        3 => (service_name(), any::<bool>()).prop_map(|(name, is_running)| Action::SwitchService {
            name,
            is_running,
            if_revision: None
        }),
        1 => service_name().prop_map(|name| Action::DeleteService { name, if_revision: None }),
    ]
    .boxed()
}

/// Rows that hold each other and what `mapping` and the locator know; few of them bad.
pub(super) fn latency_wish() -> BoxedStrategy<Action> {
    let network =
        || one_of(&["100.64.0.0/10", "198.51.100.0/24", "198.51.100.64/26", "2001:db8::/40", "10.0.0.1/8"]);
    let row = (network(), vec((region_name(), 0_u32..100), 1..3))
        .prop_map(|(network, latencies)| LatencyRowDraft { network, latencies });
    let learned = one_of(&["100.64.3.0/24", "198.51.100.0/24", "2001:db8::/48", "198.51.100.64/26"]);
    let found = learned.prop_flat_map(|network| (Just(network.parse().expect("a network")), 0_u32..100));
    prop_oneof![
        3 => (vec(row, 0..3), vec(network(), 0..2))
            .prop_map(|(set, remove)| Action::UpdateLatency { set, remove }),
        2 => (region_name(), vec(found, 0..3))
            .prop_map(|(region, found)| Action::LearnLatencies { region, found }),
        1 => (0_u64..2_000_000).prop_map(|before| Action::ForgetLatencies { before: Timestamp(before) }),
    ]
    .boxed()
}
