//! How far members have acknowledged what is committed. A member whose data directory was put back to an older copy
//! cannot know it: its log and its note of what it acknowledged are both old. Its leader knows, and tells it with each
//! message, so that it ends its part in consensus instead of voting as if it had never seen what it has lost (CLU-2).
//!
//! What is committed is never cut from a log again, whoever leads: a member that does not hold what it has acknowledged
//! of it has lost it for certain. Not noticed is a loss that falls together with a change of the leader, or with its
//! restart: the next leader knows nothing of what was acknowledged before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::types::LogId;

/// For each other member, the last committed entry that it has acknowledged to this process. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Acknowledged {
    entries: Arc<Mutex<HashMap<u64, u64>>>,
}

impl Acknowledged {
    /// `member` has said that it holds `upto`, and everything up to `commit` is committed.
    pub(super) fn note(&self, member: u64, upto: Option<LogId>, commit: Option<LogId>) {
        // `None` comes before every entry.
        if let Some(id) = upto.min(commit) {
            let mut entries = self.locked();
            let known = entries.entry(member).or_default();
            *known = id.index.max(*known);
        }
    }

    /// The last committed entry that `member` has acknowledged.
    pub(super) fn by(&self, member: u64) -> Option<u64> {
        self.locked().get(&member).copied()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<u64, u64>> {
        self.entries.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_id(index: u64) -> LogId {
        LogId::new(openraft::CommittedLeaderId::new(1, 1), index)
    }

    #[test]
    fn clu_2_only_what_is_both_acknowledged_and_committed_counts() {
        let acknowledged = Acknowledged::default();
        acknowledged.note(2, None, Some(log_id(9)));
        acknowledged.note(2, Some(log_id(9)), None);
        assert_eq!(acknowledged.by(2), None);
        acknowledged.note(2, Some(log_id(9)), Some(log_id(7)));
        assert_eq!(acknowledged.by(2), Some(7));
        acknowledged.note(2, Some(log_id(3)), Some(log_id(9)));
        assert_eq!((acknowledged.by(2), acknowledged.by(3)), (Some(7), None));
    }
}
