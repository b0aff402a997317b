//! The log store's promises: what was acknowledged is there after reopening, and what is damaged is refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, io};

use openraft::storage::{RaftLogStorage, RaftLogStorageExt};
use openraft::{EntryPayload, RaftLogReader};
use tempfile::TempDir;

use crate::raft::data_dir::DataDir;
use crate::raft::file_lock::lock;
use crate::raft::log_disk::{LogDisk, Visitor, Write};
use crate::raft::log_kind::LogKind;
use crate::raft::log_opening::{self, Identity, OpenLogError};
use crate::raft::log_store::{Bounds, LogStore};
use crate::raft::log_writer::Writer;
use crate::raft::types::{Entry, LogId, Payload, Vote};
use crate::raft::watermark::{Mark, Watermark};

/// Has each of these tests run with each kind of store that this build has.
macro_rules! with_each_kind {
    ($($test:ident),+ $(,)?) => {
        mod sled {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::raft::log_kind::LogKind::Sled).await;
            })+
        }

        #[cfg(feature = "redb")]
        mod redb {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::raft::log_kind::LogKind::Redb).await;
            })+
        }
    };
}
pub(super) use with_each_kind;

with_each_kind! {
    clu_2_what_was_acknowledged_is_there_after_reopening,
    clu_2_truncated_and_purged_entries_stay_away,
    a_message_takes_what_its_limit_allows_and_at_least_one_entry,
    clu_3_a_log_whose_note_is_missing_or_damaged_is_refused_unless_it_is_empty,
    clu_4_a_log_of_another_member_is_refused,
    clu_1_a_log_without_its_owners_name_is_refused_unless_it_is_empty,
    clu_3_a_store_that_has_lost_its_end_is_refused,
    clu_3_a_flipped_bit_is_refused_or_harmless,
    clu_2_a_store_that_is_put_back_in_time_is_refused,
    clu_4_a_log_in_another_kind_of_store_is_refused_and_named,
    clu_3_a_log_that_was_closed_just_now_opens_once_its_lock_is_gone,
}

pub(super) fn owner() -> Identity {
    DataDir::new_header("cluster", 1, "m1")
}

pub(super) fn log_id(index: u64) -> LogId {
    LogId::new(openraft::CommittedLeaderId::new(1, 1), index)
}

pub(super) fn entry(index: u64, len: usize) -> Entry {
    let content: Vec<u8> = (0..len).map(|at| (at as u64 ^ index) as u8).collect();
    Entry { log_id: log_id(index), payload: EntryPayload::Normal(Payload(content.into())) }
}

fn fresh(kind: LogKind) -> (TempDir, LogStore) {
    let dir = tempfile::tempdir().unwrap();
    log_opening::create(dir.path(), kind, &owner()).unwrap();
    let log = log_opening::open(dir.path(), kind, &owner()).unwrap();
    (dir, log)
}

async fn append(log: &mut LogStore, entries: impl IntoIterator<Item = Entry>) {
    log.blocking_append(entries.into_iter().collect::<Vec<_>>()).await.unwrap();
}

async fn close(log: LogStore) {
    tokio::task::spawn_blocking(move || log.close()).await.unwrap();
}

async fn reopen(dir: &Path, kind: LogKind) -> LogStore {
    log_opening::open(dir, kind, &owner()).unwrap()
}

/// The file in which the store keeps everything.
fn file(dir: &Path, kind: LogKind) -> PathBuf {
    dir.join("log").join(kind.file())
}

async fn clu_2_what_was_acknowledged_is_there_after_reopening(kind: LogKind) {
    let (dir, mut log) = fresh(kind);
    let sizes = [0, 1, 4088, 4089, 100_000, 1 << 20];
    append(&mut log, sizes.iter().zip(0..).map(|(len, index)| entry(index, *len))).await;
    log.save_vote(&Vote::new_committed(3, 2)).await.unwrap();
    log.save_committed(Some(log_id(4))).await.unwrap();
    close(log).await;

    let mut log = reopen(dir.path(), kind).await;
    assert_eq!(log.read_vote().await.unwrap(), Some(Vote::new_committed(3, 2)));
    assert_eq!(log.read_committed().await.unwrap(), Some(log_id(4)));
    assert_eq!(log.get_log_state().await.unwrap().last_log_id, Some(log_id(5)));
    let expected: Vec<_> = sizes.iter().zip(0..).map(|(len, index)| entry(index, *len)).collect();
    assert!(log.try_get_log_entries(..).await.unwrap() == expected);
    if kind == LogKind::Sled {
        assert_eq!(fs::read_dir(dir.path().join("log/blobs")).unwrap().count(), 0);
    }
    close(log).await;
}

