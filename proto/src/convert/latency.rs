//! Rows of the latency table.

use waymark_core::model::Caseless;
use waymark_core::state::{Action, LatencyRow, LatencyRowDraft};

use super::Malformed;
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;

impl From<&LatencyRow> for wire::LatencyRow {
    fn from(row: &LatencyRow) -> Self {
        let LatencyRow { network, latencies } = row;
        let latencies = latencies.iter().map(|(region, milliseconds)| wire::RegionLatency {
            region: region.to_string(),
            milliseconds: *milliseconds,
        });
        Self { network: network.to_string(), latencies: latencies.collect() }
    }
}

impl From<&LatencyRowDraft> for wire::LatencyRow {
    fn from(draft: &LatencyRowDraft) -> Self {
        let LatencyRowDraft { network, latencies } = draft;
        let latencies = latencies.iter().map(|(region, milliseconds)| wire::RegionLatency {
            region: region.clone(),
            milliseconds: *milliseconds,
        });
        Self { network: network.clone(), latencies: latencies.collect() }
    }
}

impl From<wire::LatencyRow> for LatencyRowDraft {
    fn from(message: wire::LatencyRow) -> Self {
        let wire::LatencyRow { network, latencies } = message;
        let each = |latency: wire::RegionLatency| {
            let wire::RegionLatency { region, milliseconds } = latency;
            (region, milliseconds)
        };
        Self { network, latencies: latencies.into_iter().map(each).collect() }
    }
}

impl TryFrom<wire::LatencyRow> for LatencyRow {
    type Error = Malformed;

    fn try_from(message: wire::LatencyRow) -> Result<Self, Malformed> {
        let LatencyRowDraft { network, latencies } = message.into();
        let network =
            network.parse().map_err(|fault| Malformed::new("latency_row.network", format!("{fault}")))?;
        let mut latencies: Vec<(Caseless, u32)> =
            latencies.into_iter().map(|(region, ms)| (Caseless::new(&region), ms)).collect();
        latencies.sort();
        Ok(Self { network, latencies })
    }
}

pub(super) fn update_latency(set: &[LatencyRowDraft], remove: &[String]) -> stored::UpdateLatency {
    stored::UpdateLatency { rows: set.iter().map(Into::into).collect(), remove: remove.to_vec() }
}

pub(super) fn updated_latency(message: stored::UpdateLatency) -> Action {
    let stored::UpdateLatency { rows, remove } = message;
    Action::UpdateLatency { set: rows.into_iter().map(Into::into).collect(), remove }
}
