//! Who is in the cluster: founding it, taking members in, and telling who leads.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use openraft::ServerState;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use waymark_core::model::{LogIndex, MemberId};
use waymark_core::state::{Action, ApplyLevel, Command, CookieSecret};
use waymark_proto::peer::v1 as wire;

use super::admission;
use super::base::{Base, SeatError};
use super::change::{Change, carry_out};
use super::connections::distrust;
use super::forward::{peer, timed};
use super::leader::{self, Leader};
use super::seat::Seat;
use super::standing::{Standing, member_status, standing_of};
use super::types::{Metrics, Node};
use super::upgrade::supported_by_all;
use super::{ProposeError, Proposer, convert};
use waymark_process::chance;

/// How long another member may take to say how far it is.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a change waits for a leader in all: longer than an election takes with the timers `global` (6 s at most), and
/// short enough for whoever waits for the answer.
const LEADER_PATIENCE: Duration = Duration::from_secs(8);
/// How long to wait before the leader is looked for again.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// The number of the member that founds a cluster.
pub(super) const FOUNDER: u64 = 1;

/// Founds, grows and describes the cluster. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Membership {
    pub(super) base: Arc<Base>,
    pub(super) proposer: Proposer,
    /// Held, on the leader, during a change: numbers must not be given twice.
    pub(super) changing: Arc<Mutex<()>>,
}

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
    /// Why it takes no part in the cluster although it answers.
    pub trouble: Option<String>,
    /// How old what it answers from may be at most (DNS-21); `None` if it does not answer.
    pub age: Option<Duration>,
    /// The highest level of `apply` that it supports (CLU-9); `None` if it does not answer.
    pub apply_level_max: Option<ApplyLevel>,
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
    /// The level of `apply` that the cluster goes by, as far as this member has applied.
    pub apply_level: ApplyLevel,
    /// All members, in the order of their numbers.
    pub members: Vec<MemberStatus>,
}

/// Why the membership was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MembershipError {
    /// This member, or the one to be added, belongs to a cluster already, or cannot be part of this one.
    #[error("{0}")]
    Refused(String),
    /// The member to be added does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// It is not known what became of the change; asking again completes it.
    #[error("{0}")]
    OutcomeUnknown(String),
    /// There is no member of that name.
    #[error("{0}")]
    Unknown(String),
    /// No leader, or one that failed meanwhile.
    #[error(transparent)]
    Propose(#[from] ProposeError),
}

impl Membership {
    /// How long a change of the membership may take (CLU-9).
    pub const DEADLINE: Duration = Duration::from_secs(30);

    pub(super) fn new(base: Arc<Base>, proposer: Proposer) -> Self {
        Self { base, proposer, changing: Arc::default() }
    }

    /// Founds a cluster with this member as its first voter; returns the cluster's id. Refused on a member that belongs
    /// to a cluster (CLU-1).
    pub async fn init(&self) -> Result<String, MembershipError> {
        let this = self.clone();
        self.base.to_its_end(async move { this.init_here().await }).await
    }

    async fn init_here(&self) -> Result<String, MembershipError> {
        let cluster = chance::id();
        let seat = self.base.take_seat(&cluster, FOUNDER).await.map_err(seat_error)?;
        let failed = |error: openraft::error::Fatal<u64>| ProposeError::Storage(error.to_string());
        self.base.begin_cluster(&seat).await.map_err(failed)?;
        self.found(&seat).await?;
        tracing::info!(cluster, "a cluster is founded");
        Ok(cluster)
    }

    /// Gives the cluster's state its identity. Harmless if it has it.
    async fn found(&self, seat: &Seat) -> Result<(), ProposeError> {
        let action =
            Action::Found { cluster: seat.cluster.clone(), cookies: Some(CookieSecret(chance::bytes())) };
        // Nobody else is there yet who would have to support it.
        let level = Action::RaiseApplyLevel { to: self.base.config.apply_level_max };
        let commands = [action, level].map(Command::of_cluster).into();
        self.proposer.propose(commands).await.map(drop)
    }

    /// Completes, in the background, a founding that a crash broke off.
    pub(super) fn found_again(&self) {
        let this = self.clone();
        self.base.tasks.spawn(async move {
            let stop = this.base.stop.clone();
            stop.run_until_cancelled(this.complete_founding()).await;
        });
    }

