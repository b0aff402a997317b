//! openraft's log and vote on the disk: entries under their index, metadata beside them in the same tree, everything
//! read and checked when the store is opened.

use std::fmt::Debug;
use std::io;
use std::ops::{Bound, ControlFlow, RangeBounds};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::thread::JoinHandle;

use openraft::storage::{LogFlushed, RaftLogStorage};
use openraft::{AnyError, LogState, OptionalSend, RaftLogReader, StorageIOError};
use prost::Message;
use tokio::sync::oneshot;

use super::convert;
use super::key_space as keys;
use super::log_disk::{LogDisk, Write};
use super::log_writer::{Effect, Order, When, Writer, closed};
use super::recent::{Budget, Recent, size};
use super::types::{Entry, LogId, StorageError, TypeConfig, Vote};

/// Most bytes of entries that go into one AppendEntries message; one entry may be larger, and no entry is larger than
/// [`super::proposer::ENTRY_BYTES_MAX`]: well below the 4 MiB that gRPC takes.
const APPEND_BYTES_MAX: usize = 1 << 20;

/// Keys that are removed in one batch, so that other writes wait for a few milliseconds at most.
const REMOVALS_MAX: usize = 2048;

/// What is known of the log without reading it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    /// The last entry that a snapshot has replaced.
    pub(super) purged: Option<LogId>,
    /// The last entry; that of `purged` if there is none after it.
    pub(super) last: Option<LogId>,
    /// The last entry known to be committed.
    pub(super) committed: Option<LogId>,
    /// The vote.
    pub(super) vote: Option<Vote>,
}

impl Bounds {
    /// The index after the last entry.
    pub(super) fn next(&self) -> u64 {
        self.last.map_or(0, |id| id.index + 1)
    }

    /// Has nothing ever been written?
    pub(super) fn is_blank(&self) -> bool {
        self.last.is_none() && self.vote.is_none()
    }

    /// The index of the first entry.
    fn first(&self) -> u64 {
        self.purged.map_or(0, |id| id.index + 1)
    }
}

/// The log of one member. Clones share it.
#[derive(Clone)]
pub(super) struct LogStore {
    shared: Arc<Shared>,
}

struct Shared {
    /// Gone once the store is closed.
    open: RwLock<Option<Open>>,
    bounds: Mutex<Bounds>,
    recent: Mutex<Recent>,
}

struct Open {
    disk: Arc<dyn LogDisk>,
    writer: Writer,
    thread: JoinHandle<()>,
}

impl LogStore {
    /// The log that `disk` holds; `bounds` tell of it, `writer` and `thread` write it.
    pub(super) fn new(
        disk: Arc<dyn LogDisk>,
        bounds: Bounds,
        (writer, thread): (Writer, JoinHandle<()>),
    ) -> Self {
        let open = RwLock::new(Some(Open { disk, writer, thread }));
        Self { shared: Arc::new(Shared { open, bounds: Mutex::new(bounds), recent: Mutex::default() }) }
    }

    /// What is known of the log.
    pub(super) fn bounds(&self) -> Bounds {
        *locked(&self.shared.bounds)
    }

    /// Makes everything durable and lets the disk go; what is asked afterwards fails. May wait for the disk.
    pub(super) fn close(&self) {
        let open = self.shared.open.write().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(Open { disk, writer, thread }) = open {
            drop(writer);
            if thread.join().is_err() {
                tracing::error!("the log's writer has panicked");
            }
            drop(disk);
        }
    }

    fn disk(&self) -> io::Result<Arc<dyn LogDisk>> {
        let open = self.shared.open.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        Ok(open.as_ref().ok_or_else(closed)?.disk.clone())
    }

