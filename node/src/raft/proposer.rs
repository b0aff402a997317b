//! The one way in: commands from any door, forwarded to the leader, gathered into entries, answered once applied here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use prost::Message;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout_at};
use waymark_core::model::LogIndex;
use waymark_core::state::{Action, ApplyLevel, Command, CommandId, EnrolmentWish, Rejection, Reply};
use waymark_proto::storage::v1 as stored;

use super::base::Base;
use super::forward::{self, Committed, Refusal};
use super::gather::{self, Asker, Proposal};
use super::leader::{self, Leader};
use super::seat::Seat;
use waymark_process::chance;

/// Callers whose commands may wait. Each waits for 5 s at most, so a queue that is full is one that does not move.
const QUEUE_MAX: usize = 1024;
/// Largest size of one caller's commands: an entry and its replication must stay below gRPC's 4 MiB.
pub(super) const ENTRY_BYTES_MAX: usize = 2 << 20;
/// How long to wait before a leader is asked again how far to read.
const READ_PAUSE: Duration = Duration::from_millis(20);

/// Takes commands to the log. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Proposer {
    base: Arc<Base>,
    queue: mpsc::Sender<Proposal>,
}

/// What became of proposed commands: committed, applied on this member, visible in its view.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// One for each command, in order.
    pub replies: Vec<Result<Reply, Rejection>>,
    /// The entry that holds them.
    pub index: LogIndex,
}

/// Why commands were not committed, or are not known to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposeError {
    /// This member belongs to no cluster yet.
    #[error(
        "this member belongs to no cluster yet: run 'waymark cluster init' here, or 'waymark cluster add' on a member"
    )]
    NotMember,
    /// Nothing was proposed: no leader was found in time. A retry is safe.
    #[error("no leader is known: a majority of the members must be up and reach each other")]
    NoLeader,
    /// The commands may or may not be committed. A retry with the same command ids is safe.
    #[error("the outcome is unknown: the leader was lost while the change was being committed")]
    OutcomeUnknown,
    /// Nothing was proposed: this member's store has failed, a full disk among the reasons (CLU-5).
    #[error("this member's store has failed: {0}; see its log, mend that and restart it")]
    Storage(String),
    /// Nothing was proposed: this member takes no part in consensus any more, for another reason.
    #[error("this member takes no part in consensus any more: {0}")]
    Failed(String),
    /// Too much is waiting already.
    #[error("too many commands are waiting to be committed; try again")]
    Busy,
    /// Nothing was proposed: members of the version before would stop before it (CLU-9).
    #[error(
        "the change needs apply level {needed}, and the cluster is at {present}: run 'waymark cluster upgrade', which raises it once all \
         members support that"
    )]
    Level {
        /// What the change needs.
        needed: ApplyLevel,
        /// What the cluster goes by.
        present: ApplyLevel,
    },
    /// The commands cannot be proposed as they are: too large, or not readable by the leader.
    #[error("{0}")]
    Refused(String),
}

/// Starts the task that takes commands to the log.
pub(super) fn start(base: &Arc<Base>) -> Proposer {
    let (queue, proposals) = mpsc::channel(QUEUE_MAX);
    base.tasks.spawn(gather::run(base.clone(), proposals));
    Proposer { base: base.clone(), queue }
}

impl Proposer {
    /// How long a proposal may take at most.
    pub const DEADLINE: Duration = Duration::from_secs(5);

    /// Commits `commands`, waits until this member has applied them, and returns what each came to. Commands that are
    /// not absolute facts are given a mark if they have none, so that they are carried out once however often they
    /// must be sent (CLI-4). Ends within [`Proposer::DEADLINE`].
    pub async fn propose(&self, commands: Vec<Command>) -> Result<Proposed, ProposeError> {
        self.propose_within(commands, Self::DEADLINE).await
    }

    /// The same for somebody who waits for `within`, which is less.
    pub async fn propose_within(
        &self,
        commands: Vec<Command>,
        within: Duration,
    ) -> Result<Proposed, ProposeError> {
        let deadline = Instant::now() + within.min(Self::DEADLINE);
        let messages = commands.into_iter().map(marked).map(|command| stored::Command::from(&command));
        let Committed { replies, index } = self.submit(messages.collect(), Asker::Here, deadline).await?;
        self.applied(index, deadline).await.map_err(|_| ProposeError::OutcomeUnknown)?;
        Ok(Proposed { replies, index })
    }

    /// Returns once this member's view contains everything that was committed when it was called (ReadIndex).
    pub async fn read_barrier(&self) -> Result<(), ProposeError> {
        let deadline = Instant::now() + Self::DEADLINE;
        let index = self.read_index_anywhere(deadline).await?;
        self.applied(index, deadline).await
    }

    /// Has `commands` committed, from `asker`. They must be readable by this version: an entry that is not would stop
    /// every member.
    pub(super) async fn submit(
        &self,
        commands: Vec<stored::Command>,
        asker: Asker,
        deadline: Instant,
    ) -> Result<Committed, ProposeError> {
        if self.base.seat().is_none() {
            return Err(ProposeError::NotMember);
        }
        if commands.is_empty() {
            return Ok(Committed { replies: Vec::new(), index: self.base.reader.view().applied });
        }
        let bytes = commands.iter().map(Message::encoded_len).sum();
        if bytes > ENTRY_BYTES_MAX {
            let text =
                format!("the change has {bytes} bytes, the limit is {ENTRY_BYTES_MAX}: make it in parts");
            return Err(ProposeError::Refused(text));
        }
        for command in &commands {
            let unreadable = |error| ProposeError::Refused(format!("the change is not understood: {error}"));
            let command = Command::try_from(command.clone()).map_err(unreadable)?;
            self.refuse_unsupported(&command)?;
            self.refuse_above_level(&command.action, deadline).await?;
        }
        let (answer, outcome) = oneshot::channel();
        let sent = Arc::new(AtomicBool::new(false));
        let proposal = Proposal { commands, bytes, asker, deadline, sent: sent.clone(), answer };
        self.queue.try_send(proposal).map_err(|error| match error {
            TrySendError::Full(_) => ProposeError::Busy,
            // This member is on its way out.
            TrySendError::Closed(_) => ProposeError::NoLeader,
        })?;
        outcome_of(outcome, &sent, deadline).await
    }

