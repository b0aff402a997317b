//! What the log costs on each kind of store. Not a test: `make log-stores` prints it; docs/benchmarks.md says what it says.

use std::path::Path;
use std::time::{Duration, Instant};

use openraft::storage::{RaftLogStorage, RaftLogStorageExt};

use super::store::{entry, log_id, owner};
use crate::raft::log_kind::LogKind;
use crate::raft::log_opening;
use crate::raft::log_store::LogStore;

/// The kinds take turns, as a disk is not the same from one minute to the next.
const ROUNDS: usize = 5;
const SINGLES: u64 = 1_000;
const BATCHES: u64 = 200;
const BATCH: u64 = 64;
const ENTRY_BYTES: usize = 256;

#[derive(Debug, Default)]
struct Figures {
    /// Of one durable entry each.
    singles: Vec<Duration>,
    batches: Vec<Duration>,
    openings: Vec<Duration>,
    bytes: u64,
}

fn kinds() -> Vec<LogKind> {
    if cfg!(feature = "redb") { vec![LogKind::Sled, LogKind::Redb] } else { vec![LogKind::Sled] }
}

async fn append(log: &mut LogStore, next: &mut u64, count: u64) -> Duration {
    let entries: Vec<_> = (*next..*next + count).map(|index| entry(index, ENTRY_BYTES)).collect();
    *next += count;
    let begun = Instant::now();
    log.blocking_append(entries).await.unwrap();
    begun.elapsed()
}

async fn measure(kind: LogKind, figures: &mut Figures) {
    let dir = tempfile::tempdir().unwrap();
    log_opening::create(dir.path(), kind, &owner()).unwrap();
    let mut log = log_opening::open(dir.path(), kind, &owner()).unwrap();
    let mut next = 0;
    for _ in 0..50 {
        append(&mut log, &mut next, 1).await;
    }
    for _ in 0..SINGLES {
        figures.singles.push(append(&mut log, &mut next, 1).await);
    }
    for _ in 0..BATCHES {
        figures.batches.push(append(&mut log, &mut next, BATCH).await);
    }
    tokio::task::spawn_blocking(move || log.close()).await.unwrap();
    let begun = Instant::now();
    let mut log = log_opening::open(dir.path(), kind, &owner()).unwrap();
    figures.openings.push(begun.elapsed());
    log.purge(log_id(next - 1)).await.unwrap();
    tokio::task::spawn_blocking(move || log.close()).await.unwrap();
    figures.bytes = bytes(&dir.path().join("log"));
}

fn bytes(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() { bytes(&entry.path()) } else { metadata.len() }
        })
        .sum()
}

fn quantile(all: &mut [Duration], percent: usize) -> Duration {
    all.sort_unstable();
    all[(all.len() - 1) * percent / 100]
}

#[tokio::test]
#[ignore = "it measures: make log-stores"]
async fn log_stores() {
    let mut all: Vec<_> = kinds().into_iter().map(|kind| (kind, Figures::default())).collect();
    for _ in 0..ROUNDS {
        for (kind, figures) in &mut all {
            measure(*kind, figures).await;
        }
    }
    for (kind, mut figures) in all {
        let [p50, p99] = [50, 99].map(|percent| quantile(&mut figures.singles, percent));
        let batch = quantile(&mut figures.batches, 50);
        println!(
            "{}: one entry of {ENTRY_BYTES} bytes p50 {p50:?}, p99 {p99:?}; {BATCH} at once p50 {batch:?}, {:.0} entries/s; \
             opened with {} entries in {:?}; {} KiB after the purge",
            kind.name(),
            BATCH as f64 / batch.as_secs_f64(),
            50 + SINGLES + BATCHES * BATCH,
            quantile(&mut figures.openings, 50),
            figures.bytes >> 10,
        );
    }
}
