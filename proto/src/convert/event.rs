//! Events: as snapshots keep them, and as operators see them (STA-12).

use waymark_core::health::{EndpointStatus, ProfileStatus};
use waymark_core::model::{Caseless, EndpointId, LogIndex, ProfileId, Revision, Timestamp};
use waymark_core::state::{Event, EventCause, EventId, EventStatus, Subject};

use super::brake::brake_cause;
use super::overrides::{overridden_cause, override_change};
use super::{Malformed, cause_text, each, number, required};
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;
use crate::storage::v1::stored_event::Cause;

/// The event's id as operators see it: `CLUSTER-COUNTER-ORDINAL`.
pub fn event_id_text(cluster: &str, id: EventId) -> String {
    let EventId { counter, ordinal } = id;
    format!("{cluster}-{counter}-{ordinal}")
}

/// Reads [`event_id_text`] back; `None` if it is no event id of this cluster.
pub fn event_id(cluster: &str, text: &str) -> Option<EventId> {
    let (counter, ordinal) = text.strip_prefix(cluster)?.strip_prefix('-')?.split_once('-')?;
    Some(EventId { counter: Revision(counter.parse().ok()?), ordinal: ordinal.parse().ok()? })
}

/// The event as operators see it.
pub fn event_message(cluster: &str, event: &Event) -> wire::Event {
    let Event { id, at, index, profile: _, profile_name, subject, from, to, cause } = event;
    let endpoint = match subject {
        Subject::Endpoint { id: _, name } => name.to_string(),
        Subject::Profile => String::new(),
    };
    let regions = match cause {
        EventCause::Outcome { regions, .. }
        | EventCause::Silence { regions, .. }
        | EventCause::Brake { regions, .. } => regions.as_slice(),
        EventCause::Configuration { .. }
        | EventCause::Endpoints
        | EventCause::Service { .. }
        | EventCause::Override { .. }
        | EventCause::Child { .. } => &[],
    };
    wire::Event {
        id: event_id_text(cluster, *id),
        at_ms: at.0,
        log_index: index.0,
        profile: profile_name.to_string(),
        endpoint,
        from: from.map(wire::Status::from).unwrap_or_default().into(),
        to: wire::Status::from(*to).into(),
        cause: cause_text(cause),
        regions: regions.iter().map(Into::into).collect(),
        counter: id.counter.0,
        ordinal: id.ordinal,
        overridden: override_change(cause),
    }
}

impl From<EventStatus> for wire::Status {
    fn from(status: EventStatus) -> Self {
        match status {
            EventStatus::Endpoint(status) => status.into(),
            EventStatus::Profile(status) => status.into(),
        }
    }
}

fn status_of(subject: &Subject, word: wire::Status) -> Result<EventStatus, Malformed> {
    match subject {
        Subject::Endpoint { .. } => EndpointStatus::try_from(word).map(EventStatus::Endpoint),
        Subject::Profile => ProfileStatus::try_from(word).map(EventStatus::Profile),
    }
}

impl From<&Event> for stored::StoredEvent {
    fn from(event: &Event) -> Self {
        let Event { id, at, index, profile, profile_name, subject, from, to, cause } = event;
        let EventId { counter, ordinal } = *id;
        let (endpoint, endpoint_name) = match subject {
            Subject::Endpoint { id, name } => (id.0, name.to_string()),
            Subject::Profile => (0, String::new()),
        };
        Self {
            counter: counter.0,
            ordinal,
            at_ms: at.0,
            index: index.0,
            profile: profile.0,
            profile_name: profile_name.to_string(),
            endpoint,
            endpoint_name,
            from: from.map(wire::Status::from).unwrap_or_default().into(),
            to: wire::Status::from(*to).into(),
            cause: Some(cause.into()),
        }
    }
}

impl TryFrom<stored::StoredEvent> for Event {
    type Error = Malformed;

