//! What this agent must probe, as its member last said (PRB-11). Pure.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use waymark_core::health::Check;
use waymark_core::model::EndpointId;

/// Most checks that one agent takes on, so that memory stays bounded whatever a member says; more are refused and
/// counted in the log. Twice the endpoints of the largest cluster that is planned for.
pub const CHECKS_MAX: usize = 1_000_000;

/// What a member says must be probed.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// These are all checks there are; else only what changed.
    pub full: bool,
    /// New or different checks.
    pub checks: Vec<(EndpointId, Check)>,
    /// Endpoints that are probed no more.
    pub removed: Vec<EndpointId>,
}

/// What an update did.
#[derive(Debug, Default)]
pub struct Change {
    /// Endpoints whose check is new or different.
    pub renewed: HashSet<EndpointId>,
    /// Endpoints that are probed no more.
    pub removed: HashSet<EndpointId>,
    /// Checks that there was no room for.
    pub refused: usize,
}

impl Change {
    /// Did it touch `endpoint`? What its old check found is then worth nothing.
    pub fn concerns(&self, endpoint: EndpointId) -> bool {
        self.renewed.contains(&endpoint) || self.removed.contains(&endpoint)
    }
}

/// One check, and which of the checks of its endpoint it is.
#[derive(Clone, Debug)]
pub struct Assigned {
    /// What to do.
    pub check: Arc<Check>,
    /// Different for every check that an endpoint ever had.
    pub generation: u64,
}

/// The checks that are in force.
#[derive(Debug)]
pub struct Assignment {
    checks: HashMap<EndpointId, Assigned>,
    generation: u64,
    capacity: usize,
}

impl Assignment {
    /// Nothing to probe yet, and never more than `capacity` checks.
    pub fn new(capacity: usize) -> Self {
        Self { checks: HashMap::new(), generation: 0, capacity }
    }

    /// Puts an update in force. A check that stays the same keeps its generation.
    pub fn apply(&mut self, update: Update) -> Change {
        let mut change = Change::default();
        let mut removed = update.removed;
        if update.full {
            let listed: HashSet<EndpointId> = update.checks.iter().map(|(endpoint, _)| *endpoint).collect();
            removed.extend(self.checks.keys().filter(|endpoint| !listed.contains(endpoint)));
        }
        for endpoint in removed {
            if self.checks.remove(&endpoint).is_some() {
                change.removed.insert(endpoint);
            }
        }
        for (endpoint, check) in update.checks {
            self.take_on(endpoint, check, &mut change);
        }
        change
    }

    fn take_on(&mut self, endpoint: EndpointId, check: Check, change: &mut Change) {
        match self.checks.get(&endpoint) {
            Some(assigned) if *assigned.check == check => return,
            None if self.checks.len() >= self.capacity => {
                change.refused += 1;
                return;
            }
            _ => {}
        }
        self.generation += 1;
        self.checks.insert(endpoint, Assigned { check: Arc::new(check), generation: self.generation });
        change.removed.remove(&endpoint);
        change.renewed.insert(endpoint);
    }

    /// The check of `endpoint` that is in force.
    pub fn get(&self, endpoint: EndpointId) -> Option<&Assigned> {
        self.checks.get(&endpoint)
    }

    /// Is that still the check of `endpoint`?
    pub fn is_current(&self, endpoint: EndpointId, generation: u64) -> bool {
        self.get(endpoint).is_some_and(|assigned| assigned.generation == generation)
    }

    /// How many checks are in force.
    pub fn len(&self) -> usize {
        self.checks.len()
    }

    /// Is there nothing to probe?
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use waymark_core::model::{Protocol, Target};

    use super::*;

    fn check(port: u16) -> Check {
        Check {
            protocol: Protocol::Tcp,
            target: Target::V4([192, 0, 2, 1].into()),
            port,
            path: "/".to_owned(),
            interval_ms: 1_000,
            timeout_ms: 1_000,
            expect: Vec::new(),
            headers: Vec::new(),
        }
    }

    fn update(full: bool, checks: &[(u64, u16)], removed: &[u64]) -> Update {
        Update {
            full,
            checks: checks.iter().map(|(id, port)| (EndpointId(*id), check(*port))).collect(),
            removed: removed.iter().map(|id| EndpointId(*id)).collect(),
        }
    }

    fn ids(set: &HashSet<EndpointId>) -> Vec<u64> {
        let mut ids: Vec<u64> = set.iter().map(|endpoint| endpoint.0).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn prb_11_a_delta_touches_only_what_it_names() {
        let mut assignment = Assignment::new(10);
        assignment.apply(update(true, &[(1, 80), (2, 80), (3, 80)], &[]));
        let before = assignment.get(EndpointId(1)).unwrap().generation;
        let change = assignment.apply(update(false, &[(1, 80), (2, 81), (4, 80)], &[3, 9]));
        assert_eq!((ids(&change.renewed), ids(&change.removed)), (vec![2, 4], vec![3]));
        assert!(assignment.is_current(EndpointId(1), before), "the same check goes on");
        assert!(change.concerns(EndpointId(3)) && !change.concerns(EndpointId(1)));
        assert_eq!(assignment.len(), 3);
    }

    #[test]
    fn prb_11_a_full_assignment_replaces_everything() {
        let mut assignment = Assignment::new(10);
        assignment.apply(update(true, &[(1, 80), (2, 80)], &[]));
        let change = assignment.apply(update(true, &[(2, 80), (3, 80)], &[]));
        assert_eq!((ids(&change.renewed), ids(&change.removed)), (vec![3], vec![1]));
        let change = assignment.apply(update(true, &[], &[]));
        assert_eq!(ids(&change.removed), [2, 3]);
        assert!(assignment.is_empty());
    }

    #[test]
    fn prb_11_a_check_that_comes_back_is_a_new_one() {
        let mut assignment = Assignment::new(10);
        assignment.apply(update(true, &[(1, 80)], &[]));
        let before = assignment.get(EndpointId(1)).unwrap().generation;
        let change = assignment.apply(update(false, &[(1, 80)], &[1]));
        assert_eq!((ids(&change.renewed), ids(&change.removed)), (vec![1], vec![]));
        assert!(!assignment.is_current(EndpointId(1), before));
    }

    #[test]
    fn what_there_is_no_room_for_is_refused() {
        let mut assignment = Assignment::new(2);
        let change = assignment.apply(update(true, &[(1, 80), (2, 80), (3, 80)], &[]));
        assert_eq!((change.refused, assignment.len()), (1, 2));
        let change = assignment.apply(update(false, &[(1, 81), (3, 80)], &[2]));
        assert_eq!((change.refused, ids(&change.renewed)), (0, vec![1, 3]));
    }
}
