//! What members ask each other beside Raft's own messages.

use std::sync::Arc;

use tokio::time::Instant;
use tonic::{Request, Response, Status};
use waymark_core::model::{Caseless, LogIndex, Revision};
use waymark_proto::peer::v1 as wire;
use waymark_proto::peer::v1::peers_server::Peers;

use super::admission;
use super::base::{Base, SeatError};
use super::change::{carry_out, change, transfer_time};
use super::forward::{Refusal, status};
use super::gather::Asker;
use super::leader::Leader;
use super::raft_service::{addressed, addressed_seat};
use super::seat::Seat;
use super::timers::millis;
use super::{HeldSession, HeldTables, LastOutcomes, Leases, Membership, ProposeError, Proposer, convert};

fn members(seat: &Seat) -> Vec<waymark_proto::storage::v1::Node> {
    let metrics = seat.metrics();
    let nodes = metrics.membership_config.membership().nodes();
    nodes.map(|(id, node)| convert::node_message(*id, node)).collect()
}

/// Sessions that one member may name at once: far more agents than any plan has.
const SESSIONS_MAX: usize = 10_000;

/// Serves `waymark.peer.v1.Peers`.
#[derive(Debug)]
pub struct PeerService {
    pub(super) base: Arc<Base>,
    pub(super) proposer: Proposer,
    pub(super) membership: Membership,
    pub(super) leases: Leases,
    pub(super) outcomes: LastOutcomes,
    pub(super) tables: HeldTables,
}

#[tonic::async_trait]
impl Peers for PeerService {
    async fn describe(
        &self,
        _request: Request<wire::DescribeRequest>,
    ) -> Result<Response<wire::DescribeResponse>, Status> {
        let seat = self.base.seat();
        let id = seat.as_ref().map_or(0, |seat| seat.member);
        Ok(Response::new(wire::DescribeResponse {
            node: Some(convert::node_message(id, &self.base.config.node())),
            trouble: seat
                .as_ref()
                .and_then(|seat| seat.failure())
                .map_or(String::new(), |error| error.to_string()),
            members: seat.as_ref().map(|seat| members(seat)).unwrap_or_default(),
            cluster_id: seat.map(|seat| seat.cluster.clone()).unwrap_or_default(),
            applied: self.base.reader.view().applied.0,
            age_ms: Some(millis(self.base.reader.age())),
            apply_level_max: self.base.config.apply_level_max.0,
        }))
    }

    async fn join(
        &self,
        request: Request<wire::JoinRequest>,
    ) -> Result<Response<wire::JoinResponse>, Status> {
        let wire::JoinRequest { cluster_id, member_id } = request.into_inner();
        if cluster_id.is_empty() || member_id == 0 {
            return Err(Status::invalid_argument("joining needs the id of a cluster and a member number"));
        }
        match self.base.take_seat(&cluster_id, member_id).await {
            Ok(_) => {
                tracing::info!(
                    cluster = cluster_id,
                    member = member_id,
                    "this member belongs to a cluster now"
                );
                Ok(Response::new(wire::JoinResponse {}))
            }
            Err(error @ SeatError::Taken { .. }) => Err(Status::failed_precondition(error.to_string())),
            Err(error) => Err(Status::internal(error.to_string())),
        }
    }

    async fn change(
        &self,
        request: Request<wire::ChangeRequest>,
    ) -> Result<Response<wire::ChangeResponse>, Status> {
        let seat = addressed_seat(&self.base, &request)?;
        if seat.leader() != Leader::Here {
            return Err(status(&ProposeError::NoLeader));
        }
        let wished = change(request.into_inner())
            .ok_or_else(|| Status::unimplemented("this member is of a version that knows no such change"))?;
        let deadline = Instant::now() + Membership::DEADLINE;
        let (id, node) = carry_out(&self.membership, &seat, &wished, deadline)
            .await
            .map_err(|error| admission::status(&error))?;
        Ok(Response::new(wire::ChangeResponse { node: Some(convert::node_message(id, &node)) }))
    }

