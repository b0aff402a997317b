//! Committed entries become the next view: each command of each entry through core's `apply`, one new view for each
//! batch of entries, and a snapshot of the state now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use openraft::storage::RaftStateMachine;
use openraft::{AnyError, EntryPayload, OptionalSend, RaftSnapshotBuilder, Snapshot, StorageIOError};
use prost::Message;
use waymark_core::model::LogIndex;
use waymark_core::state::{ApplyLevel, Change, Context, State, apply};
use waymark_proto::convert::entry_parts;
use waymark_proto::storage::v1 as stored;

use super::ProposeError;
use super::seat::Ending;
use super::snapshot::{SnapshotData, Snapshots};
use super::snapshot_file::SnapshotFault;
use super::types::{
    Entry, LogId, Node, Payload, Replies, SnapshotMeta, StorageError, StoredMembership, TypeConfig,
};
use crate::publication::Publisher;

/// How far a state has come.
pub(super) struct Reached {
    /// The state.
    pub(super) state: State,
    /// The last entry that it contains.
    pub(super) applied: Option<LogId>,
    /// The members as of that entry.
    pub(super) membership: StoredMembership,
}

impl Reached {
    /// What `snapshot` says, or the beginning.
    pub(super) fn of(snapshot: Option<(SnapshotMeta, State)>) -> Self {
        let (meta, state) = snapshot.unwrap_or_default();
        Self { state, applied: meta.last_log_id, membership: meta.last_membership }
    }

    /// Goes on by `entry` and returns its bytes; stays and returns `None` if it is not to be applied here. No view is made: while a
    /// member starts nobody looks.
    pub(super) fn go_on(&mut self, Entry { log_id, payload }: Entry, limits: &Limits) -> Option<u64> {
        let mut bytes = 0;
        match payload {
            EntryPayload::Blank => {}
            EntryPayload::Normal(payload) => {
                let mut work = Work::new(self.state.clone(), limits.supported);
                work.carry_out(log_id, &payload).ok()?;
                self.state = work.state;
                bytes = payload.0.len() as u64;
            }
            EntryPayload::Membership(membership) => {
                self.membership = StoredMembership::new(Some(log_id), membership);
            }
        }
        self.applied = Some(log_id);
        Some(bytes)
    }
}

/// The state that the cluster agrees on, on this member. It lives in the view that the publisher shows.
pub(super) struct StateMachine {
    publisher: Publisher,
    applied: Option<LogId>,
    membership: StoredMembership,
    snapshots: Arc<Snapshots>,
    /// Bytes of commands since the last snapshot was begun.
    backlog: Arc<AtomicU64>,
    limits: Limits,
}

/// How far a state machine goes.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// Where it says why it goes no further.
    pub(super) ending: Ending,
    /// The highest level of `apply` that it supports.
    pub(super) supported: ApplyLevel,
}

/// Why an entry is not applied. This member stops before it: to pass over it, or to make something else of it than the others
/// do, would be worse (CLU-9).
#[derive(Debug, thiserror::Error)]
enum Obstacle {
    #[error(
        "entry {0} of the log cannot be read here: {1}; a later version wrote it, which this member must run as well"
    )]
    Undecodable(u64, String),
    #[error(
        "entry {index} of the log needs apply level {needed}, and this member supports up to {supported}: run the later version \
         on it"
    )]
    Level { index: u64, needed: ApplyLevel, supported: ApplyLevel },
}

impl StateMachine {
    /// At `beginning`.
    pub(super) fn new(
        publisher: Publisher,
        snapshots: Arc<Snapshots>,
        beginning: Reached,
        backlog: Arc<AtomicU64>,
        limits: Limits,
    ) -> Self {
        let Reached { state, applied, membership } = beginning;
        if applied.is_some() {
            publisher.publish(publisher.view().anew(state, index_of(applied)));
        }
        Self { publisher, applied, membership, snapshots, backlog, limits }
    }

