//! A limit per second that lets short bursts through.

/// A bucket that fills evenly and holds two seconds' worth. Times are milliseconds of any monotonic clock.
#[derive(Debug)]
pub(super) struct Allowance {
    per_second: u64,
    /// Thousandths of a unit, so that filling by milliseconds is exact.
    left_e3: u64,
    filled_ms: u64,
}

impl Allowance {
    /// A full bucket.
    pub(super) fn new(per_second: u64, now_ms: u64) -> Self {
        Self { per_second, left_e3: 2_000 * per_second, filled_ms: now_ms }
    }

    /// Takes `units` out; false, and nothing taken, if there are not so many left.
    pub(super) fn take(&mut self, units: u64, now_ms: u64) -> bool {
        let gained_e3 = self.per_second.saturating_mul(now_ms.saturating_sub(self.filled_ms));
        self.filled_ms = self.filled_ms.max(now_ms);
        self.left_e3 = self.left_e3.saturating_add(gained_e3).min(2_000 * self.per_second);
        let Some(left_e3) = self.left_e3.checked_sub(units.saturating_mul(1_000)) else { return false };
        self.left_e3 = left_e3;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_6_two_seconds_at_once_then_the_rate() {
        let mut allowance = Allowance::new(10, 0);
        assert!(allowance.take(20, 0));
        assert!(!allowance.take(1, 99));
        assert!(allowance.take(1, 100));
        assert!(!allowance.take(1, 100));
        assert!(!allowance.take(21, 1_000_000));
        assert!(allowance.take(20, 1_000_000));
    }
}
