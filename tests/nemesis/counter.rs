//! An operator who raises a number in a record, each time in the place of the value that he knows: whatever becomes of a write that
//! nobody heard of again, the values are committed in rising order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use harness::Caller;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::register::{Answer, read, write};

/// A write this often.
const PACE: Duration = Duration::from_millis(50);
/// How long one waits for an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far the counting is.
#[derive(Debug)]
pub(crate) struct Count {
    begun: AtomicU64,
}

impl Count {
    /// The key of the record: none of the clients', which count from 0.
    pub(crate) const KEY: u64 = u64::MAX;

    /// The newest value of which a write was begun.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }
}

/// Counts until it is stopped.
pub(crate) struct Counter {
    pub(crate) count: Arc<Count>,
    stop: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Counter {
    /// Writes the first value, then counts.
    pub(crate) fn start(runtime: &Runtime, callers: &[Caller]) -> Self {
        let count = Arc::new(Count { begun: AtomicU64::new(1) });
        let stop = Arc::new(AtomicBool::new(false));
        let mut operator = Operator {
            callers: callers.to_owned(),
            at: 0,
            channel: None,
            count: count.clone(),
            stop: stop.clone(),
        };
        let first = runtime.block_on(operator.until_written(1));
        let task = runtime.spawn(operator.count(first));
        Self { count, stop, task }
    }

    /// Ends; returns the last value that was committed.
    pub(crate) fn end(self, runtime: &Runtime, callers: &[Caller]) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let Self { count, stop, task } = self;
        runtime.block_on(task).expect("the operator ends well");
        let mut operator = Operator { callers: callers.to_owned(), at: 0, channel: None, count, stop };
        runtime.block_on(operator.look()).0
    }
}

struct Operator {
    callers: Vec<Caller>,
    at: usize,
    channel: Option<tonic::transport::Channel>,
    count: Arc<Count>,
    stop: Arc<AtomicBool>,
}

impl Operator {
    async fn count(mut self, mut known: (u64, u64)) {
        let mut ticks = tokio::time::interval(PACE);
        while !self.stop.load(Ordering::Relaxed) {
            ticks.tick().await;
            let next = self.count.begun.fetch_add(1, Ordering::SeqCst) + 1;
            known = match self.ask(Some((next, Some(known.1)))).await {
                Answer::Written(revision) => (next, revision),
                _ => self.look().await,
            };
        }
    }

    async fn until_written(&mut self, value: u64) -> (u64, u64) {
        loop {
            match self.ask(Some((value, None))).await {
                Answer::Written(revision) => return (value, revision),
                _ => self.turn().await,
            }
        }
    }

    /// The value and its revision, from whoever can tell.
    async fn look(&mut self) -> (u64, u64) {
        loop {
            match self.ask(None).await {
                Answer::Read { value, revision } => return (value, revision),
                _ => self.turn().await,
            }
        }
    }

    /// Another member may know.
    async fn turn(&mut self) {
        self.at = (self.at + 1) % self.callers.len();
        self.channel = None;
        tokio::time::sleep(PACE).await;
    }

    /// Writes a value in the place of one with a revision, or reads.
    async fn ask(&mut self, wish: Option<(u64, Option<u64>)>) -> Answer {
        let asking = async {
            let channel = match &self.channel {
                Some(channel) => channel.clone(),
                None => match self.callers[self.at].connect().await {
                    Ok(channel) => self.channel.insert(channel).clone(),
                    Err(_) => return Answer::NotDone,
                },
            };
            match wish {
                Some((value, expected)) => write(channel, Count::KEY, value, expected, PATIENCE).await,
                None => read(channel, Count::KEY, PATIENCE).await,
            }
        };
        timeout(PATIENCE, asking).await.unwrap_or(Answer::Unknown)
    }
}
