//! The zones of a cluster that has few of them, side by side: a query compares some bytes instead of going down a tree.

use std::sync::Arc;

use imbl::OrdMap;

use crate::model::{Name, Zone, parent_wire};

/// All zones, or none of them where they are more than a glance takes in.
#[derive(Clone, Debug, Default)]
pub(super) struct NearZones(Option<Arc<[Arc<Zone>]>>);

impl NearZones {
    /// Beyond it a tree is faster.
    const ZONES_MAX: usize = 8;

    /// Those of `zones`.
    pub(super) fn of(zones: &OrdMap<Name, Arc<Zone>>) -> Self {
        Self((zones.len() <= Self::ZONES_MAX).then(|| zones.values().cloned().collect()))
    }

    /// The zone of that name.
    pub(super) fn get<'a>(
        &'a self,
        zones: &'a OrdMap<Name, Arc<Zone>>,
        name: &Name,
    ) -> Option<&'a Arc<Zone>> {
        match &self.0 {
            Some(near) => near.iter().find(|zone| zone.name == *name),
            None => zones.get(name),
        }
    }

    /// The closest zone around `name`, a wire form; none if there is none or zones are many.
    pub(super) fn around(&self, name: &[u8]) -> Option<&Zone> {
        let near = self.0.as_ref()?;
        let ends = std::iter::successors(Some(name), |end| parent_wire(end));
        let zone = ends.flat_map(|end| near.iter().filter(move |zone| zone.name.as_wire() == end)).next()?;
        Some(zone)
    }

    /// Is it certain that `name` lies in no zone? Only bytes are compared, so that a label may be taken for the length of
    /// another: then it is not certain.
    pub(super) fn are_surely_without(&self, name: &Name) -> bool {
        let has_end = |zone: &Arc<Zone>| name.as_wire().ends_with(zone.name.as_wire());
        self.0.as_ref().is_some_and(|near| !near.iter().any(has_end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{example_state, name, set_zone};

    #[test]
    fn few_zones_are_found_as_many_are() {
        let mut state = example_state();
        for count in 1..=NearZones::ZONES_MAX + 2 {
            let near = NearZones::of(&state.zones);
            assert_eq!(near.0.is_some(), state.zones.len() <= NearZones::ZONES_MAX, "{count}");
            for zone in ["example.com", "z2.example.net", "gone.example.net"].map(name) {
                assert_eq!(near.get(&state.zones, &zone), state.zones.get(&zone), "{count}: {zone}");
            }
            for target in ["a.example.com", "example.com", "a.example.org", "com", "notexample.com"].map(name)
            {
                let lies_within = state.enclosing_zone(&target).is_some();
                assert_eq!(near.are_surely_without(&target), near.0.is_some() && !lies_within, "{target}");
                let zone = state.enclosing_zone(&target).filter(|_| near.0.is_some()).map(|zone| &**zone);
                assert_eq!(near.around(target.as_wire()), zone, "{target}");
            }
            set_zone(&mut state, &format!("z{}.example.net", count + 1), &[("ns1.example.com", &[])]);
        }
    }

    /// A label of 48 bytes begins with a byte that is a digit, too.
    #[test]
    fn what_looks_like_a_zone_is_looked_at() {
        let mut state = example_state();
        let long = "a".repeat(48);
        set_zone(&mut state, &format!("{long}.test"), &[("ns1.example.com", &[])]);
        let target = name(&format!("x0{long}.test"));
        assert!(state.enclosing_zone(&target).is_none());
        assert!(!NearZones::of(&state.zones).are_surely_without(&target));
    }
}
