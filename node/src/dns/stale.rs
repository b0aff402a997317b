//! Tells the log when this member stops answering because it is cut off, and when it answers again (DNS-21).

use std::time::Duration;

use tokio::time::interval;
use tokio_util::sync::CancellationToken;

use crate::publication::Reader;

/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Watches over `reader` until `shutdown`.
pub(super) async fn narrate(reader: Reader, shutdown: CancellationToken) {
    let mut looks = interval(LOOK_EVERY);
    let mut was_stale = false;
    while shutdown.run_until_cancelled(looks.tick()).await.is_some() {
        let (is_stale, age_s) = (reader.is_stale(), reader.age().as_secs());
        match (was_stale, is_stale) {
            (false, true) => tracing::error!(
                age_s,
                "cut off from the cluster for longer than max_stale: DNS queries are told SERVFAIL"
            ),
            (true, false) => tracing::info!("in touch with the cluster again: DNS queries are answered"),
            _ => {}
        }
        was_stale = is_stale;
    }
}
