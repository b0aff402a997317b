//! One agent's session on this member, without its connection: messages, views and the clock go in, commands and
//! messages come out. All times are milliseconds since the session's opening, by the monotonic clock.

use std::collections::BTreeSet;
use std::sync::Arc;

use waymark_core::model::{Agent, AgentRun, Caseless, EndpointId, MemberId, Timestamp};
use waymark_core::state::{Action, Command, ReportedOutcome, View};
use waymark_process::secrets::Keys;
use waymark_proto::agent::v1 as wire;

use super::allowance::Allowance;
use super::assignment::Assigner;
use super::counts::{Counters, Counts};
use super::ending::Ending;
use super::freshness::Freshness;
use super::limits::{BATCH_MAX, OUTCOMES_PER_SECOND_MAX, REPORT_OUTCOMES_MAX, UNSETTLED_MAX, Waits};
use super::proposing::Proposing;
use super::reading;
use super::relevance::{Assigned, Relevance, judge};
use super::rings::Rings;
use super::survey::Survey;
use super::unsettled::Unsettled;
use crate::measurements::Measurements;
use crate::raft::HeldSession;

/// What an agent said of itself when its stream began.
#[derive(Clone, Debug)]
pub(super) struct Greeting {
    pub(super) agent: String,
    pub(super) region: String,
    pub(super) run: AgentRun,
    pub(super) version: String,
    /// The member that holds the stream.
    pub(super) member: MemberId,
    /// How many queries to resolvers it may send in a minute.
    pub(super) queries_per_minute: u32,
    /// Is it blind (PRB-14), as far as it knows? Follows what it says later.
    pub(super) is_blind: Option<bool>,
}

impl Greeting {
    /// The command that opens a session with it.
    pub(super) fn open(&self) -> Command {
        let Self { agent, region, run, version, member, queries_per_minute: _, is_blind } = self.clone();
        Command::of_cluster(Action::OpenSession { agent, region, run, version, member, is_blind })
    }
}

/// Where a session keeps what it does not need itself.
#[derive(Clone, Debug)]
pub(super) struct Records {
    pub(super) rings: Arc<Rings>,
    pub(super) counters: Arc<Counters>,
    pub(super) measurements: Measurements,
    pub(super) keys: Arc<Keys>,
}

/// The session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) held: HeldSession,
    pub(super) greeting: Greeting,
    pub(super) waits: Waits,
    pub(super) unsettled: Unsettled,
    /// Endpoints whose verdicts are overdue: until that is committed, they have something unsettled too.
    pub(super) expiring: BTreeSet<EndpointId>,
    pub(super) proposing: Proposing,
    pub(super) heard_ms: u64,
    /// Does the cluster not know yet whether the agent is blind?
    pub(super) is_sight_due: bool,
    freshness: Freshness,
    assigner: Assigner,
    allowance: Allowance,
    records: Records,
    survey: Survey,
    /// The member's name, until the agent has been welcomed with it.
    welcome: Option<String>,
    /// Nothing counts as overdue before; see [`STALL_MS`].
    grace_ms: u64,
}

/// If the clock is looked at so much later than was due, this member has not been running meanwhile: what the agent
/// sent is probably here and not yet read, so it gets the same time again before anything counts as overdue.
const STALL_MS: u64 = 1_000;

impl Session {
    /// The session that was opened with `greeting` as `held`, on the member of that name.
    pub(super) fn new(
        held: HeldSession,
        greeting: Greeting,
        member_name: String,
        waits: Waits,
        records: Records,
    ) -> Self {
        let measurements = records.measurements.clone();
        let survey = Survey::new(measurements, &greeting.region, greeting.queries_per_minute);
        Self {
            held,
            greeting,
            waits,
            unsettled: Unsettled::default(),
            expiring: BTreeSet::new(),
            proposing: Proposing::default(),
            heard_ms: 0,
            is_sight_due: false,
            freshness: Freshness::default(),
            assigner: Assigner::new(records.keys.clone()),
            allowance: Allowance::new(OUTCOMES_PER_SECOND_MAX, 0),
            records,
            survey,
            welcome: Some(member_name),
            grace_ms: 0,
        }
    }

    /// The agent's name.
    pub(super) fn agent(&self) -> &Caseless {
        &self.held.agent
    }

    /// Starts the clock of a verdict that the agent has from an earlier session: if no outcome comes any more, that
    /// expires too (STA-5).
    pub(super) fn inherit(&mut self, view: &View, endpoint: EndpointId) {
        let assigned = Assigned::of(&view.state, &self.held.agent, endpoint);
        if let Some(Assigned { tally: Some(_), lifetime_ms, .. }) = assigned {
            self.freshness.heard(endpoint, 0, lifetime_ms);
        }
    }

