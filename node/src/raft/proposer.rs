//! The one way in: commands from any door, forwarded to the leader, gathered into entries, answered once applied here.

use waymark_core::model::LogIndex;
use waymark_core::state::{Command, Rejection, Reply};

/// Takes commands to the log. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Proposer {}

/// What became of proposed commands: committed, applied on this member, visible in its view.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// One for each command, in order.
    pub replies: Vec<Result<Reply, Rejection>>,
    /// The entry that holds them.
    pub index: LogIndex,
}

/// Why commands were not committed, or are not known to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposeError {
    /// This member belongs to no cluster yet.
    #[error(
        "this member belongs to no cluster yet: run 'waymark cluster init' here, or 'waymark cluster add' on a member"
    )]
    NotMember,
    /// Nothing was proposed: no leader was found in time. A retry is safe.
    #[error("no leader is known: a majority of the members must be up and reach each other")]
    NoLeader,
    /// The commands may or may not be committed. A retry with the same command ids is safe.
    #[error("the outcome is unknown: the leader was lost while the change was being committed")]
    OutcomeUnknown,
    /// This member's or the leader's store has failed.
    #[error("the member's store has failed: {0}")]
    Storage(String),
    /// Too much is waiting already.
    #[error("too many commands are waiting to be committed; try again")]
    Busy,
}

impl Proposer {
    /// Commits `commands`, waits until this member has applied them, and returns what each came to. Ends within
    /// `Proposer::DEADLINE` (5 s).
    pub async fn propose(&self, _commands: Vec<Command>) -> Result<Proposed, ProposeError> {
        Err(ProposeError::NotMember)
    }

    /// Returns once this member's view contains everything that was committed when it was called (ReadIndex).
    pub async fn read_barrier(&self) -> Result<(), ProposeError> {
        Err(ProposeError::NotMember)
    }
}
