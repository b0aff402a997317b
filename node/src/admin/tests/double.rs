//! Stands in for Raft: commands are applied to a state in memory at once, and any failure can be asked for.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use waymark_core::model::{EndpointId, LogIndex, MemberId, Timestamp};
use waymark_core::state::{Action, ApplyLevel, Command, Context, State, View, apply};
use waymark_proto::admin::v1::GeoTable;

use super::super::consensus::Consensus;
use crate::publication::{Publisher, Reader, no_tables, publication};
use crate::raft::{
    BackUp, BackUpSource, ClusterStatus, Gathered, Held, LastOutcome, MemberStatus, MembershipError,
    ProposeError, Proposed, Role, Upload,
};

/// The id of the cluster that [`Double::found`] founds.
pub(super) const CLUSTER: &str = "c0ffee";

/// What goes wrong.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble {
    /// Each proposal fails with this, before anything is committed.
    pub(super) propose: Option<ProposeError>,
    /// The next proposal is carried out, but its outcome gets lost.
    pub(super) lose_outcome: bool,
    /// Each read barrier fails with this.
    pub(super) barrier: Option<ProposeError>,
    /// Each change of the membership fails with this.
    pub(super) membership: Option<MembershipError>,
    /// Each change of the membership waits until it is told to go on.
    pub(super) gate: Option<Arc<Notify>>,
    /// Members that do not answer.
    pub(super) unreachable: Vec<MemberId>,
    /// What agents found last, and which member tells it.
    pub(super) last_outcomes: Vec<(MemberId, LastOutcome)>,
}

/// A cluster of one member and of others that exist by name only.
pub(super) struct Double {
    publisher: Publisher,
    index: Mutex<u64>,
    /// What goes wrong from now on.
    pub(super) trouble: Mutex<Trouble>,
    members: Vec<MemberStatus>,
}

impl Double {
    /// A member `m1` beside `m2` and `m3`, before the cluster is founded, and the reader of its view.
    pub(super) fn new() -> (Self, Reader) {
        let (publisher, reader) = publication(View::of(State::default(), LogIndex(0)), no_tables());
        let members = vec![member(1, Role::Leader), member(2, Role::Follower), member(3, Role::Learner)];
        (Self { publisher, index: Mutex::default(), trouble: Mutex::default(), members }, reader)
    }

    /// Carries `action` out, as some member of the cluster would.
    pub(super) fn commit(&self, action: Action) -> Proposed {
        self.apply(vec![Command::of_cluster(action)])
    }

    async fn changed(&self, member: MemberStatus) -> Result<MemberStatus, MembershipError> {
        let Trouble { membership: failure, gate, .. } = self.trouble.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.notified().await;
        }
        failure.map_or(Ok(member), Err)
    }

    /// Founds the cluster.
    pub(super) fn found(&self) {
        let founded = self.commit(Action::Found { cluster: CLUSTER.into(), cookies: None });
        founded.replies[0].as_ref().expect("a fresh state can be founded");
    }

    /// The state that readers see.
    pub(super) fn state(&self) -> State {
        self.publisher.view().state.clone()
    }

    /// Replaces the state by one that no test can reach command by command.
    pub(super) fn replace(&self, change: impl FnOnce(&mut State)) {
        let mut index = self.index.lock().unwrap();
        *index += 1;
        let mut state = self.publisher.view().state.clone();
        change(&mut state);
        self.publisher.publish(View::of(state, LogIndex(*index)));
    }

    fn apply(&self, commands: Vec<Command>) -> Proposed {
        let mut index = self.index.lock().unwrap();
        *index += 1;
        let context = Context { index: LogIndex(*index), at: Timestamp(1_000 * *index) };
        let mut view = (*self.publisher.view()).clone();
        let mut replies = Vec::new();
        for command in &commands {
            let applied = apply(&view.state, context, command);
            view = view.after(applied.state, &applied.changes, context.index);
            replies.push(applied.reply);
        }
        self.publisher.publish(view);
        Proposed { replies, index: context.index }
    }

    fn is_founded(&self) -> bool {
        !self.publisher.view().state.cluster.is_empty()
    }
}

fn member(id: u64, role: Role) -> MemberStatus {
    MemberStatus {
        id: MemberId(id),
        name: format!("m{id}"),
        role,
        grpc: format!("http://192.0.2.{id}:7400"),
        dns: format!("192.0.2.{id}:53"),
        http: format!("http://192.0.2.{id}:7401"),
        applied: Some(LogIndex(7)),
        trouble: None,
        age: Some(Duration::from_millis(800)),
        apply_level_max: Some(ApplyLevel::HIGHEST),
    }
}

