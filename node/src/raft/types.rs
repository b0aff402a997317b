//! The types that openraft is built on here: what an entry holds, what applying it returns, how a member is described.

use std::fmt;

use bytes::Bytes;
use waymark_core::state::{Rejection, Reply};

use super::snapshot::SnapshotData;

openraft::declare_raft_types!(
    /// openraft's type parameters.
    pub(crate) TypeConfig:
        D = Payload,
        R = Replies,
        NodeId = u64,
        Node = Node,
        SnapshotData = SnapshotData,
);

/// The running consensus of one member.
pub(super) type Raft = openraft::Raft<TypeConfig>;
/// One entry of the log.
pub(super) type Entry = openraft::Entry<TypeConfig>;
/// An entry's place in the log, and the leader that put it there.
pub(super) type LogId = openraft::LogId<u64>;
/// A vote as it is kept on disk.
pub(super) type Vote = openraft::Vote<u64>;
/// Who the members are.
pub(super) type Membership = openraft::Membership<u64, Node>;
/// Who the members are, and the entry that says so.
pub(super) type StoredMembership = openraft::StoredMembership<u64, Node>;
/// A snapshot's place in the log.
pub(super) type SnapshotMeta = openraft::SnapshotMeta<u64, Node>;
/// A failed disk, in openraft's words.
pub(super) type StorageError = openraft::StorageError<u64>;
/// What openraft tells of itself.
pub(super) type Metrics = openraft::RaftMetrics<u64, Node>;

/// An encoded `waymark.storage.v1.Entry`: consensus carries it and does not look inside.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Payload(pub(crate) Bytes);

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Never the content: entries may hold what must not reach a log file.
        write!(f, "{} bytes", self.0.len())
    }
}

/// What the commands of one entry came to, in order; empty for entries of Raft's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replies(pub(crate) Vec<Result<Reply, Rejection>>);

/// How a member is reached, as kept with the membership (CLU-11).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node {
    /// Its name.
    pub(crate) name: String,
    /// Its gRPC address, as in `http://192.0.2.1:7400`.
    pub(crate) grpc: String,
    /// Its DNS address, as in `192.0.2.1:53`.
    pub(crate) dns: String,
    /// Its HTTP address, as in `http://192.0.2.1:7401`.
    pub(crate) http: String,
}