    /// Applies `entries` up to the first that cannot be; what comes before that one is seen.
    fn apply_all(
        &mut self,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<Vec<Replies>, Box<StorageError>> {
        let before = self.publisher.view();
        let mut work = Work::new(before.state.clone(), self.limits.supported);
        let mut replies = Vec::new();
        let mut stopped = Ok(());
        for Entry { log_id, payload } in entries {
            replies.push(match payload {
                EntryPayload::Blank => Replies::default(),
                EntryPayload::Normal(payload) => match work.carry_out(log_id, &payload) {
                    Ok(replies) => {
                        self.backlog.fetch_add(payload.0.len() as u64, Ordering::Relaxed);
                        replies
                    }
                    Err(obstacle) => {
                        stopped = Err(self.stop_before(log_id, &obstacle));
                        break;
                    }
                },
                EntryPayload::Membership(membership) => {
                    self.membership = StoredMembership::new(Some(log_id), membership);
                    Replies::default()
                }
            });
            self.applied = Some(log_id);
        }
        if !replies.is_empty() {
            let Work { state, changes, .. } = work;
            self.publisher.publish(before.after(state, &changes, index_of(self.applied)));
        }
        stopped.map(|()| replies)
    }

    fn stop_before(&self, id: LogId, obstacle: &Obstacle) -> Box<StorageError> {
        let text = obstacle.to_string();
        // Another reason may have been first.
        let _ = self.limits.ending.set(ProposeError::Failed(text.clone()));
        unapplied(id, text)
    }
}

fn unapplied(id: LogId, text: String) -> Box<StorageError> {
    Box::new(StorageError::from(StorageIOError::apply(id, AnyError::error(text))))
}

/// The state on its way from one view to the next.
struct Work {
    state: State,
    changes: Vec<Change>,
    supported: ApplyLevel,
}

impl Work {
    fn new(state: State, supported: ApplyLevel) -> Self {
        Self { state, changes: Vec::new(), supported }
    }

    /// Carries out all commands of an entry, or none.
    fn carry_out(&mut self, id: LogId, payload: &Payload) -> Result<Replies, Obstacle> {
        let index = id.index;
        let undecodable = |reason: &dyn std::error::Error| Obstacle::Undecodable(index, reason.to_string());
        let entry = stored::Entry::decode(payload.0.clone()).map_err(|error| undecodable(&error))?;
        let (at, commands) = entry_parts(entry).map_err(|error| undecodable(&error))?;
        let context = Context { index: LogIndex(index), at };
        let (mut state, mut changes) = (self.state.clone(), Vec::new());
        let mut replies = Vec::with_capacity(commands.len());
        for command in &commands {
            let (needed, supported) = (ApplyLevel::needed(&state, command), self.supported);
            if needed > supported {
                return Err(Obstacle::Level { index, needed, supported });
            }
            let applied = apply(&state, context, command);
            state = applied.state;
            changes.extend(applied.changes);
            replies.push(applied.reply);
        }
        self.state = state;
        self.changes.extend(changes);
        Ok(Replies(replies))
    }
}

/// `state` after `entries`; refused where they need more than the level `supported`.
pub(super) fn replay(
    state: State,
    entries: Vec<Entry>,
    supported: ApplyLevel,
) -> Result<State, Box<StorageError>> {
    let mut work = Work::new(state, supported);
    for Entry { log_id, payload } in entries {
        if let EntryPayload::Normal(payload) = payload {
            work.carry_out(log_id, &payload).map_err(|obstacle| unapplied(log_id, obstacle.to_string()))?;
        }
    }
    Ok(work.state)
}

/// Builds one snapshot from a copy of the state, beside further work on it.
pub(super) struct SnapshotBuilder {
    state: State,
    meta: SnapshotMeta,
    snapshots: Arc<Snapshots>,
}

impl RaftSnapshotBuilder<TypeConfig> for SnapshotBuilder {
    async fn build_snapshot(&mut self) -> Result<Snapshot<TypeConfig>, StorageError> {
        let (state, meta, snapshots) = (self.state.clone(), self.meta.clone(), self.snapshots.clone());
        let built = tokio::task::spawn_blocking(move || snapshots.build(&meta, &state)).await;
        let failed = |error: &(dyn std::error::Error + 'static)| {
            let text = AnyError::error(format!("the snapshot cannot be written: {error}"));
            StorageError::from(StorageIOError::write_snapshot(Some(self.meta.signature()), text))
        };
        let data = built.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        Ok(Snapshot { meta: self.meta.clone(), snapshot: Box::new(data) })
    }
}

impl RaftStateMachine<TypeConfig> for StateMachine {
    type SnapshotBuilder = SnapshotBuilder;

