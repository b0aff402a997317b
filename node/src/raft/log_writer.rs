//! The one thread that writes the log: everything that waits is written as one batch and flushed once before any of
//! it is acknowledged (CLU-2). The first failure is final: what a failed flush left behind is unknown, so from then on
//! nothing is acknowledged (CLU-5).

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::log_disk::{LogDisk, Write};
use super::types::Vote;
use super::watermark::{Mark, Watermark};

/// Orders that may wait. openraft waits for each of its own, so a handful is the rule.
const QUEUE_MAX: usize = 256;
/// Orders that are written as one batch.
const GROUP_MAX: usize = 256;
/// How long what needs no flush of its own may stay undurable, or unwritten: it only spares a restarted member some waiting.
const LAZY_FLUSH: Duration = Duration::from_millis(100);
/// How often the store's assumptions are checked.
const CHECK_EVERY: Duration = Duration::from_secs(60);

/// What an order means for the note of what was acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// Nothing.
    None,
    /// The vote is now this one.
    Vote(Vote),
    /// The log now goes up to, and not including, this index.
    Grow(u64),
    /// The log is cut back to, and not including, this index.
    Cut(u64),
}

/// How soon an order is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// It is durable before it is acknowledged.
    Durable,
    /// It is written before it is acknowledged, and durable soon.
    Written,
    /// It is written and durable soon, unless another one of these replaces it: a write of its own for each would cost all
    /// others the wait for the disk once more.
    Later,
}

/// Writes that belong together.
pub(super) struct Order {
    /// The writes.
    pub(super) batch: Vec<Write>,
    /// How soon?
    pub(super) when: When,
    /// What they mean.
    pub(super) effect: Effect,
    /// Called once with the outcome, on the writer's thread.
    pub(super) done: Box<dyn FnOnce(io::Result<()>) + Send>,
}

/// The way to the writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    orders: SyncSender<Order>,
}

impl Writer {
    /// Starts the thread, which ends once the writer is dropped and everything is written and durable. `mark` is what
    /// the store holds.
    pub(super) fn start(
        disk: Arc<dyn LogDisk>,
        watermark: Watermark,
        mark: Mark,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let (orders, queue) = sync_channel(QUEUE_MAX);
        let desk = Desk {
            disk,
            watermark,
            mark,
            failure: None,
            undurable: false,
            later: None,
            checked: Instant::now(),
        };
        let thread = std::thread::Builder::new().name("log-writer".into()).spawn(move || desk.run(&queue))?;
        Ok((Self { orders }, thread))
    }

    /// Hands an order over. If it cannot be taken, it is answered at once.
    pub(super) fn send(&self, order: Order) {
        match self.orders.try_send(order) {
            Ok(()) => {}
            Err(TrySendError::Full(order)) => {
                (order.done)(Err(io::Error::other("the log's writer is overrun")))
            }
            Err(TrySendError::Disconnected(order)) => (order.done)(Err(closed())),
        }
    }
}

/// The error of a store that was closed.
pub(super) fn closed() -> io::Error {
    io::Error::other("the log is closed")
}

struct Desk {
    disk: Arc<dyn LogDisk>,
    watermark: Watermark,
    mark: Mark,
    failure: Option<(io::ErrorKind, String)>,
    undurable: bool,
    /// What is to be written later, and since when it waits.
    later: Option<(Instant, Vec<Write>)>,
    checked: Instant,
}

impl Desk {
    fn run(mut self, queue: &Receiver<Order>) {
        while let Some(group) = self.next_group(queue) {
            self.carry_out(group);
        }
        self.catch_up();
    }

    /// Waits for an order, then takes whatever else waits; `None` once nobody can send any more.
    fn next_group(&mut self, queue: &Receiver<Order>) -> Option<Vec<Order>> {
        let first = loop {
            let is_behind = self.undurable || self.later.is_some();
            match queue.recv_timeout(if is_behind { LAZY_FLUSH } else { CHECK_EVERY }) {
                Ok(order) => break order,
                Err(RecvTimeoutError::Timeout) => self.catch_up(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        };
        let mut group = vec![first];
        group.extend(queue.try_iter().take(GROUP_MAX - 1));
        Some(group)
    }

    fn carry_out(&mut self, group: Vec<Order>) {
        let (mut batch, mut answers, mut durable) = (Vec::new(), Vec::new(), false);
        let (mut mark, mut lowest) = (self.mark, self.mark.next);
        for order in group {
            answers.push(order.done);
            match order.when {
                When::Later => {
                    let since = self.later.take().map_or_else(Instant::now, |(since, _)| since);
                    self.later = Some((since, order.batch));
                }
                When::Durable | When::Written => batch.extend(order.batch),
            }
            durable |= order.when == When::Durable;
            match order.effect {
                Effect::None => {}
                Effect::Vote(vote) => mark.vote = vote,
                Effect::Grow(next) => mark.next = mark.next.max(next),
                Effect::Cut(next) => {
                    mark.next = next;
                    lowest = lowest.min(next);
                }
            }
        }
        let outcome = self.write(batch, durable, mark, lowest);
        for answer in answers {
            answer(outcome.as_ref().copied().map_err(copy));
        }
    }

    fn write(&mut self, batch: Vec<Write>, durable: bool, mark: Mark, lowest: u64) -> io::Result<()> {
        if let Some((kind, text)) = &self.failure {
            return Err(io::Error::new(*kind, text.clone()));
        }
        let outcome = self.try_write(batch, durable, mark, lowest);
        self.remember_failure(outcome)
    }

    fn try_write(&mut self, batch: Vec<Write>, durable: bool, mark: Mark, lowest: u64) -> io::Result<()> {
        if self.checked.elapsed() > CHECK_EVERY {
            self.disk.check()?;
            self.checked = Instant::now();
        }
        if lowest < self.mark.next {
            self.watermark.lower(&Mark { next: lowest, ..self.mark })?;
        }
        let batch = self.with_what_is_late(batch);
        if durable {
            match batch.is_empty() {
                true => self.disk.make_durable()?,
                false => self.disk.write_durably(batch)?,
            }
            self.undurable = false;
            self.watermark.raise(&mark)?;
        } else if !batch.is_empty() {
            self.disk.write(batch)?;
            self.undurable = true;
        }
        self.mark = mark;
        Ok(())
    }

    /// `batch`, and what waits for long enough.
    fn with_what_is_late(&mut self, mut batch: Vec<Write>) -> Vec<Write> {
        if let Some((_, late)) = self.later.take_if(|(since, _)| since.elapsed() >= LAZY_FLUSH) {
            batch.extend(late);
        }
        batch
    }

    /// Writes what waits, and makes all durable. There is nobody to tell; whoever writes next is told.
    fn catch_up(&mut self) {
        if self.failure.is_some() {
            return;
        }
        let written = self.later.take().map_or(Ok(()), |(_, late)| {
            self.undurable = true;
            self.disk.write(late)
        });
        let durable = written.and_then(|()| match std::mem::take(&mut self.undurable) {
            true => self.disk.make_durable(),
            false => Ok(()),
        });
        let _ = self.remember_failure(durable);
    }

    fn remember_failure(&mut self, outcome: io::Result<()>) -> io::Result<()> {
        if let Err(error) = &outcome {
            tracing::error!(%error, "the log's store has failed: this member takes no part in consensus until it is restarted");
            self.failure = Some((error.kind(), error.to_string()));
        }
        outcome
    }
}

fn copy(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}
