//! When to try again, when to give up, and what is known then.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tonic::Status;

use super::Kind;
use crate::failure::{Exit, Failure};

/// How long one of several members may take before the next is tried: longer than a member waits for a leader (5 s).
const ATTEMPT_MAX: Duration = Duration::from_secs(6);

/// A member that took this long, or half of what it was given, to say that it has no leader has waited for one, and speaks
/// for the others.
const PATIENT: Duration = Duration::from_secs(2);

/// A try that is shorter could hardly be answered, and would leave the outcome of a change open.
const ATTEMPT_MIN: Duration = Duration::from_millis(100);

/// From one round through the members to the next.
const PAUSE: Duration = Duration::from_millis(200);

/// Why a try came to nothing.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The call never left.
    Unsent(String),
    /// The call never left, as one side does not believe the other's certificate.
    Distrusted(String),
    /// The member did nothing, and something may come of another try.
    NotNow(String),
    /// The call left, and nobody knows what became of it.
    Unknown(String),
    /// The member understood, and says no.
    Refused(Status),
}

/// The tries of one call.
pub(super) struct Pursuit {
    kind: Kind,
    timeout: Duration,
    deadline: Instant,
    members: usize,
    /// The latest trouble with each member, and whether that is one of certificates.
    troubles: Vec<(String, String, bool)>,
    has_answered: bool,
    has_waited: bool,
    is_unknown: bool,
}

impl Pursuit {
    pub(super) fn new(kind: Kind, timeout: Duration, members: usize) -> Self {
        Self {
            kind,
            timeout,
            deadline: Instant::now() + timeout,
            members,
            troubles: Vec::new(),
            has_answered: false,
            has_waited: false,
            is_unknown: false,
        }
    }

