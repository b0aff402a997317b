//! What members and agents measured: taken in, and forgotten when nobody confirms it (RTE-7).

use super::lookup::region_hint;
use super::step::Step;
use crate::model::{Caseless, Network, Timestamp, Violations};
use crate::state::{Change, LatencyRow, LearnedTable, News, Rejection};

/// Takes in how far networks are from a region. What is no news changes nothing.
pub(super) fn learn(step: &mut Step<'_>, region: &str, found: &[(Network, u32)]) -> Result<(), Rejection> {
    let name = Caseless::new(region);
    let Some(region) = step.state.region(&name) else {
        let hint = region_hint(&step.state, &name);
        return Err(Rejection::NotFound { noun: "region", name: region.to_owned(), hint });
    };
    let mut violations = Violations::new();
    violations.range("found", found.len() as u64, 1, LearnedTable::BATCH_MAX as u64);
    for (at, (network, ms)) in found.iter().enumerate() {
        violations.range(&format!("found[{at}].ms"), u64::from(*ms), 0, LatencyRow::LATENCY_MS_MAX.into());
        if *network != LearnedTable::network_of(network.address()) {
            violations.add(&format!("found[{at}].network"), format!("{network} is no /24 and no /48"));
        }
    }
    if !violations.is_empty() {
        return Err(Rejection::Invalid(violations.into_vec()));
    }
    let mut is_news = false;
    for (network, ms) in found {
        is_news |= step.state.learned.learn(*network, &region.name, *ms, step.context.at) != News::Nothing;
    }
    if is_news {
        step.note(Change::Latency);
    }
    Ok(())
}

/// Forgets what was last confirmed before `end`.
pub(super) fn forget(step: &mut Step<'_>, end: Timestamp) -> Result<(), Rejection> {
    if step.state.learned.keep(|_, confirmed| confirmed >= end) {
        step.note(Change::Latency);
    }
    Ok(())
}

/// Forgets what was measured from a region that is not where it was.
pub(super) fn forget_region(step: &mut Step<'_>, region: &Caseless) {
    if step.state.learned.keep(|known, _| known != region) {
        step.note(Change::Latency);
    }
}
