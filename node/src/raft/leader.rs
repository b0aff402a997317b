//! Who leads, as far as this member can tell.

use std::time::Duration;

use openraft::ServerState;
use openraft::error::Fatal;

use super::ProposeError;
use super::seat::Seat;
use super::types::{Metrics, Node};

/// Who leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leader {
    /// This member.
    Here,
    /// Another one.
    There(u64, Node),
    /// Nobody that is known to have a majority behind it.
    Unknown,
    /// Consensus has failed on this member.
    Failed(ProposeError),
}

/// Why consensus has ended on a member, by its `metrics`; `None` while it runs, and when it was asked to stop.
pub(super) fn failure(metrics: &Metrics) -> Option<ProposeError> {
    match &metrics.running_state {
        Ok(()) | Err(Fatal::Stopped) => None,
        Err(Fatal::StorageError(error)) => Some(ProposeError::Storage(error.to_string())),
        Err(Fatal::Panicked) => {
            Some(ProposeError::Failed("its consensus has panicked; see its log and restart it".into()))
        }
    }
}

/// Who leads by `metrics`. openraft's leader stays one when it is cut off; here it is none after `stale_after` without
/// an answer from a majority (CLU-7). Asked of a consensus that has not failed.
pub(super) fn find(metrics: &Metrics, stale_after: Duration) -> Leader {
    if metrics.running_state.is_err() {
        return Leader::Unknown;
    }
    let Some(id) = metrics.current_leader else { return Leader::Unknown };
    if id == metrics.id {
        let is_stale = quorum_age(metrics).is_some_and(|age| age > stale_after);
        return if is_stale || metrics.state != ServerState::Leader { Leader::Unknown } else { Leader::Here };
    }
    match metrics.membership_config.membership().get_node(&id) {
        Some(node) => Leader::There(id, node.clone()),
        None => Leader::Unknown,
    }
}

/// On the leader: how long ago a majority answered last.
pub(super) fn quorum_age(metrics: &Metrics) -> Option<Duration> {
    metrics.millis_since_quorum_ack.map(Duration::from_millis)
}

/// Waits until `leader` no longer leads, by what `seat` hears.
pub(super) async fn replaced(seat: &Seat, leader: u64) {
    // An error means that consensus has ended here: so has this leadership, as far as this member goes.
    let _ = seat.raft.metrics().wait_for(|metrics| metrics.current_leader != Some(leader)).await;
}

/// Waits until this member no longer leads in `term`.
pub(super) async fn deposed(seat: &Seat, term: u64) {
    let leads = |metrics: &Metrics| {
        metrics.state == ServerState::Leader && metrics.current_term == term && metrics.running_state.is_ok()
    };
    let _ = seat.raft.metrics().wait_for(|metrics| !leads(metrics)).await;
}