    /// This member would stop before it (CLU-9).
    fn refuse_unsupported(&self, command: &Command) -> Result<(), ProposeError> {
        let Action::RaiseApplyLevel { to } = command.action else { return Ok(()) };
        let supported = self.base.config.apply_level_max;
        if to <= supported {
            return Ok(());
        }
        let name = &self.base.config.name;
        let text =
            format!("the apply level cannot be raised to {to}: member '{name}' supports up to {supported}");
        Err(ProposeError::Refused(text))
    }

    /// The cluster must be at the level that `action` needs by what it says (CLU-9). This member may not have applied yet that it is:
    /// so it looks once more when it has applied all that is committed.
    async fn refuse_above_level(&self, action: &Action, deadline: Instant) -> Result<(), ProposeError> {
        let needed = ApplyLevel::of(action);
        let present = || self.base.reader.peek().state.apply_level;
        if needed <= present() {
            return Ok(());
        }
        let index = self.read_index_anywhere(deadline).await?;
        self.applied(index, deadline).await?;
        match present() {
            present if needed > present => Err(ProposeError::Level { needed, present }),
            _ => Ok(()),
        }
    }

    /// On the leader: the entry that a reader must have applied to see everything that is committed now, confirmed by a
    /// majority (CLU-7).
    pub(super) async fn read_index(&self, seat: &Seat, deadline: Instant) -> Result<LogIndex, Refusal> {
        match timeout_at(deadline, seat.raft.get_read_log_id()).await {
            Ok(Ok((index, _))) => Ok(LogIndex(index.map_or(0, |id| id.index).max(seat.opened_at))),
            Ok(Err(_)) | Err(_) => Err(Refusal::Nothing),
        }
    }

    async fn read_index_anywhere(&self, deadline: Instant) -> Result<LogIndex, ProposeError> {
        loop {
            let seat = self.base.seat().ok_or(ProposeError::NotMember)?;
            let within = deadline.saturating_duration_since(Instant::now());
            let outcome = match seat.leader() {
                Leader::Here => self.read_index(&seat, deadline).await,
                Leader::There(id, node) => match forward::peer(&self.base, &seat, id, &node) {
                    Ok(peer) => tokio::select! {
                        outcome = forward::read_index(peer, within) => outcome,
                        () = leader::replaced(&seat, id) => Err(Refusal::Nothing),
                    },
                    Err(error) => return Err(ProposeError::Refused(error.to_string())),
                },
                Leader::Unknown => Err(Refusal::Nothing),
                Leader::Failed(error) => return Err(error),
            };
            match outcome {
                Ok(index) => return Ok(index),
                Err(Refusal::Final(error)) => return Err(error),
                Err(Refusal::Nothing | Refusal::Perhaps) if Instant::now() + READ_PAUSE < deadline => {
                    tokio::time::sleep(READ_PAUSE).await;
                }
                Err(Refusal::Nothing | Refusal::Perhaps) => return Err(ProposeError::NoLeader),
            }
        }
    }

    async fn applied(&self, index: LogIndex, deadline: Instant) -> Result<(), ProposeError> {
        match timeout_at(deadline, self.base.reader.applied(index)).await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(ProposeError::NoLeader),
        }
    }
}

/// The outcome, or at the deadline what can be said without it. The order matters: the task that commits sets `sent`
/// before it looks whether anybody still listens.
async fn outcome_of(
    mut outcome: oneshot::Receiver<Result<Committed, ProposeError>>,
    sent: &AtomicBool,
    deadline: Instant,
) -> Result<Committed, ProposeError> {
    tokio::select! {
        biased;
        answer = &mut outcome => answer.unwrap_or(Err(unanswered(sent))),
        () = sleep_until(deadline) => {
            outcome.close();
            outcome.try_recv().unwrap_or_else(|_| Err(unanswered(sent)))
        }
    }
}

fn unanswered(sent: &AtomicBool) -> ProposeError {
    if sent.load(Ordering::SeqCst) { ProposeError::OutcomeUnknown } else { ProposeError::NoLeader }
}

fn marked(command: Command) -> Command {
    let id = command.id.or_else(|| (!is_fact(&command.action)).then(random_mark));
    Command { id, ..command }
}

fn random_mark() -> CommandId {
    CommandId(u128::from(chance::draw()) << 64 | u128::from(chance::draw()))
}

/// Does `action` say the same however often it is said?
fn is_fact(action: &Action) -> bool {
    matches!(
        action,
        Action::Found { .. }
            | Action::RecordOutcomes { .. }
            | Action::ExpireVerdicts { .. }
            | Action::LoseAgent { .. }
            | Action::SetSight { .. }
            | Action::AllotMember { .. }
            | Action::RaiseApplyLevel { .. }
            | Action::ForgetHistory { .. }
            | Action::RotateCookies { .. }
            | Action::FlattenTargets { .. }
            | Action::EndOverrides { .. }
            | Action::ReleaseBrakes { .. }
            | Action::LearnLatencies { .. }
            | Action::ForgetLatencies { .. }
            | Action::Enrolment(EnrolmentWish::EndTokens { .. })
    )
}
