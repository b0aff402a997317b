//! Is this member still up to date? Each second it has the leader confirm, by a majority, what is committed, and waits until it has
//! that itself. From the last time that this worked its age counts (DNS-21): a member that is cut off gets older, a
//! leader without a majority as well, and so does one that hears from such a leader or cannot apply what it hears.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval, timeout};

use super::Proposer;
use super::base::Base;

/// How often it is asked: a member that is not cut off is no older than this and one answer.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// How long one answer may take, around the world and from a leader that is busy; then it is asked anew, perhaps of
/// another leader.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Starts asking.
pub(super) fn start(base: &Arc<Base>, proposer: &Proposer) {
    base.tasks.spawn(ask_always(base.clone(), proposer.clone()));
}

async fn ask_always(base: Arc<Base>, proposer: Proposer) {
    let work = async {
        base.seated().await;
        let confirmer = base.reader.confirmer();
        let mut ticks = interval(ASK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let asked = Instant::now();
            if let Ok(Ok(())) = timeout(ANSWER_MAX, proposer.read_barrier()).await {
                confirmer.confirm(asked);
            }
        }
    };
    base.stop.run_until_cancelled(work).await;
}
