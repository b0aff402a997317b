//! A snapshot also when the entries since the last one are few but large, so that the log stays bounded (CLU-6).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::types::Raft;

/// Bytes of commands after which a snapshot is made.
const BACKLOG_BYTES_MAX: u64 = 64 << 20;
/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Asks for a snapshot whenever `backlog`, the bytes since the last one, is too large, until `stop`.
pub(super) async fn watch(raft: Raft, backlog: Arc<AtomicU64>, stop: CancellationToken) {
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let is_due = backlog.load(Ordering::Relaxed) > BACKLOG_BYTES_MAX;
        if is_due && raft.trigger().snapshot().await.is_err() {
            return;
        }
    }
}
