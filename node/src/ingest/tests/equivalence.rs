//! Filtering loses nothing: whatever comes in which order, however proposals fail and streams break, the counts and
//! statuses are those that every single outcome, applied at once, would have led to (STA-6, STA-7).

use std::time::Duration;

use proptest::prelude::*;
use waymark_core::health::OutcomeClass;
use waymark_core::model::{AgentRun, Caseless, EndpointId, LogIndex, MemberId, Revision, Timestamp};
use waymark_core::state::{Action, Command, Context, State, View, apply};
use waymark_proto::agent::v1::{AgentMessage, Report, agent_message::Kind};

use super::agent::probe_outcome;
use super::stage::founding;
use crate::ingest::limits::Waits;
use crate::ingest::reading::reported;
use crate::ingest::recent::Recent;
use crate::ingest::session::{Greeting, Records, Session};
use crate::raft::{HeldSession, ProposeError, Proposed};

const ENDPOINTS: usize = 3;

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The agent probes.
    Probe { endpoint: usize, class: OutcomeClass },
    /// The agent sends all that it has not sent on this stream.
    Send,
    /// The session proposes.
    Propose,
    /// Its proposal is committed and answered.
    Commit,
    /// Its proposal is lost; nobody knows.
    Lose,
    /// Its proposal is committed; nobody knows.
    Unanswered,
    /// The stream breaks; the proposal in flight may be committed later, when another session is open already.
    Reconnect { late: bool },
    /// It is.
    CommitLate,
    /// The agent's process starts again.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let class = prop_oneof![
        4 => Just(OutcomeClass::Ok),
        4 => Just(OutcomeClass::Timeout),
        1 => Just(OutcomeClass::Agent)
    ];
    prop_oneof![
        8 => (0..ENDPOINTS, class).prop_map(|(endpoint, class)| Step::Probe { endpoint, class }),
        4 => Just(Step::Send),
        4 => Just(Step::Propose),
        4 => Just(Step::Commit),
        1 => Just(Step::Lose),
        1 => Just(Step::Unanswered),
        1 => any::<bool>().prop_map(|late| Step::Reconnect { late }),
        1 => Just(Step::CommitLate),
        1 => Just(Step::Restart),
    ]
}

/// A state that commands go into one by one.
struct Log(State, u64);

impl Log {
    fn commit(&mut self, commands: &[Command]) -> Proposed {
        let mut replies = Vec::new();
        for command in commands {
            self.1 += 1;
            let applied = apply(&self.0, Context { index: LogIndex(self.1), at: Timestamp(0) }, command);
            self.0 = applied.state;
            replies.push(applied.reply);
        }
        Proposed { replies, index: LogIndex(self.1) }
    }

    fn view(&self) -> View {
        View::of(self.0.clone(), LogIndex(self.1))
    }
}

/// The agent, its session on a member, the log behind it, and beside it the log that gets every outcome.
struct World {
    log: Log,
    whole: Log,
    session: Session,
    in_flight: Option<Vec<Command>>,
    late: Vec<Vec<Command>>,
    run: u64,
    /// Outcomes that are not acknowledged, and how many of them were sent on this stream.
    backlog: Vec<(EndpointId, u64, OutcomeClass)>,
    sent: usize,
    sequence: u64,
    endpoints: Vec<EndpointId>,
    /// Of all endpoints: they were made together.
    check: Revision,
}

const AGENT: &str = "a1";

impl World {
    fn new() -> Self {
        let mut log = Log(State::default(), 0);
        let founding: Vec<Command> = founding(ENDPOINTS, 1).into_iter().map(Command::of_cluster).collect();
        log.commit(&founding);
        let profile = log.0.profiles.values().next().expect("the profile").clone();
        let check = profile.endpoints[0].check_revision;
        let endpoints = profile.endpoints.iter().map(|endpoint| endpoint.id).collect();
        let mut whole = Log(log.0.clone(), log.1);
        let session = open(&mut log, 1);
        open(&mut whole, 1);
        Self {
            log,
            whole,
            session,
            in_flight: None,
            late: Vec::new(),
            run: 1,
            backlog: Vec::new(),
            sent: 0,
            sequence: 0,
            endpoints,
            check,
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Probe { endpoint, class } => self.probe(self.endpoints[endpoint], class),
            Step::Send => self.send(),
            Step::Propose if self.in_flight.is_none() => self.in_flight = self.session.propose(0),
            Step::Propose => {}
            Step::Commit => {
                if let Some(commands) = self.in_flight.take() {
                    let proposed = self.log.commit(&commands);
                    self.answer(Ok(proposed));
                }
            }
            Step::Lose => {
                if self.in_flight.take().is_some() {
                    self.answer(Err(ProposeError::OutcomeUnknown));
                }
            }
            Step::Unanswered => {
                if let Some(commands) = self.in_flight.take() {
                    self.log.commit(&commands);
                    self.answer(Err(ProposeError::OutcomeUnknown));
                }
            }
            Step::Reconnect { late } => self.reconnect(late),
            Step::CommitLate => {
                if !self.late.is_empty() {
                    let commands = self.late.remove(0);
                    self.log.commit(&commands);
                }
            }
            Step::Restart => {
                // What an agent has not got rid of when its process ends is gone: both logs are without it.
                self.settle();
                self.run += 1;
                self.sequence = 0;
                self.reconnect(false);
                open(&mut self.whole, self.run);
            }
        }
    }

