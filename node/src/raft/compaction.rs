//! A snapshot also when the entries since the last one are few but large, so that the log stays bounded (CLU-6).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::snapshot::Snapshots;
use super::types::Raft;

/// Bytes of commands after which a snapshot is made, unless the last one was large: a snapshot has at most four times the bytes of the
/// commands since the one before. A member that comes back carries these commands out again, 1 to 2 s for so many (CLU-3).
const BACKLOG_BYTES: u64 = 16 << 20;
/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Asks for a snapshot whenever `backlog`, the bytes since the last of `snapshots`, is too large, until `stop`.
pub(super) async fn watch(
    raft: Raft,
    snapshots: Arc<Snapshots>,
    backlog: Arc<AtomicU64>,
    stop: CancellationToken,
) {
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let last = snapshots.current().map_or(0, |(_, data)| data.len());
        let is_due = backlog.load(Ordering::Relaxed) > BACKLOG_BYTES.max(last / 4);
        if is_due && raft.trigger().snapshot().await.is_err() {
            return;
        }
    }
}
