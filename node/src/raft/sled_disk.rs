//! The log's map in sled 0.34, used so that what it acknowledges is on the disk.
//!
//! sled's `flush` only starts the write-back of its file (`sync_file_range`): the file's length and the drive's cache
//! are not covered, so every flush is followed by an `fdatasync` of our own. Messages above 128 KiB would go to files in
//! `blobs/` that are never synced; values of at most [`super::key_space::PART_MAX`] keep that folder empty, which is
//! checked. On damaged files sled panics as often as it returns an error: it is opened in a thread of its own.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::file_lock::await_unlocked;
use super::log_disk::{LogDisk, Visitor, Write};
use super::log_kind::LogKind;
use super::opener::open_warily;

/// Enough for the whole log between two snapshots in its usual size.
const CACHE_BYTES: u64 = 64 << 20;

/// sled holds a lock on its file until its last thread has ended, some moments after it was closed. No other process
/// comes into question: the data directory has a lock of its own.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// One sled database with one tree: a batch is atomic only inside a tree.
pub(super) struct SledDisk {
    database: sled::Db,
    tree: sled::Tree,
    /// sled's log file, once more, for `fdatasync`.
    file: File,
    blobs: PathBuf,
}

impl SledDisk {
    /// Opens or creates the database in `dir`. A panic of sled's is returned as an error of kind `InvalidData`.
    pub(super) fn open(dir: &Path) -> io::Result<Self> {
        let path = dir.to_owned();
        open_warily("sled", move || Self::open_here(&path))
    }

    fn open_here(dir: &Path) -> io::Result<Self> {
        await_unlocked(&dir.join(LogKind::Sled.file()), LOCK_PATIENCE)?;
        let config = sled::Config::new()
            .path(dir)
            .mode(sled::Mode::HighThroughput)
            .cache_capacity(CACHE_BYTES)
            .flush_every_ms(None);
        let database = config.open().map_err(as_io)?;
        let tree = database.open_tree("raft").map_err(as_io)?;
        database.flush().map_err(as_io)?;
        let file = File::options().read(true).write(true).open(dir.join(LogKind::Sled.file()))?;
        // sled creates these without syncing them or the folders that name them.
        file.sync_all()?;
        File::open(dir.join("conf"))?.sync_all()?;
        sync_dir(dir)?;
        if let Some(parent) = dir.parent() {
            sync_dir(parent)?;
        }
        let disk = Self { database, tree, file, blobs: dir.join("blobs") };
        disk.check()?;
        Ok(disk)
    }
}

impl LogDisk for SledDisk {
    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> io::Result<()> {
        for item in self.tree.range(from..to) {
            let (key, value) = item.map_err(as_io)?;
            if let ControlFlow::Break(()) = visit(&key, &value)? {
                break;
            }
        }
        Ok(())
    }

    fn write(&self, mut batch: Vec<Write>) -> io::Result<()> {
        // One write needs no batch, for which sled writes a note of its own, and the disk is waited for once more.
        if batch.len() == 1 {
            return match batch.swap_remove(0) {
                (key, Some(value)) => self.tree.insert(key, value),
                (key, None) => self.tree.remove(key),
            }
            .map(drop)
            .map_err(as_io);
        }
        let mut changes = sled::Batch::default();
        for (key, value) in batch {
            match value {
                Some(value) => changes.insert(key, value),
                None => changes.remove(key),
            }
        }
        self.tree.apply_batch(changes).map_err(as_io)
    }

    fn make_durable(&self) -> io::Result<()> {
        self.database.flush().map_err(as_io)?;
        self.file.sync_data()
    }

    fn check(&self) -> io::Result<()> {
        match fs::read_dir(&self.blobs)?.next() {
            None => Ok(()),
            Some(_) => Err(io::Error::other("sled has spilled a value into blobs/, where it is not durable")),
        }
    }
}

/// Makes the names in `dir` durable.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

fn as_io(error: sled::Error) -> io::Error {
    match error {
        sled::Error::Io(error) => error,
        sled::Error::Corruption { at, .. } => {
            let place = at.map(|at| format!(" ({at:?})")).unwrap_or_default();
            io::Error::new(io::ErrorKind::InvalidData, format!("its data is damaged{place}"))
        }
        other => io::Error::other(other.to_string()),
    }
}
