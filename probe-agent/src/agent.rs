//! The agent's loop: starts each probe when its turn comes, keeps what they find until a member has acknowledged it,
//! and follows the assignment. One task owns all of it, so nothing is locked; probes run as tasks of their own.

mod seeing;

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::Uri;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use waymark_core::health::{Check, OutcomeClass};
use waymark_core::model::{EndpointId, Revision};
use waymark_process::tls::Credentials;

use crate::assignment::{Assignment, CHECKS_MAX, Update};
use crate::backlog::{Backlog, Urgency};
use crate::canary::Canary;
use crate::clock::Clock;
use crate::lookout;
use crate::probe::ProbeReport;
use crate::schedule::Schedule;
use crate::sight::{Canaries, Sight};
use crate::survey::Allowance;
use crate::uplink::{self, Event, Identity, Session};

/// An outcome that says nothing new waits this long for others to share a report with.
const REPORT_WAIT: Duration = Duration::from_millis(50);
/// Most outcomes in one report.
const REPORT_OUTCOMES_MAX: usize = 512;
/// Most outcomes that wait for an acknowledgement: 30 s of 2,000 probes a second, in about 20 MiB. What is older than
/// three intervals changes nothing any more anyway (STA-6).
const BACKLOG_OUTCOMES_MAX: usize = 65_536;
/// Sent outcomes that stay unacknowledged this long mean a member without a leader: another one may have one. Longer than
/// the slowest election (12 s with the timers `global`), through which agents stay where they are, and shorter than the 15 s
/// after which a silent agent is lost (STA-5).
const ACKNOWLEDGEMENT_TIMEOUT: Duration = Duration::from_secs(14);
/// How long probes under way and unacknowledged outcomes may take once the process is to end (OPS-4).
const DRAIN_LIMIT: Duration = Duration::from_secs(3);
/// Events of the stream that wait for the loop.
const EVENTS_MAX: usize = 16;

/// What carries a check out. It must end by the check's timeout.
pub type Probe = Arc<dyn Fn(Arc<Check>) -> BoxFuture<'static, ProbeReport> + Send + Sync>;

/// What an agent is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who it is.
    pub identity: Identity,
    /// Where to find members, in the order in which they are tried; not empty.
    pub members: Vec<Uri>,
    /// What members know it by; needed for those with `https`.
    pub credentials: Option<Arc<Credentials>>,
    /// Most probes under way at once; one more is reported as trouble of the agent's own. Each needs a descriptor.
    pub probes_max: usize,
    /// How much it may measure for members.
    pub survey: Allowance,
    /// What it looks at to know whether it sees (PRB-14); nothing: it takes that for granted.
    pub canaries: Vec<Canary>,
}

/// Probes and reports until `stop` is cancelled, then drains for at most three seconds. An error is a fault of the
/// program: the task that holds the stream has panicked.
pub async fn run(settings: Settings, probe: Probe, stop: CancellationToken) -> Result<(), JoinError> {
    let (sender, events) = mpsc::channel(EVENTS_MAX);
    let sight = Canaries::new(settings.canaries.len()).sight();
    let (seen, lookout) = watch::channel(sight);
    let looking = tokio::spawn(lookout::watch(settings.canaries, probe.clone(), seen));
    let uplink = tokio::spawn(uplink::run(
        uplink::members(settings.members, settings.credentials.as_ref()),
        settings.identity.clone(),
        settings.survey,
        lookout.clone(),
        sender,
    ));
    let agent = Agent {
        probe,
        sight,
        lookout,
        clear_since: Instant::now(),
        told_sight: Sight::Clear,
        probes_max: settings.probes_max,
        clock: Clock::start(),
        assignment: Assignment::new(CHECKS_MAX),
        schedule: Schedule::new(&settings.identity.agent),
        probes: JoinSet::new(),
        backlog: Backlog::new(BACKLOG_OUTCOMES_MAX),
        report_due: None,
        link: Link::Down,
        unanswered_since: None,
        panics: 0,
        troubled: HashSet::new(),
        drain_deadline: None,
    };
    agent.serve(events, stop).await;
    looking.abort();
    // It ends by itself now that nobody listens to it.
    uplink.await
}

struct Agent {
    probe: Probe,
    /// Says how well it sees, by its canaries.
    lookout: watch::Receiver<Sight>,
    /// How well it saw when it last listened to that.
    sight: Sight,
    /// Since when it saw, or saw again.
    clear_since: Instant,
    /// What the stream there is was told of it.
    told_sight: Sight,
    probes_max: usize,
    clock: Clock,
    assignment: Assignment,
    schedule: Schedule,
    probes: JoinSet<Finished>,
    backlog: Backlog,
    /// When the outcomes that have not gone out should.
    report_due: Option<Instant>,
    link: Link,
    /// Since when something that was sent waits and nothing has been acknowledged.
    unanswered_since: Option<Instant>,
    panics: u64,
    /// Endpoints whose last outcome was trouble of this agent's own.
    troubled: HashSet<EndpointId>,
    drain_deadline: Option<Instant>,
}

