//! The only place that reads the wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

use waymark_core::model::Timestamp;

/// Now, for people.
#[expect(clippy::disallowed_methods, reason = "this is the one place that may")]
pub fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
}
