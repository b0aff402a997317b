//! How patient consensus is: one profile for each size of cluster, from one room to the globe (CLU-8).
//!
//! openraft ties three things to its heartbeat interval: the heartbeats, the timeout of each message to another member
//! and (times 1.5) the steps in which elections are timed. A timeout of one heartbeat is too short over a long way, so
//! the heartbeats are sent by a task here and openraft's interval is only the timeout. And openraft draws a member's
//! election timeout once for its whole life: members whose timeouts and steps fall together would split every vote.
//! Hence each member draws from a third of the range, by its number, and steps a little faster than its neighbour.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use openraft::{Config, ServerState, SnapshotPolicy};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::types::Raft;

/// Entries in one AppendEntries message; its bytes are limited by the log store.
const APPEND_ENTRIES_MAX: u64 = 256;
/// A snapshot that takes longer to send is given up.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(600);
/// Parts of the range of election timeouts.
const SLOTS: u64 = 3;

/// How patient consensus is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimerProfile {
    /// Members within a few milliseconds of each other: heartbeat 100 ms, election 400–800 ms.
    #[default]
    Local,
    /// Members in neighbouring regions: heartbeat 100 ms, election 1–2 s.
    Regional,
    /// Members around the globe: heartbeat 300 ms, election 3–6 s.
    Global,
}

/// When the log is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// A snapshot is made after this many entries.
    pub snapshot_after_entries: u64,
    /// This many entries before a snapshot are kept for members that are a little behind.
    pub keep_entries: u64,
}

impl Compaction {
    /// A tenth of the entries between two snapshots is kept.
    pub fn after(entries: u64) -> Self {
        Self { snapshot_after_entries: entries, keep_entries: entries / 10 }
    }
}

impl Default for Compaction {
    fn default() -> Self {
        Self::after(10_000)
    }
}

impl TimerProfile {
    /// How often a leader says that it is there.
    pub fn heartbeat(self) -> Duration {
        Duration::from_millis(match self {
            Self::Local | Self::Regional => 100,
            Self::Global => 300,
        })
    }

    /// After the longest of these without a leader, a member stands for election.
    pub fn election(self) -> (Duration, Duration) {
        let (shortest, longest) = match self {
            Self::Local => (400, 800),
            Self::Regional => (1000, 2000),
            Self::Global => (3000, 6000),
        };
        (Duration::from_millis(shortest), Duration::from_millis(longest))
    }

    /// After this long without an answer from a majority, a leader is one in name only: others have been elected.
    pub(super) fn leader_is_stale_after(self) -> Duration {
        2 * self.election().1
    }

    /// How long one message to another member may take.
    fn message_timeout(self) -> Duration {
        Duration::from_millis(match self {
            Self::Local => 150,
            Self::Regional => 350,
            Self::Global => 1000,
        })
    }

    /// openraft's settings for the member `id`.
    pub(super) fn config(self, id: u64, compaction: Compaction) -> Config {
        let (shortest, longest) = self.election();
        let slot = (longest - shortest) / u32::try_from(SLOTS).expect("a small number");
        let lower = shortest + slot * u32::try_from(id % SLOTS).expect("below SLOTS");
        Config {
            cluster_name: "waymark".into(),
            election_timeout_min: millis(lower),
            election_timeout_max: millis(lower + slot),
            heartbeat_interval: millis(self.message_timeout()) + id % 8,
            enable_heartbeat: false,
            install_snapshot_timeout: millis(SNAPSHOT_TIMEOUT),
            max_payload_entries: APPEND_ENTRIES_MAX,
            replication_lag_threshold: 2 * compaction.snapshot_after_entries,
            snapshot_policy: SnapshotPolicy::LogsSinceLast(compaction.snapshot_after_entries),
            max_in_snapshot_log_to_keep: compaction.keep_entries,
            ..Config::default()
        }
    }
}

/// In whole milliseconds.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Sends the leader's heartbeats for as long as this member leads and is not silent, until `stop`.
pub(super) async fn beat(raft: Raft, every: Duration, silence: Arc<AtomicBool>, stop: CancellationToken) {
    let metrics = raft.metrics();
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let leads = metrics.borrow().state == ServerState::Leader;
        if leads && !silence.load(Ordering::Relaxed) && raft.trigger().heartbeat().await.is_err() {
            return;
        }
    }
}

/// Ends `raft`, whatever it is doing.
pub(super) async fn end(raft: &Raft) {
    if let Err(error) = raft.shutdown().await {
        tracing::warn!(%error, "consensus did not end cleanly");
    }
}

/// openraft's settings, checked.
pub(super) fn checked(config: Config) -> Arc<Config> {
    Arc::new(config.validate().expect("every profile's figures are in order"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clu_8_every_profile_is_in_order_for_every_member() {
        for profile in [TimerProfile::Local, TimerProfile::Regional, TimerProfile::Global] {
            let (shortest, longest) = profile.election();
            for id in 1..20 {
                let config = checked(profile.config(id, Compaction::default()));
                assert!(config.election_timeout_min >= millis(shortest));
                assert!(config.election_timeout_max <= millis(longest));
            }
        }
    }

    #[test]
    fn clu_8_neighbours_never_draw_the_same_election_timeout() {
        let config = |id| TimerProfile::Local.config(id, Compaction::default());
        for id in 1..10 {
            let (one, other) = (config(id), config(id + 1));
            let apart = one.election_timeout_max <= other.election_timeout_min
                || other.election_timeout_max <= one.election_timeout_min;
            assert!(apart, "members {id} and {}", id + 1);
            assert_ne!(one.heartbeat_interval, other.heartbeat_interval);
        }
    }
}