    /// Takes a message of the agent; `wall` is the wall clock's time, for people.
    pub(super) fn hear(
        &mut self,
        message: wire::AgentMessage,
        view: &View,
        now_ms: u64,
        wall: Timestamp,
    ) -> Result<(), Ending> {
        self.heard_ms = now_ms;
        let report = match message.kind {
            Some(wire::agent_message::Kind::Report(report)) => report,
            Some(wire::agent_message::Kind::Measured(found)) => {
                self.survey.take(&found);
                wire::Report::default()
            }
            Some(wire::agent_message::Kind::Sighted(sighted)) => {
                self.take_sight(reading::is_blind(sighted.sight), view);
                wire::Report::default()
            }
            Some(wire::agent_message::Kind::Hello(_)) => {
                return Err(Ending::Malformed("a Hello is sent once, at the stream's beginning".into()));
            }
            // A kind that is not known here comes from an agent that is newer than this member.
            Some(wire::agent_message::Kind::Heartbeat(_)) | None => wire::Report::default(),
        };
        self.check_limits(report.outcomes.len(), now_ms)?;
        self.take_report(report, view, now_ms, wall);
        Ok(())
    }

    fn check_limits(&mut self, outcomes: usize, now_ms: u64) -> Result<(), Ending> {
        if outcomes > REPORT_OUTCOMES_MAX {
            return Err(Ending::Limit {
                what: "the number of outcomes in one report",
                most: REPORT_OUTCOMES_MAX as u64,
                advice: "",
            });
        }
        if !self.allowance.take(outcomes as u64 + 1, now_ms) {
            return Err(Ending::Limit {
                what: "the number of outcomes and messages of one agent in a second",
                most: OUTCOMES_PER_SECOND_MAX,
                advice: "; run more agents with fewer endpoints each, or probe less often",
            });
        }
        Ok(())
    }

    fn take_report(&mut self, report: wire::Report, view: &View, now_ms: u64, wall: Timestamp) {
        let mut counts = Counts::default();
        let mut kept = Vec::with_capacity(report.outcomes.len());
        for message in report.outcomes {
            let is_new = self.unsettled.received(message.sequence);
            let Ok(reported) = reading::reported(&message) else {
                counts.malformed += 1;
                continue;
            };
            let relevance =
                if is_new { self.take_outcome(&reported, view, now_ms) } else { Relevance::Replayed };
            counts.count(relevance);
            if !matches!(relevance, Relevance::Replayed | Relevance::NotAssigned) {
                let recent = reading::recent(message, self.greeting.run, reported.outcome, wall);
                kept.push((reported.endpoint, recent));
            }
        }
        self.records.counters.add(&counts);
        self.records.rings.keep(kept);
    }

    /// What the agent says of its sight; it says nothing of it in doubt.
    fn take_sight(&mut self, is_blind: Option<bool>, view: &View) {
        let is_news = is_blind.is_some() && is_blind != self.greeting.is_blind;
        if is_news {
            self.greeting.is_blind = is_blind;
            self.is_sight_due = self.has_other_sight(view);
        }
        let (agent, region) = (&self.held.agent, &self.greeting.region);
        match is_blind.filter(|_| is_news) {
            Some(true) => {
                tracing::warn!(%agent, region, "the agent is blind: its verdicts are withdrawn, and nothing it finds counts")
            }
            Some(false) => tracing::info!(%agent, region, "the agent sees its canary targets"),
            None => {}
        }
    }

    /// Does `view` think otherwise of the agent's sight than the agent?
    pub(super) fn has_other_sight(&self, view: &View) -> bool {
        let known = view.state.agents.get(&self.held.agent).map(|agent| agent.is_blind);
        known.zip(self.greeting.is_blind).is_some_and(|(known, said)| known != said)
    }

    fn take_outcome(&mut self, reported: &ReportedOutcome, view: &View, now_ms: u64) -> Relevance {
        if self.greeting.is_blind == Some(true) {
            return Relevance::Trouble;
        }
        let endpoint = reported.endpoint;
        let assigned = Assigned::of(&view.state, &self.held.agent, endpoint);
        let is_unsettled = self.unsettled.contains(endpoint) || self.expiring.contains(&endpoint);
        let relevance = judge(assigned.as_ref(), self.greeting.run, reported, is_unsettled);
        if let (Some(assigned), Relevance::Propose | Relevance::Confirm) = (&assigned, relevance) {
            let found_ms = now_ms.saturating_sub(reported.age_ms);
            self.freshness.heard(endpoint, found_ms, assigned.lifetime_ms);
        }
        if relevance == Relevance::Propose {
            self.unsettled.push(*reported, now_ms);
        }
        relevance
    }