async fn clu_2_truncated_and_purged_entries_stay_away(kind: LogKind) {
    let (dir, mut log) = fresh(kind);
    append(&mut log, (0..20).map(|index| entry(index, 10_000))).await;
    log.truncate(log_id(15)).await.unwrap();
    append(&mut log, [entry(15, 1)]).await;
    log.purge(log_id(4)).await.unwrap();
    close(log).await;

    let mut log = reopen(dir.path(), kind).await;
    let state = log.get_log_state().await.unwrap();
    assert_eq!((state.last_purged_log_id, state.last_log_id), (Some(log_id(4)), Some(log_id(15))));
    let indexes: Vec<_> =
        log.try_get_log_entries(..).await.unwrap().iter().map(|entry| entry.log_id.index).collect();
    assert_eq!(indexes, (5..=15).collect::<Vec<_>>());
    close(log).await;
}

async fn a_message_takes_what_its_limit_allows_and_at_least_one_entry(kind: LogKind) {
    let (dir, mut log) = fresh(kind);
    append(&mut log, (0..4).map(|index| entry(index, 600_000))).await;
    let count = |entries: Vec<Entry>| entries.len();
    assert_eq!(count(log.limited_get_log_entries(0, 4).await.unwrap()), 1);
    close(log).await;
    let mut log = reopen(dir.path(), kind).await;
    assert_eq!(count(log.limited_get_log_entries(0, 4).await.unwrap()), 1, "from the disk");
    append(&mut log, (4..40).map(|index| entry(index, 100_000))).await;
    assert_eq!(count(log.limited_get_log_entries(4, 40).await.unwrap()), 10);
    close(log).await;
}

async fn clu_3_a_log_whose_note_is_missing_or_damaged_is_refused_unless_it_is_empty(kind: LogKind) {
    let (dir, mut log) = fresh(kind);
    append(&mut log, (0..9).map(|index| entry(index, 100))).await;
    close(log).await;
    let note = dir.path().join("log.watermark");
    let kept = fs::read(&note).unwrap();
    let flipped: Vec<u8> = kept.iter().map(|byte| byte ^ 1).collect();
    for damaged in [&flipped[..], &kept[..kept.len() - 1], &[]] {
        fs::write(&note, damaged).unwrap();
        let refused = log_opening::open(dir.path(), kind, &owner()).err().unwrap();
        assert!(matches!(refused, OpenLogError::Unnoted), "{refused}");
    }
    fs::remove_file(&note).unwrap();
    let refused = log_opening::open(dir.path(), kind, &owner()).err().unwrap();
    assert!(matches!(refused, OpenLogError::Unnoted), "{refused}");
    fs::write(&note, &kept).unwrap();
    close(reopen(dir.path(), kind).await).await;
    // What a crash leaves that comes before the first note.
    let (dir, log) = fresh(kind);
    close(log).await;
    fs::write(dir.path().join("log.watermark"), []).unwrap();
    close(reopen(dir.path(), kind).await).await;
}

async fn clu_4_a_log_of_another_member_is_refused(kind: LogKind) {
    let (dir, log) = fresh(kind);
    close(log).await;
    for other in [DataDir::new_header("cluster", 2, "m2"), DataDir::new_header("other", 1, "m1")] {
        assert!(matches!(log_opening::open(dir.path(), kind, &other), Err(OpenLogError::Foreign(_))));
    }
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(log_opening::open(empty.path(), kind, &owner()), Err(OpenLogError::Missing)));
}

