//! What the agent makes of how well it sees (PRB-14): outcomes count only while a canary target is there, and the member is
//! told before any goes out that was found so.

use tokio::sync::watch;
use tokio::time::Instant;

use super::{Agent, Link};
use crate::sight::Sight;
use crate::uplink;

impl Agent {
    /// Looks at how well it sees now. What nobody has acknowledged was perhaps found when it saw no more already.
    pub(super) fn see(&mut self) {
        self.sight = *self.lookout.borrow_and_update();
        match self.sight {
            Sight::Clear => {
                self.clear_since = Instant::now();
                tracing::info!("a canary target is there: what is found from now on counts");
            }
            Sight::Doubtful => {
                tracing::warn!("no canary target is there: what probes find counts for nothing until one is")
            }
            Sight::Blind => tracing::error!(
                "blind: no canary target is there time and again; this agent's verdicts are withdrawn until one is"
            ),
        }
        if self.sight != Sight::Clear {
            self.backlog.retain(|_, _| false);
            self.report_due = None;
        }
    }

    /// May outcomes go out? Not before the member knows that they count.
    pub(super) fn may_report(&self) -> bool {
        self.sight == Sight::Clear && self.told_sight == Sight::Clear
    }

    /// Doubt is not told: it ends in one or the other soon.
    pub(super) fn has_to_tell_sight(&self) -> bool {
        self.sight != Sight::Doubtful && self.sight != self.told_sight && !matches!(self.link, Link::Down)
    }

    pub(super) fn tell_sight(&mut self) {
        if !self.has_to_tell_sight() {
            return;
        }
        let sight = self.sight;
        if let Link::Opened(session) | Link::Ready(session) = &self.link
            && session.outbox.try_send(uplink::message::sighted(sight)).is_ok()
        {
            self.told_sight = sight;
        }
    }
}

/// Returns when the sight has changed; never once nobody looks.
pub(super) async fn changed(sight: &mut watch::Receiver<Sight>) {
    if sight.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}
