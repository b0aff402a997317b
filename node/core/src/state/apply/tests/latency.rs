//! The latency table's limits.

use super::*;
use crate::model::Timestamp;
use crate::state::{ClientRow, LatencyRowDraft, LatencyTable, LearnedTable};

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

fn learn(region: &str, found: &[(&str, u32)]) -> Action {
    let found = found.iter().map(|(network, ms)| (network.parse().unwrap(), *ms));
    Action::LearnLatencies { region: region.into(), found: found.collect() }
}

fn learned(state: &State, client: &str) -> Option<u32> {
    match state.latency_row_of(client.parse().unwrap()).1? {
        ClientRow::Learned(row) => row.latency_ms(&"r1".into()),
        ClientRow::Imported(_) => None,
    }
}

/// What is measured is taken in once, and is forgotten when nobody confirms it or its region goes elsewhere.
#[test]
fn rte_7_what_is_measured_is_learned_and_forgotten() {
    let mut cluster = Cluster::new();
    let start = cluster.state.counter;
    cluster.apply(learn("R1", &[("198.51.100.0/24", 20), ("2001:db8::/48", 90)])).unwrap();
    assert_eq!(learned(&cluster.state, "198.51.100.7"), Some(20));
    assert_eq!(learned(&cluster.state, "198.51.101.7"), None);
    let taken = cluster.state.clone();
    cluster.apply(learn("r1", &[("198.51.100.0/24", 22)])).unwrap();
    assert_eq!(cluster.state, taken, "much the same: nothing is written");
    assert_eq!(taken.counter.0, start.0 + 1);
    cluster.apply(learn("r1", &[("198.51.100.0/24", 9)])).unwrap();
    assert_eq!(learned(&cluster.state, "198.51.100.7"), Some(9));
    assert_eq!(cluster.state.history, taken.history, "what operators did is not pushed out");
    cluster.apply(Action::ForgetLatencies { before: Timestamp(0) }).unwrap();
    assert_eq!(learned(&cluster.state, "198.51.100.7"), Some(9));
    let known = cluster.state.clone();
    cluster.apply(Action::ForgetLatencies { before: Timestamp(u64::MAX) }).unwrap();
    assert!(cluster.state.learned.rows.is_empty());
    cluster.state = known;
    cluster.apply(Action::SetRegion(region_at("r2", 5_000_000))).unwrap();
    assert_eq!(learned(&cluster.state, "198.51.100.7"), Some(9));
    cluster.apply(Action::SetRegion(region_at("r1", 5_000_000))).unwrap();
    assert!(cluster.state.learned.rows.is_empty());
}

#[test]
fn val_1_a_measurement_that_cannot_be_one_is_refused_whole() {
    let mut cluster = Cluster::new();
    let all = learn("r1", &[("198.51.100.0/25", 20), ("2001:db8::/56", 60_001), ("192.0.2.0/24", 1)]);
    assert_eq!(
        faults(cluster.apply(all)),
        [
            "found[0].network: 198.51.100.0/25 is no /24 and no /48",
            "found[1].ms: 60001 is outside 0–60000",
            "found[1].network: 2001:db8::/56 is no /24 and no /48",
        ]
    );
    assert!(cluster.state.learned.rows.is_empty());
    assert_eq!(faults(cluster.apply(learn("r1", &[]))), ["found: 0 is outside 1–250"]);
    let many = vec![("198.51.100.0/24", 1); LearnedTable::BATCH_MAX + 1];
    assert_eq!(faults(cluster.apply(learn("r1", &many))), ["found: 251 is outside 1–250"]);
    assert!(matches!(
        cluster.apply(learn("r9", &[("198.51.100.0/24", 1)])),
        Err(Rejection::NotFound { noun: "region", .. })
    ));
}
