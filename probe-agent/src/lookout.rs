//! Looks at the canary targets (PRB-14), and tells how well the agent sees.

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use waymark_core::health::OutcomeClass;

use crate::agent::Probe;
use crate::canary::{Canary, INTERVAL_MS};
use crate::sight::{Canaries, Sight};

/// In doubt it is looked again so soon after a miss, as what probes find meanwhile is lost.
const DOUBT_PAUSE: Duration = Duration::from_secs(2);

/// Looks at `canaries` for ever, from now on, and says in `sight` what follows. Does nothing if there are none.
pub(crate) async fn watch(canaries: Vec<Canary>, probe: Probe, sight: watch::Sender<Sight>) {
    let known = Mutex::new(Canaries::new(canaries.len()));
    let lookout = Lookout { probe, sight, known };
    join_all(canaries.iter().enumerate().map(|(place, canary)| lookout.follow(place, canary))).await;
}

struct Lookout {
    probe: Probe,
    sight: watch::Sender<Sight>,
    known: Mutex<Canaries>,
}

impl Lookout {
    async fn follow(&self, place: usize, canary: &Canary) {
        loop {
            let started = Instant::now();
            let missed = self.miss(canary).await;
            let sight = self.note(place, missed.is_none());
            if let Some(reason) = missed {
                tracing::debug!(%canary, reason, "a canary target is not there");
            }
            let turn = started + Duration::from_millis(INTERVAL_MS);
            let again = Instant::now() + DOUBT_PAUSE;
            sleep_until(if sight == Sight::Doubtful { turn.min(again) } else { turn }).await;
        }
    }

    /// Why the canary was not seen. Whatever keeps the agent from looking is a miss too: it could not look elsewhere
    /// either.
    async fn miss(&self, canary: &Canary) -> Option<String> {
        let probed =
            AssertUnwindSafe(async { (self.probe)(canary.check.clone()).await }).catch_unwind().await;
        match probed {
            Ok(report) if report.outcome.class == OutcomeClass::Ok => None,
            Ok(report) => Some(report.detail),
            Err(_) => Some("the probe panicked".to_owned()),
        }
    }

    fn note(&self, place: usize, is_seen: bool) -> Sight {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.note(place, is_seen);
        let now = known.sight();
        self.sight.send_if_modified(|before| {
            let is_other = *before != now;
            *before = now;
            is_other
        });
        now
    }
}
