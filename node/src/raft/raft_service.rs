//! openraft's messages from other members.

use std::sync::Arc;

use openraft::Snapshot;
use openraft::raft::{AppendEntriesRequest, VoteRequest};
use tonic::{Request, Response, Status, Streaming};
use waymark_proto::peer::v1 as wire;
use waymark_proto::peer::v1::raft_server::Raft;

use super::base::{Base, blocking};
use super::caller::{Acquaintance, Callee, Caller, certify, identify, refuse_for_nobody};
use super::convert;
use super::peer_client::append_answer_message;
use super::seat::Seat;
use super::snapshot::SnapshotData;
use super::snapshot_file::meta_of;
use super::types::Vote;

/// Largest snapshot that is accepted: hundreds of times the planned size, and less than a disk.
const SNAPSHOT_BYTES_MAX: u64 = 16 << 30;

/// Serves `waymark.peer.v1.Raft`.
#[derive(Debug)]
pub struct RaftService {
    base: Arc<Base>,
}

impl RaftService {
    pub(super) fn new(base: Arc<Base>) -> Self {
        Self { base }
    }

    /// This member's consensus, if `request` is for it.
    fn seat<T>(&self, request: &Request<T>) -> Result<Arc<Seat>, Status> {
        let (seat, caller, acquaintance) = met(&self.base, request)?;
        if let Acquaintance::Newcomer(role) = acquaintance {
            self.base.newcomers.judge(&self.base, &seat, caller.member, &role)?;
        }
        Ok(seat)
    }
}

/// The member's seat, if it has one, `request` is for whoever sits there, and a member sent it that is known.
pub(super) fn addressed_seat<T>(base: &Base, request: &Request<T>) -> Result<Arc<Seat>, Status> {
    addressed(base, request).map(|(seat, _)| seat)
}

/// The same with the member that sent it.
pub(super) fn addressed<T>(base: &Base, request: &Request<T>) -> Result<(Arc<Seat>, Caller), Status> {
    match met(base, request)? {
        (seat, caller, Acquaintance::Known) => Ok((seat, caller)),
        (_, _, Acquaintance::Newcomer(role)) => {
            let text = format!("{role} is no member of this cluster");
            base.refusals.tell(&text);
            Err(Status::permission_denied(text))
        }
    }
}

/// The same with what is known of that member, which may be nothing.
fn met<T>(base: &Base, request: &Request<T>) -> Result<(Arc<Seat>, Caller, Acquaintance), Status> {
    let identified = match base.seat() {
        Some(seat) => {
            let callee = Callee { cluster: &seat.cluster, member: seat.member };
            identify(request, &callee).and_then(|caller| {
                let acquaintance = certified(request, &caller, &seat)?;
                Ok((seat, caller, acquaintance))
            })
        }
        None => Err(refuse_for_nobody(request)),
    };
    identified.inspect_err(|status| base.refusals.tell(status.message()))
}

fn certified<T>(request: &Request<T>, caller: &Caller, seat: &Seat) -> Result<Acquaintance, Status> {
    let metrics = seat.raft.metrics();
    let metrics = metrics.borrow();
    let nodes = metrics.membership_config.membership().nodes();
    let known: Vec<(u64, &str)> = nodes.map(|(id, node)| (*id, node.name.as_str())).collect();
    certify(request, caller, &known)
}

fn missing(field: &'static str) -> Status {
    Status::invalid_argument(convert::MissingField(field).to_string())
}

/// The consensus of `seat` has failed or ended.
fn failed(seat: &Seat, error: &impl std::error::Error) -> Status {
    let reason = seat.failure().map(|failure| failure.to_string());
    Status::unavailable(reason.unwrap_or_else(|| format!("consensus has stopped on this member: {error}")))
}

