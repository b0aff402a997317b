//! Static records: set and deleted, a name's records of one type at a time (DNS-17).

use std::sync::Arc;

use super::lookup::check_revision;
use super::step::Step;
use super::{lookup, names};
use crate::model::{Name, RecordSet, RecordType, Revision, Violations, Zone, validate_record_set};
use crate::state::{Change, Rejection};

/// Which records are meant.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) zone: &'a str,
    pub(super) relative_name: &'a str,
    pub(super) record_type: &'a RecordType,
}

/// Puts these records in the place of those that there are, if any.
pub(super) fn set(
    step: &mut Step<'_>,
    place: Place<'_>,
    ttl: u32,
    data: &[Arc<[u8]>],
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let Place { zone, relative_name, record_type: &record_type } = place;
    let zone = lookup::zone(&step.state, zone)?;
    if if_revision.is_some() {
        // Only a set that is there has a revision.
        let known = lookup::record_set(&step.state, &zone, relative_name, record_type)?;
        check_revision("record set", &known.title(), known.revision, if_revision)?;
    }
    let mut violations = Violations::new();
    let place = names::place_records(&step.state, &zone, relative_name, record_type, &mut violations);
    validate_record_set(record_type, ttl, data, &mut violations);
    if let Some((_, full_name)) = &place {
        check_alias(full_name, record_type, data, &mut violations);
    }
    let Some((relative_name, full_name)) = place.filter(|_| violations.is_empty()) else {
        return Err(Rejection::Invalid(violations.into_vec()));
    };
    let (zone, data) = (zone.name.clone(), data.to_vec());
    let after = RecordSet { zone, relative_name, full_name, record_type, ttl, data, revision: step.revision };
    let is_same = |before: &Arc<RecordSet>| (before.ttl, &before.data) == (after.ttl, &after.data);
    if step.state.records.get(&after.key()).is_some_and(is_same) {
        return Ok(());
    }
    note(step, &after);
    step.state.records.insert(after.key(), Arc::new(after));
    Ok(())
}

/// Ends the records.
pub(super) fn delete(
    step: &mut Step<'_>,
    place: Place<'_>,
    if_revision: Option<Revision>,
) -> Result<(), Rejection> {
    let zone = lookup::zone(&step.state, place.zone)?;
    let set = lookup::record_set(&step.state, &zone, place.relative_name, *place.record_type)?;
    check_revision("record set", &set.title(), set.revision, if_revision)?;
    note(step, &set);
    step.state.records.remove(&set.key());
    Ok(())
}

/// Says that `set` changes, and with it its zone: the serial rises (DNS-2).
fn note(step: &mut Step<'_>, set: &RecordSet) {
    let zone = step.state.zones.get(&set.zone).expect("records stand in a zone that exists");
    let zone = Zone { revision: step.revision, ..Zone::clone(zone) };
    step.note(Change::Zone(zone.name.clone()));
    step.state.zones.insert(zone.name.clone(), Arc::new(zone));
    step.note(Change::Records(set.full_name.clone(), set.record_type));
}

/// An alias that leads to itself leads nowhere.
fn check_alias(full_name: &Name, record_type: RecordType, data: &[Arc<[u8]>], violations: &mut Violations) {
    let is_own = |data: &Arc<[u8]>| Name::read_wire(data).is_some_and(|target| target == *full_name);
    if record_type == RecordType::CNAME && data.first().is_some_and(is_own) {
        violations.add("data[0]", format!("'{full_name}' is the alias's own name"));
    }
}
