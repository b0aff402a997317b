//! Tells the log what consensus goes through, once for each change: who leads, which members cannot be reached, and
//! that it has failed. openraft itself repeats such things several times a second.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::CancellationToken;

use super::leader::failure;
use super::types::{Metrics, Raft};

/// Tells who leads, and the end if it is a bad one, until `stop`.
pub(super) async fn narrate(raft: Raft, stop: CancellationToken) {
    let mut metrics = raft.metrics();
    let mut told = None;
    loop {
        let (leadership, failure) = {
            let now = metrics.borrow_and_update();
            (Leadership::of(&now), failure(&now).map(|error| error.to_string()))
        };
        if let Some(reason) = failure {
            tracing::error!(
                reason,
                "consensus has failed: this member takes no part in it until it is restarted"
            );
            return;
        }
        if told.as_ref() != Some(&leadership) {
            leadership.tell();
            told = Some(leadership);
        }
        match stop.run_until_cancelled(metrics.changed()).await {
            Some(Ok(())) => {}
            // It was ended on purpose, and the purpose has been told.
            Some(Err(_)) if metrics.borrow().running_state.is_err() => return,
            Some(Err(_)) => {
                tracing::error!(
                    "consensus has ended unexpectedly: this member takes no part in it until it is restarted"
                );
                return;
            }
            None => return,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Leadership {
    term: u64,
    leader: Option<u64>,
    is_here: bool,
}

impl Leadership {
    fn of(metrics: &Metrics) -> Self {
        let leader = metrics.current_leader;
        // A member that is cut off raises its term with each candidacy: without a leader, that is no news.
        let term = if leader.is_some() { metrics.current_term } else { 0 };
        Self { term, leader, is_here: leader == Some(metrics.id) }
    }

    fn tell(&self) {
        let term = self.term;
        match self.leader {
            Some(_) if self.is_here => tracing::info!(term, "this member leads"),
            Some(leader) => tracing::info!(term, leader, "another member leads"),
            None => tracing::info!("no leader is known"),
        }
    }
}

/// Refusals that are told: a member has few others to be taken for.
const REFUSALS_MAX: usize = 16;

/// What was refused to other members, each told once: they ask several times a second.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    told: Mutex<BTreeSet<String>>,
}

impl Refusals {
    /// A request was refused for `reason`.
    pub(super) fn tell(&self, reason: &str) {
        let mut told = self.told.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if told.len() < REFUSALS_MAX && !told.contains(reason) {
            told.insert(reason.to_owned());
            tracing::error!("a request of another member is refused: {reason}");
        }
    }

    /// Was something told that contains `part`?
    #[cfg(test)]
    pub(super) fn has_told(&self, part: &str) -> bool {
        self.told.lock().is_ok_and(|told| told.iter().any(|text| text.contains(part)))
    }
}

/// A member that did not answer this many times in a row cannot be reached; fewer are a busy moment.
const MISSES: u32 = 3;

/// How many times in a row members did not answer. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    misses: Arc<Mutex<HashMap<u64, u32>>>,
}

/// One attempt to reach a member; dropped without an outcome, it has taken too long.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    reach: &'a Reach,
    member: u64,
    address: &'a str,
    is_over: bool,
}

impl Reach {
    /// The member at `address` is being tried.
    pub(super) fn attempt<'a>(&'a self, member: u64, address: &'a str) -> Attempt<'a> {
        Attempt { reach: self, member, address, is_over: false }
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<u64, u32>> {
        self.misses.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Attempt<'_> {
    /// The member has answered.
    pub(super) fn succeeded(mut self) {
        self.is_over = true;
        let (member, address) = (self.member, self.address);
        let misses = self.reach.locked().remove(&member).unwrap_or_default();
        if misses >= MISSES {
            tracing::info!(member, address, "a member is reached again");
        }
    }

    /// It has not, for `reason`.
    pub(super) fn failed(mut self, reason: &str) {
        self.miss(reason);
    }

    fn miss(&mut self, reason: &str) {
        self.is_over = true;
        let (member, address) = (self.member, self.address);
        let mut all = self.reach.locked();
        let misses = all.entry(member).or_default();
        *misses = misses.saturating_add(1);
        if *misses == MISSES {
            tracing::warn!(member, address, reason, "a member cannot be reached");
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.miss("it does not answer in time");
        }
    }
}
