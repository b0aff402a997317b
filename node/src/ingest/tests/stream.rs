//! What an agent is told to probe, on a living stream (PRB-11).

use std::collections::BTreeSet;

use prost::Message;
use waymark_core::model::{Edit, EndpointPatch, Header, ProfilePatch, Routing};
use waymark_core::state::Action;

use super::agent::Agent;
use super::stage::{Door, PROFILE, Stage};
use crate::ingest::limits::{ASSIGNMENT_BYTES_MAX, ASSIGNMENT_CHECKS_MAX, Waits};

fn update(name: &str, fields: EndpointPatch) -> Action {
    Action::UpdateEndpoint { profile: PROFILE.into(), name: name.into(), fields, if_revision: None }
}

#[tokio::test]
async fn prb_11_everything_first_then_only_what_changed() {
    let stage = Stage::new(3, 3);
    let ids: Vec<u64> = stage.endpoints().iter().map(|endpoint| endpoint.0).collect();
    let door = Door::open(&stage, 1, Waits::default()).await;
    let mut agent = Agent::greet(&door, "a1", 7).await;
    agent.welcomed().await;
    let full = agent.assignment().await;
    assert!(full.full && full.removed.is_empty());
    assert_eq!(full.checks.iter().map(|check| check.endpoint).collect::<Vec<_>>(), ids);
    assert_eq!((full.checks[0].target.as_str(), full.checks[0].port), ("192.0.2.2", 80));
    assert_eq!((full.checks[0].interval_ms, full.checks[0].timeout_ms), (1_000, 200));

    // A weight is nothing to an agent; a target is.
    stage.commit(update("e1", EndpointPatch { weight: Edit::Set(7), ..Default::default() }));
    stage
        .commit(update("e2", EndpointPatch { target: Edit::Set("192.0.2.99".into()), ..Default::default() }));
    let delta = agent.assignment().await;
    assert!(!delta.full && !delta.more && delta.removed.is_empty() && delta.revision > full.revision);
    assert_eq!(delta.checks.len(), 1);
    assert_eq!((delta.checks[0].endpoint, delta.checks[0].target.as_str()), (ids[1], "192.0.2.99"));

    stage.commit(update("e3", EndpointPatch { always_serve: Edit::Set(true), ..Default::default() }));
    let delta = agent.assignment().await;
    assert_eq!((delta.removed, delta.checks.len(), delta.full), (vec![ids[2]], 0, false));

    let disable = ProfilePatch { enabled: Edit::Set(false), ..Default::default() };
    stage.commit(Action::UpdateProfile { name: PROFILE.into(), fields: disable, if_revision: None });
    assert_eq!(agent.assignment().await.removed, ids[..2]);

    stage.commit(Action::DeleteProfile { name: PROFILE.into(), if_revision: None });
    let mut returning = Agent::greet(&door, "a2", 8).await;
    returning.welcomed().await;
    let full = returning.assignment().await;
    assert!(full.full && full.checks.is_empty(), "an agent with nothing to probe is told so");
}

#[tokio::test]
async fn prb_11_a_large_assignment_comes_in_messages_of_bounded_size() {
    // F-CLU-16: many checks, and few checks with long headers.
    let stage = Stage::new(1, 3);
    let header = |number: usize| Header { name: format!("x-{number}"), value: "v".repeat(4_000).into() };
    let profiles = 12;
    for number in 0..profiles {
        let headers = if number == 0 { (0..8).map(header).collect() } else { Vec::new() };
        let endpoint = |of: usize| {
            let target = format!("192.0.2.{}", of + 1);
            let fields = EndpointPatch {
                target: Edit::Set(target),
                headers: Edit::Set(headers.clone()),
                ..Default::default()
            };
            (format!("e{of}"), fields)
        };
        stage.commit(Action::CreateProfile {
            name: format!("p{number}"),
            zone: "tm.example.com".into(),
            relative_name: format!("p{number}"),
            fields: ProfilePatch { routing: Edit::Set(Routing::Priority), ..Default::default() },
            endpoints: (0..200).map(endpoint).collect(),
        });
    }
    let door = Door::open(&stage, 1, Waits::default()).await;
    let mut agent = Agent::greet(&door, "a1", 7).await;
    agent.welcomed().await;
    let mut endpoints = BTreeSet::new();
    let mut messages = 0;
    while endpoints.len() < 200 * profiles + 1 {
        let part = agent.assignment().await;
        assert_eq!(part.full, messages == 0);
        assert!(part.encoded_len() <= ASSIGNMENT_BYTES_MAX + 1_024, "{} bytes", part.encoded_len());
        assert!(part.checks.len() <= ASSIGNMENT_CHECKS_MAX);
        for check in part.checks {
            assert!(endpoints.insert(check.endpoint), "a check comes once");
        }
        messages += 1;
        assert_eq!(part.more, endpoints.len() < 200 * profiles + 1, "the last part says that it is");
    }
    assert!(messages > 20, "{messages}");
}
