//! The geo tables that a member has, by their digests.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use waymark_core::geo::{DigestedTable, GeoDigest};
use waymark_proto::admin::v1::GeoTable;

use super::mmdb::{self, GeoFile};
use super::{GeoFault, embedded, kept};
use crate::publication::TableSource;

/// The operator's newest tables that are kept beside the one that the cluster goes by: the newest, and the one before
/// it, to go back to.
const NEWEST_MAX: usize = 2;

/// A table with what is known of it.
#[derive(Clone, Debug)]
pub struct NamedTable {
    /// The table, and what it says as a number.
    pub digested: DigestedTable,
    /// The file that it was read from, or who made it.
    pub source: String,
    /// When its source was made, in seconds since 1970: old tables locate badly.
    pub built: u64,
}

/// The tables that a member has: the embedded one always, and those that the operator gave. These are kept in the data
/// directory too: the operator's file may have become another before the member starts again.
#[derive(Debug, Default)]
pub struct GeoTables {
    folder: Option<PathBuf>,
    /// Unpacked when it is first asked for.
    embedded: OnceLock<Arc<NamedTable>>,
    /// The newest first.
    loaded: ArcSwap<Vec<Arc<NamedTable>>>,
}

impl GeoTables {
    /// The embedded table, and those that were kept in the data directory. It reads from the disk.
    pub fn open(data_dir: &Path) -> Self {
        let folder = data_dir.join(kept::FOLDER);
        let loaded = ArcSwap::from_pointee(kept::read_all(&folder));
        Self { folder: Some(folder), loaded, ..Self::default() }
    }

    /// All of them, the embedded one first, then the operator's, the newest first.
    pub fn all(&self) -> Vec<Arc<NamedTable>> {
        [self.embedded().clone()].into_iter().chain(self.loaded.load().iter().cloned()).collect()
    }

    /// The same, as operators are told of them.
    pub fn all_named(&self) -> Vec<GeoTable> {
        let message = |(at, table): (usize, Arc<NamedTable>)| GeoTable {
            digest: table.digested.digest.to_string(),
            source: table.source.clone(),
            built_s: table.built,
            newest: at == 1,
        };
        self.all().into_iter().enumerate().map(message).collect()
    }

    /// The table with this digest, if the member has it; none means the embedded one (RTE-14).
    pub fn get(&self, digest: Option<GeoDigest>) -> Option<Arc<NamedTable>> {
        match digest {
            None | Some(embedded::DIGEST) => Some(self.embedded().clone()),
            Some(digest) => self.loaded.load().iter().find(|table| table.digested.digest == digest).cloned(),
        }
    }

    /// Where views get their tables from.
    pub fn source(self: &Arc<Self>) -> TableSource {
        let tables = self.clone();
        Arc::new(move |digest| tables.get(digest).map(|table| table.digested.clone()))
    }

    fn embedded(&self) -> &Arc<NamedTable> {
        self.embedded.get_or_init(|| {
            let table = Arc::new(embedded::embedded());
            Arc::new(NamedTable {
                digested: DigestedTable { digest: embedded::DIGEST, table },
                source: embedded::SOURCE.to_owned(),
                built: embedded::BUILT,
            })
        })
    }

    /// Reads the database at `path`, which is then the newest table; those `in_use` are kept, of which it is
    /// asked once the file is read. A bad file changes nothing. It reads from the disk and
    /// computes for seconds: not for a task that others wait for.
    pub fn load(
        &self,
        path: &Path,
        in_use: impl FnOnce() -> Vec<GeoDigest>,
    ) -> Result<Arc<NamedTable>, GeoFault> {
        let GeoFile { table, built, unknown } = mmdb::read(path)?;
        if !unknown.is_empty() {
            tracing::warn!(
                path = %path.display(),
                ?unknown,
                "the geo database names countries that are not in the hierarchy; their addresses are nowhere"
            );
        }
        let source = path.display().to_string();
        let newest = Arc::new(NamedTable { digested: table.into(), source, built });
        self.keep(&newest, &in_use())?;
        Ok(newest)
    }

    /// Takes in the newest table, and forgets those that are neither new nor in use.
    fn keep(&self, newest: &Arc<NamedTable>, in_use: &[GeoDigest]) -> Result<(), GeoFault> {
        let digest = newest.digested.digest;
        if let Some(folder) = &self.folder {
            kept::write(folder, newest)
                .map_err(|error| GeoFault::NotKept { path: folder.clone(), reason: error.to_string() })?;
        }
        let before = self.loaded.load_full();
        let others = before.iter().filter(|table| table.digested.digest != digest).cloned();
        let all = [newest.clone()].into_iter().chain(others).enumerate();
        let (keep, forget): (Vec<_>, Vec<_>) =
            all.partition(|(at, table)| *at < NEWEST_MAX || in_use.contains(&table.digested.digest));
        self.loaded.store(Arc::new(keep.into_iter().map(|(_, table)| table).collect()));
        if let Some(folder) = &self.folder {
            forget.iter().for_each(|(_, table)| kept::remove(folder, table.digested.digest));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
