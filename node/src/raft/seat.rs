//! A member's place in a cluster, once it has one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use openraft::ServerState;
use openraft::error::Fatal;

use super::leader::{self, Leader};
use super::log_store::LogStore;
use super::snapshot::Snapshots;
use super::types::{Metrics, Raft};
use super::{ProposeError, TimerProfile};

/// A member's place in a cluster.
pub(super) struct Seat {
    /// The cluster.
    pub(super) cluster: String,
    /// Its number there.
    pub(super) member: u64,
    /// Its consensus.
    pub(super) raft: Raft,
    /// Its snapshots.
    pub(super) snapshots: Arc<Snapshots>,
    /// The last entry of the log when this process opened it. A leader that comes back resumes its term without knowing
    /// how far it had committed: what it had acknowledged is no further than this, and no read may miss it (CLU-7).
    pub(super) opened_at: u64,
    /// Its log.
    pub(super) log: LogStore,
    /// Set once this member may take no part any more: the log has lost something, or holds what it does not support.
    pub(super) ending: Ending,
    /// After this long without a majority's answer it leads in name only.
    pub(super) stale_after: Duration,
    /// While it is set, a leader sends no heartbeats: another one shall lead.
    pub(super) silence: Arc<AtomicBool>,
}

/// Why a member takes no part in consensus any more, once that is so. Clones share it.
pub(super) type Ending = Arc<OnceLock<ProposeError>>;

/// While it lives, the leader is silent.
pub(super) struct Silence(Arc<AtomicBool>);

impl Drop for Silence {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "member {} of cluster {}", self.member, self.cluster)
    }
}

impl Seat {
    /// What consensus says of itself now. One that has panicked says nothing any more; it is said here.
    pub(super) fn metrics(&self) -> Metrics {
        let receiver = self.raft.metrics();
        let mut metrics = receiver.borrow().clone();
        if metrics.running_state.is_ok() && receiver.has_changed().is_err() {
            metrics.running_state = Err(Fatal::Panicked);
        }
        metrics
    }

    /// Sends no heartbeats as long as the guard lives, so that others may vote.
    pub(super) fn fall_silent(&self) -> Silence {
        self.silence.store(true, Ordering::Relaxed);
        Silence(self.silence.clone())
    }

    /// Stands for election until this member leads. Others do not vote before they have not heard of the leader for its
    /// lease.
    pub(super) async fn take_over(&self, timers: TimerProfile) -> Result<(), ProposeError> {
        let mut metrics = self.raft.metrics();
        let leads = |metrics: &Metrics| metrics.state == ServerState::Leader && metrics.running_state.is_ok();
        while !leads(&metrics.borrow_and_update()) {
            let failed = |error: Fatal<u64>| ProposeError::Storage(error.to_string());
            self.raft.trigger().elect().await.map_err(failed)?;
            let elected = metrics.wait_for(leads);
            drop(tokio::time::timeout(timers.heartbeat(), elected).await);
        }
        Ok(())
    }

    /// Who leads.
    pub(super) fn leader(&self) -> Leader {
        match self.failure() {
            Some(failure) => Leader::Failed(failure),
            None => leader::find(&self.metrics(), self.stale_after),
        }
    }

    /// Why this member takes no part in consensus any more (CLU-5).
    pub(super) fn failure(&self) -> Option<ProposeError> {
        self.ending.get().cloned().or_else(|| leader::failure(&self.metrics()))
    }
}
