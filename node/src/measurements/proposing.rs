//! Bringing what is news into the log.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use waymark_core::state::{Action, Command, LearnedTable};

use super::Measurements;
use crate::clock;
use crate::publication::Reader;
use crate::raft::Proposer;

/// How often news are proposed: one command for each region, so that a member writes no more than that many, however many
/// resolvers ask it.
const PROPOSE_EVERY: Duration = Duration::from_secs(10);

/// How long round trips are gathered before the next hour's.
const HOUR: Duration = Duration::from_millis(LearnedTable::CONFIRM_EVERY_MS);

/// Proposes what is news until `stop`. Must be called within a tokio runtime.
pub fn start(measurements: Measurements, reader: Reader, proposer: Proposer, stop: CancellationToken) {
    tokio::spawn(async move {
        stop.run_until_cancelled(propose_always(measurements, reader, proposer)).await;
    });
}

async fn propose_always(measurements: Measurements, reader: Reader, proposer: Proposer) {
    let mut ticks = interval(PROPOSE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut began = Instant::now();
    let mut is_warned = false;
    loop {
        ticks.tick().await;
        let view = reader.view();
        // Before its founding a cluster knows nothing.
        let unknown = measurements.unknown_region(&view.state).filter(|_| !view.state.cluster.is_empty());
        if let Some(region) = unknown.filter(|_| !is_warned) {
            tracing::warn!(%region, "the cluster knows no such region, so nothing that this member measures counts: name one of `waymark region list` in `region`, or declare it by `waymark region set`");
        }
        is_warned = unknown.is_some();
        if began.elapsed() >= HOUR {
            began = Instant::now();
            measurements.turn();
        }
        for (region, found) in measurements.news(&view.state, clock::now()) {
            let (count, named) = (found.len(), region.clone());
            let action = Action::LearnLatencies { region: region.to_string(), found };
            let command = Command::of_cluster(action);
            match proposer.propose(vec![command]).await.map(|mut proposed| proposed.replies.pop()) {
                Ok(Some(Ok(_))) => tracing::debug!(region = %named, count, "latencies learned"),
                Ok(Some(Err(rejection))) => {
                    tracing::warn!(region = %named, %rejection, "measured latencies are refused");
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(region = %named, %error, "measured latencies could not be proposed yet");
                }
            }
        }
    }
}
