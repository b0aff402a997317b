//! What this door asks of consensus, so that tests can stand in for it where it must fail on cue.

use waymark_core::state::Command;

use crate::raft::{HeldSession, Leases, ProposeError, Proposed, Proposer};

/// The way into the log, and to the leader's knowledge of which streams live.
#[async_trait::async_trait]
pub(super) trait Consensus: Send + Sync {
    /// See [`Proposer::propose`].
    async fn propose(&self, commands: Vec<Command>) -> Result<Proposed, ProposeError>;

    /// See [`Proposer::read_barrier`].
    async fn read_barrier(&self) -> Result<(), ProposeError>;

    /// See [`Leases::heard`].
    fn heard(&self, session: &HeldSession);

    /// See [`Leases::release`].
    fn release(&self, session: &HeldSession);
}

/// Consensus itself.
pub(super) struct Handles {
    pub(super) proposer: Proposer,
    pub(super) leases: Leases,
}

#[async_trait::async_trait]
impl Consensus for Handles {
    async fn propose(&self, commands: Vec<Command>) -> Result<Proposed, ProposeError> {
        self.proposer.propose(commands).await
    }

    async fn read_barrier(&self) -> Result<(), ProposeError> {
        self.proposer.read_barrier().await
    }

    fn heard(&self, session: &HeldSession) {
        self.leases.heard(session);
    }

    fn release(&self, session: &HeldSession) {
        self.leases.release(session);
    }
}
