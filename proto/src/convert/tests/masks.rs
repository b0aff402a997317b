//! What a wish names, and what it may not name (VAL-1, VAL-2, VAL-3).

use proptest::prelude::*;
use prost_types::FieldMask;
use waymark_core::model::{Edit, EndpointPatch, ProfilePatch, Protocol, Routing, Violation, ZonePatch};
use waymark_core::state::Action;

use super::wishes;
use crate::admin::v1 as wire;
use crate::convert::{
    ENDPOINT_PATHS, PROFILE_PATHS, ZONE_PATHS, create_profile, endpoint_message, endpoint_patch,
    profile_message, profile_patch, zone_message, zone_patch,
};

fn mask(paths: &[&str]) -> FieldMask {
    FieldMask { paths: paths.iter().map(ToString::to_string).collect() }
}

fn lines(violations: Vec<Violation>) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}

proptest! {
    #[test]
    fn val_2_a_patch_survives_message_and_mask(
        zone in wishes::zone_patch(),
        profile in wishes::profile_patch(),
        endpoint in wishes::endpoint_patch(),
    ) {
        let (message, mask) = zone_message("z", &zone);
        prop_assert_eq!(zone_patch(message, Some(&mask)), Ok(zone));
        let (message, mask) = profile_message("p", &profile);
        prop_assert_eq!(profile_patch(message, Some(&mask)), Ok(profile));
        let (message, mask) = endpoint_message("e", &endpoint);
        prop_assert_eq!(endpoint_patch(message, Some(&mask)), Ok(endpoint));
    }
}

#[test]
fn val_2_without_a_mask_what_is_there_is_set() {
    let profile = wire::Profile {
        routing: wire::Routing::Weighted.into(),
        ttl_seconds: Some(0),
        monitor: Some(wire::Monitor { protocol: wire::Protocol::Tcp.into(), ..Default::default() }),
        ..Default::default()
    };
    let patch = profile_patch(profile, None).unwrap();
    assert_eq!((patch.routing, patch.ttl), (Edit::Set(Routing::Weighted), Edit::Set(0)));
    assert_eq!(patch.monitor.protocol, Edit::Set(Protocol::Tcp));
    assert_eq!((patch.enabled, patch.monitor.port), (Edit::Keep, Edit::Keep));
}

#[test]
fn val_2_with_a_mask_exactly_the_named_paths_change() {
    let endpoint = wire::Endpoint {
        target: "192.0.2.1".into(),
        weight: Some(5),
        priority: Some(1),
        ..Default::default()
    };
    let patch = endpoint_patch(endpoint, Some(&mask(&["weight", "location", "headers"]))).unwrap();
    let wanted = EndpointPatch {
        weight: Edit::Set(5),
        location: Edit::Clear,
        headers: Edit::Clear,
        ..EndpointPatch::default()
    };
    assert_eq!(patch, wanted);
    assert_eq!(zone_patch(wire::Zone::default(), Some(&mask(&[]))), Ok(ZonePatch::default()));
}

#[test]
fn val_2_every_path_can_be_cleared() {
    let cleared = zone_patch(wire::Zone::default(), Some(&mask(&ZONE_PATHS))).unwrap();
    assert_eq!(zone_message("", &cleared).1.paths, ZONE_PATHS);
    let cleared = profile_patch(wire::Profile::default(), Some(&mask(&PROFILE_PATHS))).unwrap();
    assert_eq!(profile_message("", &cleared).1.paths, PROFILE_PATHS);
    let cleared = endpoint_patch(wire::Endpoint::default(), Some(&mask(&ENDPOINT_PATHS))).unwrap();
    assert_eq!(endpoint_message("", &cleared).1.paths, ENDPOINT_PATHS);
}

#[test]
fn val_3_unknown_paths_are_refused_with_the_nearest_one() {
    let refused =
        profile_patch(wire::Profile::default(), Some(&mask(&["ttl_second", "monitor.protocl", "*"])));
    assert_eq!(
        lines(refused.unwrap_err()),
        [
            "update_mask: 'ttl_second' is no field of a profile; did you mean 'ttl_seconds'?".to_owned(),
            "update_mask: 'monitor.protocl' is no field of a profile; did you mean 'monitor.protocol'?"
                .to_owned(),
            format!("update_mask: '*' is no field of a profile; known are {}", PROFILE_PATHS.join(", ")),
        ]
    );
}

#[test]
fn obj_3_what_never_changes_is_refused_with_the_reason() {
    let refused = profile_patch(wire::Profile::default(), Some(&mask(&["zone", "revision", "endpoints"])));
    assert_eq!(
        lines(refused.unwrap_err()),
        [
            "update_mask: 'zone' never changes; remove the object and create it anew",
            "update_mask: 'revision' is given by the cluster and can't be set",
            "update_mask: 'endpoints' are not changed with their profile; change each endpoint by itself",
        ]
    );
}

#[test]
fn val_3_unknown_words_are_refused_with_field_and_number() {
    let monitor = wire::Monitor { protocol: -1, ..Default::default() };
    let profile = wire::Profile { routing: 99, monitor: Some(monitor), ..Default::default() };
    assert_eq!(
        lines(profile_patch(profile.clone(), None).unwrap_err()),
        [
            "routing: 99 is not known; known are 1 to 6 (priority, weighted, performance, geographic, multivalue, subnet)",
            "monitor.protocol: -1 is not known; known are 1 to 3 (http, https, tcp)",
        ]
    );
    // What the mask does not name is not looked at.
    assert_eq!(profile_patch(profile, Some(&mask(&[]))), Ok(ProfilePatch::default()));
}

#[test]
fn val_1_a_new_profile_comes_with_its_endpoints() {
    let endpoint = wire::Endpoint { name: "eu".into(), priority: Some(1), ..Default::default() };
    let profile = wire::Profile {
        name: "web".into(),
        zone: "z".into(),
        endpoints: vec![endpoint],
        ..Default::default()
    };
    let Action::CreateProfile { name, endpoints, .. } = create_profile(profile).unwrap() else {
        panic!("another action");
    };
    assert_eq!(name, "web");
    assert_eq!(endpoints, [("eu".into(), EndpointPatch { priority: Edit::Set(1), ..Default::default() })]);
}
