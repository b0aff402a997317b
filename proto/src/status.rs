//! Refusals as gRPC statuses, and what a client reads out of them.
//!
//! | refusal | code | details |
//! |---|---|---|
//! | `Invalid` | INVALID_ARGUMENT | `google.rpc.BadRequest`: every violation |
//! | `NotFound` | NOT_FOUND | – |
//! | `Exists` | ALREADY_EXISTS | – |
//! | `RevisionMismatch` | ABORTED | – |
//! | `InUse` | FAILED_PRECONDITION | – |

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};
use waymark_core::model::Violation;
use waymark_core::state::Rejection;

/// Most violations that a status carries: details travel in a header block, which peers bound. A wish that breaks
/// more rules is told how many more there are.
pub const VIOLATIONS_MAX: usize = 500;

/// Most violations that the status's message repeats, for clients that read no details.
const MESSAGE_VIOLATIONS_MAX: usize = 3;

/// The status that lists `violations`.
pub fn invalid(violations: &[Violation]) -> Status {
    let field = |violation: &Violation| FieldViolation::new(&violation.field, &violation.description);
    let mut fields: Vec<FieldViolation> = violations.iter().take(VIOLATIONS_MAX).map(field).collect();
    if let Some(more) = violations.len().checked_sub(VIOLATIONS_MAX).filter(|more| *more > 0) {
        fields.push(FieldViolation::new("", format!("and {more} more")));
    }
    Status::with_error_details(
        Code::InvalidArgument,
        summary(violations),
        ErrorDetails::with_bad_request(fields),
    )
}

fn summary(violations: &[Violation]) -> String {
    let mut lines: Vec<String> =
        violations.iter().take(MESSAGE_VIOLATIONS_MAX).map(ToString::to_string).collect();
    if violations.len() > lines.len() {
        lines.push(format!("and {} more", violations.len() - lines.len()));
    }
    lines.join("; ")
}

/// The status for a refused command.
pub fn rejected(rejection: &Rejection) -> Status {
    let code = match rejection {
        Rejection::Invalid(violations) => return invalid(violations),
        Rejection::NotFound { .. } => Code::NotFound,
        Rejection::Exists { .. } => Code::AlreadyExists,
        Rejection::RevisionMismatch { .. } => Code::Aborted,
        Rejection::InUse { .. } => Code::FailedPrecondition,
    };
    Status::new(code, rejection.to_string())
}

/// The violations in a status; empty if it has none.
pub fn violations(status: &Status) -> Vec<Violation> {
    let details = status.get_error_details();
    let fields = details.bad_request().map(|request| request.field_violations.as_slice()).unwrap_or_default();
    fields.iter().map(|field| Violation::new(&field.field, &field.description)).collect()
}

#[cfg(test)]
mod tests {
    use waymark_core::model::Revision;

    use super::*;

    #[test]
    fn val_1_every_violation_reaches_the_client() {
        let sent: Vec<Violation> = (0..20)
            .map(|place| Violation::new(format!("endpoints[{place}].weight"), "0 is outside 1–1000"))
            .collect();
        let status = rejected(&Rejection::Invalid(sent.clone()));
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(violations(&status), sent);
        assert!(status.message().ends_with("; and 17 more"), "{}", status.message());
    }

    #[test]
    fn the_number_of_violations_is_bounded() {
        let sent = vec![Violation::new("ttl", "bad"); VIOLATIONS_MAX + 2];
        let read = violations(&invalid(&sent));
        assert_eq!(read.len(), VIOLATIONS_MAX + 1);
        assert_eq!(read[VIOLATIONS_MAX].description, "and 2 more");
    }

    #[test]
    fn obj_8_a_mismatch_is_aborted_and_names_both_revisions() {
        let status = rejected(&Rejection::RevisionMismatch {
            noun: "profile",
            name: "web".into(),
            expected: Revision(3),
            current: Revision(5),
        });
        assert_eq!(status.code(), Code::Aborted);
        assert!(status.message().contains('3') && status.message().contains('5'));
        assert!(violations(&status).is_empty());
    }

    #[test]
    fn each_refusal_has_its_code() {
        let name = || "web".to_owned();
        for (rejection, code) in [
            (Rejection::NotFound { noun: "zone", name: name(), hint: None }, Code::NotFound),
            (Rejection::Exists { noun: "zone", name: name() }, Code::AlreadyExists),
            (Rejection::InUse { noun: "zone", name: name(), by: vec![name()] }, Code::FailedPrecondition),
        ] {
            assert_eq!(rejected(&rejection).code(), code, "{rejection:?}");
        }
    }
}
