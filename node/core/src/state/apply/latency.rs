//! The latency table: rows set and removed (RTE-7).

use std::collections::{BTreeMap, BTreeSet};

use super::lookup::region_hint;
use super::step::Step;
use crate::model::{Caseless, Network, NetworkFault, Violations, quote};
use crate::state::{Change, LatencyRow, LatencyRowDraft, LatencyTable, Rejection, Replaced};

/// Sets rows and removes others, all or none.
pub(super) fn update(
    step: &mut Step<'_>,
    set: &[LatencyRowDraft],
    remove: &[String],
) -> Result<(), Rejection> {
    let mut violations = Violations::new();
    if set.len() + remove.len() > LatencyTable::BATCH_MAX {
        let rule = format!(
            "{} rows are too many; one change has at most {}",
            set.len() + remove.len(),
            LatencyTable::BATCH_MAX
        );
        violations.add("rows", rule);
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    let rows = read_rows(step, set, &mut violations);
    let mut gone = Vec::new();
    for (at, text) in remove.iter().enumerate() {
        gone.extend(read_network(&format!("remove[{at}]"), text, &mut violations));
    }
    let mut table = step.state.latency.clone();
    let mut replaced = Vec::new();
    for network in gone {
        let before = table.rows.get(&network).cloned();
        if table.remove(&network) {
            replaced.push(Replaced::LatencyRow(network, before));
        }
    }
    for row in rows {
        let (network, before) = (row.network, table.rows.get(&row.network).cloned());
        if table.insert(row) {
            replaced.push(Replaced::LatencyRow(network, before));
        }
    }
    if table.rows.len() > LatencyTable::ROWS_MAX {
        let rule = format!(
            "{} would be too many; the table has at most {}",
            table.rows.len(),
            LatencyTable::ROWS_MAX
        );
        violations.add("rows", rule);
    }
    if !violations.is_empty() {
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    if !replaced.is_empty() {
        replaced.into_iter().for_each(|replaced| step.note_replaced(replaced));
        table.revision = step.revision;
        table.at = step.context.at;
        step.state.latency = table;
        step.note(Change::Latency);
    }
    Ok(())
}

fn read_rows(step: &Step<'_>, drafts: &[LatencyRowDraft], violations: &mut Violations) -> Vec<LatencyRow> {
    let mut networks = BTreeSet::new();
    let mut rows = Vec::with_capacity(drafts.len());
    for (at, draft) in drafts.iter().enumerate() {
        let field = format!("rows[{at}]");
        let network = read_network(&format!("{field}.network"), &draft.network, violations);
        if network.is_some_and(|network| !networks.insert(network)) {
            violations.add(&format!("{field}.network"), format!("{} is given twice", quote(&draft.network)));
        }
        let latencies = read_latencies(step, &field, draft, violations);
        rows.extend(network.map(|network| LatencyRow { network, latencies }));
    }
    rows
}

fn read_latencies(
    step: &Step<'_>,
    field: &str,
    draft: &LatencyRowDraft,
    violations: &mut Violations,
) -> Vec<(Caseless, u32)> {
    let mut latencies = BTreeMap::new();
    if draft.latencies.is_empty() || draft.latencies.len() > LatencyRow::REGIONS_MAX {
        let rule = format!("{} regions; a row has 1–{}", draft.latencies.len(), LatencyRow::REGIONS_MAX);
        violations.add(&format!("{field}.latencies"), rule);
        return Vec::new();
    }
    for (name, ms) in &draft.latencies {
        let region = Caseless::new(name);
        let field = format!("{field}.latencies[{}]", quote(name));
        if step.state.region(&region).is_none() {
            violations.add_with(&field, || {
                let meant = region_hint(&step.state, &region).map(|near| format!("; did you mean '{near}'?"));
                format!("there is no such region{}", meant.unwrap_or_default())
            });
        }
        violations.range(&field, u64::from(*ms), 0, LatencyRow::LATENCY_MS_MAX.into());
        if latencies.insert(region, *ms).is_some() {
            violations.add(&field, "is given twice");
        }
    }
    latencies.into_iter().collect()
}

fn read_network(field: &str, text: &str, violations: &mut Violations) -> Option<Network> {
    text.parse().map_err(|fault: NetworkFault| violations.add(field, fault.to_string())).ok()
}