#[async_trait]
impl Consensus for Double {
    async fn propose(&self, commands: Vec<Command>, _: Duration) -> Result<Proposed, ProposeError> {
        let failure = self.trouble.lock().unwrap().propose.clone();
        if let Some(error) = failure {
            return Err(error);
        }
        if !self.is_founded() {
            return Err(ProposeError::NotMember);
        }
        let proposed = self.apply(commands);
        let is_lost = std::mem::take(&mut self.trouble.lock().unwrap().lose_outcome);
        if is_lost { Err(ProposeError::OutcomeUnknown) } else { Ok(proposed) }
    }

    async fn read_barrier(&self) -> Result<(), ProposeError> {
        let failure = self.trouble.lock().unwrap().barrier.clone();
        match failure {
            Some(error) => Err(error),
            None if self.is_founded() => Ok(()),
            None => Err(ProposeError::NotMember),
        }
    }

    async fn init(&self) -> Result<String, MembershipError> {
        if self.is_founded() {
            return Err(MembershipError::Refused("this member belongs to cluster c0ffee already".into()));
        }
        self.found();
        Ok(CLUSTER.into())
    }

    async fn add(&self, address: &str, as_learner: bool) -> Result<MemberStatus, MembershipError> {
        let role = if as_learner { Role::Learner } else { Role::Follower };
        self.changed(MemberStatus { grpc: address.to_owned(), ..member(4, role) }).await
    }

    async fn remove(&self, name: &str) -> Result<MemberStatus, MembershipError> {
        self.changed(MemberStatus { name: name.to_owned(), ..member(3, Role::Follower) }).await
    }

    async fn promote(&self, name: &str) -> Result<MemberStatus, MembershipError> {
        self.changed(MemberStatus { name: name.to_owned(), ..member(3, Role::Follower) }).await
    }

    async fn transfer(&self, name: &str) -> Result<MemberStatus, MembershipError> {
        self.changed(MemberStatus { name: name.to_owned(), ..member(3, Role::Leader) }).await
    }

    async fn upgrade(&self) -> Result<ApplyLevel, MembershipError> {
        self.changed(member(1, Role::Leader)).await?;
        self.commit(Action::RaiseApplyLevel { to: ApplyLevel::HIGHEST });
        Ok(self.publisher.view().state.apply_level)
    }

    async fn highest_for_all(&self) -> Result<ApplyLevel, MembershipError> {
        self.changed(member(1, Role::Leader)).await.map(|_| ApplyLevel::HIGHEST)
    }

    async fn back_up(&self, _source: BackUpSource) -> Result<BackUp, MembershipError> {
        Err(MembershipError::Refused("the double has no disk".into()))
    }

    fn upload(&self) -> Result<Upload, MembershipError> {
        Err(MembershipError::Refused("the double has no disk".into()))
    }

    async fn restore(&self, _upload: Upload) -> Result<String, MembershipError> {
        Err(MembershipError::Refused("the double has no disk".into()))
    }

    async fn status(&self) -> ClusterStatus {
        let view = self.publisher.view();
        let members = if self.is_founded() { self.members.clone() } else { Vec::new() };
        ClusterStatus {
            cluster_id: view.state.cluster.clone(),
            answered_by: "m1".into(),
            leader: members.first().map(|member| member.id),
            term: 3,
            last_log: LogIndex(view.applied.0 + 1),
            applied: view.applied,
            apply_level: view.state.apply_level,
            quorum_age: self.is_founded().then_some(Duration::from_millis(12)),
            members,
        }
    }

    async fn await_applied(&self, member: MemberId, _index: LogIndex, _within: Duration) -> bool {
        !self.trouble.lock().unwrap().unreachable.contains(&member)
    }

    async fn last_outcomes(
        &self,
        members: &[MemberId],
        endpoints: &[EndpointId],
        _within: Duration,
    ) -> Gathered {
        let trouble = self.trouble.lock().unwrap();
        let is_asked = |(member, told): &&(MemberId, LastOutcome)| {
            members.contains(member) && endpoints.contains(&told.endpoint)
        };
        Gathered {
            outcomes: trouble.last_outcomes.iter().filter(is_asked).cloned().collect(),
            incomplete: members.iter().filter(|id| trouble.unreachable.contains(id)).copied().collect(),
        }
    }

    async fn held_tables(&self, _within: Duration) -> Vec<(MemberId, Option<Held>)> {
        let trouble = self.trouble.lock().unwrap();
        let held = |id| (!trouble.unreachable.contains(&id)).then(|| self.own_tables());
        self.names().into_iter().map(|(id, _)| (id, held(id))).collect()
    }

    fn own_tables(&self) -> Held {
        let digest = self.publisher.view().locator.geo_table().digest.to_string();
        let embedded = GeoTable { digest: digest.clone(), source: "embedded".into(), ..GeoTable::default() };
        Held { tables: vec![embedded], used: digest }
    }

    fn names(&self) -> Vec<(MemberId, String)> {
        self.members.iter().map(|member| (member.id, member.name.clone())).collect()
    }

    fn id(&self) -> Option<MemberId> {
        self.is_founded().then_some(MemberId(1))
    }

    fn name(&self) -> String {
        "m1".into()
    }
}