async fn clu_1_a_log_without_its_owners_name_is_refused_unless_it_is_empty(kind: LogKind) {
    let (dir, mut log) = fresh(kind);
    close(log.clone()).await;
    log_opening::refuse_orphan(dir.path(), kind).unwrap();
    log = reopen(dir.path(), kind).await;
    append(&mut log, [entry(0, 1)]).await;
    close(log).await;
    assert!(matches!(log_opening::refuse_orphan(dir.path(), kind), Err(OpenLogError::Orphaned)));
    let renamed = log_opening::create(dir.path(), kind, &DataDir::new_header("other", 1, "m1"));
    assert!(matches!(renamed, Err(OpenLogError::Foreign(_))));
}

/// A log with something of everything, closed.
async fn closed_log(kind: LogKind) -> TempDir {
    let (dir, mut log) = fresh(kind);
    for round in 0..40 {
        append(&mut log, (0..5).map(|at| entry(round * 5 + at, 700))).await;
        log.save_vote(&Vote::new_committed(round + 1, 1)).await.unwrap();
    }
    log.purge(log_id(49)).await.unwrap();
    close(log).await;
    dir
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Opens a copy of the closed log in `dir`, in whose file `spoil` has changed something: true if it is refused, in one
/// line. If it is opened, everything that was acknowledged must be there.
async fn is_refused(dir: &Path, kind: LogKind, spoil: impl FnOnce(&mut Vec<u8>)) -> bool {
    let copy = tempfile::tempdir().unwrap();
    copy_dir(dir, copy.path());
    let mut bytes = fs::read(file(dir, kind)).unwrap();
    spoil(&mut bytes);
    fs::write(file(copy.path(), kind), &bytes).unwrap();
    match log_opening::open(copy.path(), kind, &owner()) {
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            true
        }
        Ok(mut log) => {
            let entries = log.try_get_log_entries(..).await.unwrap();
            assert!(entries == (50..200).map(|index| entry(index, 700)).collect::<Vec<_>>());
            assert_eq!(log.read_vote().await.unwrap(), Some(Vote::new_committed(40, 1)));
            close(log).await;
            false
        }
    }
}

/// Where the part of the store's file ends that was ever written.
fn used(dir: &Path, kind: LogKind) -> usize {
    fs::read(file(dir, kind)).unwrap().iter().rposition(|byte| *byte != 0).unwrap() + 1
}

async fn clu_3_a_store_that_has_lost_its_end_is_refused(kind: LogKind) {
    let dir = closed_log(kind).await;
    let used = used(dir.path(), kind);
    let mut refused = Vec::new();
    for percent in [1, 2, 5, 10, 20, 50, 90] {
        if is_refused(dir.path(), kind, |bytes| bytes.truncate(used - used * percent / 100)).await {
            refused.push(percent);
        }
    }
    assert!(refused.ends_with(&[5, 10, 20, 50, 90]), "{refused:?}");
}

/// Stores keep old copies of what they have rewritten, so many flips hit nothing that counts.
async fn clu_3_a_flipped_bit_is_refused_or_harmless(kind: LogKind) {
    let dir = closed_log(kind).await;
    let used = used(dir.path(), kind);
    let mut refused = 0;
    for round in 0..60_usize {
        let at = (round * 7919 * 31) % used;
        refused += usize::from(is_refused(dir.path(), kind, |bytes| bytes[at] ^= 1 << (round % 8)).await);
    }
    assert!(refused > 0, "no flip was found out");
}

/// What a store would take for a log that was never longer (CLU-2).
async fn clu_2_a_store_that_is_put_back_in_time_is_refused(kind: LogKind) {
    let (dir, mut log) = fresh(kind);
    append(&mut log, [entry(0, 1)]).await;
    log.save_vote(&Vote::new(1, 1)).await.unwrap();
    close(log).await;
    let old = fs::read(file(dir.path(), kind)).unwrap();

    let mut log = reopen(dir.path(), kind).await;
    log.save_vote(&Vote::new(2, 3)).await.unwrap();
    close(log).await;
    let vote_gone = is_shortened(dir.path(), kind, &old);
    assert!(vote_gone, "a vote went back");
}

