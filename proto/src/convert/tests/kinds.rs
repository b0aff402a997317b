//! Any service, and whatever an endpoint can stand for.

use std::net::IpAddr;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use waymark_core::model::{Child, Endpoint, EndpointKind, Place, Service, Span, Target};
use waymark_core::state::State;

use super::arbitrary::{caseless, revision, target};

pub(super) fn service() -> impl Strategy<Value = Service> {
    (caseless(), target(), option::of(caseless()), any::<bool>(), revision()).prop_map(
        |(name, target, location, is_running, revision)| Service {
            name,
            target,
            location,
            is_running,
            revision,
        },
    )
}

pub(super) fn kind() -> impl Strategy<Value = EndpointKind> {
    let min = || option::of(any::<u32>());
    prop_oneof![
        2 => target().prop_map(EndpointKind::External),
        1 => (caseless(), min(), min(), min()).prop_map(
            |(profile, endpoints_min, endpoints_min_v4, endpoints_min_v6)| EndpointKind::Nested(Child {
                profile,
                endpoints_min,
                endpoints_min_v4,
                endpoints_min_v6,
            })
        ),
        1 => caseless().prop_map(EndpointKind::Service),
    ]
}

pub(super) fn mapping() -> impl Strategy<Value = (Vec<Place>, Vec<Span>)> {
    let place = (0..Place::COUNT).prop_map(|index| Place::from_index(index).unwrap());
    let span = any::<(u32, u32)>().prop_map(|(one, other)| {
        let address = |number: u32| IpAddr::V4(number.into());
        Span::new(address(one.min(other)), address(one.max(other))).unwrap()
    });
    (vec(place, 0..3), vec(span, 0..3))
}

/// Puts a name that there is in the place of one that there is not.
pub(super) fn stand_for_what_is_there(endpoint: &mut Endpoint, state: &State) {
    let named = match &mut endpoint.kind {
        EndpointKind::External(_) => return,
        EndpointKind::Nested(child) => {
            state.profile_ids.keys().next().map(|name| child.profile = name.clone())
        }
        EndpointKind::Service(service) => state.services.keys().next().map(|name| *service = name.clone()),
    };
    if named.is_none() {
        endpoint.kind = EndpointKind::External(Target::V4([192, 0, 2, 1].into()));
    }
}
