//! The cluster itself: founding it, taking members in, and how it stands.

use std::future::Future;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};
use waymark_core::model::{MemberUrl, Violations, quote};
use waymark_core::state::{Action, AuditOutcome};
use waymark_proto::admin::v1::{
    self as v1, AddMemberRequest, BackUpPart, BackUpRequest, ClusterStatus, GetClusterRequest,
    InitClusterRequest, InitClusterResponse, Member, PromoteMemberRequest, RemoveMemberRequest,
    RemoveMemberResponse, RestorePart, Role, TransferLeaderRequest, UpgradeClusterRequest,
    UpgradeClusterResponse, cluster_server,
};

use super::audit::Words;
use super::caller::Caller;
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

    /// Has `change` carried out between two entries of the audit trail, even if whoever asked for it hangs up.
    async fn noted(
        &self,
        caller: Caller,
        (act, object): (&'static str, &str),
        change: impl Future<Output = Changed> + Send + 'static,
    ) -> Result<Response<Member>, Status> {
        let (this, words) = (self.clone(), Words::new(act, object, ""));
        let changed = to_its_end(async move { this.noted_here(&caller, &words, change).await }).await?;
        let member = changed.map_err(|error| fault::membership(&error))?;
        Ok(Response::new(member_message(member)))
    }

    /// What cannot be noted is not begun (SEC-5).
    async fn noted_here<T>(
        &self,
        caller: &Caller,
        words: &Words,
        change: impl Future<Output = Changed<T>>,
    ) -> Changed<T> {
        self.note(caller, words, AuditOutcome::Begun).await?;
        let changed = change.await;
        let Words { act, object, .. } = words;
        // A member that is out has no way to the log any more.
        let is_out = changed.is_ok() && *act == REMOVE && *object == self.handles.consensus.name();
        let closed = match is_out {
            true => Err(raft::ProposeError::Failed("it is out of the cluster".into())),
            false => self.note(caller, words, outcome(&changed)).await,
        };
        if let Err(error) = closed {
            let outcome = outcome(&changed).as_str();
            let told = "what came of it is not in the audit trail";
            tracing::warn!(target: "audit", %error, act, object, outcome, "{told}");
        }
        changed
    }

    /// Has a cluster made for `caller`, and notes that behind it: there is no log before it to note that in.
    async fn made(
        &self,
        caller: Caller,
        act: &'static str,
        making: impl Future<Output = Result<String, raft::MembershipError>> + Send + 'static,
    ) -> Result<Response<InitClusterResponse>, Status> {
        let this = self.clone();
        let made = to_its_end(async move {
            let cluster_id = making.await?;
            let words = Words::new(act, &cluster_id, "");
            if let Err(error) = this.note(&caller, &words, AuditOutcome::Done).await {
                tracing::warn!(target: "audit", %error, act, "the audit trail does not tell of it");
            }
            Ok(cluster_id)
        });
        let cluster_id = made.await?.map_err(|error| fault::membership(&error))?;
        self.founded(cluster_id).await
    }

    async fn note(
        &self,
        caller: &Caller,
        words: &Words,
        outcome: AuditOutcome,
    ) -> Result<(), raft::ProposeError> {
        let command = caller.command(None, Some(words), Action::Audit { outcome });
        self.handles.consensus.propose(vec![command], NOTE_PATIENCE).await.map(drop)
    }
}

/// Has `work` run to its end, even if whoever waits for it hangs up: what it changes must be noted, too.
async fn to_its_end<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, Status> {
    let broken = |error| Status::internal(format!("it broke off, see the member's log: {error}"));
    tokio::spawn(work).await.map_err(broken)
}

/// What stands in the audit trail for a member that is taken out.
const REMOVE: &str = "remove member";

/// How long an entry of the audit trail may take: after a change that took the lead away it waits for the next leader. Two of them
/// and the change, which has a deadline of its own, end before the CLI gives up.
const NOTE_PATIENCE: Duration = Duration::from_secs(4);

type Changed<T = raft::MemberStatus> = Result<T, raft::MembershipError>;

fn outcome<T>(changed: &Changed<T>) -> AuditOutcome {
    use raft::{MembershipError, ProposeError};
    match changed {
        Ok(_) => AuditOutcome::Done,
        Err(MembershipError::OutcomeUnknown(_) | MembershipError::Propose(ProposeError::OutcomeUnknown)) => {
            AuditOutcome::Unknown
        }
        Err(_) => AuditOutcome::Refused,
    }
}

