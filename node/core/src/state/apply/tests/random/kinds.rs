//! Random wishes for what an endpoint stands for and for whom it is.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{edit, one_of, region_name};
use crate::model::{Edit, ServicePatch};
use crate::state::Action;

/// Codes and subnets, few of them bad.
pub(super) fn mapping() -> impl Strategy<Value = (Edit<Vec<String>>, Edit<Vec<String>>)> {
    let codes = vec(one_of(&["WORLD", "GEO-EU", "de", "US-CA", "XX"]), 0..3);
    let subnets = vec(
        one_of(&["10.0.0.0/9", "10.0.0.1-10.0.0.9", "192.0.2.0/24", "2001:db8::/48", "10.0.0.1/8"]),
        0..3,
    );
    (edit(codes), edit(subnets))
}

/// For all endpoints, over IPv4 and over IPv6.
pub(super) fn minima() -> impl Strategy<Value = [Edit<u32>; 3]> {
    [edit(0_u32..4).boxed(), edit(0_u32..3).boxed(), edit(0_u32..3).boxed()]
}

pub(super) fn service_name() -> impl Strategy<Value = String> {
    one_of(&["db", "DB", "cdn", "gone"])
}

pub(super) fn service_wish() -> impl Strategy<Value = Action> {
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
}
