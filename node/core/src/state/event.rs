//! A status change as operators see it (STA-12).

use crate::health::{EndpointStatus, Outcome, ProfileStatus, RegionalVerdict};
use crate::model::{Caseless, EndpointId, LogIndex, ProfileId, Revision, Timestamp};

/// The same on every member: the state's counter at the change, and which of its events it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The counter.
    pub counter: Revision,
    /// The place among the events of that counter, from 0.
    pub ordinal: u32,
}

/// What changed its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An endpoint.
    Endpoint {
        /// Its number.
        id: EndpointId,
        /// Its name at the time.
        name: Caseless,
    },
    /// The profile as a whole.
    Profile,
}

/// The two kinds of status that an event can tell of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// An endpoint's.
    Endpoint(EndpointStatus),
    /// A profile's.
    Profile(ProfileStatus),
}

impl EventStatus {
    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Endpoint(status) => status.as_str(),
            Self::Profile(status) => status.as_str(),
        }
    }
}

/// Why it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventCause {
    /// An agent's outcome turned its verdict.
    Outcome {
        /// The agent.
        agent: Caseless,
        /// What it found.
        outcome: Outcome,
        /// The endpoint's regional verdicts afterwards.
        regions: Vec<RegionalVerdict>,
    },
    /// Verdicts expired or an agent was lost, and those that are left say something else.
    Silence {
        /// The agent that fell silent.
        agent: Caseless,
        /// The endpoint's regional verdicts afterwards.
        regions: Vec<RegionalVerdict>,
    },
    /// Somebody changed the configuration.
    Configuration {
        /// Who.
        author: String,
    },
    /// The profile's status follows from its endpoints'.
    Endpoints,
    /// The service that the endpoint stands for was started or stopped.
    Service {
        /// The service.
        name: Caseless,
        /// Does it run now?
        is_running: bool,
        /// Who said so.
        author: String,
    },
    /// The endpoints of the profile that the nested endpoint stands for changed.
    Child {
        /// The profile.
        profile: Caseless,
    },
}

/// One status change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its identity.
    pub id: EventId,
    /// When the leader proposed the entry.
    pub at: Timestamp,
    /// The log entry.
    pub index: LogIndex,
    /// The profile.
    pub profile: ProfileId,
    /// The profile's name at the time.
    pub profile_name: Caseless,
    /// What changed.
    pub subject: Subject,
    /// The status before; `None` for a subject that is new.
    pub from: Option<EventStatus>,
    /// The status afterwards.
    pub to: EventStatus,
    /// Why.
    pub cause: EventCause,
}
