//! How long to wait before the next member is tried. Pure: the random number comes in.

use std::time::Duration;

/// The first wait is drawn from below this.
const FIRST: Duration = Duration::from_millis(500);
/// No wait of an ordinary failure is longer, so that a cluster that is back is found soon.
const LONGEST: Duration = Duration::from_secs(15);
/// A refused agent asks again by then: somebody may have declared its region meanwhile.
const REFUSED: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
/// Of two agents with one name the older leaves the field this long: longer than losing an agent takes (STA-5), so
/// that the two don't take the session from each other all the time.
const SUPERSEDED: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(40));

/// Why a stream ended, as far as the next try goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The member can't be reached, is gone or can't serve: another one may.
    Failed,
    /// The cluster does not want this agent as it is: a name or a region is wrong.
    Refused,
    /// A newer session of the same name is in force (STA-6).
    Superseded,
}

/// Counts failures in a row over all members.
#[derive(Debug)]
pub(crate) struct Backoff {
    members: u32,
    failures: u32,
}

impl Backoff {
    /// For an agent that knows that many members.
    pub(crate) fn new(members: usize) -> Self {
        Self { members: u32::try_from(members).unwrap_or(u32::MAX).max(1), failures: 0 }
    }

    /// A session has held: the next failure is a first one.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// How long to wait after `ending`. A failure waits with full jitter, a random time from nothing up to a bound, so
    /// that agents who lose one member together do not come to the next one together; the bound doubles once all
    /// members have been tried.
    pub(crate) fn wait(&mut self, ending: Ending, draw: u64) -> Duration {
        match ending {
            Ending::Failed => {
                let round = (self.failures / self.members).min(31);
                self.failures = self.failures.saturating_add(1);
                between(Duration::ZERO, FIRST.saturating_mul(1 << round).min(LONGEST), draw)
            }
            Ending::Refused => between(REFUSED.0, REFUSED.1, draw),
            Ending::Superseded => between(SUPERSEDED.0, SUPERSEDED.1, draw),
        }
    }
}

fn between(from: Duration, to: Duration, draw: u64) -> Duration {
    from + (to - from).mul_f64(draw as f64 / u64::MAX as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_doubles_once_all_members_were_tried() {
        let mut backoff = Backoff::new(3);
        let bounds: Vec<u128> =
            (0..30).map(|_| backoff.wait(Ending::Failed, u64::MAX).as_millis()).step_by(3).collect();
        assert_eq!(bounds, [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000, 15_000]);
        backoff.reset();
        assert_eq!(backoff.wait(Ending::Failed, u64::MAX), FIRST);
    }

    #[test]
    fn the_wait_is_anything_up_to_the_bound() {
        let mut backoff = Backoff::new(1);
        assert_eq!(backoff.wait(Ending::Failed, 0), Duration::ZERO);
        let half = backoff.wait(Ending::Failed, u64::MAX / 2);
        assert!((Duration::from_millis(499)..Duration::from_millis(501)).contains(&half), "{half:?}");
        for _ in 0..100 {
            assert!(backoff.wait(Ending::Failed, u64::MAX) <= LONGEST);
        }
    }

    /// STA-6: the older of two agents with one name leaves the field longer than losing an agent takes.
    #[test]
    fn sta_6_the_superseded_wait_long() {
        let mut backoff = Backoff::new(3);
        assert!(backoff.wait(Ending::Superseded, 0) > Duration::from_secs(15));
        assert!(backoff.wait(Ending::Refused, u64::MAX) <= Duration::from_secs(5));
    }
}
