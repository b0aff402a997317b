//! The only place that reads the wall clock: once, at the start, for probes; and as it is now, for certificates.

use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::{Duration, Instant};

/// Milliseconds since 1970 as they were at the start, carried on by the monotonic clock (PRB-8).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    wall_ms: u64,
    start: Instant,
}

impl Clock {
    /// Starts at the wall clock's time.
    pub(crate) fn start() -> Self {
        Self { wall_ms: u64::try_from(since_epoch().as_millis()).unwrap_or(u64::MAX), start: Instant::now() }
    }

    /// Now, in milliseconds.
    pub(crate) fn now_ms(&self) -> u64 {
        self.wall_ms.saturating_add(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// The instant at which [`Self::now_ms`] reaches `ms`.
    pub(crate) fn instant_of(&self, ms: u64) -> Instant {
        self.start + Duration::from_millis(ms.saturating_sub(self.wall_ms))
    }
}

/// The time since 1970 by the wall clock, which may be set at any moment.
#[expect(clippy::disallowed_methods, reason = "this is the one place that may")]
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PRB-8: the phases come from the wall clock, so that they are the same after a restart: within a minute of the
    /// time that the file system gives a file made now.
    #[test]
    fn prb_8_the_clock_starts_at_the_wall_clocks_time() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let made = file.as_file().metadata().unwrap().modified().unwrap();
        let made_ms = made.duration_since(UNIX_EPOCH).unwrap().as_millis();
        let clock = Clock::start();
        let apart = u128::from(clock.now_ms()).abs_diff(made_ms);
        assert!(apart < 60_000, "{apart} ms apart");
        let (now, in_a_second) = (clock.instant_of(clock.now_ms()), clock.instant_of(clock.now_ms() + 1_000));
        assert!((900..=1_100).contains(&(in_a_second - now).as_millis()));
    }
}