    fn try_from(message: stored::StoredEvent) -> Result<Self, Malformed> {
        let stored::StoredEvent {
            counter,
            ordinal,
            at_ms,
            index,
            profile,
            profile_name,
            endpoint,
            endpoint_name,
            from,
            to,
            cause,
        } = message;
        // An endpoint always has a name, so an empty one tells the profile's own events apart.
        let subject = if endpoint_name.is_empty() {
            Subject::Profile
        } else {
            Subject::Endpoint { id: EndpointId(endpoint), name: Caseless::new(&endpoint_name) }
        };
        let from = match number("event.from", from)? {
            wire::Status::Unspecified => None,
            word => Some(status_of(&subject, word)?),
        };
        Ok(Self {
            id: EventId { counter: Revision(counter), ordinal },
            at: Timestamp(at_ms),
            index: LogIndex(index),
            profile: ProfileId(profile),
            profile_name: Caseless::new(&profile_name),
            to: status_of(&subject, number("event.to", to)?)?,
            subject,
            from,
            cause: required("event.cause", cause)?.try_into()?,
        })
    }
}

impl From<&EventCause> for Cause {
    fn from(cause: &EventCause) -> Self {
        if let Some(change) = override_change(cause) {
            return Self::Override(change);
        }
        match cause {
            EventCause::Override { .. } => unreachable!("an override was told of above"),
            EventCause::Outcome { agent, outcome, regions } => Self::Outcome(stored::OutcomeCause {
                agent: agent.to_string(),
                outcome: Some((*outcome).into()),
                regions: regions.iter().map(Into::into).collect(),
            }),
            EventCause::Silence { agent, is_blind, regions } => Self::Silence(stored::SilenceCause {
                agent: agent.to_string(),
                blind: *is_blind,
                regions: regions.iter().map(Into::into).collect(),
            }),
            EventCause::Configuration { author } => Self::Configuration(author.clone()),
            EventCause::Endpoints => Self::Endpoints(stored::EndpointsCause {}),
            EventCause::Service { name, is_running, author } => Self::Service(stored::ServiceCause {
                service: name.to_string(),
                running: *is_running,
                author: author.clone(),
            }),
            EventCause::Child { profile } => Self::Child(profile.to_string()),
            EventCause::Brake { held_ms, child, regions } => Self::Brake(stored::BrakeCause {
                held_ms: *held_ms,
                child: child.as_ref().map(ToString::to_string),
                regions: regions.iter().map(Into::into).collect(),
            }),
        }
    }
}

impl TryFrom<Cause> for EventCause {
    type Error = Malformed;

    fn try_from(message: Cause) -> Result<Self, Malformed> {
        Ok(match message {
            Cause::Outcome(stored::OutcomeCause { agent, outcome, regions }) => Self::Outcome {
                agent: Caseless::new(&agent),
                outcome: required("event.cause.outcome", outcome)?.try_into()?,
                regions: each(regions)?,
            },
            Cause::Silence(stored::SilenceCause { agent, regions, blind }) => {
                Self::Silence { agent: Caseless::new(&agent), is_blind: blind, regions: each(regions)? }
            }
            Cause::Configuration(author) => Self::Configuration { author },
            Cause::Endpoints(stored::EndpointsCause {}) => Self::Endpoints,
            Cause::Service(stored::ServiceCause { service, running, author }) => {
                Self::Service { name: Caseless::new(&service), is_running: running, author }
            }
            Cause::Override(change) => overridden_cause(change)?,
            Cause::Brake(message) => brake_cause(message)?,
            Cause::Child(profile) => Self::Child { profile: Caseless::new(&profile) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sta_12_an_event_id_names_cluster_counter_and_ordinal() {
        let id = EventId { counter: Revision(41), ordinal: 2 };
        let text = event_id_text("c0ffee-1", id);
        assert_eq!(text, "c0ffee-1-41-2");
        assert_eq!(event_id("c0ffee-1", &text), Some(id));
        assert_eq!(event_id("c0ffee", &text), None);
        assert_eq!(event_id("c0ffee-1", "c0ffee-1-41"), None);
    }
}
