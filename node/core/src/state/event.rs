//! A status change as operators see it (STA-12).

use crate::health::{EndpointStatus, Outcome, ProfileStatus, RegionalVerdict};
use crate::model::{Caseless, EndpointId, LogIndex, OverrideKind, ProfileId, Revision, Timestamp};

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
    /// Verdicts expired or an agent was lost or is blind, and those that are left say something else.
    Silence {
        /// The agent that fell silent.
        agent: Caseless,
        /// Has it withdrawn its verdicts, as it is blind (PRB-14)?
        is_blind: bool,
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
    /// An operator's override began or ended; the status before and after may be alike (STA-13).
    Override {
        /// Which of the two, and how.
        act: OverrideAct,
        /// What it does.
        kind: OverrideKind,
        /// Who made it, or lifted it.
        author: String,
        /// Why, in the words of that author.
        reason: String,
        /// When it is to end, or was; `None` if it stays, or stayed, until it is lifted.
        ends: Option<Timestamp>,
    },
    /// The endpoints of the profile that the nested endpoint stands for changed.
    Child {
        /// The profile.
        profile: Caseless,
    },
    /// The removal brake had held the endpoint in its pool, and lets it go (FAIL-2).
    Brake {
        /// For how long, in milliseconds by the leaders' clocks: for people to read.
        held_ms: u64,
        /// The profile that it stands for, if it is nested.
        child: Option<Caseless>,
        /// Its regional verdicts as it leaves.
        regions: Vec<RegionalVerdict>,
    },
}

/// What became of an override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideAct {
    /// An operator made it, perhaps in the place of another.
    Made,
    /// An operator lifted it.
    Lifted,
    /// Its time was up.
    Ended,
}

/// One status change, or the beginning or end of an override.
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
    /// The status before, the same as afterwards where an override left it alone; `None` for a subject that is new.
    pub from: Option<EventStatus>,
    /// The status afterwards.
    pub to: EventStatus,
    /// Why.
    pub cause: EventCause,
}
