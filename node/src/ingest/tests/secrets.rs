//! SEC-4: agents are sent what a secret header says, or nothing of its endpoint; never what is encrypted.

use std::sync::Arc;

use waymark_core::model::{Edit, EndpointPatch, Header, HeaderValue, LogIndex, Timestamp};
use waymark_core::state::{Action, Command, Context, State, View, apply};
use waymark_process::secrets::Keys;

use super::stage::{PROFILE, founding};
use crate::ingest::assignment::Assigner;

fn keys() -> Arc<Keys> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("secret.key");
    Keys::create(&path).unwrap();
    Arc::new(Keys::open(&path).unwrap())
}

fn after(state: &State, action: Action) -> State {
    let context = Context { index: LogIndex(9), at: Timestamp(9) };
    let applied = apply(state, context, &Command::of_cluster(action));
    applied.reply.expect("the command is accepted");
    applied.state
}

/// Two endpoints, of which the first has a secret.
fn sealed_by(keys: &Keys) -> State {
    let state = founding(2, 3).into_iter().fold(State::default(), |state, action| after(&state, action));
    let sealed = keys.seal("X-Key", "topsecret").unwrap();
    let header = Header { name: "X-Key".into(), value: HeaderValue::Sealed(sealed.into()) };
    let fields = EndpointPatch { headers: Edit::Set(vec![header]), ..EndpointPatch::default() };
    after(
        &state,
        Action::UpdateEndpoint { profile: PROFILE.into(), name: "e1".into(), fields, if_revision: None },
    )
}

#[test]
fn sec_4_an_agent_is_sent_what_the_secret_says() {
    let keys = keys();
    let view = View::of(sealed_by(&keys), LogIndex(9));
    let assignment = Assigner::new(keys).next(&view).unwrap();
    let headers: Vec<_> = assignment.checks.iter().flat_map(|check| &check.headers).collect();
    assert_eq!((assignment.checks.len(), headers.len()), (2, 1));
    assert_eq!((&*headers[0].name, &*headers[0].value), ("X-Key", "topsecret"));
    assert!(!headers[0].secret && headers[0].sealed.is_empty());
}

#[test]
fn sec_4_without_its_key_an_endpoint_is_not_probed_and_the_others_are() {
    let state = sealed_by(&keys());
    let sealed = state.profiles.values().next().unwrap().endpoints[0].id.0;
    for wrong in [Arc::default(), keys()] {
        let mut assigner = Assigner::new(wrong);
        let assignment = assigner.next(&View::of(state.clone(), LogIndex(9))).unwrap();
        assert!(assignment.full && !assignment.more);
        assert_eq!((assignment.checks.len(), &assignment.removed), (1, &vec![sealed]));
        assert!(assignment.checks.iter().all(|check| check.headers.is_empty()));
    }
}

/// An agent that probes an endpoint already is told to stop when a secret comes that its member cannot read.
#[test]
fn sec_4_a_check_ends_when_its_secret_cannot_be_read() {
    let plain = founding(2, 3).into_iter().fold(State::default(), |state, action| after(&state, action));
    let mut assigner = Assigner::default();
    assert_eq!(assigner.next(&View::of(plain, LogIndex(4))).unwrap().checks.len(), 2);
    let state = sealed_by(&keys());
    let sealed = state.profiles.values().next().unwrap().endpoints[0].id.0;
    let assignment = assigner.next(&View::of(state, LogIndex(9))).unwrap();
    assert_eq!((assignment.checks.len(), assignment.removed), (0, vec![sealed]));
}