    fn send(&self, order: Order) {
        match &*self.shared.open.read().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            Some(open) => open.writer.send(order),
            None => (order.done)(Err(closed())),
        }
    }

    /// Writes `batch` and waits until it is durable.
    async fn write(&self, batch: Vec<Write>, effect: Effect) -> io::Result<()> {
        self.order(batch, When::Durable, effect).await
    }

    async fn order(&self, batch: Vec<Write>, when: When, effect: Effect) -> io::Result<()> {
        let (sender, receiver) = oneshot::channel();
        let done = Box::new(move |outcome| {
            // The one who waited may have gone.
            let _ = sender.send(outcome);
        });
        self.send(Order { batch, when, effect, done });
        receiver.await.map_err(|_| closed())?
    }

    /// Shows `visit` the entries from `from` up to, but not including, `to`. Waits for the disk.
    pub(super) fn visit(
        &self,
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(Entry) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<()> {
        visit_entries(&*self.disk()?, from, to, visit)
    }

    /// The index of the last entry, 0 for a log without any.
    pub(super) fn last_index(&self) -> u64 {
        self.bounds().last.map_or(0, |id| id.index)
    }

    /// Notes that the entry `index` was acknowledged, though it is not there: this log is not opened again.
    pub(super) async fn note_acknowledged(&self, index: u64) -> io::Result<()> {
        self.write(Vec::new(), Effect::Grow(index + 1)).await
    }

    /// The entries from `from` up to, but not including, `to`, as far as they exist and `limit` bytes hold them.
    async fn read(&self, from: u64, to: u64, limit: usize) -> io::Result<Vec<Entry>> {
        let bounds = self.bounds();
        let (from, to) = (from.max(bounds.first()), to.min(bounds.next()));
        if from >= to {
            return Ok(Vec::new());
        }
        if let Some(entries) = locked(&self.shared.recent).range(from, to, limit) {
            return Ok(entries);
        }
        let disk = self.disk()?;
        tokio::task::spawn_blocking(move || read_entries(&*disk, from, to, limit)).await?
    }

    /// Removes nothing yet: the writes that remove all records from `from` up to, but not including, `to`.
    async fn removals(&self, from: u64, to: u64) -> io::Result<Vec<Write>> {
        let disk = self.disk()?;
        let collect = move || {
            let mut removals = Vec::new();
            disk.scan(&keys::record_key(from, 0), &keys::record_key(to, 0), &mut |key, _| {
                removals.push((key.to_vec(), None));
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(removals)
        };
        tokio::task::spawn_blocking(collect).await?
    }
}

/// Reads and checks entries from the disk.
pub(super) fn read_entries(disk: &dyn LogDisk, from: u64, to: u64, limit: usize) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut budget = Budget::new(limit);
    visit_entries(disk, from, to, &mut |entry| {
        let admitted = budget.admits(size(&entry));
        if admitted {
            entries.push(entry);
        }
        Ok(if admitted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(entries)
}

/// Shows `visit` each entry from `from` up to, but not including, `to`, checked and decoded.
pub(super) fn visit_entries(
    disk: &dyn LogDisk,
    from: u64,
    to: u64,
    visit: &mut dyn FnMut(Entry) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let mut assembler = keys::Assembler::default();
    let mut stopped = false;
    disk.scan(&keys::record_key(from, 0), &keys::record_key(to, 0), &mut |key, value| {
        let Some((index, record)) = assembler.push(key, value).map_err(damaged)? else {
            return Ok(ControlFlow::Continue(()));
        };
        let flow = visit(decode(index, &record).map_err(damaged)?)?;
        stopped = flow.is_break();
        Ok(flow)
    })?;
    if stopped { Ok(()) } else { assembler.end().map_err(damaged) }
}

fn decode(index: u64, record: &bytes::Bytes) -> Result<Entry, keys::Damage> {
    let undecodable = |reason: String| keys::Damage::Undecodable(index, reason);
    let message = waymark_proto::storage::v1::LogRecord::decode(record.clone());
    let entry = convert::entry(message.map_err(|error| undecodable(error.to_string()))?);
    let entry = entry.map_err(|error| undecodable(error.to_string()))?;
    if entry.log_id.index == index { Ok(entry) } else { Err(undecodable("it has another index".into())) }
}

/// `damage` as an error of the disk.
pub(super) fn damaged(damage: keys::Damage) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, damage)
}

fn encode(entries: &[Entry]) -> Vec<Write> {
    let parts = |entry: &Entry| keys::split(entry.log_id.index, &convert::record(entry).encode_to_vec());
    entries.iter().flat_map(parts).map(|(key, value)| (key.to_vec(), Some(value))).collect()
}

fn metadata(key: &[u8], message: &impl Message) -> Write {
    (key.to_vec(), Some(keys::seal(key, &message.encode_to_vec())))
}

/// The owner of a mutex here never panics while it holds it; if it did, the plain data inside is still whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn read_error(error: io::Error) -> StorageError {
    StorageIOError::read_logs(AnyError::new(&error)).into()
}

fn write_error(error: io::Error) -> StorageError {
    StorageIOError::write_logs(AnyError::new(&error)).into()
}

impl RaftLogReader<TypeConfig> for LogStore {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> Result<Vec<Entry>, StorageError> {
        let from = match range.start_bound() {
            Bound::Included(index) => *index,
            Bound::Excluded(index) => index.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(index) => index.saturating_add(1),
            Bound::Excluded(index) => *index,
            Bound::Unbounded => u64::MAX,
        };
        self.read(from, to, usize::MAX).await.map_err(read_error)
    }

    async fn limited_get_log_entries(&mut self, from: u64, to: u64) -> Result<Vec<Entry>, StorageError> {
        self.read(from, to, APPEND_BYTES_MAX).await.map_err(read_error)
    }
}

impl RaftLogStorage<TypeConfig> for LogStore {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> Result<LogState<TypeConfig>, StorageError> {
        let bounds = self.bounds();
        Ok(LogState { last_purged_log_id: bounds.purged, last_log_id: bounds.last })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> Result<(), StorageError> {
        let write = metadata(keys::VOTE, &convert::vote_message(vote));
        self.write(vec![write], Effect::Vote(*vote)).await.map_err(write_error)?;
        locked(&self.shared.bounds).vote = Some(*vote);
        Ok(())
    }

    async fn read_vote(&mut self) -> Result<Option<Vote>, StorageError> {
        Ok(self.bounds().vote)
    }

    /// Not waited for, and only the last one of some is written: it only spares a restarted member some waiting.
    async fn save_committed(&mut self, committed: Option<LogId>) -> Result<(), StorageError> {
        if let Some(id) = &committed {
            let write = metadata(keys::COMMITTED, &convert::log_id_message(id));
            let done = Box::new(|_| {});
            self.send(Order { batch: vec![write], when: When::Later, effect: Effect::None, done });
        }
        locked(&self.shared.bounds).committed = committed;
        Ok(())
    }

    async fn read_committed(&mut self) -> Result<Option<LogId>, StorageError> {
        Ok(self.bounds().committed)
    }

    async fn append<I>(&mut self, entries: I, callback: LogFlushed<TypeConfig>) -> Result<(), StorageError>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let entries: Vec<Entry> = entries.into_iter().collect();
        let Some(last) = entries.last().map(|entry| entry.log_id) else {
            callback.log_io_completed(Ok(()));
            return Ok(());
        };
        let outcome = self.write(encode(&entries), Effect::Grow(last.index + 1)).await;
        if outcome.is_ok() {
            locked(&self.shared.recent).append(&entries);
            locked(&self.shared.bounds).last = Some(last);
        }
        callback.log_io_completed(outcome);
        Ok(())
    }

    /// Removes the entry `since` and all after it.
    async fn truncate(&mut self, since: LogId) -> Result<(), StorageError> {
        let before = since.index.checked_sub(1);
        let last = match before {
            Some(index) if self.bounds().purged.is_some_and(|purged| purged.index == index) => {
                self.bounds().purged
            }
            Some(index) => {
                self.read(index, since.index, 1).await.map_err(read_error)?.first().map(|entry| entry.log_id)
            }
            None => None,
        };
        let removals = self.removals(since.index, u64::MAX).await.map_err(write_error)?;
        locked(&self.shared.recent).truncate(since.index);
        locked(&self.shared.bounds).last = last;
        self.write(removals, Effect::Cut(since.index)).await.map_err(write_error)
    }

    /// Removes the entry `upto` and all before it. Once the mark is durable they count as gone, so the removals need
    /// no flush; what a crash leaves of them is ignored and removed at the next purge.
    async fn purge(&mut self, upto: LogId) -> Result<(), StorageError> {
        let mark = metadata(keys::PURGED, &convert::log_id_message(&upto));
        self.write(vec![mark], Effect::Grow(upto.index + 1)).await.map_err(write_error)?;
        {
            let mut bounds = locked(&self.shared.bounds);
            bounds.purged = Some(upto);
            bounds.last = bounds.last.max(Some(upto));
        }
        locked(&self.shared.recent).purge(upto.index);
        let removals = self.removals(0, upto.index + 1).await.map_err(write_error)?;
        for batch in removals.chunks(REMOVALS_MAX) {
            self.order(batch.to_vec(), When::Written, Effect::None).await.map_err(write_error)?;
        }
        Ok(())
    }
}
