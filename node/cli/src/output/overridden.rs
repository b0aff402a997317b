//! What an operator put over what probes find of an endpoint, as it is shown.

use serde::Serialize;
use waymark_core::model::OverrideKind;
use waymark_proto::admin::v1 as wire;

use super::{time, words};

/// An override in force.
#[derive(Debug, Serialize)]
pub(crate) struct Override {
    /// `drain`, `force-up`, `force-down`.
    pub(crate) kind: String,
    author: String,
    reason: String,
    since: String,
    /// Null if it stays until it is lifted.
    until: Option<String>,
}

impl From<wire::Override> for Override {
    fn from(message: wire::Override) -> Self {
        let wire::Override { kind, author, at_ms, reason, ends_ms, revision: _ } = message;
        Self {
            kind: words::override_kind(kind),
            author,
            reason,
            since: time::rfc_3339(at_ms),
            until: ends_ms.map(time::rfc_3339),
        }
    }
}

impl Override {
    /// In one line, as in `drained by operator until 2026-01-31T12:00:00Z: a move`.
    pub(crate) fn line(&self) -> String {
        let known = OverrideKind::ALL.into_iter().find(|known| known.as_str() == self.kind);
        let what = known.map_or(self.kind.as_str(), |known| known.participle());
        let until = self.until.as_ref().map_or("it is lifted", String::as_str);
        format!("{what} by {} until {until}: {}", self.author, self.reason)
    }
}

/// The beginning or the end of an override.
#[derive(Debug, Serialize)]
pub(crate) struct OverrideChange {
    /// `made`, `lifted`, `ended`.
    act: String,
    kind: String,
    author: String,
    reason: String,
    /// When it ends, or would have ended.
    until: Option<String>,
}

impl From<wire::OverrideChange> for OverrideChange {
    fn from(message: wire::OverrideChange) -> Self {
        let wire::OverrideChange { act, kind, author, reason, ends_ms } = message;
        let act = match wire::OverrideAct::try_from(act) {
            Ok(wire::OverrideAct::Made) => "made".to_owned(),
            Ok(wire::OverrideAct::Lifted) => "lifted".to_owned(),
            Ok(wire::OverrideAct::Ended) => "ended".to_owned(),
            Ok(wire::OverrideAct::Unspecified) | Err(_) => format!("unknown ({act})"),
        };
        let kind = words::override_kind(kind);
        Self { act, kind, author, reason, until: ends_ms.map(time::rfc_3339) }
    }
}

impl OverrideChange {
    /// When one that was made ends; `None` if it stays, or is gone.
    pub(crate) fn until(&self) -> Option<&str> {
        self.until.as_deref().filter(|_| self.act == "made")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sta_13_an_override_tells_its_kind_author_reason_and_end() {
        let message = wire::Override {
            kind: wire::OverrideKind::ForceDown.into(),
            author: "alice".into(),
            at_ms: 1_700_000_000_000,
            reason: "a move".into(),
            ends_ms: Some(1_700_000_060_000),
            revision: 7,
        };
        let shown = Override::from(message.clone());
        assert_eq!(shown.line(), "forced down by alice until 2023-11-14T22:14:20Z: a move");
        assert_eq!(
            serde_json::to_value(&shown).unwrap(),
            serde_json::json!({
                "kind": "force-down", "author": "alice", "reason": "a move",
                "since": "2023-11-14T22:13:20Z", "until": "2023-11-14T22:14:20Z",
            })
        );
        let lasting = Override::from(wire::Override { ends_ms: None, ..message });
        assert_eq!(lasting.line(), "forced down by alice until it is lifted: a move");
    }
}
