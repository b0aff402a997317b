//! The cluster itself: founding it, taking members in, and how it stands.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};
use waymark_core::model::{MemberUrl, Violations, quote};
use waymark_proto::admin::v1::{
    self as v1, AddMemberRequest, BackUpPart, BackUpRequest, ClusterStatus, GetClusterRequest,
    InitClusterRequest, InitClusterResponse, Member, PromoteMemberRequest, RemoveMemberRequest,
    RemoveMemberResponse, RestorePart, Role, TransferLeaderRequest, cluster_server,
};

use super::fault;
use super::handles::Handles;
use crate::raft;

/// The service.
#[derive(Clone)]
pub(super) struct ClusterService {
    handles: Handles,
}

impl ClusterService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }

    async fn founded(&self, cluster_id: String) -> Result<Response<InitClusterResponse>, Status> {
        let consensus = &self.handles.consensus;
        let own = consensus.id();
        let members = consensus.status().await.members;
        let member = members.into_iter().find(|member| Some(member.id) == own).map(member_message);
        Ok(Response::new(InitClusterResponse { cluster_id, member }))
    }
}

/// How long the reader of a backup may take nothing.
const PART_PATIENCE: Duration = Duration::from_secs(30);

fn told(changed: Result<raft::MemberStatus, raft::MembershipError>) -> Result<Response<Member>, Status> {
    let member = changed.map_err(|error| fault::membership(&error))?;
    Ok(Response::new(member_message(member)))
}

/// A member's name, which must be given.
fn named(name: String) -> Result<String, Status> {
    let mut violations = Violations::new();
    super::handles::named(&name, "name", &mut violations);
    fault::refuse_if_any(violations)?;
    Ok(name)
}

#[tonic::async_trait]
impl cluster_server::Cluster for ClusterService {
    async fn init_cluster(
        &self,
        _request: Request<InitClusterRequest>,
    ) -> Result<Response<InitClusterResponse>, Status> {
        let consensus = &self.handles.consensus;
        let cluster_id = consensus.init().await.map_err(|error| fault::membership(&error))?;
        self.founded(cluster_id).await
    }

    async fn add_member(&self, request: Request<AddMemberRequest>) -> Result<Response<Member>, Status> {
        let AddMemberRequest { address, learner } = request.into_inner();
        let mut violations = Violations::new();
        if let Err(fault) = MemberUrl::parse(&address) {
            violations.add("address", format!("{} {fault}", quote(&address)));
        }
        fault::refuse_if_any(violations)?;
        told(self.handles.consensus.add(&address, learner).await)
    }

    async fn remove_member(
        &self,
        request: Request<RemoveMemberRequest>,
    ) -> Result<Response<RemoveMemberResponse>, Status> {
        let name = named(request.into_inner().name)?;
        let member = told(self.handles.consensus.remove(&name).await)?.into_inner();
        Ok(Response::new(RemoveMemberResponse { member: Some(member) }))
    }

    async fn promote_member(
        &self,
        request: Request<PromoteMemberRequest>,
    ) -> Result<Response<Member>, Status> {
        let name = named(request.into_inner().name)?;
        told(self.handles.consensus.promote(&name).await)
    }

    async fn transfer_leader(
        &self,
        request: Request<TransferLeaderRequest>,
    ) -> Result<Response<Member>, Status> {
        told(self.handles.consensus.transfer(&request.into_inner().name).await)
    }

    type BackUpStream = ReceiverStream<Result<BackUpPart, Status>>;

    async fn back_up(&self, request: Request<BackUpRequest>) -> Result<Response<Self::BackUpStream>, Status> {
        let source = match request.into_inner().source() {
            v1::BackUpSource::Unspecified => raft::BackUpSource::Committed,
            v1::BackUpSource::Applied => raft::BackUpSource::Applied,
            v1::BackUpSource::Log => raft::BackUpSource::Log,
        };
        let backup = self.handles.consensus.back_up(source).await;
        let mut backup = backup.map_err(|error| fault::membership(&error))?;
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let part = match backup.next().await {
                    Ok(Some(data)) => Ok(BackUpPart { data: data.into() }),
                    Ok(None) => break,
                    Err(error) => Err(Status::data_loss(format!("the backup cannot be read: {error}"))),
                };
                let is_last = part.is_err();
                // A reader that takes nothing holds a file of this member's.
                let sent = tokio::time::timeout(PART_PATIENCE, sender.send(part)).await;
                if is_last || !matches!(sent, Ok(Ok(()))) {
                    break;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn restore(
        &self,
        request: Request<Streaming<RestorePart>>,
    ) -> Result<Response<InitClusterResponse>, Status> {
        let consensus = &self.handles.consensus;
        let mut parts = request.into_inner();
        let upload = consensus.upload().map_err(|error| fault::membership(&error))?;
        while let Some(RestorePart { data }) = parts.message().await? {
            let full = |error| Status::resource_exhausted(format!("the backup cannot be kept: {error}"));
            upload.push(data).await.map_err(full)?;
        }
        let cluster_id = consensus.restore(upload).await.map_err(|error| fault::membership(&error))?;
        self.founded(cluster_id).await
    }

    async fn get_cluster(
        &self,
        _request: Request<GetClusterRequest>,
    ) -> Result<Response<ClusterStatus>, Status> {
        let counter = self.handles.reader.view().state.counter;
        let raft::ClusterStatus {
            cluster_id,
            answered_by,
            leader,
            term,
            last_log,
            applied,
            quorum_age,
            members,
        } = self.handles.consensus.status().await;
        Ok(Response::new(ClusterStatus {
            cluster_id,
            answered_by,
            leader_id: leader.map(|id| id.0).unwrap_or_default(),
            term,
            last_log: last_log.0,
            applied: applied.0,
            members: members.into_iter().map(member_message).collect(),
            quorum_age_ms: quorum_age.map(millis),
            counter: counter.0,
        }))
    }
}

fn millis(age: Duration) -> u64 {
    u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
}

fn member_message(member: raft::MemberStatus) -> Member {
    let raft::MemberStatus { id, name, role, grpc, dns, http, applied, trouble, age } = member;
    let role = match role {
        raft::Role::Leader => Role::Leader,
        raft::Role::Follower => Role::Follower,
        raft::Role::Learner => Role::Learner,
    };
    let (applied, trouble) = (applied.map(|applied| applied.0), trouble.unwrap_or_default());
    let age_ms = age.map(millis);
    Member { id: id.0, name, role: role.into(), grpc, dns, http, applied, trouble, age_ms }
}
