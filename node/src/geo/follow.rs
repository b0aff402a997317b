//! Reading the operator's database at the start and at each HUP (OPS-4).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

use super::GeoTables;

impl GeoTables {
    /// Reads the database at `path`, and again at each HUP. A bad one costs a line in the log and nothing else
    /// (F-SEC-07): a member that locates clients less well is better than none.
    pub async fn follow(self: Arc<Self>, path: PathBuf) -> std::io::Result<()> {
        let mut hangups = signal(SignalKind::hangup())?;
        self.clone().reread(path.clone()).await;
        tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                self.clone().reread(path.clone()).await;
            }
        });
        Ok(())
    }

    /// A large database takes seconds, in which queries must be answered.
    async fn reread(self: Arc<Self>, path: PathBuf) {
        if let Err(error) = spawn_blocking(move || self.load_or_log(&path)).await {
            tracing::error!(%error, "reading the geo database broke off: the table before it stays");
        }
    }

    fn load_or_log(&self, path: &Path) {
        match self.load(path) {
            Ok(table) => tracing::info!(
                path = table.source,
                digest = %table.digest,
                built = table.built,
                "the geo database was read"
            ),
            Err(error) => {
                tracing::error!(%error, "the geo database can't be used: the table before it stays");
            }
        }
    }
}
