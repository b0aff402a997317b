//! Which agents' streams are alive where: each member tells the leader every 2 s, and the leader proposes
//! `LoseAgent` for a session that nobody has named for 15 s (STA-5). A new leader starts its timers afresh.

use waymark_core::model::{Caseless, Revision};

/// One agent's session whose stream this member holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldSession {
    /// The agent.
    pub agent: Caseless,
    /// The session.
    pub session: Revision,
}

/// The sessions that this member holds. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Leases {}

impl Leases {
    /// Says that the session's stream has just been heard from (report or heartbeat): it is named to the leader as
    /// long as that was less than 15 s ago.
    pub fn heard(&self, _session: &HeldSession) {}

    /// Says that the stream has ended: the session is no longer named.
    pub fn release(&self, _session: &HeldSession) {}
}
