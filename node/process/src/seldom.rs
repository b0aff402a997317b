//! Lines of the log that others cause: one a second, so that nobody who reaches a port can fill a disk (SEC-6).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// From one line to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// Lets a line through now and then, and counts those that it holds back.
#[derive(Debug)]
pub struct Seldom {
    started: Instant,
    /// From when the next line is let through, in milliseconds since the start.
    next_ms: AtomicU64,
    held_back: AtomicU64,
}

impl Default for Seldom {
    fn default() -> Self {
        Self { started: Instant::now(), next_ms: AtomicU64::new(0), held_back: AtomicU64::new(0) }
    }
}

impl Seldom {
    /// May a line be written now? Then how many were held back since the last one, to be told with it.
    pub fn turn(&self) -> Option<u64> {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.turn_at(now)
    }

    fn turn_at(&self, now_ms: u64) -> Option<u64> {
        let next = self.next_ms.load(Ordering::Relaxed);
        let later = now_ms.saturating_add(u64::try_from(PAUSE.as_millis()).unwrap_or(u64::MAX));
        // Of several at one moment, one wins.
        let is_first = now_ms >= next
            && self.next_ms.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_first {
            return Some(self.held_back.swap(0, Ordering::Relaxed));
        }
        self.held_back.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_6_one_line_a_second_tells_how_many_were_held_back() {
        let seldom = Seldom::default();
        let turns = [0, 0, 5, 999, 1_000, 1_001, 2_500].map(|now| seldom.turn_at(now));
        assert_eq!(turns, [Some(0), None, None, None, Some(3), None, Some(1)]);
        assert_eq!(Seldom::default().turn(), Some(0));
    }
}
