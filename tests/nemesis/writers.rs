//! Those who do nothing but write, to our members or to etcd's, and remember when it was acknowledged.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use harness::{Caller, etcd};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic::transport::Channel;

use crate::register::{Answer, write};

/// How long one waits for an answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long one waits after a failure before it turns to the next member.
const REST: Duration = Duration::from_millis(20);

/// Where a member is written to.
#[derive(Clone, Debug)]
pub(crate) enum Door {
    Ours(Box<Caller>),
    Theirs(SocketAddr),
}

enum Connection {
    Ours(Channel),
    Theirs(etcd::Client),
}

/// They write until they are stopped.
pub(crate) struct Writers {
    runtime: Runtime,
    tasks: Vec<JoinHandle<()>>,
    shared: Arc<Shared>,
}

struct Shared {
    started: Instant,
    stop: AtomicBool,
    acknowledged: Mutex<Vec<Duration>>,
}

impl Shared {
    fn acknowledged(&self) -> std::sync::MutexGuard<'_, Vec<Duration>> {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writers {
    /// So many at the same time.
    pub(crate) const NUMBER: usize = 10;

    /// Each begins with another member.
    pub(crate) fn start(doors: Vec<Door>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("a runtime can be made");
        let shared = Arc::new(Shared {
            started: Instant::now(),
            stop: AtomicBool::new(false),
            acknowledged: Mutex::default(),
        });
        let writer = |number| runtime.spawn(write_on(number, doors.clone(), shared.clone()));
        let tasks = (0..Self::NUMBER).map(writer).collect();
        Self { runtime, tasks, shared }
    }

    /// How many writes were acknowledged so far.
    pub(crate) fn acknowledged(&self) -> usize {
        self.shared.acknowledged().len()
    }

    /// Stops them; tells when writes were acknowledged.
    pub(crate) fn end(self) -> Vec<Duration> {
        self.shared.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            self.runtime.block_on(task).expect("a writer ends well");
        }
        std::mem::take(&mut *self.shared.acknowledged())
    }
}

async fn write_on(number: usize, doors: Vec<Door>, shared: Arc<Shared>) {
    let (mut at, mut connection, mut value) = (number % doors.len(), None, 1);
    while !shared.stop.load(Ordering::Relaxed) {
        let writing = put(&doors[at], &mut connection, number as u64, value);
        if timeout(PATIENCE, writing).await == Ok(true) {
            let mut acknowledged = shared.acknowledged();
            // Under the lock, so that they are in order.
            acknowledged.push(shared.started.elapsed());
            value += 1;
        } else {
            at = (at + 1) % doors.len();
            connection = None;
            tokio::time::sleep(REST).await;
        }
    }
}

/// Writes by a connection that is made if there is none. Returns whether the write was acknowledged.
async fn put(door: &Door, connection: &mut Option<Connection>, key: u64, value: u64) -> bool {
    let made = match (connection.take(), door) {
        (Some(made), _) => made,
        (None, Door::Ours(caller)) => match caller.connect().await {
            Ok(channel) => Connection::Ours(channel),
            Err(_) => return false,
        },
        (None, Door::Theirs(address)) => Connection::Theirs(etcd::Client::of(*address)),
    };
    match connection.insert(made) {
        Connection::Ours(channel) => {
            matches!(write(channel.clone(), key, value, None, PATIENCE).await, Answer::Written(_))
        }
        Connection::Theirs(client) => {
            client.put(&format!("k{key}"), value.to_string().into_bytes()).await.is_ok()
        }
    }
}
