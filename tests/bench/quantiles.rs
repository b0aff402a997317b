//! The distribution of durations.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Durations from a microsecond to a minute, to three digits.
pub(crate) struct Durations(Histogram<u64>);

impl Durations {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self(Histogram::new_with_bounds(1, 60_000_000, 3).expect("the bounds are in order"))
    }

    /// One more.
    pub(crate) fn add(&mut self, duration: Duration) {
        self.0.saturating_record(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
    }

    /// Those of `other` as well.
    pub(crate) fn join(&mut self, other: &Self) {
        self.0.add(&other.0).expect("both have the same bounds");
    }

    /// That quantile in microseconds.
    pub(crate) fn micros_at(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64
    }

    /// `p50 1.2 ms, p99 3.4 ms`.
    pub(crate) fn summary(&self) -> String {
        let quantile = |quantile| self.0.value_at_quantile(quantile) as f64 / 1_000.0;
        format!(
            "p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms",
            quantile(0.5),
            quantile(0.99),
            self.0.max() as f64 / 1_000.0
        )
    }
}
