//! Arbitrary overrides (STA-13), and those of the golden state.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use waymark_core::model::{EndpointId, LogIndex, Override, OverrideKind, Revision, Timestamp};
use waymark_core::state::{Action, EventCause, OverrideAct, Past, Replaced, State};

use super::arbitrary::{revision, text, timestamp};

pub(super) fn kind() -> impl Strategy<Value = OverrideKind> {
    proptest::sample::select(OverrideKind::ALL.as_slice())
}

pub(super) fn action() -> impl Strategy<Value = Action> {
    let name = (any::<u64>(), revision()).prop_map(|(id, revision)| (EndpointId(id), revision));
    prop_oneof![
        (text(), kind(), text(), any::<Option<u64>>(), any::<bool>()).prop_map(
            |(pattern, kind, reason, span_ms, even_last)| Action::OverrideEndpoints {
                pattern,
                kind,
                reason,
                span_ms,
                even_last
            }
        ),
        (text(), text()).prop_map(|(pattern, reason)| Action::LiftOverrides { pattern, reason }),
        vec(name, 0..3).prop_map(|ended| Action::EndOverrides { ended }),
    ]
}

pub(super) fn cause() -> impl Strategy<Value = EventCause> {
    let act =
        proptest::sample::select([OverrideAct::Made, OverrideAct::Lifted, OverrideAct::Ended].as_slice());
    (act, kind(), text(), text(), proptest::option::of(timestamp())).prop_map(
        |(act, kind, author, reason, ends)| EventCause::Override { act, kind, author, reason, ends },
    )
}

/// Puts overrides of any kind on some endpoints of a state.
pub(super) fn overridden(state: impl Strategy<Value = State>) -> impl Strategy<Value = State> {
    let overridden = (kind(), text(), text(), timestamp(), proptest::option::of(timestamp()), revision())
        .prop_map(|(kind, author, reason, at, ends, revision)| {
            Arc::new(Override { kind, author, reason, at, ends, revision })
        });
    (state, vec(overridden, 0..3)).prop_map(|(mut state, overrides)| {
        let ids: Vec<EndpointId> = state.health.keys().copied().collect();
        state.overrides = ids.into_iter().zip(overrides).collect();
        state
    })
}

pub(super) fn golden_actions() -> Vec<(&'static str, Action)> {
    let (pattern, reason) = (|| "web/eu*".to_owned(), || "a move".to_owned());
    vec![
        (
            "override_endpoints",
            Action::OverrideEndpoints {
                pattern: pattern(),
                kind: OverrideKind::Drain,
                reason: reason(),
                span_ms: Some(1_800_000),
                even_last: true,
            },
        ),
        ("lift_overrides", Action::LiftOverrides { pattern: pattern(), reason: reason() }),
        ("end_overrides", Action::EndOverrides { ended: vec![(EndpointId(8), Revision(15))] }),
    ]
}

pub(super) fn golden_cause() -> EventCause {
    EventCause::Override {
        act: OverrideAct::Lifted,
        kind: OverrideKind::ForceDown,
        author: "operator".into(),
        reason: "a move".into(),
        ends: Some(Timestamp(1_700_000_000_009)),
    }
}

/// One override in force, and a past in which there was none and then another.
pub(super) fn add_golden(state: &mut State) {
    let id = *state.health.keys().next().unwrap();
    let made = |kind, ends| {
        let (author, reason) = ("operator".to_owned(), "a move".to_owned());
        let (at, revision) = (Timestamp(1_700_000_000_006), Revision(15));
        Arc::new(Override { kind, author, reason, at, ends, revision })
    };
    state.overrides.insert(id, made(OverrideKind::ForceUp, Some(Timestamp(1_700_000_000_007))));
    let replaced =
        vec![Replaced::Override(id, None), Replaced::Override(id, Some(made(OverrideKind::Drain, None)))];
    let past = Past { at: Timestamp(1_700_000_000_031), index: LogIndex(31), replaced };
    state.history.add(Revision(31), past);
}