/// What reports can go out on.
enum Link {
    Down,
    /// Welcomed, but older checks may be void: before the assignment is there, nothing is probed and nothing goes out
    /// (PRB-11). A member that does not bring it is left, and then probing goes on.
    Opened(Session),
    Ready(Session),
}

struct Finished {
    endpoint: EndpointId,
    check: Revision,
    started: Instant,
    ended: Instant,
    /// Nothing if the probe panicked.
    report: Option<ProbeReport>,
}

impl Agent {
    async fn serve(mut self, mut events: mpsc::Receiver<Event>, stop: CancellationToken) {
        loop {
            self.start_due();
            self.tell_sight();
            self.send_due();
            self.watch_acknowledgements();
            if self.is_drained() {
                return;
            }
            let wake = self.wake();
            tokio::select! {
                () = stop.cancelled(), if self.drain_deadline.is_none() => {
                    self.drain_deadline = Some(Instant::now() + DRAIN_LIMIT);
                    self.report_due = Some(Instant::now());
                }
                event = events.recv() => match event {
                    Some(event) => self.take(event),
                    None => return,
                },
                Some(finished) = self.probes.join_next(), if !self.probes.is_empty() => {
                    self.finish(finished);
                    while let Some(finished) = self.probes.try_join_next() {
                        self.finish(finished);
                    }
                }
                () = seeing::changed(&mut self.lookout) => self.see(),
                () = sleep_until(wake) => {}
            }
        }
    }

    /// When there is something to do at the latest.
    fn wake(&self) -> Instant {
        let next_probe = self.schedule.next_tick_ms().map(|tick_ms| self.clock.instant_of(tick_ms));
        let next_probe = next_probe.filter(|_| self.may_probe());
        let acknowledgement = self.unanswered_since.map(|since| since + ACKNOWLEDGEMENT_TIMEOUT);
        let report = self.report_due.filter(|_| matches!(self.link, Link::Ready(_)) && self.may_report());
        // The network is behind: it is told soon.
        let sight = self.has_to_tell_sight().then(|| Instant::now() + REPORT_WAIT);
        let latest = Instant::now() + Duration::from_secs(60);
        [next_probe, report, sight, acknowledgement, self.drain_deadline]
            .into_iter()
            .flatten()
            .fold(latest, Instant::min)
    }

    fn is_drained(&self) -> bool {
        self.drain_deadline.is_some_and(|deadline| {
            let is_done =
                self.probes.is_empty() && (self.backlog.is_empty() || matches!(self.link, Link::Down));
            is_done || Instant::now() >= deadline
        })
    }

    // Probing.

    fn may_probe(&self) -> bool {
        self.drain_deadline.is_none() && !matches!(self.link, Link::Opened(_))
    }

    fn start_due(&mut self) {
        if !self.may_probe() {
            return;
        }
        let now_ms = self.clock.now_ms();
        while let Some(endpoint) = self.schedule.pop_due(now_ms) {
            if let Some(check) = self.assignment.get(endpoint).cloned() {
                self.start(endpoint, check);
            }
        }
        let missed = self.schedule.take_missed();
        if missed > 0 {
            tracing::warn!(
                missed,
                "turns were missed by more than a second: those endpoints are probed in their next turn"
            );
        }
    }

    fn start(&mut self, endpoint: EndpointId, check: Arc<Check>) {
        let revision = check.revision;
        if self.probes.len() >= self.probes_max {
            let trouble =
                format!("this agent has {} probes under way, the most it may have", self.probes_max);
            self.note(endpoint, revision, ProbeReport::agent_trouble(trouble), Instant::now());
            return;
        }
        let probe = Arc::clone(&self.probe);
        self.probes.spawn(async move {
            // The call itself stands inside too: whatever panics, only this probe is lost.
            let started = Instant::now();
            let report = AssertUnwindSafe(async { probe(check).await }).catch_unwind().await.ok();
            Finished { endpoint, check: revision, started, ended: Instant::now(), report }
        });
    }

    fn finish(&mut self, finished: Result<Finished, JoinError>) {
        // Nobody cancels a probe, and its panics are caught in it.
        let Ok(Finished { endpoint, check, started, ended, report }) = finished else {
            return;
        };
        let report = report.unwrap_or_else(|| {
            self.panics += 1;
            tracing::error!(
                endpoint = endpoint.0,
                panics = self.panics,
                "a probe panicked; it starts again in its turn"
            );
            ProbeReport::agent_trouble("the probe panicked; the agent's log has more")
        });
        if self.assignment.is_current(endpoint, check) && started >= self.clear_since {
            self.note(endpoint, check, report, ended);
        }
    }

