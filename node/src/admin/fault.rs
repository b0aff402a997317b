//! What a caller is told when a call fails: which status code, and what to do.

use tonic::Status;
use waymark_core::model::{Violations, nearest};
use waymark_core::state::{CommandId, Rejection};

use super::limits::HINT_NAMES_MAX;
use crate::raft::{MembershipError, ProposeError};

/// `INVALID_ARGUMENT` with everything in `violations`, if there is anything.
pub(super) fn refuse_if_any(violations: Violations) -> Result<(), Status> {
    if violations.is_empty() { Ok(()) } else { Err(refuse(violations)) }
}

/// `INVALID_ARGUMENT` with everything in `violations`.
pub(super) fn refuse(violations: Violations) -> Status {
    refusal(&Rejection::Invalid(violations.into_vec()))
}

/// What the author of a refused command is told.
pub(super) fn refusal(rejection: &Rejection) -> Status {
    waymark_proto::status::rejected(rejection)
}

/// `NOT_FOUND`, with the nearest of `names` as a hint.
pub(super) fn not_found<'a>(
    noun: &'static str,
    name: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Status {
    let hint = nearest(name, names.into_iter().take(HINT_NAMES_MAX)).map(ToOwned::to_owned);
    refusal(&Rejection::NotFound { noun, name: name.to_owned(), hint })
}

/// What the author of the write `id` is told when it was not committed, or is not known to be.
pub(super) fn write(error: &ProposeError, id: CommandId) -> Status {
    match error {
        ProposeError::OutcomeUnknown => Status::deadline_exceeded(format!(
            "{error}; a retry with the same request_id ({:032x}) is safe: it is carried out once",
            id.0
        )),
        other => propose(other),
    }
}

/// What the reader is told when this member cannot say how far it must have applied.
pub(super) fn read(error: &ProposeError) -> Status {
    match error {
        ProposeError::NoLeader | ProposeError::OutcomeUnknown => Status::unavailable(
            "no leader is known, so this member cannot tell whether it is up to date; a read with --stale (stale: \
             true) shows its own state",
        ),
        // Another member may be asked: a read takes no room.
        ProposeError::Storage(_) | ProposeError::Failed(_) => Status::unavailable(format!(
            "{error}; a read with --stale (stale: true) shows this member's last state"
        )),
        other => propose(other),
    }
}

/// What the caller is told when the membership was not changed, or is not known to be.
pub(super) fn membership(error: &MembershipError) -> Status {
    match error {
        // To ask again at once would find the same silence.
        MembershipError::Refused(_) | MembershipError::Unreachable(_) => {
            Status::failed_precondition(error.to_string())
        }
        MembershipError::Unknown(_) => Status::not_found(error.to_string()),
        MembershipError::OutcomeUnknown(_) => Status::deadline_exceeded(error.to_string()),
        MembershipError::Propose(ProposeError::OutcomeUnknown) => {
            Status::deadline_exceeded(format!("{error}; see 'waymark cluster status' for what became of it"))
        }
        MembershipError::Propose(other) => propose(other),
    }
}

fn propose(error: &ProposeError) -> Status {
    let text = error.to_string();
    match error {
        ProposeError::NotMember | ProposeError::Level { .. } => Status::failed_precondition(text),
        ProposeError::NoLeader | ProposeError::Failed(_) => Status::unavailable(text),
        ProposeError::OutcomeUnknown => Status::deadline_exceeded(text),
        ProposeError::Storage(_) | ProposeError::Busy => Status::resource_exhausted(text),
        ProposeError::Refused(_) => Status::invalid_argument(text),
    }
}
