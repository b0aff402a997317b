//! The cluster itself: founding it, taking members in, and how it stands.

use std::time::Duration;

use tonic::{Request, Response, Status};
use waymark_core::model::{MemberUrl, Violations, quote};
use waymark_proto::admin::v1::{
    AddMemberRequest, ClusterStatus, GetClusterRequest, InitClusterRequest, InitClusterResponse, Member,
    Role, cluster_server,
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
}

#[tonic::async_trait]
impl cluster_server::Cluster for ClusterService {
    async fn init_cluster(
        &self,
        _request: Request<InitClusterRequest>,
    ) -> Result<Response<InitClusterResponse>, Status> {
        let consensus = &self.handles.consensus;
        let cluster_id = consensus.init().await.map_err(|error| fault::membership(&error))?;
        let own = consensus.id();
        let members = consensus.status().await.members;
        let member = members.into_iter().find(|member| Some(member.id) == own).map(member_message);
        Ok(Response::new(InitClusterResponse { cluster_id, member }))
    }

    async fn add_member(&self, request: Request<AddMemberRequest>) -> Result<Response<Member>, Status> {
        let AddMemberRequest { address } = request.into_inner();
        let mut violations = Violations::new();
        if let Err(fault) = MemberUrl::parse(&address) {
            violations.add("address", format!("{} {fault}", quote(&address)));
        }
        fault::refuse_if_any(violations)?;
        let member = self.handles.consensus.add(&address).await.map_err(|error| fault::membership(&error))?;
        Ok(Response::new(member_message(member)))
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