    fn note(&mut self, endpoint: EndpointId, check: Revision, report: ProbeReport, ended: Instant) {
        if self.sight != Sight::Clear {
            // It may be the agent's own failure (PRB-14).
            return;
        }
        self.tell_trouble(endpoint, &report);
        let dropped = self.backlog.dropped();
        let urgency = self.backlog.push(endpoint, check, report, ended.into_std());
        if dropped == 0 && self.backlog.dropped() > 0 {
            tracing::warn!(
                kept = BACKLOG_OUTCOMES_MAX,
                "no member takes outcomes: the oldest are dropped from now on"
            );
        }
        let due = match urgency {
            _ if self.backlog.unsent() >= REPORT_OUTCOMES_MAX => Instant::now(),
            Urgency::AtOnce => Instant::now(),
            Urgency::Soon => Instant::now() + REPORT_WAIT,
        };
        self.report_due = Some(self.report_due.map_or(due, |before| before.min(due)));
    }

    /// Trouble of this agent's own counts for nothing (PRB-9), so that no status will tell of it: the log does, once.
    fn tell_trouble(&mut self, endpoint: EndpointId, report: &ProbeReport) {
        if report.outcome.class != OutcomeClass::Agent {
            self.troubled.remove(&endpoint);
        } else if self.troubled.insert(endpoint) {
            tracing::warn!(endpoint = endpoint.0, address = ?report.address, reason = report.detail, "cannot be probed from here");
        }
    }

    // Reporting.

    fn send_due(&mut self) {
        let Link::Ready(session) = &self.link else {
            return;
        };
        if !self.may_report() || self.report_due.is_none_or(|due| Instant::now() < due) {
            return;
        }
        self.report_due = None;
        while self.backlog.unsent() > 0 {
            let Ok(place) = session.outbox.try_reserve() else {
                // The network is behind: it gets what there is by then.
                self.report_due = Some(Instant::now() + REPORT_WAIT);
                return;
            };
            let batch = self.backlog.take_batch(REPORT_OUTCOMES_MAX);
            place.send(uplink::message::report(batch, std::time::Instant::now()));
        }
    }

    fn watch_acknowledgements(&mut self) {
        self.unanswered_since =
            self.backlog.is_unanswered().then(|| self.unanswered_since.unwrap_or_else(Instant::now));
        if let (Some(since), Link::Ready(session)) = (self.unanswered_since, &self.link)
            && since.elapsed() >= ACKNOWLEDGEMENT_TIMEOUT
        {
            session.abandon.cancel();
            self.close();
        }
    }

    // Following the stream.

    fn take(&mut self, event: Event) {
        match event {
            Event::Opened(session) => {
                if self.lookout.has_changed().unwrap_or(false) {
                    self.see();
                }
                self.told_sight = session.told_sight;
                self.link = Link::Opened(session);
            }
            Event::Assigned(update) => self.assign(update),
            Event::Acknowledged(sequence) => {
                if self.backlog.acknowledge(sequence) {
                    // What is still there waits from now on.
                    self.unanswered_since = None;
                }
            }
            Event::Closed => self.close(),
        }
    }

    fn close(&mut self) {
        self.link = Link::Down;
        self.unanswered_since = None;
        self.backlog.resend();
    }

    fn assign(&mut self, update: Update) {
        let change = self.assignment.apply(update);
        if change.refused > 0 {
            tracing::error!(
                refused = change.refused,
                kept = CHECKS_MAX,
                "more checks than one agent takes on"
            );
        }
        self.troubled.retain(|endpoint| !change.removed.contains(endpoint));
        self.reschedule(&change.removed, &change.renewed);
        if !change.renewed.is_empty() || !change.removed.is_empty() {
            self.backlog.retain(|endpoint, check| self.assignment.is_current(endpoint, check));
        }
        tracing::info!(
            checks = self.assignment.len(),
            renewed = change.renewed.len(),
            removed = change.removed.len(),
            dropped = self.backlog.dropped(),
            "what to probe has changed"
        );
        self.link = match std::mem::replace(&mut self.link, Link::Down) {
            Link::Opened(session) => {
                self.report_due = Some(Instant::now());
                Link::Ready(session)
            }
            link => link,
        };
    }

    fn reschedule(&mut self, removed: &HashSet<EndpointId>, renewed: &HashSet<EndpointId>) {
        removed.iter().for_each(|endpoint| self.schedule.remove(*endpoint));
        // From the next millisecond on: this one's turns may have been taken already.
        let now_ms = self.clock.now_ms() + 1;
        for endpoint in renewed {
            if let Some(check) = self.assignment.get(*endpoint) {
                self.schedule.insert(*endpoint, check.interval_ms, now_ms);
            }
        }
    }
}
