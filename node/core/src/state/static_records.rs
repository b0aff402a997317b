//! Which static records stand where, and whose they are (DNS-17).

use std::sync::Arc;

use super::State;
use crate::model::{Name, RecordKey, RecordSet, RecordType, Zone};

impl State {
    /// The static record set of that name and type.
    pub fn record_set(&self, name: &Name, record_type: RecordType) -> Option<&Arc<RecordSet>> {
        self.records.get(&(name.tree_key(), record_type))
    }

    /// The static record sets of `name`, in the order of their types' numbers.
    pub fn record_sets(&self, name: &Name) -> impl Iterator<Item = &Arc<RecordSet>> {
        let key = name.tree_key();
        let (first, last) = ((key.clone(), RecordType(0)), (key, RecordType(u16::MAX)));
        self.records.range(first..=last).map(|(_, set)| set)
    }

    /// The static record sets of `name` and of the names below it.
    pub fn record_sets_within(&self, name: &Name) -> impl Iterator<Item = &Arc<RecordSet>> {
        let key = name.tree_key();
        let first: RecordKey = (key.clone(), RecordType(0));
        self.records
            .range(first..)
            .take_while(move |((owner, _), _)| owner.starts_with(&key))
            .map(|(_, set)| set)
    }

    /// The zone that answers a question: the closest around `name`; but for DS at a zone's own name the one around that
    /// zone, if it is ours, as what leads to a zone is not the zone's to say (RFC 4035 §3.1.4.1).
    pub fn answering_zone(&self, name: &Name, record_type: RecordType) -> Option<&Arc<Zone>> {
        let is_parents = record_type == RecordType::DS && self.zones.contains_key(name);
        let parents = || self.enclosing_zone(&name.parent()?);
        is_parents.then(parents).flatten().or_else(|| self.enclosing_zone(name))
    }
}
