//! Between openraft's types and the messages that carry them over a wire or onto a disk.

use std::collections::{BTreeMap, BTreeSet};

use openraft::EntryPayload;
use waymark_proto::storage::v1 as stored;
use waymark_proto::storage::v1::log_record::Payload as StoredPayload;

use super::types::{Entry, LogId, Membership, Node, Payload, Vote};

/// A message that no member of ours sends or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the field '{0}' is missing")]
pub(super) struct MissingField(pub(super) &'static str);

/// `id` as a message.
pub(super) fn log_id_message(id: &LogId) -> stored::LogId {
    stored::LogId { term: id.leader_id.term, node: id.leader_id.node_id, index: id.index }
}

/// The log id in `message`.
pub(super) fn log_id(message: stored::LogId) -> LogId {
    let stored::LogId { term, node, index } = message;
    LogId::new(openraft::CommittedLeaderId::new(term, node), index)
}

/// `vote` as a message.
pub(super) fn vote_message(vote: &Vote) -> stored::Vote {
    stored::Vote { term: vote.leader_id.term, node: vote.leader_id.node_id, committed: vote.committed }
}

/// The vote in `message`.
pub(super) fn vote(message: stored::Vote) -> Vote {
    let stored::Vote { term, node, committed } = message;
    if committed { Vote::new_committed(term, node) } else { Vote::new(term, node) }
}

/// The member `id` as a message.
pub(super) fn node_message(id: u64, node: &Node) -> stored::Node {
    let Node { name, grpc, dns, http } = node.clone();
    stored::Node { id, name, grpc, dns, http }
}

/// The member in `message`, with its number.
pub(super) fn node(message: stored::Node) -> (u64, Node) {
    let stored::Node { id, name, grpc, dns, http } = message;
    (id, Node { name, grpc, dns, http })
}

/// `membership` as a message.
pub(super) fn membership_message(membership: &Membership) -> stored::Membership {
    let voters = |ids: &BTreeSet<u64>| stored::Voters { ids: ids.iter().copied().collect() };
    stored::Membership {
        configs: membership.get_joint_config().iter().map(voters).collect(),
        nodes: membership.nodes().map(|(id, node)| node_message(*id, node)).collect(),
    }
}

/// The membership in `message`.
pub(super) fn membership(message: stored::Membership) -> Membership {
    let stored::Membership { configs, nodes } = message;
    let configs = configs.into_iter().map(|voters| voters.ids.into_iter().collect()).collect();
    Membership::new(configs, nodes.into_iter().map(node).collect::<BTreeMap<_, _>>())
}

/// `entry` as a message.
pub(super) fn record(entry: &Entry) -> stored::LogRecord {
    let payload = match &entry.payload {
        EntryPayload::Blank => StoredPayload::Blank(stored::Blank {}),
        EntryPayload::Normal(Payload(bytes)) => StoredPayload::Entry(bytes.clone()),
        EntryPayload::Membership(membership) => StoredPayload::Membership(membership_message(membership)),
    };
    stored::LogRecord { id: Some(log_id_message(&entry.log_id)), payload: Some(payload) }
}

/// The entry in `record`.
pub(super) fn entry(record: stored::LogRecord) -> Result<Entry, MissingField> {
    let stored::LogRecord { id, payload } = record;
    let payload = match payload.ok_or(MissingField("payload"))? {
        StoredPayload::Blank(stored::Blank {}) => EntryPayload::Blank,
        StoredPayload::Entry(bytes) => EntryPayload::Normal(Payload(bytes)),
        StoredPayload::Membership(message) => EntryPayload::Membership(membership(message)),
    };
    Ok(Entry { log_id: log_id(id.ok_or(MissingField("id"))?), payload })
}