#[tonic::async_trait]
impl Raft for RaftService {
    async fn append_entries(
        &self,
        request: Request<wire::AppendEntriesRequest>,
    ) -> Result<Response<wire::AppendEntriesResponse>, Status> {
        let seat = self.seat(&request)?;
        let wire::AppendEntriesRequest { vote, previous, entries, commit, acknowledged } =
            request.into_inner();
        self.base.refuse_loss(&seat, acknowledged).await?;
        let entries = entries.into_iter().map(convert::entry).collect::<Result<Vec<_>, _>>();
        let rpc = AppendEntriesRequest {
            vote: convert::vote(vote.ok_or_else(|| missing("vote"))?),
            prev_log_id: previous.map(convert::log_id),
            entries: entries.map_err(|error| Status::invalid_argument(error.to_string()))?,
            leader_commit: commit.map(convert::log_id),
        };
        let answer = seat.raft.append_entries(rpc).await.map_err(|error| failed(&seat, &error))?;
        Ok(Response::new(append_answer_message(answer)))
    }

    async fn request_vote(
        &self,
        request: Request<wire::VoteRequest>,
    ) -> Result<Response<wire::VoteResponse>, Status> {
        let seat = self.seat(&request)?;
        let wire::VoteRequest { vote, last_log } = request.into_inner();
        let rpc = VoteRequest {
            vote: convert::vote(vote.ok_or_else(|| missing("vote"))?),
            last_log_id: last_log.map(convert::log_id),
        };
        let answer = seat.raft.vote(rpc).await.map_err(|error| failed(&seat, &error))?;
        Ok(Response::new(wire::VoteResponse {
            vote: Some(convert::vote_message(&answer.vote)),
            granted: answer.vote_granted,
            last_log: answer.last_log_id.as_ref().map(convert::log_id_message),
        }))
    }

    async fn install_snapshot(
        &self,
        request: Request<Streaming<wire::SnapshotPart>>,
    ) -> Result<Response<wire::SnapshotResponse>, Status> {
        let seat = self.seat(&request)?;
        let mut parts = request.into_inner();
        let first = parts.message().await?.ok_or_else(|| missing("vote"))?;
        let vote = convert::vote(first.vote.ok_or_else(|| missing("vote"))?);
        let header = first.header.ok_or_else(|| missing("header"))?;
        // Spares the transfer; consensus checks it again.
        let mine = seat.metrics().vote;
        if vote < mine {
            return Ok(answer(mine));
        }
        let data = receive(&seat, first.data, parts).await?;
        let snapshot = Snapshot { meta: meta_of(&header), snapshot: Box::new(data) };
        tracing::info!(index = ?snapshot.meta.last_log_id, "a snapshot has arrived from the leader");
        let installed = seat.raft.install_full_snapshot(vote, snapshot).await;
        let installed = installed.map_err(|error| failed(&seat, &error))?;
        Ok(answer(installed.vote))
    }
}

fn answer(vote: Vote) -> Response<wire::SnapshotResponse> {
    Response::new(wire::SnapshotResponse { vote: Some(convert::vote_message(&vote)) })
}

/// Writes the parts down as they come; what breaks off or arrives damaged is thrown away.
async fn receive(
    seat: &Seat,
    first: bytes::Bytes,
    mut parts: Streaming<wire::SnapshotPart>,
) -> Result<SnapshotData, Status> {
    let failed =
        |error: &dyn std::error::Error| Status::unavailable(format!("the snapshot is not kept: {error}"));
    let snapshots = seat.snapshots.clone();
    let mut incoming = blocking(move || snapshots.incoming()).await.map_err(|error| failed(&error))?;
    let (mut next, mut total) = (Some(first), 0);
    while let Some(bytes) = next {
        total += bytes.len() as u64;
        if total > SNAPSHOT_BYTES_MAX {
            return Err(Status::resource_exhausted(format!(
                "a snapshot may have {SNAPSHOT_BYTES_MAX} bytes"
            )));
        }
        let written = blocking(move || incoming.push(&bytes).map(|()| incoming)).await;
        incoming = written.map_err(|error| failed(&error))?;
        next = parts.message().await?.map(|part| part.data);
    }
    blocking(move || {
        let data = incoming.finish().map_err(|error| failed(&error))?;
        data.verify().map_err(|fault| Status::data_loss(format!("the snapshot arrived damaged: {fault}")))?;
        Ok(data)
    })
    .await
}
