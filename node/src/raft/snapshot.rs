//! The member's snapshots: the last one is kept, as a plain file that appears whole or not at all.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use waymark_core::state::{ApplyLevel, State};
use waymark_proto::storage::v1::SnapshotHeader;

use super::OpenError;
use super::sled_disk::sync_dir;
use super::snapshot_file::{self, SnapshotFault};
use super::types::SnapshotMeta;

const FOLDER: &str = "snapshots";
const SUFFIX: &str = "snapshot";
const DRAFT_SUFFIX: &str = "tmp";

/// A snapshot's bytes, readable for as long as somebody holds them, also after a newer one has taken their place.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotData {
    file: Arc<File>,
    len: u64,
    draft: Option<Arc<Draft>>,
}

impl SnapshotData {
    /// How many bytes there are.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The header. Waits for the disk.
    pub(super) fn header(&self) -> Result<SnapshotHeader, SnapshotFault> {
        snapshot_file::read_header(&self.file)
    }

    /// Are these the bytes that were once written as a snapshot? Waits for the disk.
    pub(super) fn verify(&self) -> Result<(), SnapshotFault> {
        snapshot_file::verify(&self.file).map(drop)
    }

    /// Reads at most `max` bytes from `offset` on. Waits for the disk.
    pub(super) fn read_at(&self, offset: u64, max: usize) -> io::Result<Vec<u8>> {
        let count = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(max).min(max);
        let mut bytes = vec![0; count];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// A file that is not a snapshot yet: removed when nobody needs it any more, unless it has become one.
#[derive(Debug)]
struct Draft {
    path: PathBuf,
}

impl Drop for Draft {
    fn drop(&mut self) {
        // It is gone already if it was renamed; and what cannot be removed now is at the next start.
        let _ = fs::remove_file(&self.path);
    }
}

/// A snapshot that arrives from another member.
#[derive(Debug)]
pub(super) struct Incoming {
    file: File,
    draft: Draft,
    len: u64,
}

impl Incoming {
    /// Adds the next bytes. Waits for the disk.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.len)?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Returns what has arrived, durable. Waits for the disk.
    pub(super) fn finish(self) -> io::Result<SnapshotData> {
        self.file.sync_all()?;
        Ok(SnapshotData { file: Arc::new(self.file), len: self.len, draft: Some(Arc::new(self.draft)) })
    }
}

/// Why the snapshots cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the snapshot {path} is damaged: {fault}", path = .path.display())]
pub(super) struct SnapshotError {
    path: PathBuf,
    fault: SnapshotFault,
}

impl SnapshotError {
    /// Why a member does not start on `data_dir`, which has it.
    pub(super) fn refusal(&self, data_dir: &Path) -> OpenError {
        match &self.fault {
            SnapshotFault::Level { .. } => {
                OpenError::Later { dir: data_dir.to_owned(), reason: format!("its snapshot {}", self.fault) }
            }
            _ => OpenError::Snapshot { reason: self.to_string() },
        }
    }
}

#[derive(Debug)]
struct Current {
    meta: SnapshotMeta,
    data: SnapshotData,
    path: PathBuf,
}

/// The folder of snapshots.
#[derive(Debug)]
pub(super) struct Snapshots {
    dir: PathBuf,
    current: Mutex<Option<Current>>,
    drafts: Mutex<u64>,
    /// The highest level of `apply` that a snapshot may be of.
    supported: ApplyLevel,
}

impl Snapshots {
    /// Opens the folder in `data_dir` and reads the last snapshot, if there is one; removes what a crash left behind.
    pub(super) fn open(
        data_dir: &Path,
        supported: ApplyLevel,
    ) -> Result<(Self, Option<(SnapshotMeta, State)>), SnapshotError> {
        let dir = data_dir.join(FOLDER);
        let at = |path: &Path, fault| SnapshotError { path: path.to_owned(), fault };
        let (mut found, drafts) = list(&dir).map_err(|error| at(&dir, error.into()))?;
        let last = found.pop();
        let loaded =
            last.as_deref().map(|path| load(path, supported).map_err(|fault| at(path, fault))).transpose()?;
        for path in found.into_iter().chain(drafts) {
            fs::remove_file(&path).map_err(|error| at(&path, error.into()))?;
        }
        let (current, content) =
            loaded.map_or((None, None), |(current, content)| (Some(current), Some(content)));
        Ok((Self { dir, current: Mutex::new(current), drafts: Mutex::default(), supported }, content))
    }

    /// The last snapshot.
    pub(super) fn current(&self) -> Option<(SnapshotMeta, SnapshotData)> {
        self.locked().as_ref().map(|current| (current.meta.clone(), current.data.clone()))
    }

    /// Makes `state` the snapshot `meta`, unless there is a newer one by now. Waits for the disk.
    pub(super) fn build(&self, meta: &SnapshotMeta, state: &State) -> io::Result<SnapshotData> {
        let (file, draft) = self.draft()?;
        let len = snapshot_file::write(&file, meta, state)?;
        let data = SnapshotData { file: Arc::new(file), len, draft: None };
        self.adopt(meta.clone(), data.clone(), draft)?;
        Ok(data)
    }

    /// Writes `state` into a file that is gone when it is no longer read, and is no snapshot of this member's. Waits for the
    /// disk.
    pub(super) fn export(&self, meta: &SnapshotMeta, state: &State) -> io::Result<SnapshotData> {
        let (file, draft) = self.draft()?;
        let len = snapshot_file::write(&file, meta, state)?;
        Ok(SnapshotData { file: Arc::new(file), len, draft: Some(Arc::new(draft)) })
    }

    /// Makes what has arrived from another member the current snapshot and returns its content; refuses it if it is
    /// damaged. Waits for the disk.
    pub(super) fn install(&self, meta: &SnapshotMeta, data: SnapshotData) -> Result<State, SnapshotFault> {
        let (_, state) = snapshot_file::read(&data.file, self.supported)?;
        let draft = match data.draft.and_then(|draft| Arc::try_unwrap(draft).ok()) {
            Some(draft) if draft.path.parent() == Some(&self.dir) => draft,
            _ => self.copy(&data.file, data.len)?,
        };
        let file = Arc::new(File::open(&draft.path)?);
        self.adopt(meta.clone(), SnapshotData { file, len: data.len, draft: None }, draft)?;
        Ok(state)
    }

    /// A place for a snapshot from another member. Waits for the disk.
    pub(super) fn incoming(&self) -> io::Result<Incoming> {
        let (file, draft) = self.draft()?;
        Ok(Incoming { file, draft, len: 0 })
    }

    fn adopt(&self, meta: SnapshotMeta, data: SnapshotData, draft: Draft) -> io::Result<()> {
        let mut current = self.locked();
        if current.as_ref().is_some_and(|current| current.meta.last_log_id > meta.last_log_id) {
            return Ok(());
        }
        let path = self.dir.join(file_name(&meta));
        fs::rename(&draft.path, &path)?;
        sync_dir(&self.dir)?;
        let before = current.replace(Current { meta, data, path: path.clone() });
        drop(current);
        match before {
            Some(before) if before.path != path => fs::remove_file(before.path),
            _ => Ok(()),
        }
    }

    fn draft(&self) -> io::Result<(File, Draft)> {
        let number = {
            let mut drafts = self.drafts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            *drafts += 1;
            *drafts
        };
        let path = self.dir.join(format!("{number}.{DRAFT_SUFFIX}"));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        Ok((file, Draft { path }))
    }

    fn copy(&self, from: &File, len: u64) -> io::Result<Draft> {
        let (to, draft) = self.draft()?;
        let source = SnapshotData { file: Arc::new(from.try_clone()?), len, draft: None };
        let mut offset = 0;
        while offset < len {
            let bytes = source.read_at(offset, 1 << 20)?;
            to.write_all_at(&bytes, offset)?;
            offset += bytes.len() as u64;
        }
        to.sync_all()?;
        Ok(draft)
    }

    fn locked(&self) -> MutexGuard<'_, Option<Current>> {
        self.current.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Sorts by the place in the log.
fn file_name(meta: &SnapshotMeta) -> String {
    let (term, index) = meta.last_log_id.map_or((0, 0), |id| (id.leader_id.term, id.index));
    format!("{index:020}-{term:020}.{SUFFIX}")
}

/// Snapshots in the order of their place in the log, and drafts.
fn list(dir: &Path) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    fs::create_dir_all(dir)?;
    let paths = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let with = |suffix: &str| {
        let matching = paths.iter().filter(|path| path.extension().is_some_and(|found| found == suffix));
        matching.cloned().collect::<Vec<_>>()
    };
    let mut snapshots = with(SUFFIX);
    snapshots.sort();
    Ok((snapshots, with(DRAFT_SUFFIX)))
}

fn load(path: &Path, supported: ApplyLevel) -> Result<(Current, (SnapshotMeta, State)), SnapshotFault> {
    let file = File::open(path)?;
    let (meta, state) = snapshot_file::read(&file, supported)?;
    let data = SnapshotData { len: file.metadata()?.len(), file: Arc::new(file), draft: None };
    Ok((Current { meta: meta.clone(), data, path: path.to_owned() }, (meta, state)))
}
