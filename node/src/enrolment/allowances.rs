//! How often somebody may do something: some times at once, and then once in a while (SEC-6).

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// This many times at once,
    pub(super) at_once: u32,
    /// and once more each time that so long has passed.
    pub(super) every: Duration,
}

/// What each of many has left.
#[derive(Debug)]
pub(super) struct Allowances<K> {
    rate: Rate,
    /// By when each will have everything back; who has is not kept.
    full_at: Mutex<HashMap<Option<K>, Instant>>,
}

impl<K: Clone + Eq + Hash> Allowances<K> {
    /// Most of whom something is known; beyond it all others share one allowance. Some 200 KiB.
    const KNOWN_MAX: usize = 4_096;

    /// Everybody has everything.
    pub(super) fn new(rate: Rate) -> Self {
        Self { rate, full_at: Mutex::default() }
    }

    /// Takes one of what `who` has left; false if that is nothing.
    pub(super) fn take(&self, who: K, now: Instant) -> bool {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let mut who = Some(who);
        if full_at.len() >= Self::KNOWN_MAX && !full_at.contains_key(&who) {
            full_at.retain(|_, full_at| *full_at > now);
            if full_at.len() >= Self::KNOWN_MAX {
                who = None;
            }
        }
        let after = full_at.get(&who).map_or(now, |full_at| (*full_at).max(now)) + self.rate.every;
        let is_left = after.duration_since(now) <= self.rate.every * self.rate.at_once;
        if is_left {
            full_at.insert(who, after);
        }
        is_left
    }

    /// Gives back what `who` has taken.
    pub(super) fn give_back(&self, who: K) {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let who = Some(who);
        let who = if full_at.contains_key(&who) { who } else { None };
        if let Some(full_at) = full_at.get_mut(&who)
            && let Some(before) = full_at.checked_sub(self.rate.every)
        {
            *full_at = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { at_once: 3, every: Duration::from_secs(6) };

    #[test]
    fn sec_6_some_at_once_and_then_one_in_a_while_for_each() {
        let (allowances, start) = (Allowances::new(RATE), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let taken = [0, 0, 0, 0, 5, 6, 6, 12, 30, 30, 30, 30].map(|at| allowances.take("a", after(at)));
        assert_eq!(taken, [true, true, true, false, false, true, false, true, true, true, true, false]);
        assert!(allowances.take("b", after(30)), "others are not concerned");
        allowances.give_back("a");
        assert!(allowances.take("a", after(30)) && !allowances.take("a", after(30)));
    }

    #[test]
    fn sec_6_of_no_more_than_some_thousands_anything_is_known() {
        let (allowances, start) = (Allowances::new(RATE), Instant::now());
        let known = Allowances::<usize>::KNOWN_MAX;
        assert!((0..known).all(|who| allowances.take(who, start)));
        let strangers = (known..known + 10).filter(|who| allowances.take(*who, start)).count();
        assert_eq!(strangers, 3, "they share one allowance");
        assert!(allowances.take(0, start), "who was known is not concerned");
        let later = start + RATE.every;
        assert!((known..known + 10).all(|who| allowances.take(who, later)), "there is room again");
        assert!(allowances.full_at.lock().unwrap().len() <= known + 1);
    }
}
