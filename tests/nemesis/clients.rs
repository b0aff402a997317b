//! Those who write and read all the time, and remember what they did and saw.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use harness::Caller;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::history::{Act, Recorded};
use crate::register::{Answer, read, write};
use harness::chance::Chance;

/// Clients at the same time.
pub(crate) const CLIENTS: u32 = 10;
/// How long one waits for an answer, and how long in the end, when nothing befalls the cluster any more: then it is to answer, however
/// busy the machine is.
const PATIENCE: Duration = Duration::from_secs(1);
const LAST_PATIENCE: Duration = Duration::from_secs(10);
/// How long one waits after a failure before it turns to the next member.
const REST: Duration = Duration::from_millis(20);
/// Acts on one key, and of these such that nobody knows the outcome of: then the next key's turn has come, so that each history can
/// be checked.
const ACTS_MAX: u32 = 100;
const UNKNOWN_MAX: u32 = 5;

/// The key in turn.
#[derive(Debug, Default)]
struct Turn {
    key: u64,
    acts: u32,
    unknown: u32,
    /// The value and the revision that somebody saw last.
    seen: (u64, u64),
}

/// What all clients share.
#[derive(Debug)]
struct Shared {
    started: Instant,
    stop: AtomicBool,
    turn: Mutex<Turn>,
    values: AtomicU64,
    told: Mutex<Told>,
    acknowledged: AtomicU64,
}

/// What they remember.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) history: Vec<Recorded>,
    /// When writes were acknowledged, in the order of acknowledgement.
    pub(crate) writes: Vec<Duration>,
    /// Calls that were definitely not carried out, and reads without an answer.
    pub(crate) failed: u64,
    /// Answers that no call may get.
    pub(crate) strange: Vec<String>,
}

/// They run until they are stopped.
pub(crate) struct Clients {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

impl Clients {
    pub(crate) fn start(
        runtime: &Runtime,
        callers: &[Caller],
        started: Instant,
        chance: &mut Chance,
    ) -> Self {
        let shared = Arc::new(Shared {
            started,
            stop: AtomicBool::new(false),
            turn: Mutex::default(),
            values: AtomicU64::new(1),
            told: Mutex::default(),
            acknowledged: AtomicU64::new(0),
        });
        let tasks = (0..CLIENTS).map(|number| {
            let client = Client::new(number, callers.to_owned(), shared.clone(), chance.draw());
            runtime.spawn(client.run())
        });
        Self { tasks: tasks.collect(), shared }
    }

    /// How many writes were acknowledged so far.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.shared.acknowledged.load(Ordering::Relaxed)
    }

    /// Stops them; then each key must take one more write and read, now that nothing befalls the cluster (openraft's rule).
    pub(crate) fn end(self, runtime: &Runtime, callers: &[Caller]) -> Told {
        let Self { shared, tasks } = self;
        shared.stop.store(true, Ordering::Relaxed);
        let keys = turn(&shared).key + 1;
        runtime.block_on(async {
            for task in tasks {
                task.await.expect("a client ends well");
            }
            let last = (0..CLIENTS).map(|number| {
                let mut client = Client::new(number, callers.to_owned(), shared.clone(), 0);
                client.at = usize::try_from(number).unwrap_or_default() % callers.len();
                tokio::spawn(async move {
                    for key in (u64::from(number)..keys).step_by(CLIENTS as usize) {
                        client.finish(key).await;
                    }
                })
            });
            for task in last.collect::<Vec<_>>() {
                task.await.expect("a client ends well");
            }
        });
        std::mem::take(&mut told(&shared))
    }
}

fn turn(shared: &Shared) -> MutexGuard<'_, Turn> {
    shared.turn.lock().unwrap_or_else(PoisonError::into_inner)
}

fn told(shared: &Shared) -> MutexGuard<'_, Told> {
    shared.told.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One of them.
struct Client {
    number: u32,
    callers: Vec<Caller>,
    /// The member that it asks, and its connection there.
    at: usize,
    channel: Option<tonic::transport::Channel>,
    patience: Duration,
    shared: Arc<Shared>,
    chance: Chance,
}

/// What a client wants.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Read,
    Write(u64),
    /// The value that is expected with its revision, and the new one.
    Swap((u64, u64), u64),
}

impl Client {
    fn new(number: u32, callers: Vec<Caller>, shared: Arc<Shared>, seed: u64) -> Self {
        let mut chance = Chance::from_seed(seed);
        let at = usize::try_from(chance.below(callers.len() as u64)).unwrap_or_default();
        Self { number, callers, at, channel: None, patience: PATIENCE, shared, chance }
    }