    async fn take_over(
        &self,
        request: Request<wire::TakeOverRequest>,
    ) -> Result<Response<wire::TakeOverResponse>, Status> {
        let seat = addressed_seat(&self.base, &request)?;
        let time = transfer_time(self.base.config.timers);
        match tokio::time::timeout(time, seat.take_over(self.base.config.timers)).await {
            Ok(Ok(())) => Ok(Response::new(wire::TakeOverResponse {})),
            Ok(Err(error)) => Err(status(&error)),
            Err(_) => Err(Status::unavailable(format!("no majority voted for it within {time:?}"))),
        }
    }

    async fn dismiss(
        &self,
        request: Request<wire::DismissRequest>,
    ) -> Result<Response<wire::DismissResponse>, Status> {
        let (seat, caller) = addressed(&self.base, &request)?;
        // Whoever else says so may be mistaken, or worse.
        if seat.metrics().current_leader != Some(caller.member) {
            return Err(Status::permission_denied("only the leader tells a member that it is out"));
        }
        self.base.leave(&seat).await;
        Ok(Response::new(wire::DismissResponse {}))
    }

    async fn propose(
        &self,
        request: Request<wire::ProposeRequest>,
    ) -> Result<Response<wire::ProposeResponse>, Status> {
        addressed_seat(&self.base, &request)?;
        let deadline = Instant::now() + Proposer::DEADLINE;
        let commands = request.into_inner().commands;
        let committed = self.proposer.submit(commands, Asker::Forwarded, deadline).await;
        let committed = committed.map_err(|error| status(&error))?;
        Ok(Response::new(wire::ProposeResponse {
            replies: committed.replies.iter().map(Into::into).collect(),
            log_index: committed.index.0,
        }))
    }

    async fn read_index(
        &self,
        request: Request<wire::ReadIndexRequest>,
    ) -> Result<Response<wire::ReadIndexResponse>, Status> {
        let seat = addressed_seat(&self.base, &request)?;
        let deadline = Instant::now() + Proposer::DEADLINE;
        match self.proposer.read_index(&seat, deadline).await {
            Ok(index) => Ok(Response::new(wire::ReadIndexResponse { log_index: index.0 })),
            Err(Refusal::Final(error)) => Err(status(&error)),
            Err(Refusal::Nothing | Refusal::Perhaps) => Err(status(&ProposeError::NoLeader)),
        }
    }

    async fn hold_sessions(
        &self,
        request: Request<wire::HoldSessionsRequest>,
    ) -> Result<Response<wire::HoldSessionsResponse>, Status> {
        let seat = addressed_seat(&self.base, &request)?;
        let sessions = request.into_inner().sessions;
        if sessions.len() > SESSIONS_MAX {
            return Err(Status::resource_exhausted(format!("a member may hold {SESSIONS_MAX} sessions")));
        }
        if seat.leader() != Leader::Here {
            return Err(Status::failed_precondition("this member does not lead"));
        }
        let held = |wire::HeldSession { agent, session }: &wire::HeldSession| HeldSession {
            agent: Caseless::new(agent),
            session: Revision(*session),
        };
        self.leases.name(&sessions.iter().map(held).collect::<Vec<_>>());
        Ok(Response::new(wire::HoldSessionsResponse {}))
    }

    /// Waits for as long as the caller does: the call is dropped with its timeout.
    async fn await_applied(
        &self,
        request: Request<wire::AwaitAppliedRequest>,
    ) -> Result<Response<wire::AwaitAppliedResponse>, Status> {
        addressed_seat(&self.base, &request)?;
        let index = LogIndex(request.into_inner().log_index);
        let wait = tokio::time::timeout(Membership::DEADLINE, self.base.reader.applied(index));
        match wait.await {
            Ok(true) => Ok(Response::new(wire::AwaitAppliedResponse {})),
            Ok(false) | Err(_) => {
                Err(Status::deadline_exceeded(format!("entry {index} is not applied here yet")))
            }
        }
    }

    async fn list_last_outcomes(
        &self,
        request: Request<wire::ListLastOutcomesRequest>,
    ) -> Result<Response<wire::ListLastOutcomesResponse>, Status> {
        addressed_seat(&self.base, &request)?;
        Ok(Response::new(self.outcomes.answer(request.into_inner())))
    }

    async fn list_held_tables(
        &self,
        request: Request<wire::ListHeldTablesRequest>,
    ) -> Result<Response<wire::ListHeldTablesResponse>, Status> {
        addressed_seat(&self.base, &request)?;
        Ok(Response::new(self.tables.answer()))
    }
}
