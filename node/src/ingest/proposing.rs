//! What a session puts before the cluster: one proposal at a time, each with everything that queued while the one
//! before was in flight, and again what failed.

use waymark_core::model::EndpointId;
use waymark_core::state::{Action, Command, View};

use super::ending::Ending;
use super::limits::BATCH_MAX;
use super::session::{Session, millis};
use crate::raft::{HeldSession, ProposeError, Proposed};

/// The state of a session's proposals.
#[derive(Debug, Default)]
pub(super) struct Proposing {
    /// The cluster has lost the session: it must be opened again before anything else.
    pub(super) must_reopen: bool,
    /// After a failure: when the next proposal may be made.
    pub(super) retry_ms: Option<u64>,
    /// When the first of the proposals was made that have all failed since.
    failing_since_ms: Option<u64>,
    in_flight: Option<InFlight>,
}

#[derive(Debug)]
struct InFlight {
    since_ms: u64,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// The session itself.
    Session,
    /// The agent's sight if that is news, verdicts that expire, then outcomes. In this order: an outcome that came after its
    /// verdict had become overdue must not add up with those from before the gap, and one that was found before the agent
    /// went blind must not count when it says so (PRB-14).
    Health { expiring: Vec<EndpointId>, has_outcomes: bool },
}

impl Proposing {
    /// Is a proposal in flight that opens the session again?
    pub(super) fn is_reopening(&self) -> bool {
        matches!(&self.in_flight, Some(InFlight { content: Content::Session, .. }))
    }
}

impl Session {
    /// Is there something that is not committed yet?
    pub(super) fn has_to_propose(&self) -> bool {
        self.proposing.in_flight.is_none()
            && (self.proposing.must_reopen
                || self.is_sight_due
                || self.unsettled.len() > 0
                || !self.expiring.is_empty())
    }

    /// The next proposal's commands, if one is to be made now; then it is in flight until [`Session::settle`].
    pub(super) fn propose(&mut self, now_ms: u64) -> Option<Vec<Command>> {
        if !self.has_to_propose() || self.proposing.retry_ms.is_some_and(|retry_ms| now_ms < retry_ms) {
            return None;
        }
        let (commands, content) = if self.proposing.must_reopen {
            (vec![self.greeting.open()], Content::Session)
        } else {
            self.health_commands(now_ms)
        };
        self.proposing.in_flight = Some(InFlight { since_ms: now_ms, content });
        Some(commands)
    }

    fn health_commands(&mut self, now_ms: u64) -> (Vec<Command>, Content) {
        let agent = self.held.agent.clone();
        let expiring: Vec<EndpointId> = self.expiring.iter().copied().take(BATCH_MAX).collect();
        let outcomes = self.unsettled.propose(now_ms, BATCH_MAX);
        let content = Content::Health { expiring: expiring.clone(), has_outcomes: !outcomes.is_empty() };
        let sight = self.greeting.is_blind.filter(|_| self.is_sight_due);
        let session = self.held.session;
        let sight = sight.map(|is_blind| Action::SetSight { agent: agent.clone(), session, is_blind });
        let expire = (!expiring.is_empty()).then(|| Action::ExpireVerdicts {
            agent: agent.clone(),
            session: self.held.session,
            endpoints: expiring,
        });
        let record = (!outcomes.is_empty()).then_some(Action::RecordOutcomes {
            agent,
            run: self.greeting.run,
            outcomes,
        });
        (sight.into_iter().chain(expire).chain(record).map(Command::of_cluster).collect(), content)
    }

    /// Takes what became of the proposal in flight; `view` is not older than what was committed.
    pub(super) fn settle(
        &mut self,
        result: Result<Proposed, ProposeError>,
        view: &View,
        now_ms: u64,
    ) -> Result<(), Ending> {
        let Some(InFlight { since_ms, content }) = self.proposing.in_flight.take() else { return Ok(()) };
        if !self.may_read() {
            // Nothing was heard because nothing was read.
            self.heard_ms = now_ms;
        }
        match result {
            Ok(proposed) => {
                self.proposing.failing_since_ms = None;
                self.proposing.retry_ms = None;
                self.committed(content, proposed, view)
            }
            Err(error) => self.failed(&content, since_ms, error, now_ms),
        }
    }

    fn committed(&mut self, content: Content, proposed: Proposed, view: &View) -> Result<(), Ending> {
        self.is_sight_due = self.has_other_sight(view);
        match content {
            Content::Session => {
                let reply = proposed.replies.into_iter().next().unwrap_or_else(|| Ok(Default::default()))?;
                self.held = HeldSession { session: reply.revision, ..self.held.clone() };
                self.proposing.must_reopen = false;
                self.see(view)
            }
            Content::Health { expiring, has_outcomes } => {
                expiring.iter().for_each(|endpoint| {
                    self.expiring.remove(endpoint);
                });
                self.see(view)?;
                // A lost agent's outcomes may not have counted: they go again once its session is open again, and
                // those that did count change nothing then.
                match self.proposing.must_reopen {
                    true => self.unsettled.fail(),
                    false if has_outcomes => self.unsettled.settle(),
                    false => {}
                }
                Ok(())
            }
        }
    }

    fn failed(
        &mut self,
        content: &Content,
        since_ms: u64,
        error: ProposeError,
        now_ms: u64,
    ) -> Result<(), Ending> {
        self.unsettled.fail();
        match (&error, content) {
            (
                ProposeError::NotMember
                | ProposeError::Storage(_)
                | ProposeError::Failed(_)
                | ProposeError::Refused(_)
                | ProposeError::Level { .. },
                _,
            ) => {
                return Err(Ending::Failed(error));
            }
            // There may be a session now that this stream cannot tell from another stream's.
            (ProposeError::OutcomeUnknown, Content::Session) => return Err(Ending::Leaderless),
            (ProposeError::OutcomeUnknown | ProposeError::NoLeader | ProposeError::Busy, _) => {}
        }
        let failing_since_ms = *self.proposing.failing_since_ms.get_or_insert(since_ms);
        if !self.may_read() || now_ms.saturating_sub(failing_since_ms) >= millis(self.waits.leaderless) {
            return Err(Ending::Leaderless);
        }
        self.proposing.retry_ms = Some(now_ms + millis(self.waits.retry_pause));
        Ok(())
    }
}
