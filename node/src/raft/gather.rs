//! The one task that takes commands to the log: whatever has queued while the entry before was in flight becomes the
//! next entry. Nothing ever waits for company.
//!
//! ```text
//! propose ─▶ queue ─▶ batch ─┬─ this member leads ────▶ one entry of the log
//!                            ├─ another one leads ────▶ Peers.Propose there, into its queue
//!                            └─ nobody does, or the leader is lost ─▶ again, until the deadline
//! ```
//!
//! Trying again is safe because commands are absolute facts or carry a mark by which `apply` knows them (CLI-4).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use prost::Message;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};
use waymark_core::model::LogIndex;
use waymark_proto::storage::v1 as stored;

use super::ProposeError;
use super::base::Base;
use super::connections::Peer;
use super::forward::{self, Committed, Refusal};
use super::leader::{self, Leader};
use super::seat::Seat;
use super::types::Payload;
use crate::clock;

/// Most commands in one entry, unless one caller has more: an entry is applied in one step.
const COMMANDS_MAX: usize = 256;
/// Most bytes of commands that are gathered into one entry.
const GATHER_BYTES_MAX: usize = 1 << 20;
/// How long to wait before the leader is tried again.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Where commands come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    /// A door of this member.
    Here,
    /// Another member, which takes this one for the leader: never forwarded once more.
    Forwarded,
}

/// Commands of one caller. They stay together in one entry.
#[derive(Debug)]
pub(super) struct Proposal {
    /// The commands.
    pub(super) commands: Vec<stored::Command>,
    /// Their size when encoded.
    pub(super) bytes: usize,
    /// Where they come from.
    pub(super) asker: Asker,
    /// When the caller gives up.
    pub(super) deadline: Instant,
    /// May they be in the log? Read by a caller that gives up, after it has closed `answer`.
    pub(super) sent: Arc<AtomicBool>,
    /// To the caller.
    pub(super) answer: oneshot::Sender<Result<Committed, ProposeError>>,
}

impl Proposal {
    fn finish(self, outcome: Result<Committed, ProposeError>) {
        // The caller may have given up.
        let _ = self.answer.send(outcome);
    }

    fn give_up(self) {
        let was_sent = self.sent.load(Ordering::SeqCst);
        self.finish(Err(if was_sent { ProposeError::OutcomeUnknown } else { ProposeError::NoLeader }));
    }
}

/// What one attempt to commit a batch led to.
enum Attempt {
    Committed(Committed),
    Failed(ProposeError),
    Again,
}

/// Commits what comes through `queue`, until the member stops.
pub(super) async fn run(base: Arc<Base>, mut queue: mpsc::Receiver<Proposal>) {
    let stop = base.stop.clone();
    let work = async {
        let mut held = None;
        loop {
            let Some(first) = (match held.take() {
                Some(proposal) => Some(proposal),
                None => queue.recv().await,
            }) else {
                return;
            };
            let (batch, left) = gather(first, || queue.try_recv().ok());
            held = left;
            commit(&base, batch).await;
        }
    };
    stop.run_until_cancelled(work).await;
}

/// Adds to `first` what `next` has ready, up to the limits; returns too what is one too many.
fn gather(first: Proposal, mut next: impl FnMut() -> Option<Proposal>) -> (Vec<Proposal>, Option<Proposal>) {
    let (mut commands, mut bytes) = (first.commands.len(), first.bytes);
    let mut batch = vec![first];
    while let Some(proposal) = next() {
        commands += proposal.commands.len();
        bytes += proposal.bytes;
        if commands > COMMANDS_MAX || bytes > GATHER_BYTES_MAX {
            return (batch, Some(proposal));
        }
        batch.push(proposal);
    }
    (batch, None)
}

async fn commit(base: &Base, mut batch: Vec<Proposal>) {
    loop {
        batch = still_wanted(batch);
        let Some(until) = batch.iter().map(|proposal| proposal.deadline).min() else { return };
        let Some(seat) = base.seat() else { return fail(batch, &ProposeError::NotMember) };
        match attempt(base, &seat, &mut batch, until).await {
            Attempt::Committed(committed) => return share_out(batch, committed),
            Attempt::Failed(error) => return fail(batch, &error),
            Attempt::Again => sleep_until(until.min(Instant::now() + RETRY_PAUSE)).await,
        }
    }
}

