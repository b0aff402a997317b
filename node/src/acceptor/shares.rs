//! How many there are of each: of an address's handshakes, of an identity's connections.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts by key; what nobody holds is not kept.
#[derive(Debug)]
pub(super) struct Shares<K>(Arc<Mutex<HashMap<K, usize>>>);

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

/// One of those that are counted, until it is dropped.
#[derive(Debug)]
pub(super) struct Share<K: Eq + Hash> {
    counts: Arc<Mutex<HashMap<K, usize>>>,
    key: K,
    /// The how-manieth it was when it was taken.
    pub(super) number: usize,
}

impl<K: Clone + Eq + Hash> Shares<K> {
    /// One more for `key`, unless it has `most`.
    pub(super) fn take(&self, key: K, most: usize) -> Option<Share<K>> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.get(&key).copied().unwrap_or_default();
        if count >= most {
            return None;
        }
        counts.insert(key.clone(), count + 1);
        Some(Share { counts: self.0.clone(), key, number: count + 1 })
    }
}

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(&self.key) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(counts.remove(&self.key)),
        }
    }
}
