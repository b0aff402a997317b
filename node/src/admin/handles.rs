//! What every service of this door holds, and the two ways through it: a write goes to the log, a read to the view.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tonic::{Response, Status};
use waymark_core::model::{LogIndex, Violation, Violations};
use waymark_core::state::{Command, CommandId, Context, Rejection, Reply, View, apply};
use waymark_process::chance;
use waymark_process::secrets::Keys;
use waymark_process::tls::Credentials;
use waymark_proto::admin::v1::{ReadOptions, Warning, WriteOptions, WriteResponse};
use waymark_proto::convert;

use super::audit::words;
use super::caller::Caller;
use super::consensus::Consensus;
use super::fault;
use super::limits::{WAIT_ALL, Watching};
use super::sealing::seal;
use super::watch::Watches;
use super::wish::Wish;
use crate::clock;
use crate::publication::Reader;
use crate::raft::ProposeError;

/// The handles of this door. Cheap to clone.
#[derive(Clone)]
pub(super) struct Handles {
    /// Sees the latest view.
    pub(super) reader: Reader,
    /// The cluster.
    pub(super) consensus: Arc<dyn Consensus>,
    /// Opens streams.
    pub(super) watches: Watches,
    /// What secret headers are encrypted with (SEC-4).
    pub(super) keys: Arc<Keys>,
    /// Whom this member believes; nothing in plain text.
    pub(super) credentials: Option<Arc<Credentials>>,
}

/// What a write says beside its wish.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    id: CommandId,
    /// The revision that the author saw.
    pub(super) if_revision: Option<u64>,
    wait_all: bool,
}

impl Marks {
    /// Reads the options of a write; a mark of the wrong length is noted, a missing one is drawn.
    pub(super) fn of(options: Option<WriteOptions>, violations: &mut Violations) -> Self {
        let WriteOptions { request_id, if_revision, wait_all } = options.unwrap_or_default();
        let marked = convert::request_id(&request_id);
        let id = marked.unwrap_or_else(|Violation { field, description }| {
            violations.add(&field, description);
            None
        });
        let drawn = || CommandId(u128::from(chance::draw()) << 64 | u128::from(chance::draw()));
        Self { id: id.unwrap_or_else(drawn), if_revision, wait_all }
    }

    /// The same for a new object, which has no revision yet.
    pub(super) fn of_new(options: Option<WriteOptions>, violations: &mut Violations) -> Self {
        Self::of_unbound(options, "cannot be given here: a new object has no revision yet", violations)
    }

    /// The same for a write that cannot be bound to a revision: one that is given is noted, not ignored.
    pub(super) fn of_unbound(options: Option<WriteOptions>, why: &str, violations: &mut Violations) -> Self {
        let marks = Self::of(options, violations);
        if marks.if_revision.is_some() {
            violations.add("write.if_revision", why);
        }
        marks
    }
}

impl Handles {
    /// Handles whose watches stay within `limits` and end when `stopping` is cancelled.
    pub(super) fn new(
        reader: Reader,
        consensus: Arc<dyn Consensus>,
        limits: Watching,
        keys: Arc<Keys>,
        stopping: CancellationToken,
    ) -> Self {
        Self { reader, consensus, watches: Watches::new(limits, stopping), keys, credentials: None }
    }

    /// The same on a member that is known to others by `credentials`.
    pub(super) fn known_by(self, credentials: Option<Arc<Credentials>>) -> Self {
        Self { credentials, ..self }
    }

    /// The view to answer a read from: everything that was committed when the call came is in it, unless `stale` is
    /// asked for, when it is whatever this member has.
    pub(super) async fn view(&self, read: Option<ReadOptions>) -> Result<Arc<View>, Status> {
        let ReadOptions { stale } = read.unwrap_or_default();
        if !stale {
            self.consensus.read_barrier().await.map_err(|error| fault::read(&error))?;
        } else if self.consensus.id().is_none() {
            return Err(fault::read(&ProposeError::NotMember));
        }
        Ok(self.reader.view())
    }

    /// Has `wish` carried out for `caller`, unless something is wrong with the message that it came in. There is none
    /// only where `violations` say why.
    pub(super) async fn write(
        &self,
        caller: Caller,
        marks: Marks,
        wish: Option<Wish>,
        mut violations: Violations,
    ) -> Result<Response<WriteResponse>, Status> {
        let (mut action, faults) =
            wish.map_or_else(Default::default, |Wish { action, faults }| (action, faults));
        if let Some(action) = &mut action {
            seal(action, &self.keys, &mut violations);
        }
        let patience = caller.patience;
        let command = |action| caller.command(Some(marks.id), words(&action).as_ref(), action);
        let faults = [violations.into_vec(), faults].concat();
        let command = match action {
            Some(action) if faults.is_empty() => command(action),
            action => return Err(self.refuse(action.map(command), faults)),
        };
        let proposed = self.consensus.propose(vec![command], patience).await;
        let proposed = proposed.map_err(|error| fault::write(&error, marks.id))?;
        let reply = proposed.replies.into_iter().next().expect("there is one reply for each command");
        let Reply { revision, warnings } = reply.map_err(|rejection| fault::refusal(&rejection))?;
        let unreached = if marks.wait_all { self.unreached(proposed.index).await } else { Vec::new() };
        Ok(Response::new(WriteResponse {
            revision: revision.0,
            log_index: proposed.index.0,
            warnings: warnings.into_iter().map(warning).collect(),
            unreached,
        }))
    }

    /// Refuses a message with faults of its own, and with those that the rest of it has by the rules (VAL-1): they are
    /// found by carrying the command out on a copy of this member's state.
    fn refuse(&self, command: Option<Command>, mut faults: Vec<Violation>) -> Status {
        let view = self.reader.view();
        let context = Context { index: LogIndex(view.applied.0 + 1), at: clock::now() };
        let trial =
            command.map(|command| apply(&view.state, context, &Command { id: None, ..command }).reply);
        if let Some(Err(Rejection::Invalid(more))) = trial {
            let known: Vec<String> = faults.iter().map(|violation| violation.field.clone()).collect();
            faults.extend(more.into_iter().filter(|violation| !known.contains(&violation.field)));
        }
        fault::refusal(&Rejection::Invalid(faults))
    }

    /// The names of the other members that have not applied `index` within [`WAIT_ALL`].
    async fn unreached(&self, index: LogIndex) -> Vec<String> {
        let own = self.consensus.id();
        let others = self.consensus.names().into_iter().filter(|(id, _)| Some(*id) != own);
        let waits = others.map(|(id, name)| async move {
            let applied = self.consensus.await_applied(id, index, WAIT_ALL).await;
            (!applied).then_some(name)
        });
        futures_util::future::join_all(waits).await.into_iter().flatten().collect()
    }
}

fn warning(Violation { field, description }: Violation) -> Warning {
    Warning { field, description }
}

/// The message that a request is about; a missing one is noted.
pub(super) fn required<T>(message: Option<T>, field: &str, violations: &mut Violations) -> Option<T> {
    if message.is_none() {
        violations.add(field, "is required");
    }
    message
}

/// Notes an empty `text`.
pub(super) fn named(text: &str, field: &str, violations: &mut Violations) {
    if text.is_empty() {
        violations.add(field, "is required");
    }
}
