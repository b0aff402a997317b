//! When verdicts expire: one deadline for each endpoint that an agent has counted on, in one queue (STA-5).
//!
//! All times are milliseconds since the session's opening, by the monotonic clock. An outcome only notes when it was
//! found; the queue is touched once per lifetime of a verdict, not once per outcome.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use waymark_core::model::EndpointId;

/// The deadlines of one agent's verdicts.
#[derive(Debug, Default)]
pub(super) struct Freshness {
    watches: HashMap<EndpointId, Watch>,
    queue: BinaryHeap<Reverse<(u64, EndpointId)>>,
}

#[derive(Clone, Copy, Debug)]
struct Watch {
    /// When the latest counted outcome was found.
    found_ms: u64,
    /// Its only valid entry in the queue.
    due_ms: u64,
}

impl Freshness {
    /// An outcome that counts was found at `found_ms`; the verdict lives `lifetime_ms` from then.
    pub(super) fn heard(&mut self, endpoint: EndpointId, found_ms: u64, lifetime_ms: u64) {
        let due_ms = found_ms.saturating_add(lifetime_ms);
        let watch = self.watches.entry(endpoint).or_insert(Watch { found_ms, due_ms: u64::MAX });
        watch.found_ms = watch.found_ms.max(found_ms);
        // A later deadline is looked up when the queued one is reached; an earlier one, after the interval was
        // shortened, must be queued.
        if due_ms < watch.due_ms && found_ms >= watch.found_ms {
            watch.due_ms = due_ms;
            self.queue.push(Reverse((due_ms, endpoint)));
        }
    }

    /// When [`Freshness::overdue`] should be asked next.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.queue.peek().map(|Reverse((due_ms, _))| *due_ms)
    }

    /// Takes out the endpoints, at most `most`, on which nothing that counts was found for a lifetime.
    ///
    /// `lifetime_ms` gives each verdict's present lifetime; `None` if there is nothing left that could expire.
    pub(super) fn overdue(
        &mut self,
        now_ms: u64,
        most: usize,
        mut lifetime_ms: impl FnMut(EndpointId) -> Option<u64>,
    ) -> Vec<EndpointId> {
        let mut overdue = Vec::new();
        while overdue.len() < most {
            let Some(&Reverse((due_ms, endpoint))) = self.queue.peek() else { break };
            if due_ms > now_ms {
                break;
            }
            self.queue.pop();
            let Some(watch) = self.watches.get_mut(&endpoint).filter(|watch| watch.due_ms == due_ms) else {
                continue;
            };
            let Some(lifetime_ms) = lifetime_ms(endpoint) else {
                self.watches.remove(&endpoint);
                continue;
            };
            watch.due_ms = watch.found_ms.saturating_add(lifetime_ms);
            if watch.due_ms > now_ms {
                self.queue.push(Reverse((watch.due_ms, endpoint)));
            } else {
                self.watches.remove(&endpoint);
                overdue.push(endpoint);
            }
        }
        overdue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: EndpointId = EndpointId(1);
    const B: EndpointId = EndpointId(2);

    #[test]
    fn sta_5_expires_a_lifetime_after_the_last_outcome_and_not_before() {
        let mut freshness = Freshness::default();
        freshness.heard(A, 0, 100);
        freshness.heard(B, 0, 100);
        freshness.heard(A, 60, 100);
        assert_eq!(freshness.next_ms(), Some(100));
        assert!(freshness.overdue(99, 10, |_| Some(100)).is_empty());
        assert_eq!(freshness.overdue(100, 10, |_| Some(100)), [B]);
        assert_eq!(freshness.next_ms(), Some(160));
        assert!(freshness.overdue(159, 10, |_| Some(100)).is_empty());
        assert_eq!(freshness.overdue(160, 10, |_| Some(100)), [A]);
        assert_eq!(freshness.next_ms(), None);
    }

    #[test]
    fn sta_5_an_old_outcome_does_not_bring_the_deadline_forward() {
        let mut freshness = Freshness::default();
        freshness.heard(A, 50, 100);
        freshness.heard(A, 10, 100);
        assert!(freshness.overdue(149, 10, |_| Some(100)).is_empty());
        assert_eq!(freshness.overdue(150, 10, |_| Some(100)), [A]);
    }

    #[test]
    fn sta_5_a_changed_interval_moves_the_deadline_both_ways() {
        let mut freshness = Freshness::default();
        freshness.heard(A, 0, 1_000);
        freshness.heard(A, 10, 100);
        assert_eq!(freshness.overdue(110, 10, |_| Some(100)), [A]);
        freshness.heard(B, 0, 100);
        assert!(freshness.overdue(100, 10, |_| Some(1_000)).is_empty());
        assert!(freshness.overdue(999, 10, |_| Some(1_000)).is_empty());
        assert_eq!(freshness.overdue(1_000, 10, |_| Some(1_000)), [B]);
    }

    #[test]
    fn sta_5_what_has_no_verdict_is_forgotten_and_the_number_taken_is_bounded() {
        let mut freshness = Freshness::default();
        for endpoint in 0..5 {
            freshness.heard(EndpointId(endpoint), 0, 100);
        }
        let taken = freshness.overdue(200, 2, |endpoint| (endpoint.0 != 0).then_some(100));
        assert_eq!(taken, [EndpointId(1), EndpointId(2)]);
        assert_eq!(freshness.overdue(200, 10, |_| Some(100)).len(), 2);
        assert!(freshness.watches.is_empty() && freshness.queue.is_empty());
    }
}
