//! Reading the operator's database at the start and at each HUP (OPS-4). Which table clients are located by is the state's
//! to say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

use super::GeoTables;
use crate::publication::Relocator;

impl GeoTables {
    /// Reads the database at `path`, and again at each HUP. A bad one costs a line in the log and nothing else
    /// (F-SEC-07): a member that locates clients less well is better than none.
    pub async fn follow(self: Arc<Self>, path: PathBuf, relocator: Relocator) -> std::io::Result<()> {
        let mut hangups = signal(SignalKind::hangup())?;
        self.clone().reread(path.clone(), relocator.clone()).await;
        tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                self.clone().reread(path.clone(), relocator.clone()).await;
            }
        });
        Ok(())
    }

    /// A large database takes seconds, in which queries must be answered.
    async fn reread(self: Arc<Self>, path: PathBuf, relocator: Relocator) {
        let reread = move || {
            self.load_or_log(&path, &relocator);
            relocator.relocate();
        };
        if let Err(error) = spawn_blocking(reread).await {
            tracing::error!(%error, "reading the geo database broke off: the table before it stays");
        }
    }

    fn load_or_log(&self, path: &Path, relocator: &Relocator) {
        match self.load(path, || relocator.in_use()) {
            Ok(table) => tracing::info!(
                path = table.source,
                digest = %table.digested.digest,
                built = table.built,
                "the geo database was read; `waymark geo use` has all members go by it"
            ),
            Err(error) => {
                tracing::error!(%error, "the geo database can't be used: the table before it stays");
            }
        }
    }
}
