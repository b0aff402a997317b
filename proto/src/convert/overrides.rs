//! Operators' overrides of endpoints (STA-13): wished, kept, shown, and told of in events.

use std::sync::Arc;

use waymark_core::model::{EndpointId, Override, OverrideKind, Revision, Timestamp};
use waymark_core::state::{Action, EventCause, OverrideAct, Replaced};

use super::{Malformed, number, required};
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;

impl From<&Override> for wire::Override {
    fn from(overridden: &Override) -> Self {
        let Override { kind, author, reason, at, ends, revision } = overridden;
        Self {
            kind: wire::OverrideKind::from(*kind).into(),
            author: author.clone(),
            at_ms: at.0,
            reason: reason.clone(),
            ends_ms: ends.map(|ends| ends.0),
            revision: revision.0,
        }
    }
}

impl TryFrom<wire::Override> for Override {
    type Error = Malformed;

    fn try_from(message: wire::Override) -> Result<Self, Malformed> {
        let wire::Override { kind, author, at_ms, reason, ends_ms, revision } = message;
        Ok(Self {
            kind: kind_of(kind)?,
            author,
            reason,
            at: Timestamp(at_ms),
            ends: ends_ms.map(Timestamp),
            revision: Revision(revision),
        })
    }
}

fn kind_of(word: i32) -> Result<OverrideKind, Malformed> {
    number::<wire::OverrideKind>("override.kind", word)?.try_into()
}

/// What became of an override, if that is why a status changed, or an event was made.
pub(super) fn override_change(cause: &EventCause) -> Option<wire::OverrideChange> {
    let EventCause::Override { act, kind, author, reason, ends } = cause else { return None };
    Some(wire::OverrideChange {
        act: wire::OverrideAct::from(*act).into(),
        kind: wire::OverrideKind::from(*kind).into(),
        author: author.clone(),
        reason: reason.clone(),
        ends_ms: ends.map(|ends| ends.0),
    })
}

pub(super) fn overridden_cause(message: wire::OverrideChange) -> Result<EventCause, Malformed> {
    let wire::OverrideChange { act, kind, author, reason, ends_ms } = message;
    let act = OverrideAct::try_from(number::<wire::OverrideAct>("override.act", act)?)?;
    Ok(EventCause::Override { act, kind: kind_of(kind)?, author, reason, ends: ends_ms.map(Timestamp) })
}

pub(super) fn override_record(endpoint: EndpointId, overridden: &Override) -> stored::StoredOverride {
    stored::StoredOverride { endpoint: endpoint.0, r#override: Some(overridden.into()) }
}

pub(super) fn recorded_override(
    message: stored::StoredOverride,
) -> Result<(EndpointId, Arc<Override>), Malformed> {
    let stored::StoredOverride { endpoint, r#override } = message;
    let overridden = required("override.override", r#override)?.try_into()?;
    Ok((EndpointId(endpoint), Arc::new(overridden)))
}

pub(super) fn replaced_override(message: stored::StoredOverride) -> Result<Replaced, Malformed> {
    let (endpoint, overridden) = recorded_override(message)?;
    Ok(Replaced::Override(endpoint, Some(overridden)))
}

pub(super) fn override_endpoints(
    pattern: &str,
    kind: OverrideKind,
    reason: &str,
    span_ms: Option<u64>,
    even_last: bool,
) -> stored::OverrideEndpoints {
    stored::OverrideEndpoints {
        pattern: pattern.to_owned(),
        kind: wire::OverrideKind::from(kind).into(),
        reason: reason.to_owned(),
        for_ms: span_ms,
        even_last,
    }
}

pub(super) fn overridden_endpoints(message: stored::OverrideEndpoints) -> Result<Action, Malformed> {
    let stored::OverrideEndpoints { pattern, kind, reason, for_ms, even_last } = message;
    Ok(Action::OverrideEndpoints { pattern, kind: kind_of(kind)?, reason, span_ms: for_ms, even_last })
}

pub(super) fn lift_overrides(pattern: &str, reason: &str) -> stored::LiftOverrides {
    stored::LiftOverrides { pattern: pattern.to_owned(), reason: reason.to_owned() }
}

pub(super) fn lifted_overrides(message: stored::LiftOverrides) -> Action {
    let stored::LiftOverrides { pattern, reason } = message;
    Action::LiftOverrides { pattern, reason }
}

pub(super) fn end_overrides(ended: &[(EndpointId, Revision)]) -> stored::EndOverrides {
    let name = |(endpoint, revision): &(EndpointId, Revision)| stored::OverrideName {
        endpoint: endpoint.0,
        revision: revision.0,
    };
    stored::EndOverrides { ended: ended.iter().map(name).collect() }
}

pub(super) fn ended_overrides(message: stored::EndOverrides) -> Action {
    let name = |stored::OverrideName { endpoint, revision }| (EndpointId(endpoint), Revision(revision));
    Action::EndOverrides { ended: message.ended.into_iter().map(name).collect() }
}