/// How long the reader of a backup may take nothing.
const PART_PATIENCE: Duration = Duration::from_secs(30);

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
        request: Request<InitClusterRequest>,
    ) -> Result<Response<InitClusterResponse>, Status> {
        let caller = Caller::of(&request);
        let consensus = self.handles.consensus.clone();
        self.made(caller, "found cluster", async move { consensus.init().await }).await
    }

    async fn add_member(&self, request: Request<AddMemberRequest>) -> Result<Response<Member>, Status> {
        let caller = Caller::of(&request);
        let AddMemberRequest { address, learner } = request.into_inner();
        let mut violations = Violations::new();
        if let Err(fault) = MemberUrl::parse(&address) {
            violations.add("address", format!("{} {fault}", quote(&address)));
        }
        fault::refuse_if_any(violations)?;
        let act = if learner { "add learner" } else { "add member" };
        let (consensus, empty) = (self.handles.consensus.clone(), address.clone());
        self.noted(caller, (act, &address), async move { consensus.add(&empty, learner).await }).await
    }

    async fn remove_member(
        &self,
        request: Request<RemoveMemberRequest>,
    ) -> Result<Response<RemoveMemberResponse>, Status> {
        let caller = Caller::of(&request);
        let name = named(request.into_inner().name)?;
        let (consensus, leaving) = (self.handles.consensus.clone(), name.clone());
        let removed = self.noted(caller, (REMOVE, &name), async move { consensus.remove(&leaving).await });
        let member = removed.await?.into_inner();
        Ok(Response::new(RemoveMemberResponse { member: Some(member) }))
    }

    async fn promote_member(
        &self,
        request: Request<PromoteMemberRequest>,
    ) -> Result<Response<Member>, Status> {
        let caller = Caller::of(&request);
        let name = named(request.into_inner().name)?;
        let (consensus, learner) = (self.handles.consensus.clone(), name.clone());
        self.noted(caller, ("promote member", &name), async move { consensus.promote(&learner).await }).await
    }

    async fn transfer_leader(
        &self,
        request: Request<TransferLeaderRequest>,
    ) -> Result<Response<Member>, Status> {
        let caller = Caller::of(&request);
        let name = request.into_inner().name;
        let whom = if name.is_empty() { "to any voter".to_owned() } else { name.clone() };
        let consensus = self.handles.consensus.clone();
        self.noted(caller, ("transfer lead", &whom), async move { consensus.transfer(&name).await }).await
    }

    async fn upgrade_cluster(
        &self,
        request: Request<UpgradeClusterRequest>,
    ) -> Result<Response<UpgradeClusterResponse>, Status> {
        let caller = Caller::of(&request);
        if request.into_inner().dry_run {
            let level = self.handles.consensus.highest_for_all().await;
            let level = level.map_err(|error| fault::membership(&error))?;
            return Ok(Response::new(UpgradeClusterResponse { apply_level: level.0 }));
        }
        let words = Words::new("raise apply level", "as far as all members support", "");
        let this = self.clone();
        let raised = to_its_end(async move {
            let consensus = this.handles.consensus.clone();
            this.noted_here(&caller, &words, async move { consensus.upgrade().await }).await
        });
        let level = raised.await?.map_err(|error| fault::membership(&error))?;
        Ok(Response::new(UpgradeClusterResponse { apply_level: level.0 }))
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
        let caller = Caller::of(&request);
        let consensus = self.handles.consensus.clone();
        let mut parts = request.into_inner();
        let upload = consensus.upload().map_err(|error| fault::membership(&error))?;
        while let Some(RestorePart { data }) = parts.message().await? {
            let full = |error| Status::resource_exhausted(format!("the backup cannot be kept: {error}"));
            upload.push(data).await.map_err(full)?;
        }
        self.made(caller, "restore cluster", async move { consensus.restore(upload).await }).await
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
            apply_level,
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
            apply_level: apply_level.0,
        }))
    }
}

fn millis(age: Duration) -> u64 {
    u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
}

fn member_message(member: raft::MemberStatus) -> Member {
    let raft::MemberStatus { id, name, role, grpc, dns, http, applied, trouble, age, apply_level_max } =
        member;
    let role = match role {
        raft::Role::Leader => Role::Leader,
        raft::Role::Follower => Role::Follower,
        raft::Role::Learner => Role::Learner,
    };
    let (applied, trouble) = (applied.map(|applied| applied.0), trouble.unwrap_or_default());
    let (age_ms, apply_level_max) = (age.map(millis), apply_level_max.map(|level| level.0));
    Member { id: id.0, name, role: role.into(), grpc, dns, http, applied, trouble, age_ms, apply_level_max }
}