    async fn run(mut self) {
        while !self.shared.stop.load(Ordering::Relaxed) {
            let (key, wish) = self.wish();
            if !self.act(key, wish).await {
                self.at = (self.at + 1) % self.callers.len();
                self.channel = None;
                tokio::time::sleep(REST).await;
            }
        }
    }

    /// Writes and reads one key until both succeeded.
    async fn finish(&mut self, key: u64) {
        const TRIES: u32 = 30;
        self.patience = LAST_PATIENCE;
        for _ in 0..TRIES {
            let value = self.value();
            if self.act(key, Wish::Write(value)).await && self.act(key, Wish::Read).await {
                return;
            }
            self.channel = None;
            tokio::time::sleep(PATIENCE / 2).await;
        }
        told(&self.shared).strange.push(format!("key {key} took no write after everything was healed"));
    }

    fn value(&self) -> u64 {
        self.shared.values.fetch_add(1, Ordering::Relaxed)
    }

    /// Half of the wishes are reads, three tenths are writes, two tenths swaps.
    fn wish(&mut self) -> (u64, Wish) {
        let mut turn = turn(&self.shared);
        if turn.acts >= ACTS_MAX || turn.unknown >= UNKNOWN_MAX {
            *turn = Turn { key: turn.key + 1, ..Turn::default() };
        }
        turn.acts += 1;
        let (key, seen) = (turn.key, turn.seen);
        drop(turn);
        let wish = match self.chance.below(10) {
            0..5 => Wish::Read,
            // Only what is there can be expected.
            8.. if seen != (0, 0) => Wish::Swap(seen, self.value()),
            _ => Wish::Write(self.value()),
        };
        (key, wish)
    }

    /// Acts, and remembers what came of it. Returns whether the member gave an answer.
    async fn act(&mut self, key: u64, wish: Wish) -> bool {
        let Ok(channel) = self.connected().await else {
            told(&self.shared).failed += 1;
            return false;
        };
        let patience = self.patience;
        let called = self.shared.started.elapsed();
        let answer = match wish {
            Wish::Read => timeout(patience, read(channel, key, patience)).await,
            Wish::Write(value) => timeout(patience, write(channel, key, value, None, patience)).await,
            Wish::Swap((_, revision), value) => {
                timeout(patience, write(channel, key, value, Some(revision), patience)).await
            }
        };
        self.remember(key, wish, called, answer.unwrap_or(Answer::Unknown))
    }

    async fn connected(&mut self) -> Result<tonic::transport::Channel, String> {
        if let Some(channel) = &self.channel {
            return Ok(channel.clone());
        }
        let connecting = timeout(self.patience, self.callers[self.at].connect()).await;
        let channel = connecting.map_err(|_| "no connection in time".to_owned())??;
        self.channel = Some(channel.clone());
        Ok(channel)
    }

    fn remember(&self, key: u64, wish: Wish, called: Duration, answer: Answer) -> bool {
        let mut told = told(&self.shared);
        let now = self.shared.started.elapsed();
        let act = match (wish, answer) {
            (Wish::Read, Answer::Read { value, revision }) => Act::Read { value, revision },
            (Wish::Write(value), Answer::Written(revision)) => Act::Write { value, revision: Some(revision) },
            (Wish::Swap((expected, _), value), Answer::Written(revision)) => {
                Act::Swap { expected, value, revision: Some(revision) }
            }
            (Wish::Swap((expected, _), _), Answer::Refused) => Act::Refused { expected },
            (Wish::Write(value), Answer::Unknown) => Act::Write { value, revision: None },
            (Wish::Swap((expected, _), value), Answer::Unknown) => {
                Act::Swap { expected, value, revision: None }
            }
            (Wish::Read, Answer::Unknown) | (_, Answer::NotDone) => {
                told.failed += 1;
                return false;
            }
            (_, answer) => {
                told.strange.push(format!("{wish:?} of key {key}: {answer:?}"));
                return false;
            }
        };
        if act.has_written() {
            told.writes.push(now);
            self.shared.acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        let returned = act.is_known().then(|| nanos(now));
        told.history.push(Recorded { key, client: self.number, called: nanos(called), returned, act });
        drop(told);
        self.note(key, &act);
        act.is_known()
    }

    /// What others should know of the key in turn.
    fn note(&self, key: u64, act: &Act) {
        let mut turn = turn(&self.shared);
        if turn.key != key {
            return;
        }
        match *act {
            Act::Read { value, revision }
            | Act::Write { value, revision: Some(revision) }
            | Act::Swap { value, revision: Some(revision), .. } => turn.seen = (value, revision),
            Act::Write { revision: None, .. } | Act::Swap { revision: None, .. } => turn.unknown += 1,
            Act::Refused { .. } => {}
        }
    }
}

fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}
