//! The latency table's limits.

use super::*;
use crate::state::{LatencyRowDraft, LatencyTable};

/// A table that is wrong in every cell is refused in few words, and in no time: a hint for each would take minutes.
#[test]
fn val_1_bad_cells_are_told_of_up_to_a_bound_and_counted() {
    let mut cluster = Cluster::new();
    let regions = |row| (0..200).map(move |region| (format!("nowhere-{row}-{region}"), 5)).collect();
    let set: Vec<_> = (0..LatencyTable::BATCH_MAX)
        .map(|row| LatencyRowDraft {
            network: format!("11.{}.{}.0/24", row / 256, row % 256),
            latencies: regions(row),
        })
        .collect();
    let found = faults(cluster.apply(Action::UpdateLatency { set, remove: Vec::new() }));
    assert_eq!(found.len(), crate::model::Violations::FOUND_MAX + 1);
    assert!(
        found[0].starts_with("rows[0].latencies['nowhere-0-0']: there is no such region"),
        "{}",
        found[0]
    );
    assert_eq!(found.last().unwrap(), "and 199700 more");
}
