//! Arbitrary removal brakes (FAIL-2), and those of the golden state.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use waymark_core::health::{ByFamily, EndpointStatus};
use waymark_core::model::{
    Edit, EndpointId, LogIndex, Profile, ProfileId, ProfilePatch, Revision, Timestamp,
};
use waymark_core::state::{Action, Brake, Event, EventCause, Held, Past, Replaced, State};

use super::arbitrary::{caseless, regions, revision, timestamp};

pub(super) fn action() -> impl Strategy<Value = Action> {
    let due = (any::<u64>(), revision()).prop_map(|(id, revision)| (ProfileId(id), revision));
    vec(due, 0..3).prop_map(|due| Action::ReleaseBrakes { due })
}

pub(super) fn cause() -> impl Strategy<Value = EventCause> {
    (any::<u64>(), proptest::option::of(caseless()), regions())
        .prop_map(|(held_ms, child, regions)| EventCause::Brake { held_ms, child, regions })
}

fn held() -> impl Strategy<Value = Held> {
    const STATUSES: [EndpointStatus; 3] =
        [EndpointStatus::Online, EndpointStatus::CheckingEndpoint, EndpointStatus::Degraded];
    let status = proptest::sample::select(&STATUSES[..]);
    let by_family = (status.clone(), status.clone()).prop_map(|(v4, v6)| ByFamily { v4, v6 });
    (status, proptest::option::of(by_family), timestamp(), revision())
        .prop_map(|(status, by_family, since, revision)| Held { status, by_family, since, revision })
}

/// Lets some endpoints of a state have left, or be held, by their profile's brake.
pub(super) fn braked(state: impl Strategy<Value = State>) -> impl Strategy<Value = State> {
    let one = prop_oneof![revision().prop_map(Ok), held().prop_map(Err)];
    (state, vec(one, 0..5)).prop_map(|(mut state, kept)| {
        let endpoints = state
            .profiles
            .values()
            .flat_map(|profile| profile.endpoints.iter().map(|endpoint| (profile.id, endpoint.id)));
        let endpoints: Vec<(ProfileId, EndpointId)> = endpoints.collect();
        for ((profile, endpoint), kept) in endpoints.into_iter().zip(kept) {
            let brake = Arc::make_mut(state.brakes.entry(profile).or_default());
            match kept {
                Ok(left) => {
                    brake.left.insert(endpoint, left);
                }
                Err(held) => {
                    brake.held.insert(endpoint, held);
                }
            }
        }
        state
    })
}

pub(super) fn golden_actions() -> Vec<(&'static str, Action)> {
    let fields = ProfilePatch {
        max_removal: Edit::Set(20),
        removal_window_ms: Edit::Set(45_000),
        ..ProfilePatch::default()
    };
    vec![
        ("update_profile.brake", Action::UpdateProfile { name: "web".into(), fields, if_revision: None }),
        ("release_brakes", Action::ReleaseBrakes { due: vec![(ProfileId(7), Revision(40))] }),
    ]
}

fn golden_brake() -> Brake {
    let held = Held {
        status: EndpointStatus::Online,
        by_family: Some(ByFamily { v4: EndpointStatus::Online, v6: EndpointStatus::Stopped }),
        since: Timestamp(1_700_000_000_005),
        revision: Revision(39),
    };
    let left = [(EndpointId(11), Revision(40))].into();
    Brake { left, held: [(EndpointId(11), held)].into() }
}

/// Gives the golden state a brake, an event of it, and a past of it and of a profile with its settings.
pub(super) fn add_brake(state: &mut State, event: &Event) {
    let id = ProfileId(10);
    let brake = Arc::new(golden_brake());
    state.brakes.insert(id, brake.clone());
    let settings = Profile {
        max_removal: Some(20),
        removal_window_ms: Some(45_000),
        ..Profile::clone(&state.profiles[&id])
    };
    let replaced = vec![
        Replaced::Profile(id, Some(Arc::new(settings))),
        Replaced::Brake(id, None),
        Replaced::Brake(id, Some(brake)),
    ];
    let past = Past { at: Timestamp(1_700_000_000_006), index: LogIndex(105), replaced };
    state.history.add(Revision(46), past);
    let cause = EventCause::Brake { held_ms: 30_000, child: Some("eu".into()), regions: Vec::new() };
    let id = waymark_core::state::EventId { ordinal: 6, ..event.id };
    state.events.insert(id, Arc::new(Event { id, cause, ..event.clone() }));
}
