//! What one stream has brought and the cluster has not yet committed, in order, and how far to acknowledge (STA-6).

use std::collections::{HashMap, VecDeque};

use waymark_core::model::EndpointId;
use waymark_core::state::ReportedOutcome;

/// Outcomes on their way into the log.
///
/// ```text
///   received ──▶ [ proposed | waiting ] ──▶ settled
///                    ▲ the first `proposed` of the queue
/// ```
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    queue: VecDeque<Waiting>,
    proposed: usize,
    by_endpoint: HashMap<EndpointId, u32>,
    highest: u64,
    acknowledged: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    outcome: ReportedOutcome,
    arrived_ms: u64,
}

impl Unsettled {
    /// Notes that the stream has brought `sequence`; false if it is no news there.
    pub(super) fn received(&mut self, sequence: u64) -> bool {
        if self.highest == 0 {
            // What came before this stream's first outcome is not this stream's to acknowledge.
            self.acknowledged = sequence.saturating_sub(1);
        }
        let is_new = sequence > self.highest;
        self.highest = self.highest.max(sequence);
        is_new
    }

    /// Puts an outcome that arrived at `arrived_ms` at the queue's end.
    pub(super) fn push(&mut self, outcome: ReportedOutcome, arrived_ms: u64) {
        *self.by_endpoint.entry(outcome.endpoint).or_default() += 1;
        self.queue.push_back(Waiting { outcome, arrived_ms });
    }

    /// Is anything about `endpoint` still to be committed?
    pub(super) fn contains(&self, endpoint: EndpointId) -> bool {
        self.by_endpoint.contains_key(&endpoint)
    }

    /// How many outcomes are still to be committed.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// The next batch, at most `most`, with the time spent here added to each age. It is in flight until
    /// [`Unsettled::settle`] or [`Unsettled::fail`].
    pub(super) fn propose(&mut self, now_ms: u64, most: usize) -> Vec<ReportedOutcome> {
        self.proposed = self.queue.len().min(most);
        let aged = |waiting: &Waiting| ReportedOutcome {
            age_ms: waiting.outcome.age_ms.saturating_add(now_ms.saturating_sub(waiting.arrived_ms)),
            ..waiting.outcome
        };
        self.queue.iter().take(self.proposed).map(aged).collect()
    }

    /// The batch in flight is committed.
    pub(super) fn settle(&mut self) {
        for Waiting { outcome, .. } in self.queue.drain(..std::mem::take(&mut self.proposed)) {
            if let Some(count) = self.by_endpoint.get_mut(&outcome.endpoint) {
                *count -= 1;
                if *count == 0 {
                    self.by_endpoint.remove(&outcome.endpoint);
                }
            }
        }
    }

    /// The batch in flight is not committed, or not known to be: it will be proposed again.
    pub(super) fn fail(&mut self) {
        self.proposed = 0;
    }

    /// Is there anything to acknowledge?
    pub(super) fn is_acknowledgement_due(&self) -> bool {
        self.settled() > self.acknowledged
    }

    /// The number up to which everything is settled, if that was not acknowledged yet; then it is.
    pub(super) fn acknowledge(&mut self) -> Option<u64> {
        self.is_acknowledgement_due().then(|| {
            self.acknowledged = self.settled();
            self.acknowledged
        })
    }

    fn settled(&self) -> u64 {
        self.queue.front().map_or(self.highest, |waiting| waiting.outcome.sequence.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use waymark_core::health::{Outcome, OutcomeClass};
    use waymark_core::model::Revision;

    fn outcome(sequence: u64) -> ReportedOutcome {
        let outcome = Outcome { class: OutcomeClass::Timeout, status: None };
        let (endpoint, check) = (EndpointId(sequence % 2), Revision(1));
        ReportedOutcome { endpoint, check, sequence, age_ms: 10, outcome }
    }

    #[test]
    fn sta_6_acknowledges_in_order_and_only_what_is_settled() {
        let mut unsettled = Unsettled::default();
        assert!(unsettled.received(5));
        assert_eq!(unsettled.acknowledge(), Some(5));
        for sequence in [6, 7, 8] {
            assert!(unsettled.received(sequence));
            unsettled.push(outcome(sequence), 100);
        }
        assert!(unsettled.received(9));
        assert!(!unsettled.received(7));
        assert_eq!(unsettled.acknowledge(), None);

        assert_eq!(unsettled.propose(100, 2).len(), 2);
        unsettled.fail();
        assert_eq!(unsettled.acknowledge(), None);
        assert_eq!(unsettled.propose(100, 2).len(), 2);
        unsettled.settle();
        assert_eq!((unsettled.acknowledge(), unsettled.acknowledge()), (Some(7), None));
        assert!(unsettled.contains(EndpointId(0)) && !unsettled.contains(EndpointId(1)));

        assert_eq!(unsettled.propose(150, 2), [ReportedOutcome { age_ms: 60, ..outcome(8) }]);
        unsettled.settle();
        assert_eq!((unsettled.acknowledge(), unsettled.len()), (Some(9), 0));
    }

    #[test]
    fn sta_6_does_not_acknowledge_what_came_before_its_stream() {
        let mut unsettled = Unsettled::default();
        assert!(unsettled.received(11));
        unsettled.push(outcome(11), 0);
        assert_eq!(unsettled.acknowledge(), None);
        unsettled.propose(0, 1);
        unsettled.settle();
        assert_eq!(unsettled.acknowledge(), Some(11));
    }
}
