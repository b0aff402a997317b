//! What became of the outcomes that this member was brought, since its start.

use std::sync::Mutex;

use super::relevance::Relevance;
use super::rings::lock;

/// Numbers of outcomes since the member's start, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Put before the cluster, because they seemed to change something.
    pub proposed: u64,
    /// Said what was known already (STA-7).
    pub confirming: u64,
    /// Told of the agent's own trouble.
    pub trouble: u64,
    /// Dropped: older than a verdict lives.
    pub late: u64,
    /// Dropped: brought before, or out of order.
    pub replayed: u64,
    /// Dropped: about endpoints that are not probed, or of checks that are over.
    pub not_assigned: u64,
    /// Dropped: unreadable.
    pub malformed: u64,
}

impl Counts {
    /// All that agents have brought, whatever became of it.
    pub fn received(&self) -> u64 {
        let Self { proposed, confirming, trouble, late, replayed, not_assigned, malformed } = *self;
        proposed + confirming + trouble + late + replayed + not_assigned + malformed
    }

    /// Counts one outcome that could be read.
    pub(super) fn count(&mut self, relevance: Relevance) {
        *match relevance {
            Relevance::Propose => &mut self.proposed,
            Relevance::Confirm => &mut self.confirming,
            Relevance::Trouble => &mut self.trouble,
            Relevance::Late => &mut self.late,
            Relevance::Replayed => &mut self.replayed,
            Relevance::NotAssigned => &mut self.not_assigned,
        } += 1;
    }
}

/// The counters of all streams together, touched once per report.
#[derive(Debug, Default)]
pub(super) struct Counters(Mutex<Counts>);

impl Counters {
    /// Adds the numbers of one report.
    pub(super) fn add(&self, report: &Counts) {
        let Counts { proposed, confirming, trouble, late, replayed, not_assigned, malformed } = report;
        let mut total = lock(&self.0);
        total.proposed += proposed;
        total.confirming += confirming;
        total.trouble += trouble;
        total.late += late;
        total.replayed += replayed;
        total.not_assigned += not_assigned;
        total.malformed += malformed;
    }

    /// The numbers now.
    pub(super) fn read(&self) -> Counts {
        *lock(&self.0)
    }
}
