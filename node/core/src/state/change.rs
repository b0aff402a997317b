//! What applying a command did, or why it did nothing.

use super::{EventId, State};
use crate::model::{Caseless, Name, ProfileId, RecordType, Revision, Violation};

/// The result of [`super::apply()`].
#[derive(Clone, Debug)]
pub struct Applied {
    /// The state afterwards: the one before, if the command was refused or changed nothing.
    pub state: State,
    /// What the author is told.
    pub reply: Result<Reply, Rejection>,
    /// What changed, for whoever builds on the state.
    pub changes: Vec<Change>,
}

/// What the author of an accepted command is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The counter after the command; the object's own revision if it was changed.
    pub revision: Revision,
    /// What is allowed but probably not meant (VAL-5).
    pub warnings: Vec<Warning>,
}

/// Something that is allowed but probably not meant (VAL-5): shaped like a violation, refuses nothing.
pub type Warning = Violation;

/// Why a command was refused; the state is untouched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The wish breaks rules; every one of them is listed (VAL-1).
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Violation>),
    /// There is no such object.
    #[error("there is no {noun} '{name}'{}", .hint.as_ref().map(|h| format!("; did you mean '{h}'?")).unwrap_or_default())]
    NotFound {
        /// `zone`, `profile`, `endpoint`, `record set`, `service`, `region`, `agent`, `geo override`.
        noun: &'static str,
        /// The name that was asked for.
        name: String,
        /// The nearest name that exists.
        hint: Option<String>,
    },
    /// The name is taken.
    #[error("the {noun} '{name}' exists already")]
    Exists {
        /// The kind of object.
        noun: &'static str,
        /// Its name.
        name: String,
    },
    /// The object is not at the revision that the author saw (OBJ-8).
    #[error("the {noun} '{name}' is at revision {current}, not {expected}: it was changed since you read it")]
    RevisionMismatch {
        /// The kind of object.
        noun: &'static str,
        /// Its name.
        name: String,
        /// The revision that the author named.
        expected: Revision,
        /// The revision that the object has.
        current: Revision,
    },
    /// The drain would leave profiles without an endpoint to answer with, and its author has not said that this is meant
    /// (STA-13).
    #[error("nobody would be left to answer for {}: each endpoint of it would be disabled, stopped or drained", .profiles.join(", "))]
    LastEndpoint {
        /// These profiles, named.
        profiles: Vec<String>,
    },
    /// Other objects depend on it.
    #[error("the {noun} '{name}' is in use by {}", .by.join(", "))]
    InUse {
        /// The kind of object.
        noun: &'static str,
        /// Its name.
        name: String,
        /// What uses it, named.
        by: Vec<String>,
    },
}

/// One thing that is different afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A zone is new, different or gone.
    Zone(Name),
    /// A profile's settings or endpoints are new or different.
    Profile(ProfileId),
    /// A profile is gone, and with it its full name.
    ProfileRemoved(ProfileId, Name),
    /// Counts, verdicts or statuses of a profile's endpoints are different.
    Health(ProfileId),
    /// The static records of a name and type are new, different or gone.
    Records(Name, RecordType),
    /// A service is new, different or gone. The profiles that use it are told of by themselves.
    Service(Caseless),
    /// Rows of the latency table are new, different or gone.
    Latency,
    /// The choice of the geo table, or an override, is different.
    Geography,
    /// A region is new, different or gone.
    Region(Caseless),
    /// An agent is new, different or gone.
    Agent(Caseless),
    /// An event was recorded.
    Event(EventId),
}
