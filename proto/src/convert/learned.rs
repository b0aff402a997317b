//! What was measured of networks.

use std::sync::Arc;

use waymark_core::model::{Network, Timestamp};
use waymark_core::state::{Action, LatencyRow, LearnedRow};

use super::{Malformed, required};
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;

impl From<&LearnedRow> for stored::LearnedRow {
    fn from(learned: &LearnedRow) -> Self {
        let LearnedRow { row, confirmed } = learned;
        Self { row: Some(row.into()), confirmed_ms: confirmed.iter().map(|at| at.0).collect() }
    }
}

impl From<&LearnedRow> for wire::LearnedLatencyRow {
    fn from(learned: &LearnedRow) -> Self {
        let LearnedRow { row: LatencyRow { network, latencies }, confirmed } = learned;
        let latencies = latencies.iter().zip(confirmed).map(|((region, milliseconds), at)| {
            let (region, milliseconds, confirmed_at_ms) = (region.to_string(), *milliseconds, at.0);
            wire::LearnedLatency { region, milliseconds, confirmed_at_ms }
        });
        Self { network: network.to_string(), latencies: latencies.collect() }
    }
}

pub(super) fn stored_learned_row(message: stored::LearnedRow) -> Result<Arc<LearnedRow>, Malformed> {
    let stored::LearnedRow { row, confirmed_ms } = message;
    // Its regions are stored in order, so each keeps its time.
    let row = LatencyRow::try_from(required("learned_row.row", row)?)?;
    if row.latencies.len() != confirmed_ms.len() {
        let description = format!("has {} times for {} regions", confirmed_ms.len(), row.latencies.len());
        return Err(Malformed::new("learned_row.confirmed_ms", description));
    }
    Ok(Arc::new(LearnedRow { row, confirmed: confirmed_ms.into_iter().map(Timestamp).collect() }))
}

pub(super) fn learn_latencies(region: &str, found: &[(Network, u32)]) -> stored::LearnLatencies {
    let each = |(network, milliseconds): &(Network, u32)| stored::MeasuredNetwork {
        network: network.to_string(),
        milliseconds: *milliseconds,
    };
    stored::LearnLatencies { region: region.to_owned(), found: found.iter().map(each).collect() }
}

pub(super) fn learned_latencies(message: stored::LearnLatencies) -> Result<Action, Malformed> {
    let stored::LearnLatencies { region, found } = message;
    let each = |stored::MeasuredNetwork { network, milliseconds }| Ok((network_of(&network)?, milliseconds));
    let found = found.into_iter().map(each).collect::<Result<_, Malformed>>()?;
    Ok(Action::LearnLatencies { region, found })
}

pub(super) fn forget_latencies(before: Timestamp) -> stored::ForgetLatencies {
    stored::ForgetLatencies { before_ms: before.0 }
}

pub(super) fn forgotten_latencies(message: stored::ForgetLatencies) -> Action {
    Action::ForgetLatencies { before: Timestamp(message.before_ms) }
}

fn network_of(text: &str) -> Result<Network, Malformed> {
    text.parse().map_err(|fault| Malformed::new("learn_latencies.network", format!("{fault}")))
}
