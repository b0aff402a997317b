//! openraft's messages to another member, over gRPC.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use openraft::Snapshot;
use openraft::error::{
    Fatal, NetworkError, RPCError, RaftError, ReplicationClosed, StreamingError, Unreachable,
};
use openraft::network::{Backoff, RPCOption, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use waymark_proto::peer::v1 as wire;
use waymark_proto::peer::v1::append_entries_response::Kind;

use super::acknowledged::Acknowledged;
use super::caller::Introduction;
use super::connections::{BadAddress, Connections, Purpose, RaftPeer, reason};
use super::convert;
use super::narrator::Reach;
use super::snapshot::SnapshotData;
use super::types::{LogId, Node, TypeConfig, Vote};

/// Bytes of a snapshot in one message.
const PART_BYTES: usize = 1 << 20;
/// Parts that are read ahead of the network.
const PARTS_AHEAD: usize = 2;

type CallError = RPCError<u64, Node, RaftError<u64>>;

/// Makes clients of other members.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// The connections to share.
    pub(super) connections: Connections,
    /// The cluster.
    pub(super) cluster: String,
    /// This member.
    pub(super) member: u64,
    /// How long to leave a member that cannot be reached alone.
    pub(super) pause: Duration,
    /// Who cannot be reached.
    pub(super) reach: Reach,
    /// Who has acknowledged what.
    pub(super) acknowledged: Acknowledged,
}

/// A client of one other member.
#[derive(Clone, Debug)]
pub(super) struct PeerClient {
    network: Network,
    target: u64,
    node: Node,
}

impl RaftNetworkFactory<TypeConfig> for Network {
    type Network = PeerClient;

    async fn new_client(&mut self, target: u64, node: &Node) -> PeerClient {
        PeerClient { network: self.clone(), target, node: node.clone() }
    }
}

impl PeerClient {
    fn raft(&self, purpose: Purpose) -> Result<RaftPeer, BadAddress> {
        let Network { connections, cluster, member, .. } = &self.network;
        connections.raft(&self.node, purpose, Introduction::new(cluster, *member, self.target))
    }

    /// Waits for the answer. Every failure is one of reaching the member, after which openraft pauses: an answer that
    /// refuses (another cluster, a member that does not take part yet) would be the same if asked again at once.
    async fn answer<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Unreachable> {
        // openraft drops the call when its time is up.
        let attempt = self.network.reach.attempt(self.target, &self.node.grpc);
        match call.await {
            Ok(answer) => {
                attempt.succeeded();
                Ok(answer.into_inner())
            }
            Err(status) => {
                attempt.failed(&reason(&status));
                Err(Unreachable::new(&status))
            }
        }
    }
}

fn request<T>(message: T, option: &RPCOption) -> Request<T> {
    let mut request = Request::new(message);
    // Lets the other side give up too. openraft itself drops the call after the same time.
    request.set_timeout(option.hard_ttl());
    request
}

