//! An agent, as the cluster knows it.

use super::{Caseless, Revision, Timestamp};

/// One life of an agent's process: a random number drawn at its start. Sequence numbers count within it (STA-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentRun(pub u64);

/// A member's number, given by the cluster and never again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u64);

/// An agent and its latest session. The newer session of a name wins (STA-6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its name (OBJ-9).
    pub name: Caseless,
    /// The region that it probes from.
    pub region: Caseless,
    /// The run that holds the session.
    pub run: AgentRun,
    /// The session's number: the state's counter when it was opened.
    pub session: Revision,
    /// The member that holds its stream.
    pub member: MemberId,
    /// The version that it says it runs.
    pub version: String,
    /// No member has heard of it for too long (STA-5).
    pub lost: bool,
    /// All of its canary targets fail: it abstains, and nothing that it finds counts (PRB-14).
    pub is_blind: bool,
    /// When the session was opened or lost, or when it went blind or saw again.
    pub since: Timestamp,
}

impl Agent {
    /// Longest version, in characters: a build's full description still fits.
    pub const VERSION_MAX: usize = 128;
}
