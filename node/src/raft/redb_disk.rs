//! The log's map in redb 4: a batch is one transaction, and a durable one is one `fdatasync`.
//!
//! redb writes a transaction beside what is there and turns a bit to make it count; its checksums find out a transaction
//! of which a power loss has left a part. Beyond that redb trusts a file that was closed in good order, so that it is
//! told to look at every page when it opens it: what it then returns as an error it would panic on later. It, too, takes
//! a damaged end for one that was never written, and the watermark finds it out.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use redb::{Database, Durability, ReadableDatabase, TableDefinition};

use super::file_lock::await_unlocked;
use super::log_disk::{LogDisk, Visitor, Write};
use super::log_kind::LogKind;
use super::opener::open_warily;
use super::sled_disk::sync_dir;

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("raft");

/// Enough for the whole log between two snapshots in its usual size.
const CACHE_BYTES: usize = 64 << 20;

/// Whom a process that was forked meanwhile may hold the lock for.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// One redb file with one table.
pub(super) struct RedbDisk {
    store: Database,
}

impl RedbDisk {
    /// Opens or creates the file in `dir`. A panic of redb's is returned as an error of kind `InvalidData`.
    pub(super) fn open(dir: &Path) -> io::Result<Self> {
        let path = dir.to_owned();
        open_warily("redb", move || Self::open_here(&path))
    }

    fn open_here(dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let path = dir.join(LogKind::Redb.file());
        await_unlocked(&path, LOCK_PATIENCE)?;
        let mut builder = Database::builder();
        let builder = builder.set_cache_size(CACHE_BYTES).set_check_integrity_on_open(true);
        let disk = Self { store: builder.create(&path).map_err(as_io)? };
        // Makes the table.
        disk.commit(Vec::new(), Durability::Immediate)?;
        // redb does not sync the folders that name its file.
        File::open(&path)?.sync_all()?;
        sync_dir(dir)?;
        if let Some(parent) = dir.parent() {
            sync_dir(parent)?;
        }
        Ok(disk)
    }

    fn commit(&self, batch: Vec<Write>, durability: Durability) -> io::Result<()> {
        let mut transaction = self.store.begin_write().map_err(as_io)?;
        transaction.set_durability(durability).map_err(as_io)?;
        let mut table = transaction.open_table(TABLE).map_err(as_io)?;
        for (key, value) in batch {
            match value {
                Some(value) => table.insert(key.as_slice(), value.as_slice()).map(drop),
                None => table.remove(key.as_slice()).map(drop),
            }
            .map_err(as_io)?;
        }
        drop(table);
        transaction.commit().map_err(as_io)
    }
}

impl LogDisk for RedbDisk {
    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> io::Result<()> {
        let transaction = self.store.begin_read().map_err(as_io)?;
        let table = transaction.open_table(TABLE).map_err(as_io)?;
        for item in table.range::<&[u8]>(from..to).map_err(as_io)? {
            let (key, value) = item.map_err(as_io)?;
            if let ControlFlow::Break(()) = visit(key.value(), value.value())? {
                break;
            }
        }
        Ok(())
    }

    fn write(&self, batch: Vec<Write>) -> io::Result<()> {
        self.commit(batch, Durability::None)
    }

    fn make_durable(&self) -> io::Result<()> {
        self.commit(Vec::new(), Durability::Immediate)
    }

    fn write_durably(&self, batch: Vec<Write>) -> io::Result<()> {
        self.commit(batch, Durability::Immediate)
    }

    fn check(&self) -> io::Result<()> {
        Ok(())
    }
}

fn as_io(error: impl Into<redb::Error>) -> io::Error {
    match error.into() {
        redb::Error::Io(error) => error,
        redb::Error::Corrupted(text) => {
            let text = format!("its data is damaged ({text})");
            io::Error::new(io::ErrorKind::InvalidData, text)
        }
        other => io::Error::other(other.to_string()),
    }
}
