//! The geo tables that a member has, by their digests.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use waymark_core::geo::{GeoDigest, GeoTable};

use super::mmdb::{self, GeoFile};
use super::{GeoFault, embedded};

/// Tables of the operator that are kept: the newest, and the one before it, which the cluster may still go by.
const LOADED_MAX: usize = 2;

/// A table with what is known of it.
#[derive(Debug)]
pub struct NamedTable {
    /// The table.
    pub table: Arc<GeoTable>,
    /// What it says, as a number.
    pub digest: GeoDigest,
    /// The file that it was read from, or who made it.
    pub source: String,
    /// When its source was made, in seconds since 1970: old tables locate badly.
    pub built: u64,
}

/// The tables that a member has: the embedded one always, and those that the operator gave.
#[derive(Debug, Default)]
pub struct GeoTables {
    /// Unpacked when it is first asked for.
    embedded: OnceLock<Arc<NamedTable>>,
    /// The newest first.
    loaded: ArcSwap<Vec<Arc<NamedTable>>>,
}

impl GeoTables {
    /// The table that this member would go by: the operator's newest, or the embedded one.
    pub fn newest(&self) -> Arc<NamedTable> {
        self.loaded.load().first().unwrap_or_else(|| self.embedded()).clone()
    }

    /// The table with this digest, if the member has it (RTE-14).
    pub fn get(&self, digest: GeoDigest) -> Option<Arc<NamedTable>> {
        if digest == embedded::DIGEST {
            return Some(self.embedded().clone());
        }
        self.loaded.load().iter().find(|table| table.digest == digest).cloned()
    }

    fn embedded(&self) -> &Arc<NamedTable> {
        self.embedded.get_or_init(|| {
            Arc::new(NamedTable {
                table: Arc::new(embedded::embedded()),
                digest: embedded::DIGEST,
                source: embedded::SOURCE.to_owned(),
                built: embedded::BUILT,
            })
        })
    }

    /// Reads the database at `path`, which is then the newest table. A bad file changes nothing. It reads from the disk and
    /// computes for seconds: not for a task that others wait for.
    pub fn load(&self, path: &Path) -> Result<Arc<NamedTable>, GeoFault> {
        let GeoFile { table, built, unknown } = mmdb::read(path)?;
        if !unknown.is_empty() {
            tracing::warn!(
                path = %path.display(),
                ?unknown,
                "the geo database names countries that are not in the hierarchy; their addresses are nowhere"
            );
        }
        let newest = Arc::new(NamedTable {
            digest: table.digest(),
            table: Arc::new(table),
            source: path.display().to_string(),
            built,
        });
        self.loaded.rcu(|loaded| {
            let others = loaded.iter().filter(|table| table.digest != newest.digest).cloned();
            [newest.clone()].into_iter().chain(others).take(LOADED_MAX).collect::<Vec<_>>()
        });
        Ok(newest)
    }
}

#[cfg(test)]
mod tests;
