//! What can go wrong, and the exit code that tells it to scripts (CLI-2).

use tonic::{Code, Status};
use waymark_core::model::Violation;
use waymark_proto::status::{is_last_endpoint, violations};

/// The exit codes of failures; 0 is done, 2 and 8 belong to commands that do not exist yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Failed, or refused by validation.
    Refused = 1,
    /// There is no such object.
    NotFound = 3,
    /// Not authenticated or not allowed.
    NotAllowed = 4,
    /// Needs `--yes`.
    NeedsYes = 5,
    /// The object is at another revision.
    Conflict = 6,
    /// No member can be reached, or no leader for a write.
    Unreachable = 7,
    /// Timed out: the outcome of a write is unknown.
    TimedOut = 9,
    /// The command line is wrong.
    Usage = 64,
}

/// Why a command did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What scripts see.
    pub(crate) exit: Exit,
    /// What failed, on what, and what to do.
    pub(crate) message: String,
    /// Every rule that the wish breaks (VAL-1).
    pub(crate) violations: Vec<Violation>,
}

impl Failure {
    /// A failure that is told in one line.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), violations: Vec::new() }
    }

    /// The command line asks for what makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }
}

impl From<Status> for Failure {
    /// A member's refusal. Codes that say "not now" never come here: the client tries again (see `client`).
    fn from(status: Status) -> Self {
        let (exit, advice) = match status.code() {
            Code::FailedPrecondition if is_last_endpoint(&status) => (Exit::NeedsYes, ""),
            Code::NotFound => (Exit::NotFound, ""),
            Code::Unauthenticated | Code::PermissionDenied => (Exit::NotAllowed, ""),
            Code::Aborted => (Exit::Conflict, "; look at it again and repeat the change"),
            Code::AlreadyExists => (Exit::Refused, "; 'update' changes it"),
            Code::Unimplemented => (Exit::Refused, "; the member runs another version than this CLI"),
            _ => (Exit::Refused, ""),
        };
        let message = match status.message() {
            "" => format!("the member refused: {:?}", status.code()),
            text => text.to_owned(),
        };
        Self { exit, message: format!("{message}{advice}"), violations: violations(&status) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_2_each_refusal_has_its_exit_code() {
        for (code, exit) in [
            (Code::InvalidArgument, 1),
            (Code::AlreadyExists, 1),
            (Code::FailedPrecondition, 1),
            (Code::Internal, 1),
            (Code::NotFound, 3),
            (Code::PermissionDenied, 4),
            (Code::Unauthenticated, 4),
            (Code::Aborted, 6),
        ] {
            assert_eq!(Failure::from(Status::new(code, "why")).exit as u8, exit, "{code:?}");
        }
    }

    #[test]
    fn sta_13_the_last_endpoint_needs_a_yes() {
        let refused = waymark_core::state::Rejection::LastEndpoint { profiles: vec!["profile 'web'".into()] };
        assert_eq!(Failure::from(waymark_proto::status::rejected(&refused)).exit, Exit::NeedsYes);
    }

    #[test]
    fn val_1_every_violation_is_kept() {
        let sent = vec![Violation::new("ttl", "is bad"), Violation::new("port", "is worse")];
        assert_eq!(Failure::from(waymark_proto::status::invalid(&sent)).violations, sent);
    }
}
