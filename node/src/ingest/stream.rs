//! One agent's stream: the only place here that waits. Everything it hears goes into the [`Session`], everything that
//! comes out of it goes to the cluster or to the agent.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc::{self, Permit};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tonic::{Status, Streaming};
use waymark_proto::agent::v1::{AgentMessage, MemberMessage};

use super::ending::Ending;
use super::service::Shared;
use super::session::Session;
use crate::clock;
use crate::publication::Reader;
use crate::raft::{ProposeError, Proposed};

/// Messages on their way to an agent.
pub(super) type Outgoing = mpsc::Sender<Result<MemberMessage, Status>>;

/// A stream whose session is open.
pub(super) struct Stream {
    session: Session,
    opened: Instant,
    incoming: Streaming<AgentMessage>,
    outgoing: Outgoing,
    shared: Arc<Shared>,
    reader: Reader,
    is_leader_reachable: watch::Receiver<bool>,
    /// Why the stream will end as soon as everything is settled, and when at the latest.
    flushing: Option<(Ending, Instant)>,
    messages_since_tick: u32,
}

/// The clock is looked at after so many messages even if there are always more.
const MESSAGES_PER_TICK_MAX: u32 = 256;

type Proposal = BoxFuture<'static, Result<Proposed, ProposeError>>;

enum Event<'a> {
    Shutdown,
    FlushedLongEnough,
    Proposed(Result<Proposed, ProposeError>),
    View(bool),
    Leaderless,
    Room(Option<Permit<'a, Result<MemberMessage, Status>>>),
    Tick,
    Message(Box<Result<Option<AgentMessage>, Status>>),
}

impl Stream {
    /// The stream of `session`, which was opened at `opened`.
    pub(super) fn new(
        shared: Arc<Shared>,
        session: Session,
        opened: Instant,
        incoming: Streaming<AgentMessage>,
        outgoing: Outgoing,
    ) -> Self {
        let reader = shared.reader.clone();
        let is_leader_reachable = shared.is_leader_reachable.clone();
        Self {
            session,
            opened,
            incoming,
            outgoing,
            shared,
            reader,
            is_leader_reachable,
            flushing: None,
            messages_since_tick: 0,
        }
    }

    /// The session as it is held now.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Serves the stream to its end.
    pub(super) async fn serve(&mut self) -> Ending {
        self.shared.consensus.heard(&self.session.held);
        let outgoing = self.outgoing.clone();
        let mut proposal: Option<Proposal> = None;
        loop {
            if proposal.is_none()
                && let Some(commands) = self.session.propose(self.now_ms())
            {
                let consensus = self.shared.consensus.clone();
                proposal = Some(Box::pin(async move { consensus.propose(commands).await }));
            }
            if let Some((ending, _)) = &self.flushing
                && self.session.is_settled()
            {
                return ending.clone();
            }
            let event = self.next_event(&outgoing, &mut proposal).await;
            if let Event::Proposed(_) = event {
                proposal = None;
            }
            match self.take(event) {
                Ok(()) => {}
                Err(ending @ (Ending::Closed | Ending::ShuttingDown)) if self.flushing.is_none() => {
                    self.flushing = Some((ending, Instant::now() + self.session.waits.flush));
                }
                Err(ending) => return ending,
            }
        }
    }

    /// Waits for whatever is next. What is cheap and rare comes before what may never stop coming; the clock comes last,
    /// so that nothing counts as overdue that was brought in time and has only not been read yet.
    async fn next_event<'a>(&mut self, outgoing: &'a Outgoing, proposal: &mut Option<Proposal>) -> Event<'a> {
        let has_outgoing = self.session.has_outgoing(&self.reader.peek());
        let is_open = self.flushing.is_none();
        let flushed = self.flushing.as_ref().map_or_else(Instant::now, |(_, latest)| *latest);
        let tick = self.opened + Duration::from_millis(self.session.tick_ms().min(HOUR_MS + self.now_ms()));
        tokio::select! {
            biased;
            () = self.shared.shutdown.cancelled(), if is_open => Event::Shutdown,
            () = sleep_until(flushed), if !is_open => Event::FlushedLongEnough,
            result = finished(proposal) => Event::Proposed(result),
            has_more = self.reader.changed() => Event::View(has_more),
            () = lost(&mut self.is_leader_reachable) => Event::Leaderless,
            permit = outgoing.reserve(), if has_outgoing => Event::Room(permit.ok()),
            message = self.incoming.message(), if is_open && self.session.may_read() => {
                Event::Message(Box::new(message))
            }
            () = sleep_until(tick), if is_open => Event::Tick,
        }
    }

    fn take(&mut self, event: Event<'_>) -> Result<(), Ending> {
        let (view, now_ms) = (self.reader.view(), self.now_ms());
        match event {
            Event::Shutdown | Event::View(false) => Err(Ending::ShuttingDown),
            Event::FlushedLongEnough => {
                Err(self.flushing.as_ref().map_or(Ending::Closed, |(ending, _)| ending.clone()))
            }
            Event::Leaderless => Err(Ending::Leaderless),
            Event::View(true) => self.session.see(&view),
            Event::Tick => {
                self.messages_since_tick = 0;
                self.session.tick(&view, now_ms, clock::now())
            }
            Event::Room(None) => Err(Ending::Lost("the agent has gone".to_owned())),
            Event::Room(Some(permit)) => {
                if let Some(message) = self.session.tell(&view) {
                    permit.send(Ok(message));
                }
                Ok(())
            }
            Event::Proposed(result) => {
                let before = self.session.held.clone();
                self.session.settle(result, &view, now_ms)?;
                if before != self.session.held {
                    self.shared.consensus.release(&before);
                    self.shared.consensus.heard(&self.session.held);
                }
                Ok(())
            }
            Event::Message(message) => match *message {
                Err(status) => Err(Ending::broken(&status)),
                Ok(None) => Err(Ending::Closed),
                Ok(Some(message)) => {
                    self.shared.consensus.heard(&self.session.held);
                    self.session.hear(message, &view, now_ms, clock::now())?;
                    self.messages_since_tick += 1;
                    if self.messages_since_tick >= MESSAGES_PER_TICK_MAX {
                        self.messages_since_tick = 0;
                        self.session.tick(&view, now_ms, clock::now())?;
                    }
                    Ok(())
                }
            },
        }
    }

    fn now_ms(&self) -> u64 {
        super::session::millis(self.opened.elapsed())
    }
}

/// The longest sleep; timers do not like the end of time.
const HOUR_MS: u64 = 3_600_000;

async fn finished(proposal: &mut Option<Proposal>) -> Result<Proposed, ProposeError> {
    match proposal {
        Some(proposal) => proposal.await,
        None => std::future::pending().await,
    }
}

/// Returns once the leader cannot be reached.
async fn lost(is_leader_reachable: &mut watch::Receiver<bool>) {
    if is_leader_reachable.wait_for(|reachable| !reachable).await.is_err() {
        // Nobody asks any more: the member is shutting down, which is heard of elsewhere.
        std::future::pending::<()>().await;
    }
}

/// Tells the agent why its stream ends, unless it does not listen.
pub(super) async fn tell_ending(outgoing: &Outgoing, ending: &Ending) {
    const LISTENS_WITHIN: Duration = Duration::from_secs(1);
    if ending.is_told() {
        // If this is lost with the connection, the agent still sees that the stream has ended.
        let _ = timeout(LISTENS_WITHIN, outgoing.send(Err(ending.status()))).await;
    }
}
