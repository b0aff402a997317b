//! What an operator puts over what probes find of an endpoint (STA-13).

use super::{Revision, Timestamp, Violations};

/// What an override does to its endpoint. None touches what is Disabled, Inactive or Stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OverrideKind {
    /// In no pool, and in nobody's count of a child; still probed, and shown with its status.
    Drain,
    /// Online, whatever probes find.
    ForceUp,
    /// Degraded, whatever probes find.
    ForceDown,
}

impl OverrideKind {
    /// Every kind, in the order of the manual.
    pub const ALL: [Self; 3] = [Self::Drain, Self::ForceUp, Self::ForceDown];

    /// The word for it in output and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::ForceUp => "force-up",
            Self::ForceDown => "force-down",
        }
    }

    /// What its endpoint is by it: `drained`, `forced up`, `forced down`.
    pub fn participle(self) -> &'static str {
        match self {
            Self::Drain => "drained",
            Self::ForceUp => "forced up",
            Self::ForceDown => "forced down",
        }
    }
}

/// An override in force. An endpoint has one at most, and takes it along when it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// What it does.
    pub kind: OverrideKind,
    /// Who made it.
    pub author: String,
    /// Why, in the author's words.
    pub reason: String,
    /// When the leader proposed it.
    pub at: Timestamp,
    /// When the leader is to propose its end; `None`: it stays until it is lifted.
    pub ends: Option<Timestamp>,
    /// The state's counter at its making: what tells it from an earlier one of the same endpoint.
    pub revision: Revision,
}

impl Override {
    /// Longest reason, in characters: a line or two, and the number of a ticket.
    pub const REASON_MAX: usize = 256;
    /// Shortest span, in milliseconds: one minute, as who asks for less would not see it.
    pub const SPAN_MIN_MS: u64 = 60 * 1_000;
    /// Longest span, in milliseconds: 30 days. What is to stay longer is a change of the configuration.
    pub const SPAN_MAX_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
    /// Most endpoints that one command reaches: the work of a moment on each member, and a fifth of the events that are kept, those
    /// of profiles and of those above them not counted.
    pub const BATCH_MAX: usize = 2_000;

    /// Does it keep its endpoint out of every pool?
    pub fn is_drain(&self) -> bool {
        self.kind == OverrideKind::Drain
    }
}

/// Judges an override's reason and how long it is to last, in milliseconds.
pub fn validate_override(reason: &str, span_ms: Option<u64>, violations: &mut Violations) {
    let length = reason.chars().count();
    if reason.trim().is_empty() {
        violations.add("reason", "is missing: say why, for those who find the override later");
    } else if length > Override::REASON_MAX {
        violations.add(
            "reason",
            format!("is {length} characters long; at most {} are allowed", Override::REASON_MAX),
        );
    }
    if reason.chars().any(char::is_control) {
        violations.add("reason", "has a control character");
    }
    if let Some(span) = span_ms.filter(|span| !(Override::SPAN_MIN_MS..=Override::SPAN_MAX_MS).contains(span))
    {
        violations.add("for", format!("{span} ms is outside one minute to 30 days"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sta_13_a_reason_is_due_and_a_span_has_bounds() {
        let faults = |reason: &str, span_ms| {
            let mut violations = Violations::new();
            validate_override(reason, span_ms, &mut violations);
            violations.into_vec().into_iter().map(|fault| fault.field).collect::<Vec<_>>()
        };
        let longest = "ä".repeat(Override::REASON_MAX);
        for (reason, span_ms, expected) in [
            ("a move", None, vec![]),
            ("a move", Some(60_000), vec![]),
            ("a move", Some(2_592_000_000), vec![]),
            (&longest, None, vec![]),
            ("", None, vec!["reason"]),
            ("  ", None, vec!["reason"]),
            (&format!("{longest}."), None, vec!["reason"]),
            ("a\nb", Some(59_999), vec!["reason", "for"]),
            ("a move", Some(2_592_000_001), vec!["for"]),
        ] {
            assert_eq!(faults(reason, span_ms), expected, "{reason:?} for {span_ms:?}");
        }
    }
}