    async fn applied_state(&mut self) -> Result<(Option<LogId>, StoredMembership), StorageError> {
        Ok((self.applied, self.membership.clone()))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<Replies>, StorageError>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        self.apply_all(entries).map_err(|error| *error)
    }

    async fn get_snapshot_builder(&mut self) -> SnapshotBuilder {
        self.backlog.store(0, Ordering::Relaxed);
        SnapshotBuilder {
            state: self.publisher.view().state.clone(),
            meta: SnapshotMeta {
                last_log_id: self.applied,
                last_membership: self.membership.clone(),
                snapshot_id: snapshot_id(self.applied),
            },
            snapshots: self.snapshots.clone(),
        }
    }

    /// A place for a snapshot to come. What arrives over the network has its own (`peer_service`).
    async fn begin_receiving_snapshot(&mut self) -> Result<Box<SnapshotData>, StorageError> {
        let snapshots = self.snapshots.clone();
        let place = tokio::task::spawn_blocking(move || snapshots.incoming()?.finish()).await;
        let place = place.unwrap_or_else(|error| Err(error.into()));
        place
            .map(Box::new)
            .map_err(|error| StorageIOError::write_snapshot(None, AnyError::new(&error)).into())
    }

    async fn install_snapshot(
        &mut self,
        meta: &openraft::SnapshotMeta<u64, Node>,
        snapshot: Box<SnapshotData>,
    ) -> Result<(), StorageError> {
        let (snapshots, target) = (self.snapshots.clone(), meta.clone());
        let index = index_of(meta.last_log_id);
        let before = self.publisher.view();
        let install = move || snapshots.install(&target, *snapshot).map(|state| before.anew(state, index));
        let failed = |error: &(dyn std::error::Error + 'static)| {
            let text = AnyError::error(format!("the snapshot cannot be installed: {error}"));
            StorageError::from(StorageIOError::read_snapshot(Some(meta.signature()), text))
        };
        let installed = tokio::task::spawn_blocking(install).await.map_err(|error| failed(&error))?;
        let view = installed.map_err(|fault| {
            if let SnapshotFault::Level { .. } = fault {
                let text = format!("the snapshot from the leader {fault}");
                let _ = self.limits.ending.set(ProposeError::Failed(text));
            }
            failed(&fault)
        })?;
        self.publisher.publish(view);
        self.applied = meta.last_log_id;
        self.membership = meta.last_membership.clone();
        self.backlog.store(0, Ordering::Relaxed);
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<TypeConfig>>, StorageError> {
        let current = self.snapshots.current();
        Ok(current.map(|(meta, data)| Snapshot { meta, snapshot: Box::new(data) }))
    }
}

fn snapshot_id(last: Option<LogId>) -> String {
    last.map_or_else(
        || "empty".to_owned(),
        |id| format!("{}-{}-{}", id.leader_id.term, id.leader_id.node_id, id.index),
    )
}

fn index_of(id: Option<LogId>) -> LogIndex {
    LogIndex(id.map_or(0, |id| id.index))
}
