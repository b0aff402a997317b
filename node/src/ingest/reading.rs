//! Reading what an agent sends.

use waymark_core::health::Outcome;
use waymark_core::model::{AgentRun, EndpointId, Revision, Timestamp};
use waymark_core::state::ReportedOutcome;
use waymark_proto::{Malformed, agent::v1 as wire};

use super::limits::DETAIL_BYTES_MAX;
use super::recent::{Certificate, Phases, RecentOutcome};

/// What the replicated state may need of an outcome.
pub(super) fn reported(message: &wire::ProbeOutcome) -> Result<ReportedOutcome, Malformed> {
    let malformed = |field, description: &str| Malformed { field, description: description.to_owned() };
    if message.sequence == 0 {
        return Err(malformed("sequence", "numbers begin with 1"));
    }
    let outcome = message.outcome.ok_or_else(|| malformed("outcome", "is missing"))?;
    Ok(ReportedOutcome {
        endpoint: EndpointId(message.endpoint),
        check: Revision(message.check_revision),
        sequence: message.sequence,
        age_ms: message.age_ms,
        outcome: Outcome::try_from(outcome)?,
    })
}

/// Is an agent blind that says so of its sight? `None`: it does not know (PRB-14).
pub(super) fn is_blind(sight: i32) -> Option<bool> {
    match wire::Sight::try_from(sight) {
        Ok(wire::Sight::Clear) => Some(false),
        Ok(wire::Sight::Blind) => Some(true),
        // A word that is not known here comes from an agent that is newer than this member.
        Ok(wire::Sight::Doubtful) | Err(_) => None,
    }
}

/// What people may want to see of it; the message's text moves over. `now` is the wall clock's.
pub(super) fn recent(
    message: wire::ProbeOutcome,
    run: AgentRun,
    outcome: Outcome,
    now: Timestamp,
) -> RecentOutcome {
    let wire::ProbeOutcome {
        endpoint: _,
        sequence,
        age_ms,
        outcome: _,
        address,
        resolve_us,
        connect_us,
        tls_us,
        first_byte_us,
        certificate_expiry,
        certificate_valid,
        detail,
        check_revision,
    } = message;
    let brief = |us: Option<u64>| us.map(|us| u32::try_from(us).unwrap_or(u32::MAX));
    RecentOutcome {
        at: Timestamp(now.0.saturating_sub(age_ms)),
        run,
        check: Revision(check_revision),
        sequence,
        outcome,
        address: address.parse().ok(),
        phases: Phases {
            resolve_us: brief(resolve_us),
            connect_us: brief(connect_us),
            tls_us: brief(tls_us),
            first_byte_us: brief(first_byte_us),
        },
        certificate: certificate_expiry
            .map(|expiry| Certificate { expiry, is_valid: certificate_valid.unwrap_or_default() }),
        detail: shortened(detail).into_boxed_str(),
    }
}

/// The longest beginning of `text` that may be kept.
fn shortened(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(DETAIL_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use waymark_core::health::OutcomeClass;

    fn message() -> wire::ProbeOutcome {
        let outcome = Outcome { class: OutcomeClass::Tls, status: None };
        wire::ProbeOutcome { endpoint: 3, sequence: 9, outcome: Some(outcome.into()), ..Default::default() }
    }

    #[test]
    fn prb_9_an_outcome_is_read_whole() {
        let message = wire::ProbeOutcome {
            check_revision: 4,
            age_ms: 200,
            address: "2001:db8::1".into(),
            connect_us: Some(1_500),
            first_byte_us: Some(u64::MAX),
            certificate_expiry: Some(-1),
            certificate_valid: Some(true),
            detail: "ä".repeat(DETAIL_BYTES_MAX),
            ..message()
        };
        let reported = reported(&message).unwrap();
        let outcome = Outcome { class: OutcomeClass::Tls, status: None };
        let (endpoint, check) = (EndpointId(3), Revision(4));
        assert_eq!(reported, ReportedOutcome { endpoint, check, sequence: 9, age_ms: 200, outcome });
        let recent = recent(message, AgentRun(5), outcome, Timestamp(1_000));
        assert_eq!((recent.at, recent.run, recent.sequence), (Timestamp(800), AgentRun(5), 9));
        assert_eq!(recent.address, Some("2001:db8::1".parse().unwrap()));
        assert_eq!((recent.phases.connect_us, recent.phases.tls_us), (Some(1_500), None));
        assert_eq!(recent.phases.first_byte_us, Some(u32::MAX));
        assert_eq!(recent.certificate, Some(Certificate { expiry: -1, is_valid: true }));
        assert_eq!(&*recent.detail, "ä".repeat(DETAIL_BYTES_MAX / 2));
    }

    #[test]
    fn sec_6_what_cannot_be_an_outcome_is_told_apart() {
        assert_eq!(reported(&wire::ProbeOutcome { sequence: 0, ..message() }).unwrap_err().field, "sequence");
        assert_eq!(
            reported(&wire::ProbeOutcome { outcome: None, ..message() }).unwrap_err().field,
            "outcome"
        );
        let unknown = waymark_proto::admin::v1::Outcome { class: 77, status: None };
        assert!(reported(&wire::ProbeOutcome { outcome: Some(unknown), ..message() }).is_err());
    }
}
