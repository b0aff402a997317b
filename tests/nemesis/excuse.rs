//! Whether something may be missing or wrong: a member's answers, as it was killed or frozen or is on its way back; or what is stamped, as
//! clocks are off.

use std::sync::atomic::{AtomicU64, Ordering};

/// Odd while it may; each change is a number of its own, so that whoever waited can tell whether anything changed meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Excuse(AtomicU64);

impl Excuse {
    /// It may be from now on.
    pub(crate) fn begin(&self) {
        self.0.fetch_or(1, Ordering::SeqCst);
    }

    /// It may not be any more.
    pub(crate) fn end(&self) {
        let number = self.0.load(Ordering::SeqCst);
        if number % 2 == 1 {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// To be compared with a later one.
    pub(crate) fn number(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Was there no excuse all the time since [`Self::number`] was `before`?
    pub(crate) fn none_since(&self, before: u64) -> bool {
        before.is_multiple_of(2) && self.number() == before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excuse_that_came_and_went_still_counts() {
        let excuse = Excuse::default();
        let before = excuse.number();
        assert!(excuse.none_since(before));
        excuse.begin();
        excuse.begin();
        assert!(!excuse.none_since(before) && !excuse.none_since(excuse.number()));
        excuse.end();
        excuse.end();
        assert!(!excuse.none_since(before) && excuse.none_since(excuse.number()));
    }
}
