//! Refusals as gRPC statuses, and what a client reads out of them.
//!
//! | refusal | code | details |
//! |---|---|---|
//! | `Invalid` | INVALID_ARGUMENT | `google.rpc.BadRequest`: every violation |
//! | `NotFound` | NOT_FOUND | – |
//! | `Exists` | ALREADY_EXISTS | – |
//! | `RevisionMismatch` | ABORTED | – |
//! | `InUse` | FAILED_PRECONDITION | – |
//! | `LastEndpoint` | FAILED_PRECONDITION | `google.rpc.PreconditionFailure`: [`LAST_ENDPOINT`] |

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};
use waymark_core::model::Violation;
use waymark_core::state::Rejection;

/// Most bytes of violations that a status carries. They travel in a header block, a third longer, beside the message;
/// clients of several languages take 8 KiB of those and break on more. A wish that breaks more rules than fit is told
/// how many more there are.
pub const DETAILS_BYTES_MAX: usize = 4 << 10;

/// Most bytes of the message, which repeats the first violations for clients that read no details.
const MESSAGE_BYTES_MAX: usize = 512;

/// The type of the precondition that a drain breaks which would leave a profile with nobody: its author can say that this
/// is meant (STA-13).
pub const LAST_ENDPOINT: &str = "LAST_ENDPOINT";

/// Most violations that the message repeats.
const MESSAGE_VIOLATIONS_MAX: usize = 3;

/// The longest text of one violation, in bytes: it may quote what was given.
const TEXT_BYTES_MAX: usize = 400;

/// The status that lists `violations`.
pub fn invalid(violations: &[Violation]) -> Status {
    let mut bytes = 0;
    let mut fields: Vec<FieldViolation> = violations
        .iter()
        .map(|Violation { field, description }| {
            FieldViolation::new(shortened(field, TEXT_BYTES_MAX), shortened(description, TEXT_BYTES_MAX))
        })
        .take_while(|FieldViolation { field, description, .. }| {
            bytes += field.len() + description.len() + PROTOBUF_BYTES;
            bytes <= DETAILS_BYTES_MAX
        })
        .collect();
    if let Some(more) = more(&violations[fields.len()..]) {
        fields.push(FieldViolation::new(more.field, more.description));
    }
    Status::with_error_details(
        Code::InvalidArgument,
        summary(violations),
        ErrorDetails::with_bad_request(fields),
    )
}

/// What protobuf adds to the two texts of a violation.
const PROTOBUF_BYTES: usize = 9;

fn summary(violations: &[Violation]) -> String {
    let (first, rest) = violations.split_at(violations.len().min(MESSAGE_VIOLATIONS_MAX));
    let lines: Vec<String> = first.iter().chain(&more(rest)).map(ToString::to_string).collect();
    shortened(&lines.join("; "), MESSAGE_BYTES_MAX)
}

/// How many more there are than were told, if there are any.
fn more(untold: &[Violation]) -> Option<Violation> {
    let count = untold.iter().map(Violation::count).sum();
    (count > 0).then(|| Violation::more(count))
}

/// `text`, or as much of it as `max` bytes hold, and an ellipsis.
fn shortened(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// The status for a refused command.
pub fn rejected(rejection: &Rejection) -> Status {
    let code = match rejection {
        Rejection::Invalid(violations) => return invalid(violations),
        Rejection::NotFound { .. } => Code::NotFound,
        Rejection::Exists { .. } => Code::AlreadyExists,
        Rejection::RevisionMismatch { .. } => Code::Aborted,
        Rejection::InUse { .. } => Code::FailedPrecondition,
        Rejection::LastEndpoint { profiles } => {
            let text = shortened(&rejection.to_string(), MESSAGE_BYTES_MAX);
            let subject = shortened(&profiles.join(", "), TEXT_BYTES_MAX);
            let details = ErrorDetails::with_precondition_failure_violation(LAST_ENDPOINT, subject, "");
            return Status::with_error_details(Code::FailedPrecondition, text, details);
        }
    };
    Status::new(code, rejection.to_string())
}

/// The violations in a status; empty if it has none.
pub fn violations(status: &Status) -> Vec<Violation> {
    let details = status.get_error_details();
    let fields = details.bad_request().map(|request| request.field_violations.as_slice()).unwrap_or_default();
    fields.iter().map(|field| Violation::new(&field.field, &field.description)).collect()
}

/// Was a drain refused because it would leave a profile with nobody?
pub fn is_last_endpoint(status: &Status) -> bool {
    let details = status.get_error_details();
    let broken = details.precondition_failure().map(|failure| failure.violations.as_slice());
    broken.unwrap_or_default().iter().any(|violation| violation.r#type == LAST_ENDPOINT)
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
    fn sec_6_the_violations_of_a_status_are_bounded_and_counted() {
        let sent: Vec<Violation> = (0..1_000)
            .map(|place| Violation::new(format!("endpoints[{place}].weight"), "1001 is outside 1–1000"))
            .collect();
        let read = violations(&invalid(&sent));
        let shown = read.len() - 1;
        assert!((60..1_000).contains(&shown), "{shown}");
        assert_eq!(read[..shown], sent[..shown]);
        assert_eq!(read[shown], Violation::more(1_000 - shown));
    }

    /// A list that was cut short before is cut shorter, and still says how many there are.
    #[test]
    fn val_1_what_was_counted_before_stays_counted() {
        let mut sent = vec![Violation::new("rows[0].latencies['x']", "there is no such region"); 300];
        sent.push(Violation::more(199_700));
        let status = invalid(&sent);
        assert!(status.message().ends_with("; and 199997 more"), "{}", status.message());
        let read = violations(&status);
        assert_eq!(read.iter().map(Violation::count).sum::<usize>(), 200_000);
        let few = vec![Violation::new("ttl", "bad"), Violation::more(7)];
        assert_eq!(violations(&invalid(&few)), few);
    }

    #[test]
    fn sec_6_a_violation_that_quotes_a_lot_is_shortened() {
        let status =
            invalid(&[Violation::new("target", "\u{fc}".repeat(4_000)), Violation::new("ttl", "bad")]);
        assert!(
            status.details().len() < DETAILS_BYTES_MAX && status.message().len() <= MESSAGE_BYTES_MAX + 3
        );
        let read = violations(&status);
        assert!(read[0].description.ends_with("\u{fc}…"));
        assert_eq!(read[1], Violation::new("ttl", "bad"));
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
            (Rejection::LastEndpoint { profiles: vec![name()] }, Code::FailedPrecondition),
        ] {
            assert_eq!(rejected(&rejection).code(), code, "{rejection:?}");
            let is_last = matches!(rejection, Rejection::LastEndpoint { .. });
            assert_eq!(is_last_endpoint(&rejected(&rejection)), is_last, "STA-13");
        }
    }
}
