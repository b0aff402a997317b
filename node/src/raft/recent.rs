//! The end of the log in memory: what is replicated and applied next is nearly always among the latest entries.

use std::collections::VecDeque;

use openraft::EntryPayload;

use super::types::Entry;

/// Most bytes of payload that are kept.
const BYTES_MAX: usize = 8 << 20;
/// Most entries that are kept.
const ENTRIES_MAX: usize = 4096;
/// What an entry takes beside its payload, roughly.
const OVERHEAD: usize = 64;

/// The latest entries, without a gap, the newest last.
#[derive(Debug, Default)]
pub(super) struct Recent {
    entries: VecDeque<Entry>,
    bytes: usize,
}

impl Recent {
    /// Adds `entries`, which follow each other and what is there; if they do not, they take its place.
    pub(super) fn append(&mut self, entries: &[Entry]) {
        for entry in entries {
            if self.entries.back().is_some_and(|last| last.log_id.index + 1 != entry.log_id.index) {
                self.clear();
            }
            self.bytes += size(entry);
            self.entries.push_back(entry.clone());
        }
        while self.bytes > BYTES_MAX || self.entries.len() > ENTRIES_MAX {
            self.pop_front();
        }
    }

    /// Forgets entries from `index` on.
    pub(super) fn truncate(&mut self, index: u64) {
        while self.entries.back().is_some_and(|last| last.log_id.index >= index) {
            self.bytes -= self.entries.pop_back().as_ref().map_or(0, size);
        }
    }

    /// Forgets entries up to and including `index`.
    pub(super) fn purge(&mut self, index: u64) {
        while self.entries.front().is_some_and(|first| first.log_id.index <= index) {
            self.pop_front();
        }
    }

    /// The entries from `from` up to, but not including, `to`, as many as `limit` bytes hold and at least one; `None`
    /// if not all of them are known here.
    pub(super) fn range(&self, from: u64, to: u64, limit: usize) -> Option<Vec<Entry>> {
        let first = self.entries.front()?.log_id.index;
        let skip = usize::try_from(from.checked_sub(first)?).ok()?;
        let count = usize::try_from(to.checked_sub(from)?).ok()?;
        if skip + count > self.entries.len() {
            return None;
        }
        let mut budget = Budget::new(limit);
        let wanted = self.entries.iter().skip(skip).take(count);
        Some(wanted.take_while(|entry| budget.admits(size(entry))).cloned().collect())
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    fn pop_front(&mut self) {
        self.bytes -= self.entries.pop_front().as_ref().map_or(0, size);
    }
}

/// Admits sizes until they exceed a limit, but always the first.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
    untouched: bool,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { left: limit, untouched: true }
    }

    /// May `size` bytes more be taken?
    pub(super) fn admits(&mut self, size: usize) -> bool {
        let admitted = self.untouched || size <= self.left;
        self.left = if admitted { self.left.saturating_sub(size) } else { 0 };
        self.untouched = false;
        admitted
    }
}

/// What an entry takes in memory and on the wire, roughly.
pub(super) fn size(entry: &Entry) -> usize {
    let payload = match &entry.payload {
        EntryPayload::Normal(payload) => payload.0.len(),
        EntryPayload::Blank | EntryPayload::Membership(_) => 0,
    };
    OVERHEAD + payload
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::raft::types::{LogId, Payload};

    fn entry(index: u64, len: usize) -> Entry {
        let log_id = LogId::new(openraft::CommittedLeaderId::new(1, 1), index);
        Entry { log_id, payload: EntryPayload::Normal(Payload(Bytes::from(vec![0; len]))) }
    }

    fn indexes(entries: Option<Vec<Entry>>) -> Option<Vec<u64>> {
        entries.map(|entries| entries.iter().map(|entry| entry.log_id.index).collect())
    }

    #[test]
    fn knows_what_it_holds_and_says_so_when_it_does_not() {
        let mut recent = Recent::default();
        assert_eq!(indexes(recent.range(0, 1, 100)), None);
        recent.append(&(5..10).map(|index| entry(index, 1)).collect::<Vec<_>>());
        assert_eq!(indexes(recent.range(6, 8, 1000)), Some(vec![6, 7]));
        assert_eq!(indexes(recent.range(4, 8, 1000)), None);
        assert_eq!(indexes(recent.range(8, 11, 1000)), None);
        recent.truncate(8);
        recent.purge(5);
        assert_eq!(indexes(recent.range(6, 8, 1000)), Some(vec![6, 7]));
        assert_eq!(indexes(recent.range(5, 8, 1000)), None);
        recent.append(&[entry(20, 1)]);
        assert_eq!(indexes(recent.range(20, 21, 1000)), Some(vec![20]));
        assert_eq!(indexes(recent.range(7, 8, 1000)), None);
    }

    #[test]
    fn a_limit_cuts_the_range_but_leaves_one_entry() {
        let mut recent = Recent::default();
        recent.append(&(0..4).map(|index| entry(index, 100)).collect::<Vec<_>>());
        assert_eq!(indexes(recent.range(0, 4, 2 * 164)), Some(vec![0, 1]));
        assert_eq!(indexes(recent.range(0, 4, 1)), Some(vec![0]));
    }

    #[test]
    fn memory_is_bounded() {
        let mut recent = Recent::default();
        for index in 0..3000 {
            recent.append(&[entry(index, 1 << 20)]);
        }
        assert!(recent.bytes <= BYTES_MAX);
        assert_eq!(indexes(recent.range(2999, 3000, 1)), Some(vec![2999]));
    }
}
