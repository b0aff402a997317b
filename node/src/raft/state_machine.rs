//! Committed entries become the next view: each command of each entry through core's `apply`, one new view for each
//! batch of entries, and a snapshot of the state now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use openraft::storage::RaftStateMachine;
use openraft::{AnyError, EntryPayload, OptionalSend, RaftSnapshotBuilder, Snapshot, StorageIOError};
use prost::Message;
use waymark_core::model::LogIndex;
use waymark_core::state::{Change, Context, State, apply};
use waymark_proto::convert::entry_parts;
use waymark_proto::storage::v1 as stored;

use super::snapshot::{SnapshotData, Snapshots};
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

    /// Goes on by `entry`; returns its bytes. No view is made: while a member starts nobody looks.
    pub(super) fn go_on(&mut self, Entry { log_id, payload }: Entry) -> Result<u64, Box<StorageError>> {
        self.applied = Some(log_id);
        match payload {
            EntryPayload::Blank => Ok(0),
            EntryPayload::Normal(payload) => {
                let mut work = Work { state: std::mem::take(&mut self.state), changes: Vec::new() };
                work.carry_out(log_id, &payload)?;
                self.state = work.state;
                Ok(payload.0.len() as u64)
            }
            EntryPayload::Membership(membership) => {
                self.membership = StoredMembership::new(Some(log_id), membership);
                Ok(0)
            }
        }
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
}

impl StateMachine {
    /// At `beginning`.
    pub(super) fn new(
        publisher: Publisher,
        snapshots: Arc<Snapshots>,
        beginning: Reached,
        backlog: Arc<AtomicU64>,
    ) -> Self {
        let Reached { state, applied, membership } = beginning;
        if applied.is_some() {
            publisher.publish(publisher.view().anew(state, index_of(applied)));
        }
        Self { publisher, applied, membership, snapshots, backlog }
    }

    fn apply_all(
        &mut self,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<Vec<Replies>, Box<StorageError>> {
        let before = self.publisher.view();
        let mut work = Work { state: before.state.clone(), changes: Vec::new() };
        let mut replies = Vec::new();
        for Entry { log_id, payload } in entries {
            replies.push(match payload {
                EntryPayload::Blank => Replies::default(),
                EntryPayload::Normal(payload) => {
                    self.backlog.fetch_add(payload.0.len() as u64, Ordering::Relaxed);
                    work.carry_out(log_id, &payload)?
                }
                EntryPayload::Membership(membership) => {
                    self.membership = StoredMembership::new(Some(log_id), membership);
                    Replies::default()
                }
            });
            self.applied = Some(log_id);
        }
        if !replies.is_empty() {
            let Work { state, changes } = work;
            self.publisher.publish(before.after(state, &changes, index_of(self.applied)));
        }
        Ok(replies)
    }
}

/// The state on its way from one view to the next.
struct Work {
    state: State,
    changes: Vec<Change>,
}

impl Work {
    fn carry_out(&mut self, id: LogId, payload: &Payload) -> Result<Replies, Box<StorageError>> {
        let unreadable = |reason: &dyn std::error::Error| {
            let text = format!("entry {} cannot be decoded: {reason}", id.index);
            Box::new(StorageError::from(StorageIOError::apply(id, AnyError::error(text))))
        };
        let entry = stored::Entry::decode(payload.0.clone()).map_err(|error| unreadable(&error))?;
        let (at, commands) = entry_parts(entry).map_err(|error| unreadable(&error))?;
        let context = Context { index: LogIndex(id.index), at };
        let replies = commands.iter().map(|command| {
            let applied = apply(&self.state, context, command);
            self.state = applied.state;
            self.changes.extend(applied.changes);
            applied.reply
        });
        Ok(Replies(replies.collect()))
    }
}

/// `state` after `entries`.
pub(super) fn replay(state: State, entries: Vec<Entry>) -> Result<State, Box<StorageError>> {
    let mut work = Work { state, changes: Vec::new() };
    for Entry { log_id, payload } in entries {
        if let EntryPayload::Normal(payload) = payload {
            work.carry_out(log_id, &payload)?;
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
        let view = installed.map_err(|error| failed(&error))?;
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