    async fn complete_founding(&self) {
        let Some(seat) = self.base.seat().filter(|seat| seat.member == FOUNDER) else { return };
        if self.base.begin_cluster(&seat).await.is_err() || !self.base.reader.view().state.cluster.is_empty()
        {
            return;
        }
        let is_unfounded = |this: &Self| this.base.reader.view().state.cluster.is_empty();
        if self.proposer.read_barrier().await.is_err() || !is_unfounded(self) {
            return;
        }
        if let Err(error) = self.found(&seat).await {
            tracing::warn!(%error, "the cluster's founding could not be completed: restart this member to try again");
        }
    }

    /// Takes in the empty member at `address`: learner, caught up, and, unless `as_learner`, voter. Ends within 30 s, as all
    /// changes do.
    pub async fn add(&self, address: &str, as_learner: bool) -> Result<MemberStatus, MembershipError> {
        self.change(Change::Admit { address: address.to_owned(), as_learner }).await
    }

    /// Takes the member called `name` out, whether it answers or not (CLU-9). Returns it as it was.
    pub async fn remove(&self, name: &str) -> Result<MemberStatus, MembershipError> {
        self.change(Change::Remove(name.to_owned())).await
    }

    /// Has the learner called `name` vote.
    pub async fn promote(&self, name: &str) -> Result<MemberStatus, MembershipError> {
        self.change(Change::Promote(name.to_owned())).await
    }

    /// Has the voter called `name` lead, or, if that is empty, whichever is nearest to the leader. Ends within three times the
    /// longest election timeout (CLU-8).
    pub async fn transfer(&self, name: &str) -> Result<MemberStatus, MembershipError> {
        self.change(Change::Transfer(name.to_owned())).await
    }

    /// Has the cluster go by the highest level of `apply` that its members support, which all of them must do (CLU-9). Returns the
    /// level.
    pub async fn upgrade(&self) -> Result<ApplyLevel, MembershipError> {
        self.change(Change::Upgrade).await?;
        self.proposer.read_barrier().await?;
        Ok(self.base.reader.view().state.apply_level)
    }

    /// The level that [`Membership::upgrade`] would raise `apply` to, or why it would not, as far as this member knows.
    pub async fn highest_for_all(&self) -> Result<ApplyLevel, MembershipError> {
        supported_by_all(&self.status().await.members).map_err(MembershipError::Refused)
    }

    /// Has the leader carry out `change`.
    async fn change(&self, change: Change) -> Result<MemberStatus, MembershipError> {
        let deadline = Instant::now() + Self::DEADLINE;
        // What leaders have done meanwhile does not count: one may have handed the lead over, to be taken out by the next.
        let mut waited = Duration::ZERO;
        loop {
            let seat = self.base.seat().ok_or(ProposeError::NotMember)?;
            let changed = match seat.leader() {
                Leader::Here => match carry_out(self, &seat, &change, deadline).await {
                    Err(MembershipError::Propose(ProposeError::NoLeader)) => None,
                    changed => Some(changed?),
                },
                Leader::There(id, node) => self.ask_leader(&seat, id, &node, &change, deadline).await?,
                Leader::Unknown => None,
                Leader::Failed(error) => return Err(error.into()),
            };
            match changed {
                Some((id, node)) => return Ok(self.listed(id, node).await),
                None if waited < LEADER_PATIENCE && Instant::now() + RETRY_PAUSE < deadline => {
                    sleep(RETRY_PAUSE).await;
                    waited += RETRY_PAUSE;
                }
                None => return Err(ProposeError::NoLeader.into()),
            }
        }
    }

    /// `None` if the member that was asked does not lead.
    async fn ask_leader(
        &self,
        seat: &Seat,
        leader: u64,
        node: &Node,
        change: &Change,
        deadline: Instant,
    ) -> Result<Option<(u64, Node)>, MembershipError> {
        let peer = peer(&self.base, seat, leader, node);
        let mut peer = peer.map_err(|error| MembershipError::Unreachable(error.to_string()))?;
        let within = deadline.saturating_duration_since(Instant::now());
        let request = timed(wire::ChangeRequest::from(change), within);
        match timeout_at(deadline, peer.change(request)).await {
            Ok(Ok(answer)) => Ok(Some(convert::node(answer.into_inner().node.unwrap_or_default()))),
            Ok(Err(status)) => admission::error(&status).map_or(Ok(None), Err),
            Err(_) => Err(ProposeError::OutcomeUnknown.into()),
        }
    }

    async fn listed(&self, id: u64, node: Node) -> MemberStatus {
        let members = self.status().await.members;
        let known = members.into_iter().find(|member| member.id.0 == id);
        known.unwrap_or_else(|| member_status(id, node, Role::Follower, Standing::default()))
    }

