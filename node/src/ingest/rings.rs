//! Rings of recent outcomes, one for each endpoint of one agent, under a budget that all agents of a member share.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use waymark_core::health::OutcomeClass;
use waymark_core::model::EndpointId;

use super::limits::RECENT_PER_ENDPOINT;
use super::recent::RecentOutcome;

/// What one agent has brought.
#[derive(Debug)]
pub(super) struct Rings {
    by_endpoint: Mutex<HashMap<EndpointId, VecDeque<RecentOutcome>>>,
    budget: Arc<Budget>,
}

impl Rings {
    pub(super) fn new(budget: Arc<Budget>) -> Self {
        Self { by_endpoint: Mutex::default(), budget }
    }

    /// Keeps the outcomes of one report, in place of the oldest.
    pub(super) fn keep(&self, outcomes: impl IntoIterator<Item = (EndpointId, RecentOutcome)>) {
        let mut rings = lock(&self.by_endpoint);
        for (endpoint, outcome) in outcomes {
            let ring = rings.entry(endpoint).or_insert_with(|| {
                self.budget.rings.fetch_add(1, Ordering::Relaxed);
                VecDeque::new()
            });
            self.budget.keep(ring, outcome);
        }
    }

    /// Drops what is kept of endpoints that are not probed any more.
    pub(super) fn forget(&self, endpoints: impl IntoIterator<Item = EndpointId>) {
        let mut rings = lock(&self.by_endpoint);
        for endpoint in endpoints {
            if let Some(ring) = rings.remove(&endpoint) {
                self.budget.release(&ring);
            }
        }
    }

    /// The latest outcome on each of `endpoints`, where it was no success.
    pub(super) fn last(&self, endpoints: &[EndpointId]) -> Vec<(EndpointId, RecentOutcome)> {
        let rings = lock(&self.by_endpoint);
        let latest = endpoints.iter().filter_map(|id| Some((*id, rings.get(id)?.back()?)));
        let troubled = latest.filter(|(_, found)| found.outcome.class != OutcomeClass::Ok);
        troubled.map(|(id, found)| (id, found.clone())).collect()
    }

    /// What is kept of `endpoint`, the latest last.
    pub(super) fn of(&self, endpoint: EndpointId) -> Vec<RecentOutcome> {
        lock(&self.by_endpoint).get(&endpoint).map(|ring| ring.iter().cloned().collect()).unwrap_or_default()
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        lock(&self.by_endpoint).values().for_each(|ring| self.budget.release(ring));
    }
}

/// How much is kept by all rings of a member together.
#[derive(Debug)]
pub(super) struct Budget {
    most: usize,
    rings: AtomicUsize,
    held: AtomicUsize,
}

impl Budget {
    /// A budget of `most` outcomes.
    pub(super) fn new(most: usize) -> Self {
        Self { most, rings: AtomicUsize::new(0), held: AtomicUsize::new(0) }
    }

    /// How many outcomes are kept.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Puts `outcome` into `ring`. Each ring gets an equal share of the budget; while others hold more than theirs,
    /// because they were filled when there were fewer, a ring grows no further.
    fn keep(&self, ring: &mut VecDeque<RecentOutcome>, outcome: RecentOutcome) {
        let share = self.most / self.rings.load(Ordering::Relaxed).max(1);
        let depth = share.clamp(1, RECENT_PER_ENDPOINT);
        while ring.len() >= depth && ring.pop_front().is_some() {
            self.held.fetch_sub(1, Ordering::Relaxed);
        }
        ring.shrink_to(depth);
        if self.held.fetch_add(1, Ordering::Relaxed) < self.most {
            if ring.len() == ring.capacity() {
                // Left alone, it would begin with places for four: where endpoints are many, most rings hold one.
                ring.reserve_exact(ring.len().max(1).min(depth - ring.len()));
            }
            ring.push_back(outcome);
            return;
        }
        self.held.fetch_sub(1, Ordering::Relaxed);
        if ring.pop_front().is_some() {
            ring.push_back(outcome);
        }
    }

    fn release(&self, ring: &VecDeque<RecentOutcome>) {
        self.rings.fetch_sub(1, Ordering::Relaxed);
        self.held.fetch_sub(ring.len(), Ordering::Relaxed);
    }
}

/// Locks, also after a panic elsewhere: what is kept here is complete after each step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::recent::tests::outcome;
    use super::*;

    fn sequences(rings: &Rings, endpoint: u64) -> Vec<u64> {
        rings.of(EndpointId(endpoint)).iter().map(|outcome| outcome.sequence).collect()
    }

    #[test]
    fn a_ring_keeps_the_latest_outcomes_up_to_its_depth() {
        let budget = Arc::new(Budget::new(1_000));
        let rings = Rings::new(budget.clone());
        rings.keep((1..=20).map(|sequence| (EndpointId(1), outcome(sequence))));
        assert_eq!(sequences(&rings, 1), (5..=20).collect::<Vec<_>>());
        rings.forget([EndpointId(1), EndpointId(2)]);
        assert!(sequences(&rings, 1).is_empty());
        assert_eq!((budget.held(), budget.rings.load(Ordering::Relaxed)), (0, 0));
    }

    /// PERF-7: among many rings nearly all hold a single outcome.
    #[test]
    fn sec_6_rings_take_no_more_memory_than_what_they_may_hold() {
        let budget = Arc::new(Budget::new(32));
        let rings = Rings::new(budget.clone());
        let places = |endpoint: u64| lock(&rings.by_endpoint)[&EndpointId(endpoint)].capacity();
        rings.keep([(EndpointId(1), outcome(1))]);
        assert_eq!(places(1), 1);
        rings.keep((2..=40).map(|sequence| (EndpointId(1), outcome(sequence))));
        assert_eq!(places(1), RECENT_PER_ENDPOINT);
        rings.keep((2..=32).map(|endpoint| (EndpointId(endpoint), outcome(1))));
        rings.keep((1..=32).map(|endpoint| (EndpointId(endpoint), outcome(41))));
        assert!((1..=32).all(|endpoint| places(endpoint) <= 1));
    }

    #[test]
    fn sec_6_rings_share_a_budget_that_is_never_exceeded() {
        let budget = Arc::new(Budget::new(32));
        let (first, second) = (Rings::new(budget.clone()), Rings::new(budget.clone()));
        for sequence in 1..=20 {
            first.keep([(EndpointId(1), outcome(sequence)), (EndpointId(2), outcome(sequence))]);
        }
        assert_eq!(budget.held(), 32);
        // The other agent gets its share as soon as those that are there before it are next heard of.
        second.keep([(EndpointId(1), outcome(1)), (EndpointId(2), outcome(1))]);
        assert_eq!((budget.held(), sequences(&second, 1).len()), (32, 0));
        first.keep([(EndpointId(1), outcome(21)), (EndpointId(2), outcome(21))]);
        second.keep([(EndpointId(1), outcome(2)), (EndpointId(2), outcome(2))]);
        assert_eq!((sequences(&first, 1).len(), sequences(&second, 1)), (8, vec![2]));
        assert!(budget.held() <= 32);
        drop(first);
        assert_eq!(budget.held(), 2);
    }
}