fn is_shortened(dir: &Path, kind: LogKind, old: &[u8]) -> bool {
    let copy = tempfile::tempdir().unwrap();
    copy_dir(dir, copy.path());
    fs::write(file(copy.path(), kind), old).unwrap();
    for snapshot in fs::read_dir(copy.path().join("log")).unwrap() {
        let path = snapshot.unwrap().path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("snap.")) {
            fs::remove_file(path).unwrap();
        }
    }
    matches!(log_opening::open(copy.path(), kind, &owner()), Err(OpenLogError::Shortened { .. }))
}

async fn clu_4_a_log_in_another_kind_of_store_is_refused_and_named(kind: LogKind) {
    let (dir, log) = fresh(kind);
    close(log).await;
    let other = if kind == LogKind::Sled { LogKind::Redb } else { LogKind::Sled };
    let kept = fs::read(file(dir.path(), kind)).unwrap();
    for refused in [
        log_opening::open(dir.path(), other, &owner()).err().unwrap(),
        log_opening::create(dir.path(), other, &owner()).err().unwrap(),
        log_opening::refuse_orphan(dir.path(), other).err().unwrap(),
    ] {
        let text = refused.to_string();
        let says = [format!("it is kept in {}", kind.name()), format!("keeps logs in {}", other.name())];
        assert!(text.lines().count() == 1 && says.iter().all(|part| text.contains(part)), "{text}");
    }
    assert!(fs::read(file(dir.path(), kind)).unwrap() == kept, "it was touched");
    close(reopen(dir.path(), kind).await).await;
}

async fn clu_3_a_log_that_was_closed_just_now_opens_once_its_lock_is_gone(kind: LogKind) {
    let (dir, log) = fresh(kind);
    close(log).await;
    // What a process that was forked meanwhile does: it has the lock a moment longer.
    let held = fs::File::open(file(dir.path(), kind)).unwrap();
    lock(&held, Duration::from_secs(5)).unwrap();
    let path = dir.path().to_owned();
    let (opened, opening) = mpsc::channel();
    std::thread::spawn(move || opened.send(log_opening::open(&path, kind, &owner()).map(|log| log.close())));
    // Time to fail in, for an opener that does not wait.
    assert!(opening.recv_timeout(Duration::from_millis(200)).is_err());
    drop(held);
    opening.recv_timeout(Duration::from_secs(5)).unwrap().unwrap();
}

/// A disk that fails at one write, and works again afterwards.
struct Failing {
    writes_left: AtomicU32,
}

impl LogDisk for Failing {
    fn scan(&self, _from: &[u8], _to: &[u8], _visit: &mut Visitor<'_>) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, _batch: Vec<Write>) -> io::Result<()> {
        Ok(())
    }

    fn make_durable(&self) -> io::Result<()> {
        match self.writes_left.fetch_sub(1, Ordering::SeqCst) {
            1 => Err(io::Error::from(io::ErrorKind::StorageFull)),
            _ => Ok(()),
        }
    }

    fn check(&self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn clu_5_after_one_failed_flush_nothing_is_acknowledged_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let disk: Arc<dyn LogDisk> = Arc::new(Failing { writes_left: AtomicU32::new(3) });
    let (watermark, _) = Watermark::open(&dir.path().join("watermark")).unwrap();
    let writer = Writer::start(disk.clone(), watermark, Mark::default()).unwrap();
    let mut log = LogStore::new(disk, Bounds::default(), writer);
    append(&mut log, [entry(0, 1)]).await;
    log.save_vote(&Vote::new(1, 1)).await.unwrap();
    assert!(log.blocking_append([entry(1, 1)]).await.is_err());
    for _ in 0..3 {
        assert!(log.blocking_append([entry(1, 1)]).await.is_err());
        assert!(log.save_vote(&Vote::new(2, 1)).await.is_err());
    }
    assert_eq!(log.get_log_state().await.unwrap().last_log_id, Some(log_id(0)));
    assert_eq!(log.read_vote().await.unwrap(), Some(Vote::new(1, 1)));
    let noted = Watermark::open(&dir.path().join("watermark")).unwrap().1;
    assert_eq!(noted, Some(Mark { next: 1, vote: Vote::new(1, 1) }));
    close(log).await;
}
