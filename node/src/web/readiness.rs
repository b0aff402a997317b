//! How far a start has come, as `/readyz` tells it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps of a start, each done once and never undone. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Steps>);

#[derive(Debug, Default)]
struct Steps {
    member: AtomicBool,
    caught_up: AtomicBool,
    dns: AtomicBool,
}

impl Readiness {
    /// The member belongs to a cluster.
    pub fn is_member(&self) {
        self.0.member.store(true, Ordering::Relaxed);
    }

    /// What was committed when the member started is applied, or the start's grace has passed (DNS-20).
    pub fn has_caught_up(&self) {
        self.0.caught_up.store(true, Ordering::Relaxed);
    }

    /// DNS is answered over UDP and TCP.
    pub fn serves_dns(&self) {
        self.0.dns.store(true, Ordering::Relaxed);
    }

    /// Is everything done, and what is answered not stale (DNS-21), and a line for each?
    pub fn report(&self, is_stale: bool) -> (bool, String) {
        let done = |step: &AtomicBool| step.load(Ordering::Relaxed);
        let steps = [
            ("part of a cluster", done(&self.0.member)),
            ("state caught up", done(&self.0.caught_up)),
            ("DNS listening on UDP and TCP", done(&self.0.dns)),
            ("state not older than max_stale", !is_stale),
        ];
        let line = |(step, done): &(&str, bool)| format!("[{}] {step}\n", if *done { "ok" } else { "no" });
        (steps.iter().all(|(_, done)| *done), steps.iter().map(line).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_5_every_step_is_listed_and_all_must_be_done() {
        let readiness = Readiness::default();
        readiness.is_member();
        readiness.has_caught_up();
        let (ready, report) = readiness.report(false);
        assert!(!ready);
        assert!(report.contains("[ok] state caught up") && report.contains("[no] DNS listening"), "{report}");
        readiness.serves_dns();
        assert!(readiness.report(false).0);
        let (ready, report) = readiness.report(true);
        assert!(!ready && report.contains("[no] state not older"), "DNS-21: {report}");
    }
}
