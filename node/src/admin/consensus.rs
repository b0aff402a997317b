//! What this door asks of the cluster, as one trait: Raft's handles answer it for a member, a double in the tests.

use std::time::Duration;

use async_trait::async_trait;
use waymark_core::model::{EndpointId, LogIndex, MemberId};
use waymark_core::state::{ApplyLevel, Command};

use crate::raft::{
    BackUp, BackUpSource, ClusterStatus, Gathered, Held, HeldTables, LastOutcomes, MemberStatus, Membership,
    MembershipError, ProposeError, Proposed, Proposer, Upload,
};

/// The cluster, as the operators' API sees it. Each method means what its namesake of [`Proposer`], [`Membership`],
/// [`LastOutcomes`] or [`HeldTables`] does.
#[async_trait]
pub(super) trait Consensus: Send + Sync + 'static {
    /// See [`Proposer::propose_within`].
    async fn propose(&self, commands: Vec<Command>, within: Duration) -> Result<Proposed, ProposeError>;
    /// See [`Proposer::read_barrier`].
    async fn read_barrier(&self) -> Result<(), ProposeError>;
    /// See [`Membership::init`].
    async fn init(&self) -> Result<String, MembershipError>;
    /// See [`Membership::add`].
    async fn add(&self, address: &str, as_learner: bool) -> Result<MemberStatus, MembershipError>;
    /// See [`Membership::remove`].
    async fn remove(&self, name: &str) -> Result<MemberStatus, MembershipError>;
    /// See [`Membership::promote`].
    async fn promote(&self, name: &str) -> Result<MemberStatus, MembershipError>;
    /// See [`Membership::transfer`].
    async fn transfer(&self, name: &str) -> Result<MemberStatus, MembershipError>;
    /// See [`Membership::upgrade`].
    async fn upgrade(&self) -> Result<ApplyLevel, MembershipError>;
    /// See [`Membership::highest_for_all`].
    async fn highest_for_all(&self) -> Result<ApplyLevel, MembershipError>;
    /// See [`Membership::back_up`].
    async fn back_up(&self, source: BackUpSource) -> Result<BackUp, MembershipError>;
    /// See [`Membership::upload`].
    fn upload(&self) -> Result<Upload, MembershipError>;
    /// See [`Membership::restore`].
    async fn restore(&self, upload: Upload) -> Result<String, MembershipError>;
    /// See [`Membership::status`].
    async fn status(&self) -> ClusterStatus;
    /// See [`Membership::await_applied`].
    async fn await_applied(&self, member: MemberId, index: LogIndex, within: Duration) -> bool;
    /// See [`LastOutcomes::gather`].
    async fn last_outcomes(
        &self,
        members: &[MemberId],
        endpoints: &[EndpointId],
        within: Duration,
    ) -> Gathered;
    /// See [`HeldTables::gather`].
    async fn held_tables(&self, within: Duration) -> Vec<(MemberId, Option<Held>)>;
    /// See [`HeldTables::own`].
    fn own_tables(&self) -> Held;
    /// See [`Membership::names`].
    fn names(&self) -> Vec<(MemberId, String)>;
    /// See [`Membership::id`].
    fn id(&self) -> Option<MemberId>;
    /// See [`Membership::name`].
    fn name(&self) -> String;
}

/// Raft's handles, side by side.
#[derive(Clone, Debug)]
pub(super) struct RaftHandles {
    /// Takes the writes.
    pub(super) proposer: Proposer,
    /// Knows the members.
    pub(super) membership: Membership,
    /// Knows what agents found last.
    pub(super) outcomes: LastOutcomes,
    /// Knows the members' geo tables.
    pub(super) tables: HeldTables,
}

#[async_trait]
impl Consensus for RaftHandles {
    async fn propose(&self, commands: Vec<Command>, within: Duration) -> Result<Proposed, ProposeError> {
        self.proposer.propose_within(commands, within).await
    }

    async fn read_barrier(&self) -> Result<(), ProposeError> {
        self.proposer.read_barrier().await
    }

    async fn init(&self) -> Result<String, MembershipError> {
        self.membership.init().await
    }

    async fn add(&self, address: &str, as_learner: bool) -> Result<MemberStatus, MembershipError> {
        self.membership.add(address, as_learner).await
    }

    async fn remove(&self, name: &str) -> Result<MemberStatus, MembershipError> {
        self.membership.remove(name).await
    }

    async fn promote(&self, name: &str) -> Result<MemberStatus, MembershipError> {
        self.membership.promote(name).await
    }

    async fn transfer(&self, name: &str) -> Result<MemberStatus, MembershipError> {
        self.membership.transfer(name).await
    }

    async fn upgrade(&self) -> Result<ApplyLevel, MembershipError> {
        self.membership.upgrade().await
    }

    async fn highest_for_all(&self) -> Result<ApplyLevel, MembershipError> {
        self.membership.highest_for_all().await
    }

    async fn back_up(&self, source: BackUpSource) -> Result<BackUp, MembershipError> {
        self.membership.back_up(source).await
    }

    fn upload(&self) -> Result<Upload, MembershipError> {
        self.membership.upload()
    }

    async fn restore(&self, upload: Upload) -> Result<String, MembershipError> {
        self.membership.restore(upload).await
    }

    async fn status(&self) -> ClusterStatus {
        self.membership.status().await
    }

    async fn await_applied(&self, member: MemberId, index: LogIndex, within: Duration) -> bool {
        self.membership.await_applied(member, index, within).await
    }

    async fn last_outcomes(
        &self,
        members: &[MemberId],
        endpoints: &[EndpointId],
        within: Duration,
    ) -> Gathered {
        self.outcomes.gather(members, endpoints, within).await
    }

    async fn held_tables(&self, within: Duration) -> Vec<(MemberId, Option<Held>)> {
        self.tables.gather(within).await
    }

    fn own_tables(&self) -> Held {
        self.tables.own()
    }

    fn names(&self) -> Vec<(MemberId, String)> {
        self.membership.names()
    }

    fn id(&self) -> Option<MemberId> {
        self.membership.id()
    }

    fn name(&self) -> String {
        self.membership.name().to_owned()
    }
}
