//! Which store keeps the log: sled, or redb in a build with the feature `redb`. What one has written the other does not
//! read, so that each has its own file, and a file of the other one's is found and named.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::log_disk::LogDisk;
use super::sled_disk::SledDisk;

/// A store that logs are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogKind {
    /// [`SledDisk`].
    Sled,
    /// The other one; known in builds that do not have it, too.
    Redb,
}

impl LogKind {
    /// What this build's members keep their logs in.
    pub(super) const OWN: Self = if cfg!(feature = "redb") { Self::Redb } else { Self::Sled };

    const ALL: [Self; 2] = [Self::Sled, Self::Redb];

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sled => "sled",
            Self::Redb => "redb",
        }
    }

    /// The file in the log's folder that has everything.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Sled => "db",
            Self::Redb => "log.redb",
        }
    }

    /// Opens or creates the store in the folder `dir`.
    pub(super) fn open(self, dir: &Path) -> io::Result<Arc<dyn LogDisk>> {
        match self {
            Self::Sled => Ok(Arc::new(SledDisk::open(dir)?)),
            #[cfg(feature = "redb")]
            Self::Redb => Ok(Arc::new(super::redb_disk::RedbDisk::open(dir)?)),
            #[cfg(not(feature = "redb"))]
            Self::Redb => Err(io::Error::other("this build has no redb")),
        }
    }

    /// The other kind, if it is the one that has written to the folder `dir`.
    pub(super) fn other_in(self, dir: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind != self && dir.join(kind.file()).exists())
    }
}
