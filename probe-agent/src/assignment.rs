//! What this agent must probe, as its member last said (PRB-11). Pure.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use waymark_core::health::Check;
use waymark_core::model::{EndpointId, Revision};

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

/// The checks that are in force.
#[derive(Debug)]
pub struct Assignment {
    checks: HashMap<EndpointId, Arc<Check>>,
    capacity: usize,
}

impl Assignment {
    /// Nothing to probe yet, and never more than `capacity` checks.
    pub fn new(capacity: usize) -> Self {
        Self { checks: HashMap::new(), capacity }
    }

    /// Puts an update in force.
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
            Some(before) if **before == check => return,
            None if self.checks.len() >= self.capacity => {
                change.refused += 1;
                return;
            }
            _ => {}
        }
        self.checks.insert(endpoint, Arc::new(check));
        change.removed.remove(&endpoint);
        change.renewed.insert(endpoint);
    }

    /// The check of `endpoint` that is in force.
    pub fn get(&self, endpoint: EndpointId) -> Option<&Arc<Check>> {
        self.checks.get(&endpoint)
    }

    /// Does what the check of that revision found still count (STA-11)? It goes on where only headers have changed.
    pub fn is_current(&self, endpoint: EndpointId, revision: Revision) -> bool {
        self.get(endpoint).is_some_and(|check| check.revision == revision)
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
    use waymark_core::model::{Header, Protocol, Target};

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
            revision: Revision(u64::from(port)),
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
        let change = assignment.apply(update(false, &[(1, 80), (2, 81), (4, 80)], &[3, 9]));
        assert_eq!((ids(&change.renewed), ids(&change.removed)), (vec![2, 4], vec![3]));
        let current = [(1, 80), (2, 81), (2, 80), (3, 80)]
            .map(|(id, revision)| assignment.is_current(EndpointId(id), Revision(revision)));
        assert_eq!((current, assignment.len()), ([true, true, false, false], 3));
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
    fn sta_11_other_headers_are_sent_from_now_on_and_what_was_found_goes_on() {
        let mut assignment = Assignment::new(10);
        assignment.apply(update(true, &[(1, 80)], &[]));
        let headers = vec![Header { name: "X-A".into(), value: "1".into() }];
        let change = assignment.apply(Update {
            checks: vec![(EndpointId(1), Check { headers: headers.clone(), ..check(80) })],
            ..Update::default()
        });
        assert_eq!((ids(&change.renewed), ids(&change.removed)), (vec![1], vec![]));
        assert_eq!(assignment.get(EndpointId(1)).unwrap().headers, headers);
        assert!(assignment.is_current(EndpointId(1), Revision(80)));
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