    /// Looks at the session's place in a new view.
    pub(super) fn see(&mut self, view: &View) -> Result<(), Ending> {
        if self.proposing.is_reopening() {
            // The view may show the session that is being opened before its number is known here.
            return Ok(());
        }
        match view.state.agents.get(&self.held.agent) {
            Some(agent) if agent.session > self.held.session => Err(self.overtaken_by(agent)),
            Some(agent) if !agent.lost => Ok(()),
            // Lost, or lost and forgotten, although this stream lives.
            _ => {
                self.proposing.must_reopen = true;
                Ok(())
            }
        }
    }

    fn overtaken_by(&self, newer: &Agent) -> Ending {
        let (agent, own) = (self.held.agent.clone(), self.held.session);
        match newer.run == self.greeting.run {
            true => Ending::Replaced { agent, own, newer: newer.session },
            false => Ending::Superseded { agent, own, newer: newer.session, member: newer.member },
        }
    }

    /// Does what is due by the clock.
    pub(super) fn tick(&mut self, view: &View, now_ms: u64, wall: Timestamp) -> Result<(), Ending> {
        self.survey.tick(view, now_ms, wall);
        if now_ms > self.tick_ms().saturating_add(STALL_MS) {
            self.grace_ms = now_ms + STALL_MS;
        }
        if now_ms < self.grace_ms {
            return Ok(());
        }
        if self.may_read() && now_ms >= self.silent_ms() {
            return Err(Ending::Silent(self.waits.silence));
        }
        let (agent, unsettled) = (&self.held.agent, &self.unsettled);
        let lifetime_ms = |endpoint| {
            let assigned = Assigned::of(&view.state, agent, endpoint)?;
            (assigned.tally.is_some() || unsettled.contains(endpoint)).then_some(assigned.lifetime_ms)
        };
        let room = BATCH_MAX.saturating_sub(self.expiring.len());
        self.expiring.extend(self.freshness.overdue(now_ms, room, lifetime_ms));
        Ok(())
    }

    /// When [`Session::tick`] is next to be called.
    pub(super) fn tick_ms(&self) -> u64 {
        let silent = self.may_read().then(|| self.silent_ms());
        let overdue = (self.expiring.len() < BATCH_MAX).then(|| self.freshness.next_ms()).flatten();
        let retry = self.proposing.retry_ms.filter(|_| self.has_to_propose());
        let due_ms = [silent, overdue, retry].into_iter().flatten().min().unwrap_or(u64::MAX);
        due_ms.max(self.grace_ms).min(self.survey.next_ms().unwrap_or(u64::MAX))
    }

    /// May the next message be read? Not while too much waits to be committed.
    pub(super) fn may_read(&self) -> bool {
        self.unsettled.len() < UNSETTLED_MAX
    }

    fn silent_ms(&self) -> u64 {
        self.heard_ms.saturating_add(millis(self.waits.silence))
    }

    /// Is there something to tell the agent?
    pub(super) fn has_outgoing(&self, view: &View) -> bool {
        self.welcome.is_some()
            || self.unsettled.is_acknowledgement_due()
            || self.assigner.is_due(view)
            || self.survey.has_request()
    }

    /// Everything brought is settled and acknowledged.
    pub(super) fn is_settled(&self) -> bool {
        self.unsettled.len() == 0 && !self.unsettled.is_acknowledgement_due()
    }

    /// The next message to the agent, if there is one.
    pub(super) fn tell(&mut self, view: &View) -> Option<wire::MemberMessage> {
        let kind = if let Some(member) = self.welcome.take() {
            wire::member_message::Kind::Welcome(wire::Welcome { session: self.held.session.0, member })
        } else if let Some(sequence) = self.unsettled.acknowledge() {
            wire::member_message::Kind::Acknowledgement(wire::Acknowledgement { sequence })
        } else if !self.assigner.is_due(view)
            && let Some(request) = self.survey.request()
        {
            wire::member_message::Kind::Measure(request)
        } else {
            let assignment = self.assigner.next(view)?;
            self.records.rings.forget(assignment.removed.iter().copied().map(EndpointId));
            wire::member_message::Kind::Assignment(assignment)
        };
        Some(wire::MemberMessage { kind: Some(kind) })
    }
}

/// Whole milliseconds of a wait.
pub(super) fn millis(wait: std::time::Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}