    /// What this member knows, with each other member asked (within 1 s) how far it is.
    pub async fn status(&self) -> ClusterStatus {
        let (applied, apply_level) = {
            let view = self.base.reader.view();
            (view.applied, view.state.apply_level)
        };
        let answered_by = self.base.config.name.clone();
        let Some(seat) = self.base.seat() else {
            return ClusterStatus {
                cluster_id: String::new(),
                answered_by,
                leader: None,
                term: 0,
                last_log: LogIndex(0),
                applied,
                quorum_age: None,
                apply_level: ApplyLevel::default(),
                members: Vec::new(),
            };
        };
        let metrics = seat.metrics();
        let leader = match seat.leader() {
            Leader::Here => Some(seat.member),
            Leader::There(id, _) => Some(id),
            Leader::Unknown | Leader::Failed(_) => None,
        };
        ClusterStatus {
            cluster_id: seat.cluster.clone(),
            answered_by,
            leader: leader.map(MemberId),
            term: metrics.current_term,
            last_log: LogIndex(metrics.last_log_index.unwrap_or_default()),
            applied,
            quorum_age: leader::quorum_age(&metrics).filter(|_| metrics.state == ServerState::Leader),
            apply_level,
            members: self.members(&seat, &metrics, leader).await,
        }
    }

    async fn members(&self, seat: &Seat, metrics: &Metrics, leader: Option<u64>) -> Vec<MemberStatus> {
        let membership = metrics.membership_config.membership();
        let voters: Vec<u64> = membership.voter_ids().collect();
        let asked = membership.nodes().map(|(id, node)| {
            let role = match leader {
                Some(leader) if leader == *id => Role::Leader,
                _ if voters.contains(id) => Role::Follower,
                _ => Role::Learner,
            };
            async move { member_status(*id, node.clone(), role, self.standing(seat, *id, node).await) }
        });
        join_all(asked).await
    }

    async fn standing(&self, seat: &Seat, id: u64, node: &Node) -> Standing {
        if id == seat.member {
            let trouble = seat.failure().map(|error| error.to_string());
            let reader = &self.base.reader;
            return Standing {
                applied: Some(reader.view().applied),
                trouble,
                age: Some(reader.age()),
                apply_level_max: Some(self.base.config.apply_level_max),
            };
        }
        let Ok(mut peer) = peer(&self.base, seat, id, node) else { return Standing::default() };
        let asked = peer.describe(timed(wire::DescribeRequest {}, DESCRIBE_TIMEOUT));
        match timeout(DESCRIBE_TIMEOUT, asked).await {
            Ok(Ok(answer)) => standing_of(answer.into_inner(), seat, id),
            Ok(Err(status)) => Standing { trouble: distrust(&status), ..Standing::default() },
            Err(_) => Standing::default(),
        }
    }

    /// Does this member lead, with a majority behind it?
    pub fn leads(&self) -> bool {
        self.base.seat().is_some_and(|seat| seat.leader() == Leader::Here)
    }

    /// Returns once this member belongs to a cluster.
    pub async fn seated(&self) {
        self.base.seated().await;
    }

    /// The number and name of each member, this one included, without asking any of them.
    pub fn names(&self) -> Vec<(MemberId, String)> {
        let Some(seat) = self.base.seat() else { return Vec::new() };
        let metrics = seat.metrics();
        let nodes = metrics.membership_config.membership().nodes();
        nodes.map(|(id, node)| (MemberId(*id), node.name.clone())).collect()
    }

    /// This member's number, once it belongs to a cluster.
    pub fn id(&self) -> Option<MemberId> {
        self.base.seat().map(|seat| MemberId(seat.member))
    }

    /// This member's name.
    pub fn name(&self) -> &str {
        &self.base.config.name
    }

    /// Returns once `member` has applied `index`, or with false if it cannot be reached in `within`.
    pub async fn await_applied(&self, member: MemberId, index: LogIndex, within: Duration) -> bool {
        let Some(seat) = self.base.seat() else { return false };
        if seat.member == member.0 {
            return timeout(within, self.base.reader.applied(index)).await.unwrap_or(false);
        }
        let metrics = seat.metrics();
        let Some(node) = metrics.membership_config.membership().get_node(&member.0) else { return false };
        let Ok(mut peer) = peer(&self.base, &seat, member.0, node) else { return false };
        let asked = peer.await_applied(timed(wire::AwaitAppliedRequest { log_index: index.0 }, within));
        matches!(timeout(within, asked).await, Ok(Ok(_)))
    }
}

pub(super) fn seat_error(error: SeatError) -> MembershipError {
    match error {
        SeatError::Taken { .. } | SeatError::Broken => MembershipError::Refused(error.to_string()),
        SeatError::Open(error) => ProposeError::Storage(error.to_string()).into(),
    }
}
