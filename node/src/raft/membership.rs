//! Who is in the cluster: founding it, taking members in, and telling who leads.

use std::time::Duration;

use waymark_core::model::{LogIndex, MemberId};

use super::ProposeError;

/// Founds, grows and describes the cluster. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Membership {}

/// What a member does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Takes writes.
    Leader,
    /// Votes.
    Follower,
    /// Only follows.
    Learner,
}

/// One member, as the cluster lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// Its number.
    pub id: MemberId,
    /// Its name.
    pub name: String,
    /// What it does.
    pub role: Role,
    /// Its gRPC address, as in `http://192.0.2.1:7400`.
    pub grpc: String,
    /// Its DNS address, as in `192.0.2.1:53`.
    pub dns: String,
    /// Its HTTP address, as in `http://192.0.2.1:7401`.
    pub http: String,
    /// The last entry that it is known to have applied; `None` if it does not answer.
    pub applied: Option<LogIndex>,
}

/// What this member knows of its cluster, without asking for a leader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterStatus {
    /// The cluster's id; empty while this member belongs to none.
    pub cluster_id: String,
    /// This member's name.
    pub answered_by: String,
    /// The leader, if one is known.
    pub leader: Option<MemberId>,
    /// The current term.
    pub term: u64,
    /// This member's last log entry.
    pub last_log: LogIndex,
    /// This member's last applied entry.
    pub applied: LogIndex,
    /// On the leader: how long ago a majority answered last.
    pub quorum_age: Option<Duration>,
    /// All members, in the order of their numbers.
    pub members: Vec<MemberStatus>,
}

/// Why the membership was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MembershipError {
    /// This member, or the one to be added, belongs to a cluster already.
    #[error("{0}")]
    Refused(String),
    /// The member to be added does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// No leader, or one that failed meanwhile.
    #[error(transparent)]
    Propose(#[from] ProposeError),
}

impl Membership {
    /// Founds a cluster with this member as its first voter; returns the cluster's id.
    pub async fn init(&self) -> Result<String, MembershipError> {
        Err(MembershipError::Refused("not built".into()))
    }

    /// Takes in the empty member at `address` (learner, caught up, voter), through the leader. Ends within 30 s.
    pub async fn add(&self, _address: &str) -> Result<MemberStatus, MembershipError> {
        Err(MembershipError::Refused("not built".into()))
    }

    /// What this member knows, with each other member asked (within 1 s) how far it is.
    pub async fn status(&self) -> ClusterStatus {
        unimplemented!()
    }

    /// This member's number, once it belongs to a cluster.
    pub fn id(&self) -> Option<MemberId> {
        None
    }

    /// This member's name.
    pub fn name(&self) -> &str {
        ""
    }

    /// Returns once `member` has applied `index`, or with false if it cannot be reached in `within`.
    pub async fn await_applied(&self, _member: MemberId, _index: LogIndex, _within: Duration) -> bool {
        false
    }
}