    fn probe(&mut self, endpoint: EndpointId, class: OutcomeClass) {
        self.sequence += 1;
        self.backlog.push((endpoint, self.sequence, class));
        let outcome = probe_outcome(endpoint, self.check, self.sequence, class);
        let reported = reported(&outcome).expect("a good outcome");
        let action =
            Action::RecordOutcomes { agent: AGENT.into(), run: AgentRun(self.run), outcomes: vec![reported] };
        self.whole.commit(&[Command::of_cluster(action)]);
    }

    fn send(&mut self) {
        let unsent = self.backlog[self.sent..].iter();
        let outcomes =
            unsent.map(|(endpoint, sequence, class)| probe_outcome(*endpoint, self.check, *sequence, *class));
        let report = Kind::Report(Report { outcomes: outcomes.collect() });
        self.sent = self.backlog.len();
        let message = AgentMessage { kind: Some(report) };
        self.session.hear(message, &self.log.view(), 0, Timestamp(0)).expect("the session goes on");
        self.acknowledge();
    }

    fn answer(&mut self, result: Result<Proposed, ProposeError>) {
        self.session.settle(result, &self.log.view(), 0).expect("the session goes on");
        self.acknowledge();
    }

    fn acknowledge(&mut self) {
        if let Some(settled) = self.session.unsettled.acknowledge() {
            let before = self.backlog.len();
            self.backlog.retain(|(_, sequence, _)| *sequence > settled);
            self.sent -= before - self.backlog.len();
        }
    }

    fn reconnect(&mut self, late: bool) {
        let in_flight = self.in_flight.take();
        if late {
            self.late.extend(in_flight);
        }
        self.session = open(&mut self.log, self.run);
        self.sent = 0;
    }

    /// Everything is sent and committed; what was late comes in between.
    fn settle(&mut self) {
        self.send();
        for commands in std::mem::take(&mut self.late) {
            self.log.commit(&commands);
        }
        self.take(Step::Commit);
        self.take(Step::Propose);
        self.take(Step::Commit);
        assert!(self.session.is_settled() && self.backlog.is_empty());
    }
}

fn open(log: &mut Log, run: u64) -> Session {
    let greeting = Greeting {
        agent: AGENT.into(),
        region: "eu".into(),
        run: AgentRun(run),
        version: "1.0".into(),
        member: MemberId(1),
        queries_per_minute: 0,
        is_blind: None,
    };
    let reply = log.commit(&[greeting.open()]).replies.remove(0).expect("the session opens");
    let held = HeldSession { agent: Caseless::new(AGENT), session: reply.revision };
    let records = Records {
        rings: Recent::default().open(&held.agent),
        counters: Default::default(),
        measurements: Default::default(),
        keys: Default::default(),
    };
    // Nothing here takes time.
    let waits = Waits { retry_pause: Duration::ZERO, leaderless: Duration::MAX, ..Waits::default() };
    Session::new(held, greeting, "member-1".into(), waits, records)
}

/// What of a state the outcomes decide.
fn conclusions(state: &State) -> Vec<impl PartialEq + std::fmt::Debug> {
    let health = state.health.values();
    health.map(|health| (health.tallies.clone(), health.judgement, health.status)).collect()
}

proptest! {
    #[test]
    fn sta_7_filtering_loses_and_invents_nothing(steps in proptest::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        for step in steps {
            world.take(step);
        }
        world.settle();
        prop_assert_eq!(conclusions(&world.log.0), conclusions(&world.whole.0));
    }
}