/// Without the proposals whose time is up or whose caller has gone.
fn still_wanted(batch: Vec<Proposal>) -> Vec<Proposal> {
    let now = Instant::now();
    let (late, wanted): (Vec<_>, Vec<_>) =
        batch.into_iter().partition(|proposal| proposal.deadline <= now || proposal.answer.is_closed());
    late.into_iter().for_each(Proposal::give_up);
    wanted
}

fn fail(batch: Vec<Proposal>, error: &ProposeError) {
    for proposal in batch {
        proposal.finish(Err(error.clone()));
    }
}

fn share_out(batch: Vec<Proposal>, committed: Committed) {
    let Committed { replies, index } = committed;
    let mut replies = VecDeque::from(replies);
    for proposal in batch {
        let count = proposal.commands.len();
        let enough = count <= replies.len();
        let own = replies.drain(..count.min(replies.len())).collect();
        // A leader that answers with too few replies is of no version that is known here.
        proposal.finish(if enough {
            Ok(Committed { replies: own, index })
        } else {
            Err(ProposeError::OutcomeUnknown)
        });
    }
}

async fn attempt(base: &Base, seat: &Seat, batch: &mut Vec<Proposal>, until: Instant) -> Attempt {
    match seat.leader() {
        Leader::Here => write(seat, batch, until).await,
        Leader::There(id, node) => {
            let (own, strayed) = batch.drain(..).partition(|proposal| proposal.asker == Asker::Here);
            *batch = own;
            fail(strayed, &ProposeError::NoLeader);
            if batch.is_empty() {
                return Attempt::Again;
            }
            match forward::peer(base, seat, id, &node) {
                Ok(peer) => pass_on(seat, batch, until, id, peer).await,
                Err(error) => Attempt::Failed(ProposeError::Refused(error.to_string())),
            }
        }
        Leader::Unknown => Attempt::Again,
        Leader::Failed(error) => {
            // What was sent before may have reached a majority first.
            let is_sent = |proposal: &Proposal| proposal.sent.load(Ordering::SeqCst);
            let (sent, unsent) = batch.drain(..).partition(is_sent);
            *batch = unsent;
            fail(sent, &ProposeError::OutcomeUnknown);
            Attempt::Failed(error)
        }
    }
}

fn commands(batch: &[Proposal]) -> Vec<stored::Command> {
    batch.iter().flat_map(|proposal| proposal.commands.iter().cloned()).collect()
}

/// From now on the commands may be in the log. Drops the proposals whose callers have gone meanwhile and were told that
/// theirs are not; returns for the others what was so before.
fn mark_sent(batch: &mut Vec<Proposal>) -> Vec<bool> {
    let before: Vec<bool> = batch.iter().map(|proposal| proposal.sent.swap(true, Ordering::SeqCst)).collect();
    let (kept, before) = batch
        .drain(..)
        .zip(before)
        .filter(|(proposal, _)| !proposal.answer.is_closed())
        .unzip::<_, _, Vec<_>, _>();
    *batch = kept;
    before
}

/// Makes the batch one entry of the log, this member being the leader. Never waits for openraft alone: it may forget a
/// deposed leader's writes.
async fn write(seat: &Seat, batch: &mut Vec<Proposal>, until: Instant) -> Attempt {
    let term = seat.metrics().current_term;
    mark_sent(batch);
    if batch.is_empty() {
        return Attempt::Again;
    }
    let entry = stored::Entry { at_ms: clock::now().0, commands: commands(batch) };
    let payload = Payload(entry.encode_to_vec().into());
    let receiver = match seat.raft.client_write_ff(payload).await {
        Ok(receiver) => receiver,
        // The reason is found out, and told, at the next attempt.
        Err(_) => return Attempt::Again,
    };
    tokio::select! {
        biased;
        outcome = receiver => match outcome {
            Ok(Ok(response)) => {
                let index = LogIndex(response.log_id.index);
                Attempt::Committed(Committed { replies: response.data.0, index })
            }
            Ok(Err(_)) | Err(_) => Attempt::Again,
        },
        () = leader::deposed(seat, term) => Attempt::Again,
        () = sleep_until(until) => Attempt::Again,
    }
}