impl RaftNetwork<TypeConfig> for PeerClient {
    async fn append_entries(
        &mut self,
        rpc: AppendEntriesRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, CallError> {
        let message = wire::AppendEntriesRequest {
            vote: Some(convert::vote_message(&rpc.vote)),
            previous: rpc.prev_log_id.as_ref().map(convert::log_id_message),
            entries: rpc.entries.iter().map(convert::record).collect(),
            commit: rpc.leader_commit.as_ref().map(convert::log_id_message),
            acknowledged: self.network.acknowledged.by(self.target),
        };
        let mut client = self.raft(Purpose::Log).map_err(|error| Unreachable::new(&error))?;
        let answer = self.answer(client.append_entries(request(message, &option))).await?;
        let answer = append_answer(answer).map_err(|error| NetworkError::new(&error))?;
        let upto = match &answer {
            AppendEntriesResponse::Success => {
                rpc.entries.last().map(|entry| entry.log_id).or(rpc.prev_log_id)
            }
            AppendEntriesResponse::PartialSuccess(matching) => *matching,
            AppendEntriesResponse::Conflict | AppendEntriesResponse::HigherVote(_) => None,
        };
        self.network.acknowledged.note(self.target, upto, rpc.leader_commit);
        Ok(answer)
    }

    async fn vote(
        &mut self,
        rpc: VoteRequest<u64>,
        option: RPCOption,
    ) -> Result<VoteResponse<u64>, CallError> {
        let message = wire::VoteRequest {
            vote: Some(convert::vote_message(&rpc.vote)),
            last_log: rpc.last_log_id.as_ref().map(convert::log_id_message),
        };
        let mut client = self.raft(Purpose::Log).map_err(|error| Unreachable::new(&error))?;
        let answer = self.answer(client.request_vote(request(message, &option))).await?;
        let wire::VoteResponse { vote, granted, last_log } = answer;
        let vote = vote.ok_or(convert::MissingField("vote")).map_err(|error| NetworkError::new(&error))?;
        Ok(VoteResponse {
            vote: convert::vote(vote),
            vote_granted: granted,
            last_log_id: last_log.map(convert::log_id),
        })
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: Snapshot<TypeConfig>,
        cancel: impl Future<Output = ReplicationClosed> + Send + 'static,
        option: RPCOption,
    ) -> Result<SnapshotResponse<u64>, StreamingError<TypeConfig, Fatal<u64>>> {
        let mut client = self.raft(Purpose::Bulk).map_err(|error| Unreachable::new(&error))?;
        let (sender, parts) = mpsc::channel(PARTS_AHEAD);
        let read = tokio::spawn(read_parts(vote, *snapshot.snapshot, sender));
        let sent = async { client.install_snapshot(request(ReceiverStream::new(parts), &option)).await };
        tokio::select! {
            answer = sent => match answer {
                Ok(answer) => {
                    let vote = answer.into_inner().vote.ok_or(convert::MissingField("vote"));
                    let vote = vote.map_err(|error| NetworkError::new(&error))?;
                    Ok(SnapshotResponse::new(convert::vote(vote)))
                }
                Err(status) => Err(self.snapshot_failure(status, read).await.into()),
            },
            closed = cancel => Err(closed.into()),
        }
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(std::iter::repeat(self.network.pause))
    }
}

impl PeerClient {
    /// Why the snapshot was not sent: the network, unless it could not be read here.
    async fn snapshot_failure(
        &self,
        status: Status,
        read: tokio::task::JoinHandle<Result<(), Status>>,
    ) -> Unreachable {
        let cause = match read.await {
            Ok(Err(failure)) => failure,
            _ => status,
        };
        tracing::warn!(member = self.target, error = reason(&cause), "a snapshot could not be sent");
        Unreachable::new(&cause)
    }
}

/// Reads the snapshot part by part into `sender`; ends early if nobody takes them any more.
async fn read_parts(
    vote: Vote,
    data: SnapshotData,
    sender: mpsc::Sender<wire::SnapshotPart>,
) -> Result<(), Status> {
    let mut offset = 0;
    while offset < data.len() {
        let (source, first) = (data.clone(), offset == 0);
        let part = tokio::task::spawn_blocking(move || read_part(&vote, &source, offset, first));
        let part = part.await.unwrap_or_else(|error| Err(Status::internal(error.to_string())))?;
        offset += part.data.len() as u64;
        if sender.send(part).await.is_err() {
            break;
        }
    }
    Ok(())
}

fn read_part(
    vote: &Vote,
    data: &SnapshotData,
    offset: u64,
    first: bool,
) -> Result<wire::SnapshotPart, Status> {
    let failed = |error: &dyn Error| Status::data_loss(format!("the snapshot cannot be read: {error}"));
    let header = if first { Some(data.header().map_err(|error| failed(&error))?) } else { None };
    Ok(wire::SnapshotPart {
        vote: first.then(|| convert::vote_message(vote)),
        header,
        data: data.read_at(offset, PART_BYTES).map_err(|error| failed(&error))?.into(),
    })
}

fn append_answer(
    answer: wire::AppendEntriesResponse,
) -> Result<AppendEntriesResponse<u64>, convert::MissingField> {
    Ok(match answer.kind.ok_or(convert::MissingField("kind"))? {
        Kind::Success(wire::Done {}) => AppendEntriesResponse::Success,
        Kind::PartialSuccess(wire::PartialSuccess { matching }) => {
            AppendEntriesResponse::PartialSuccess(matching.map(convert::log_id))
        }
        Kind::Conflict(wire::Done {}) => AppendEntriesResponse::Conflict,
        Kind::HigherVote(vote) => AppendEntriesResponse::HigherVote(convert::vote(vote)),
    })
}

/// openraft's answer as a message.
pub(super) fn append_answer_message(answer: AppendEntriesResponse<u64>) -> wire::AppendEntriesResponse {
    let kind = match answer {
        AppendEntriesResponse::Success => Kind::Success(wire::Done {}),
        AppendEntriesResponse::PartialSuccess(matching) => {
            let matching = matching.as_ref().map(|id: &LogId| convert::log_id_message(id));
            Kind::PartialSuccess(wire::PartialSuccess { matching })
        }
        AppendEntriesResponse::Conflict => Kind::Conflict(wire::Done {}),
        AppendEntriesResponse::HigherVote(vote) => Kind::HigherVote(convert::vote_message(&vote)),
    };
    wire::AppendEntriesResponse { kind: Some(kind) }
}
