//! The data directory: one process at a time, and one identity for as long as it exists.
//!
//! ```text
//! lock            held by the running member
//! member          who this is: format version, cluster, number (missing while it belongs to no cluster)
//! log/            the Raft log in sled, or in redb in a build with that feature
//! log.watermark   how far it was acknowledged
//! snapshots/      the last snapshot
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use prost::Message;
use waymark_proto::storage::v1::MemberHeader;

use super::file_lock::{lock, unlock};
use super::sled_disk::sync_dir;

/// The version of everything in the directory.
const FORMAT_VERSION: u32 = 1;
const HEADER: &str = "member";
const LOCK: &str = "lock";
/// A supervisor starts a killed member anew at once, when the old process may not have gone quite.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// Another process has it (CLU-4).
    #[error(
        "the data directory {0} is in use by another process: stop it, or give this member a directory of its own"
    )]
    InUse(PathBuf),
    /// It was written by a later version.
    #[error(
        "the data directory {dir} has format {found}, this version reads {FORMAT_VERSION}: run the version that wrote it"
    )]
    Version {
        /// The directory.
        dir: PathBuf,
        /// Its format.
        found: u32,
    },
    /// The file that says who this member is cannot be read as such.
    #[error("{0} is damaged: restore it from a copy, or {REJOIN}")]
    Damaged(PathBuf),
    /// The disk refused.
    #[error("the data directory {dir} cannot be used: {error}")]
    Io {
        /// The directory.
        dir: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// How a member whose data is lost comes back.
pub(super) const REJOIN: &str = "move the data directory away and add a new member, with an empty one and a name and addresses of its own";

/// A data directory that this process has for itself.
#[derive(Debug)]
pub(super) struct DataDir {
    path: PathBuf,
    /// Gone once the directory is released.
    lock: Mutex<Option<File>>,
}

impl DataDir {
    /// Takes the directory at `path`, creating it if need be. Blocks its thread for a moment if another process has it.
    pub(super) fn take(path: &Path) -> Result<Self, DataDirError> {
        let failed = |error| DataDirError::Io { dir: path.to_owned(), error };
        fs::create_dir_all(path).map_err(failed)?;
        let options =
            File::options().read(true).write(true).create(true).truncate(false).open(path.join(LOCK));
        let file = options.map_err(failed)?;
        match lock(&file, LOCK_PATIENCE) {
            Ok(()) => Ok(Self { path: path.to_owned(), lock: Mutex::new(Some(file)) }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(DataDirError::InUse(path.to_owned()))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Lets others have it.
    pub(super) fn release(&self) {
        if let Some(file) = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take() {
            unlock(&file);
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Who this member is; `None` while it belongs to no cluster.
    pub(super) fn header(&self) -> Result<Option<MemberHeader>, DataDirError> {
        let path = self.path.join(HEADER);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(DataDirError::Io { dir: self.path.clone(), error }),
        };
        let damaged = || DataDirError::Damaged(path.clone());
        let (header, sum) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
        if u32::from_be_bytes(*sum) != crc32fast::hash(header) {
            return Err(damaged());
        }
        let header = MemberHeader::decode(header).map_err(|_| damaged())?;
        match header.format_version {
            FORMAT_VERSION => Ok(Some(header)),
            found => Err(DataDirError::Version { dir: self.path.clone(), found }),
        }
    }

    /// The header of the member `member_id` of `cluster_id`, called `name`, in this version's format.
    pub(super) fn new_header(cluster_id: &str, member_id: u64, name: &str) -> MemberHeader {
        let (cluster_id, name) = (cluster_id.to_owned(), name.to_owned());
        MemberHeader { format_version: FORMAT_VERSION, cluster_id, member_id, name, removed: false }
    }

    /// Says who this member is, durably and at once or not at all.
    pub(super) fn write_header(&self, header: &MemberHeader) -> io::Result<()> {
        let mut bytes = header.encode_to_vec();
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
        replace_file(&self.path, HEADER, &bytes)
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        self.release();
    }
}

fn replace_file(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let draft = dir.join(format!("{name}.tmp"));
    let mut file = File::create(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, dir.join(name))?;
    sync_dir(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clu_4_a_second_process_is_refused_in_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataDir::take(dir.path()).unwrap();
        let refused = DataDir::take(dir.path()).unwrap_err();
        assert!(matches!(refused, DataDirError::InUse(_)));
        assert_eq!(refused.to_string().lines().count(), 1);
        drop(first);
        DataDir::take(dir.path()).unwrap();
    }

    #[test]
    fn clu_4_a_header_is_read_back_and_a_damaged_one_refused() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::take(dir.path()).unwrap();
        assert_eq!(data_dir.header().unwrap(), None);
        let header = DataDir::new_header("0011", 3, "m3");
        data_dir.write_header(&header).unwrap();
        assert_eq!(data_dir.header().unwrap(), Some(header));
        let path = dir.path().join(HEADER);
        let mut bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            bytes[at] ^= 4;
            fs::write(&path, &bytes).unwrap();
            assert!(matches!(data_dir.header(), Err(DataDirError::Damaged(_))), "byte {at}");
            bytes[at] ^= 4;
        }
    }

    #[test]
    fn a_later_format_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::take(dir.path()).unwrap();
        let header = MemberHeader { format_version: 2, ..DataDir::new_header("0011", 3, "m3") };
        data_dir.write_header(&header).unwrap();
        assert!(matches!(data_dir.header(), Err(DataDirError::Version { found: 2, .. })));
    }
}