/// Has the leader `id` propose the batch.
async fn pass_on(seat: &Seat, batch: &mut Vec<Proposal>, until: Instant, id: u64, peer: Peer) -> Attempt {
    let before = mark_sent(batch);
    if batch.is_empty() {
        return Attempt::Again;
    }
    let within = until.saturating_duration_since(Instant::now());
    let asked = timeout_at(until, forward::propose(peer, commands(batch), within));
    let outcome = tokio::select! {
        biased;
        outcome = asked => outcome.unwrap_or(Err(Refusal::Perhaps)),
        () = leader::replaced(seat, id) => Err(Refusal::Perhaps),
    };
    match outcome {
        Ok(committed) => Attempt::Committed(committed),
        Err(Refusal::Perhaps) => Attempt::Again,
        Err(Refusal::Nothing) => {
            for (proposal, was_sent) in batch.iter().zip(before) {
                proposal.sent.store(was_sent, Ordering::SeqCst);
            }
            Attempt::Again
        }
        Err(Refusal::Final(error)) => Attempt::Failed(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(
        count: usize,
        bytes: usize,
    ) -> (Proposal, oneshot::Receiver<Result<Committed, ProposeError>>) {
        let (answer, receiver) = oneshot::channel();
        let deadline = Instant::now() + Duration::from_secs(5);
        let commands = vec![stored::Command::default(); count];
        (Proposal { commands, bytes, asker: Asker::Here, deadline, sent: Arc::default(), answer }, receiver)
    }

    fn gathered(sizes: &[(usize, usize)]) -> (usize, bool) {
        let mut proposals = sizes.iter().map(|(count, bytes)| proposal(*count, *bytes).0);
        let (batch, left) = gather(proposals.next().unwrap(), || proposals.next());
        (batch.len(), left.is_some())
    }

    #[test]
    fn a_batch_holds_what_waits_up_to_its_limits() {
        assert_eq!(gathered(&[(1, 10)]), (1, false));
        assert_eq!(gathered(&[(1, 10), (2, 10), (253, 10)]), (3, false));
        assert_eq!(gathered(&[(1, 10), (255, 10), (1, 10)]), (2, true));
        assert_eq!(gathered(&[(1, GATHER_BYTES_MAX), (1, 1)]), (1, true));
        assert_eq!(gathered(&[(1000, 2 * GATHER_BYTES_MAX), (1, 1)]), (1, true));
    }

    #[tokio::test]
    async fn each_caller_gets_its_own_replies() {
        let (one, first) = proposal(1, 1);
        let (two, second) = proposal(2, 1);
        let reply = |revision| {
            Ok(waymark_core::state::Reply {
                revision: waymark_core::model::Revision(revision),
                warnings: vec![],
            })
        };
        share_out(
            vec![one, two],
            Committed { replies: vec![reply(1), reply(2), reply(3)], index: LogIndex(9) },
        );
        assert_eq!(first.await.unwrap().unwrap().replies, [reply(1)]);
        assert_eq!(second.await.unwrap().unwrap().replies, [reply(2), reply(3)]);
    }

    #[tokio::test]
    async fn who_gives_up_learns_whether_it_may_have_happened() {
        let (unsent, answer) = proposal(1, 1);
        unsent.give_up();
        assert_eq!(answer.await.unwrap().unwrap_err(), ProposeError::NoLeader);
        let (sent, answer) = proposal(1, 1);
        let mut batch = vec![sent];
        assert_eq!(mark_sent(&mut batch), [false]);
        batch.remove(0).give_up();
        assert_eq!(answer.await.unwrap().unwrap_err(), ProposeError::OutcomeUnknown);
    }
}
