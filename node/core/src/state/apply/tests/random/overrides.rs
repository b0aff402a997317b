//! Random overrides (STA-13), and releases of removal brakes (FAIL-2).

use super::*;
use crate::model::{OverrideKind, ProfileId};

/// Overrides of few and of many, lifted and ended; few of them bad.
pub(super) fn override_wish() -> BoxedStrategy<Action> {
    let pattern = || one_of(&["web/e1", "*/*", "web/*", "*/e?", "api/e1", "mail/*", "no/e1", "web"]);
    let kind = prop::sample::select(&OverrideKind::ALL[..]);
    let made = (pattern(), kind, prop::option::of(Just(60_000)), prop::bool::weighted(0.8));
    prop_oneof![
        4 => made.prop_map(|(pattern, kind, span_ms, even_last)| Action::OverrideEndpoints {
            pattern,
            kind,
            reason: "a move".into(),
            span_ms,
            even_last,
        }),
        2 => pattern().prop_map(|pattern| Action::LiftOverrides { pattern, reason: "moved".into() }),
        1 => vec((0_u64..12, 0_u64..40), 0..8).prop_map(|ended| Action::EndOverrides {
            ended: ended.into_iter().map(|(id, revision)| (EndpointId(id), Revision(revision))).collect(),
        }),
        3 => vec((0_u64..12, 0_u64..90), 0..8).prop_map(|due| Action::ReleaseBrakes {
            due: due.into_iter().map(|(id, revision)| (ProfileId(id), Revision(revision))).collect(),
        }),
    ]
    .boxed()
}
