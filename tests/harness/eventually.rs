//! Waiting for a condition with a deadline: the only way in which a test lets time pass.

use std::time::{Duration, Instant};

/// How long a step of a test may take before the test fails. Generous: speeds are the benchmarks' matter.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// How often a condition is looked at.
const PACE: Duration = Duration::from_millis(10);

/// Returns what `condition` yields once it yields something.
///
/// # Panics
/// When nothing was yielded within [`DEADLINE`]: with `what` was waited for and what `condition` said last.
pub fn eventually<T>(what: &str, condition: impl FnMut() -> Result<T, String>) -> T {
    match within(DEADLINE, condition) {
        Ok(value) => value,
        Err(last) => panic!("{what}: not within {DEADLINE:?}; last seen: {last}"),
    }
}

/// Returns what `condition` yields, or what it said last when `limit` has passed.
#[expect(clippy::disallowed_methods, reason = "the one place that paces a poll; every caller has a deadline")]
pub fn within<T>(limit: Duration, mut condition: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let start = Instant::now();
    loop {
        match condition() {
            Ok(value) => return Ok(value),
            Err(last) if start.elapsed() >= limit => return Err(last),
            Err(_) => std::thread::sleep(PACE),
        }
    }
}

/// Lets `span` pass, for `why`: where a test is about what does not happen meanwhile, or about a moment of its own choice.
#[expect(clippy::disallowed_methods, reason = "the passing of time is what is asked for")]
pub fn let_pass(span: Duration, _why: &str) {
    std::thread::sleep(span);
}

/// `Ok` if `claim` holds, else what was `seen`.
pub fn claim(claim: bool, seen: impl Into<String>) -> Result<(), String> {
    if claim { Ok(()) } else { Err(seen.into()) }
}