    /// How long the next try may take; `None` if there should be no further one. When a member has waited for a leader
    /// in vain, another one that could not wait as long would only leave the outcome open.
    pub(super) fn limit(&self) -> Option<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let is_hopeless = self.has_answered && left < ATTEMPT_MIN;
        if left.is_zero() || is_hopeless || (self.has_waited && left < ATTEMPT_MAX) {
            return None;
        }
        // What must not be sent twice gets the time that it needs: to leave it unfinished is to leave its outcome open.
        let is_shared = self.members > 1 && self.kind != Kind::Once;
        Some(if is_shared { left.min(ATTEMPT_MAX) } else { left })
    }

    /// Keeps what was learnt from a try that took as long as `took` of `limit`; the failure, if there is no point in going
    /// on.
    pub(super) fn note(
        &mut self,
        url: &str,
        trouble: Trouble,
        took: Duration,
        limit: Duration,
    ) -> Result<(), Failure> {
        let is_distrust = matches!(trouble, Trouble::Distrusted(_));
        let reason = match trouble {
            Trouble::Refused(status) => return Err(status.into()),
            Trouble::Unsent(reason) | Trouble::Distrusted(reason) => reason,
            Trouble::NotNow(reason) => {
                self.has_answered = true;
                self.has_waited |= took >= PATIENT.min(limit / 2);
                reason
            }
            Trouble::Unknown(reason) => {
                self.is_unknown = true;
                reason
            }
        };
        self.troubles.retain(|(known, ..)| known != url);
        self.troubles.push((url.to_owned(), reason, is_distrust));
        if (!self.is_unknown || self.kind == Kind::Read) && self.is_distrusted() {
            return Err(self.give_up());
        }
        if self.is_unknown && self.kind == Kind::Once { Err(self.give_up()) } else { Ok(()) }
    }

    /// Is it certificates with every member? Another round would find the same ones.
    fn is_distrusted(&self) -> bool {
        self.troubles.len() >= self.members && self.troubles.iter().all(|(_, _, is_distrust)| *is_distrust)
    }

    /// Waits a moment before the next round; the failure, if there is no point in one. Changes of the cluster have a member
    /// wait for a leader for longer than any election takes.
    pub(super) async fn pause(&self) -> Result<(), Failure> {
        if self.kind == Kind::Once && self.has_waited {
            return Err(self.give_up());
        }
        sleep_until(self.deadline.min(Instant::now() + PAUSE)).await;
        Ok(())
    }

    /// What is known when there are no further tries.
    ///
    /// | the call | exit | |
    /// |---|---|---|
    /// | a change that was sent and not answered | 9 | its outcome is unknown |
    /// | else, no certificate is believed | 4 | not allowed |
    /// | else, a member answered | 7 | no leader |
    /// | else | 7 | no member |
    pub(super) fn give_up(&self) -> Failure {
        let troubles: Vec<String> =
            self.troubles.iter().map(|(url, reason, _)| format!("{url}: {reason}")).collect();
        let is_distrusted = self.is_distrusted();
        let troubles =
            if troubles.is_empty() { format!("after {:.1?}", self.timeout) } else { troubles.join(", ") };
        if self.is_unknown && self.kind != Kind::Read {
            let advice = "look whether the change was made before you repeat it";
            return Failure::new(Exit::TimedOut, format!("the outcome is unknown ({troubles}); {advice}"));
        }
        if is_distrusted {
            let advice = "see 'waymark pki show' of --certificate and --authority";
            return Failure::new(Exit::NotAllowed, format!("no connection ({troubles}); {advice}"));
        }
        if self.has_answered {
            let advice = "see 'waymark cluster status'";
            return Failure::new(Exit::Unreachable, format!("no member could do it ({troubles}); {advice}"));
        }
        let advice = "is waymark-node running there, and in plain text or with TLS (https://)? --endpoint and WAYMARK_ENDPOINT say \
                      where members are";
        Failure::new(Exit::Unreachable, format!("no member answered ({troubles}); {advice}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);

    fn pursuit(kind: Kind) -> Pursuit {
        Pursuit::new(kind, Duration::from_secs(5), 2)
    }

    #[test]
    fn cli_4_a_change_that_was_sent_and_not_answered_is_unknown() {
        let mut writing = pursuit(Kind::Write);
        writing.note("http://a", Trouble::Unknown("reset".into()), MOMENT, ATTEMPT_MAX).unwrap();
        writing.note("http://b", Trouble::NotNow("no leader".into()), MOMENT, ATTEMPT_MAX).unwrap();
        let failure = writing.give_up();
        assert_eq!(failure.exit, Exit::TimedOut);
        assert!(
            failure.message.contains("outcome is unknown") && failure.message.contains("http://a: reset")
        );

        let mut reading = pursuit(Kind::Read);
        reading.note("http://a", Trouble::Unknown("reset".into()), MOMENT, ATTEMPT_MAX).unwrap();
        assert_eq!(reading.give_up().exit, Exit::Unreachable);
    }

    #[test]
    fn cli_4_what_has_no_mark_is_not_sent_twice() {
        let failure = pursuit(Kind::Once)
            .note("http://a", Trouble::Unknown("reset".into()), MOMENT, ATTEMPT_MAX)
            .unwrap_err();
        assert_eq!(failure.exit, Exit::TimedOut);
        assert!(
            pursuit(Kind::Once)
                .note("http://a", Trouble::Unsent("refused".into()), MOMENT, ATTEMPT_MAX)
                .is_ok()
        );
    }

    /// CLU-9: one that has waited for a leader in vain speaks for a cluster that has none.
    #[tokio::test]
    async fn clu_9_a_change_of_the_cluster_waits_for_a_leader_once() {
        let mut pursuit = pursuit(Kind::Once);
        pursuit.note("http://a", Trouble::Unsent("refused".into()), MOMENT, ATTEMPT_MAX).unwrap();
        assert!(pursuit.pause().await.is_ok() && pursuit.limit() > Some(Duration::from_secs(4)));
        pursuit.note("http://b", Trouble::NotNow("no leader".into()), PATIENT, ATTEMPT_MAX).unwrap();
        let failure = pursuit.pause().await.unwrap_err();
        assert_eq!(failure.exit, Exit::Unreachable);
        assert!(failure.message.contains("no leader"), "{}", failure.message);
    }

    #[test]
    fn cli_2_nobody_reachable_and_no_leader_are_told_apart() {
        let mut nobody = pursuit(Kind::Write);
        nobody.note("http://a", Trouble::Unsent("connection refused".into()), MOMENT, ATTEMPT_MAX).unwrap();
        let failure = nobody.give_up();
        assert_eq!(failure.exit, Exit::Unreachable);
        assert!(failure.message.contains("--endpoint"), "{}", failure.message);
        nobody.note("http://b", Trouble::NotNow("no leader is known".into()), MOMENT, ATTEMPT_MAX).unwrap();
        assert!(nobody.give_up().message.contains("no leader is known"));
    }

    /// SEC-1: certificates are looked at by a person, not tried again; while one member may yet be reached, it is.
    #[test]
    fn sec_1_refused_certificates_end_the_command_at_once() {
        let mut pursuit = pursuit(Kind::Write);
        pursuit.note("http://a", Trouble::Distrusted("expired".into()), MOMENT, ATTEMPT_MAX).unwrap();
        pursuit.note("http://b", Trouble::Unsent("refused".into()), MOMENT, ATTEMPT_MAX).unwrap();
        assert_eq!(pursuit.give_up().exit, Exit::Unreachable);
        let failure =
            pursuit.note("http://b", Trouble::Distrusted("foreign".into()), MOMENT, ATTEMPT_MAX).unwrap_err();
        assert_eq!(failure.exit, Exit::NotAllowed);
        assert!(failure.message.contains("expired") && failure.message.contains("foreign"));
    }

    #[test]
    fn a_member_that_waited_in_vain_speaks_for_the_others() {
        let mut pursuit = pursuit(Kind::Write);
        pursuit.note("http://a", Trouble::NotNow("no leader".into()), MOMENT, ATTEMPT_MAX).unwrap();
        assert!(pursuit.limit().is_some(), "a quick answer proves nothing");
        pursuit.note("http://a", Trouble::NotNow("no leader".into()), PATIENT, ATTEMPT_MAX).unwrap();
        assert_eq!(pursuit.limit(), None);
    }

    #[test]
    fn cli_4_a_member_that_waited_half_of_a_short_time_has_waited() {
        let short = Duration::from_millis(600);
        let mut pursuit = Pursuit::new(Kind::Write, short, 1);
        pursuit.note("http://a", Trouble::NotNow("no leader".into()), short / 2, short).unwrap();
        assert_eq!(pursuit.limit(), None);
        assert_eq!(pursuit.give_up().exit, Exit::Unreachable);
    }
}
