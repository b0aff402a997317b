//! The leader has the cluster forget what it need not keep: `ForgetHistory` for what is older than seven days (RTE-15).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use waymark_core::model::Timestamp;
use waymark_core::state::{Action, Command, History};

use super::Proposer;
use super::base::Base;
use super::leader::Leader;
use crate::clock;

/// How often it is looked: what is kept a few minutes longer harms nobody.
const LOOK_EVERY: Duration = Duration::from_secs(600);

/// Starts looking, whenever this member leads.
pub(super) fn start(base: &Arc<Base>, proposer: &Proposer) {
    base.tasks.spawn(look_always(base.clone(), proposer.clone()));
}

async fn look_always(base: Arc<Base>, proposer: Proposer) {
    let work = async {
        let seat = base.seated().await;
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let now = clock::now();
            if seat.leader() == Leader::Here && base.reader.peek().state.history.is_overdue(now) {
                let before = Timestamp(now.0.saturating_sub(History::SPAN_MS));
                let action = Action::ForgetHistory { before };
                let command = Command { id: None, author: "cluster".into(), action };
                if let Err(error) = proposer.propose(vec![command]).await {
                    tracing::debug!(%error, "the oldest history could not be forgotten yet");
                }
            }
        }
    };
    base.stop.run_until_cancelled(work).await;
}
