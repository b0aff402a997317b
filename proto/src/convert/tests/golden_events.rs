//! The events and replies of the golden state: one of each kind.

use waymark_core::health::{AgentVerdict, EndpointStatus, ProfileStatus, RegionalVerdict, Verdict};
use waymark_core::model::{EndpointId, LogIndex, ProfileId, Revision, Timestamp, Violation};
use waymark_core::state::{
    AuditEntry, AuditHash, AuditNote, AuditOutcome, AuditTrail, Event, EventCause, EventId, EventStatus,
    Rejection, Reply, Subject,
};

use super::golden::{REFUSED, region};
use super::overrides::golden_cause;

pub(super) fn events() -> [Event; 6] {
    let agent =
        AgentVerdict { name: "agent-1".into(), verdict: Some(Verdict::Down), failures: 3, last: REFUSED };
    let regions =
        vec![RegionalVerdict { region: region().name, verdict: Some(Verdict::Down), agents: vec![agent] }];
    let endpoint = Event {
        id: EventId { counter: Revision(41), ordinal: 0 },
        at: Timestamp(1_700_000_000_001),
        index: LogIndex(99),
        profile: ProfileId(7),
        profile_name: "Web".into(),
        subject: Subject::Endpoint { id: EndpointId(8), name: "eu".into() },
        from: Some(EventStatus::Endpoint(EndpointStatus::Online)),
        to: EventStatus::Endpoint(EndpointStatus::Degraded),
        cause: EventCause::Outcome { agent: "agent-1".into(), outcome: REFUSED, regions: regions.clone() },
    };
    let numbered = |ordinal| EventId { counter: Revision(41), ordinal };
    let silent = EventCause::Silence { agent: "agent-1".into(), is_blind: false, regions };
    let blind = EventCause::Silence { agent: "agent-1".into(), is_blind: true, regions: Vec::new() };
    let configured = EventCause::Configuration { author: "operator".into() };
    [
        Event { id: numbered(1), cause: silent, ..endpoint.clone() },
        Event { id: numbered(2), from: None, cause: configured, ..endpoint.clone() },
        Event {
            id: numbered(3),
            subject: Subject::Profile,
            from: Some(EventStatus::Profile(ProfileStatus::CheckingEndpoints)),
            to: EventStatus::Profile(ProfileStatus::Degraded),
            cause: EventCause::Endpoints,
            ..endpoint.clone()
        },
        Event { id: numbered(5), cause: blind, ..endpoint.clone() },
        Event { id: numbered(4), cause: golden_cause(), ..endpoint.clone() },
        endpoint,
    ]
}

pub(super) fn replies() -> [Result<Reply, Rejection>; 7] {
    let violation = || vec![Violation::new("endpoints[0].weight", "1001 is outside 1–1000")];
    let web = || "web".to_owned();
    [
        Ok(Reply { revision: Revision(7), warnings: violation() }),
        Err(Rejection::Invalid(violation())),
        Err(Rejection::NotFound { noun: "profile", name: "wbe".into(), hint: Some(web()) }),
        Err(Rejection::Exists { noun: "profile", name: web() }),
        Err(Rejection::RevisionMismatch {
            noun: "profile",
            name: web(),
            expected: Revision(6),
            current: Revision(7),
        }),
        Err(Rejection::InUse { noun: "zone", name: "tm.example.com".into(), by: vec![web()] }),
        Err(Rejection::LastEndpoint { profiles: vec!["profile 'web'".into()] }),
    ]
}

/// A trail of one entry, whose predecessors have been forgotten.
pub(super) fn audit() -> AuditTrail {
    let entry = AuditEntry {
        number: 7,
        at: Timestamp(1_700_000_000_004),
        index: LogIndex(99),
        revision: Revision(41),
        author: "operator/alice".into(),
        note: AuditNote::new("192.0.2.1:50000", "update profile", "Web", "ttl=30"),
        outcome: AuditOutcome::Done,
        previous: AuditHash([0x5a; 32]),
    };
    AuditTrail { entries: [(entry.number, std::sync::Arc::new(entry))].into_iter().collect() }
}
