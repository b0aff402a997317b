//! Can this member reach a leader? Asked all the time, because in steady state nothing is proposed that could fail, and
//! a member that is cut off would hold its agents' streams while their outcomes go nowhere (FAIL-4).

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use super::consensus::Consensus;
use super::limits::Waits;

/// Asks until `shutdown`; the receiver says whether the leader has answered within `waits.leaderless`.
pub(super) fn watch_leader(
    consensus: Arc<dyn Consensus>,
    waits: Waits,
    shutdown: CancellationToken,
) -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(true);
    tokio::spawn(async move {
        let ask = ask_for_ever(&*consensus, waits, &sender);
        shutdown.run_until_cancelled(ask).await;
    });
    receiver
}

async fn ask_for_ever(consensus: &dyn Consensus, waits: Waits, is_reachable: &watch::Sender<bool>) {
    let mut answered = Instant::now();
    loop {
        // A question that hangs must not hide that the time is over.
        let deadline = (answered + waits.leaderless).max(Instant::now() + waits.leader_pause);
        if let Ok(Ok(())) = timeout_at(deadline, consensus.read_barrier()).await {
            answered = Instant::now();
        }
        let reaches = answered.elapsed() < waits.leaderless;
        if is_reachable.send_if_modified(|before| std::mem::replace(before, reaches) != reaches) {
            match reaches {
                true => tracing::info!("a leader answers again: agents are taken"),
                false => {
                    tracing::warn!("no leader has answered for {:?}: agents are sent away", waits.leaderless)
                }
            }
        }
        sleep(waits.leader_pause).await;
    }
}
