//! A cluster of one without a disk: the real `apply` behind a consensus that waits, fails and forgets when it is told to.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use waymark_core::health::{EndpointHealth, OutcomeClass, Tally};
use waymark_core::model::{
    Caseless, Edit, EndpointId, EndpointPatch, LogIndex, MemberId, MonitorPatch, ProfilePatch, Region,
    Revision, Routing, Timestamp, ZonePatch,
};
use waymark_core::state::{Action, Applied, Command, Context, Rejection, Reply, State, View, apply};

use crate::acceptor;
use crate::ingest::consensus::Consensus;
use crate::ingest::limits::Waits;
use crate::ingest::service::{Admission, Identity, Ingest};
use crate::publication::{Publisher, Reader, no_tables, publication};
use crate::raft::{HeldSession, ProposeError, Proposed};

/// How long a test waits for what must come.
pub(super) const DEADLINE: Duration = Duration::from_secs(20);

/// The profile that the tests probe.
pub(super) const PROFILE: &str = "web";

/// What becomes of a proposal that shall fail.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// Nothing is committed.
    NoLeader,
    /// Nothing is committed, but nobody knows.
    Unknown,
    /// It is committed, but nobody knows.
    Unanswered,
    /// Nothing is committed, for good.
    Storage,
}

pub(super) struct Stage {
    publisher: Mutex<Publisher>,
    reader: Reader,
    failures: Mutex<VecDeque<Failure>>,
    gate: watch::Sender<bool>,
    has_leader: AtomicBool,
    log: Mutex<Vec<Vec<Command>>>,
    leases: Mutex<BTreeMap<Caseless, Revision>>,
}

impl Stage {
    /// A cluster with a region `eu` and a profile of that many endpoints, probed every second with a timeout of 200 ms,
    /// of which one failure is tolerated less than `tolerated` says.
    pub(super) fn new(endpoints: usize, tolerated: u32) -> Arc<Self> {
        let (publisher, reader) = publication(View::of(State::default(), LogIndex(0)), no_tables());
        let stage = Self {
            publisher: Mutex::new(publisher),
            reader,
            failures: Mutex::default(),
            gate: watch::Sender::new(true),
            has_leader: AtomicBool::new(true),
            log: Mutex::default(),
            leases: Mutex::default(),
        };
        for action in founding(endpoints, tolerated) {
            stage.commit(action);
        }
        Arc::new(stage)
    }

    /// Commits a command that must be accepted.
    pub(super) fn commit(&self, action: Action) -> Reply {
        self.apply(&[Command::of_cluster(action)]).remove(0).expect("the command is accepted")
    }

    fn apply(&self, commands: &[Command]) -> Vec<Result<Reply, Rejection>> {
        let publisher = self.publisher.lock().unwrap();
        let view = publisher.view();
        let index = LogIndex(view.applied.0 + 1);
        let (mut state, mut replies, mut changes) = (view.state.clone(), Vec::new(), Vec::new());
        for command in commands {
            let applied: Applied = apply(&state, Context { index, at: Timestamp(index.0) }, command);
            state = applied.state;
            replies.push(applied.reply);
            changes.extend(applied.changes);
        }
        publisher.publish(view.after(state, &changes, index));
        replies
    }

    /// The next proposals fail like this, in turn.
    pub(super) fn fail(&self, failures: impl IntoIterator<Item = Failure>) {
        self.failures.lock().unwrap().extend(failures);
    }

    /// Proposals wait from now on, until they may go on.
    pub(super) fn hold(&self, holds: bool) {
        self.gate.send_replace(!holds);
    }

    /// Can a leader be reached?
    pub(super) fn lead(&self, leads: bool) {
        self.has_leader.store(leads, Ordering::Relaxed);
    }

    /// What was proposed so far, whatever became of it.
    pub(super) fn proposals(&self) -> Vec<Vec<Command>> {
        self.log.lock().unwrap().clone()
    }

    /// The session that this member is known to hold for `agent`.
    pub(super) fn lease(&self, agent: &str) -> Option<Revision> {
        self.leases.lock().unwrap().get(&Caseless::new(agent)).copied()
    }

    pub(super) fn view(&self) -> Arc<View> {
        self.reader.view()
    }

    /// The numbers of the profile's endpoints.
    pub(super) fn endpoints(&self) -> Vec<EndpointId> {
        let view = self.view();
        let profile = view.state.profile(&PROFILE.into()).expect("the profile exists");
        profile.endpoints.iter().map(|endpoint| endpoint.id).collect()
    }

    pub(super) fn health(&self, endpoint: EndpointId) -> Arc<EndpointHealth> {
        self.view().state.health[&endpoint].clone()
    }

    pub(super) fn tally(&self, endpoint: EndpointId, agent: &str) -> Option<Tally> {
        self.health(endpoint).tallies.get(&Caseless::new(agent)).copied()
    }

    /// Returns once the view is as it should be.
    pub(super) async fn until(&self, what: &str, is_so: impl Fn(&View) -> bool) {
        let mut reader = self.reader.clone();
        let waiting = async {
            while !is_so(&reader.view()) {
                reader.changed().await;
            }
        };
        tokio::time::timeout(DEADLINE, waiting).await.unwrap_or_else(|_| panic!("in time: {what}"));
    }
}

pub(super) fn founding(endpoints: usize, tolerated: u32) -> Vec<Action> {
    let target = |number: usize| format!("192.0.2.{}", number % 250 + 1);
    let endpoint = |number: usize| {
        let patch = EndpointPatch { target: Edit::Set(target(number)), ..Default::default() };
        (format!("e{number}"), patch)
    };
    let name_server = ("ns1.example.net".to_owned(), Vec::new());
    let monitor = MonitorPatch {
        interval_ms: Edit::Set(1_000),
        timeout_ms: Edit::Set(200),
        tolerated_failures: Edit::Set(tolerated),
        ..Default::default()
    };
    let region = Region { name: "eu".into(), latitude_e6: 0, longitude_e6: 0, revision: Revision::default() };
    vec![
        Action::Found { cluster: "c1".into(), cookies: None },
        Action::SetRegion(region),
        Action::CreateZone {
            name: "tm.example.com".into(),
            fields: ZonePatch { name_servers: Edit::Set(vec![name_server]), ..Default::default() },
        },
        Action::CreateProfile {
            name: PROFILE.into(),
            zone: "tm.example.com".into(),
            relative_name: "web".into(),
            fields: ProfilePatch { routing: Edit::Set(Routing::Priority), monitor, ..Default::default() },
            endpoints: (1..=endpoints).map(endpoint).collect(),
        },
    ]
}

#[async_trait::async_trait]
impl Consensus for Stage {
    async fn propose(&self, commands: Vec<Command>) -> Result<Proposed, ProposeError> {
        self.log.lock().unwrap().push(commands.clone());
        let mut gate = self.gate.subscribe();
        gate.wait_for(|is_open| *is_open).await.expect("the stage stands");
        if !self.has_leader.load(Ordering::Relaxed) {
            return Err(ProposeError::NoLeader);
        }
        let failure = self.failures.lock().unwrap().pop_front();
        match failure {
            Some(Failure::NoLeader) => return Err(ProposeError::NoLeader),
            Some(Failure::Unknown) => return Err(ProposeError::OutcomeUnknown),
            Some(Failure::Storage) => return Err(ProposeError::Storage("no space left".into())),
            Some(Failure::Unanswered) => {
                self.apply(&commands);
                return Err(ProposeError::OutcomeUnknown);
            }
            None => {}
        }
        let replies = self.apply(&commands);
        Ok(Proposed { replies, index: self.view().applied })
    }

    async fn read_barrier(&self) -> Result<(), ProposeError> {
        if self.has_leader.load(Ordering::Relaxed) { Ok(()) } else { Err(ProposeError::NoLeader) }
    }

    fn heard(&self, session: &HeldSession) {
        self.leases.lock().unwrap().insert(session.agent.clone(), session.session);
    }

    fn release(&self, session: &HeldSession) {
        let mut leases = self.leases.lock().unwrap();
        if leases.get(&session.agent) == Some(&session.session) {
            leases.remove(&session.agent);
        }
    }
}

/// A member's door on that stage, listening on loopback.
pub(super) struct Door {
    pub(super) ingest: Ingest,
    pub(super) address: SocketAddr,
    pub(super) shutdown: CancellationToken,
}

impl Door {
    /// The door of member `number`, on the stage.
    pub(super) async fn open(stage: &Arc<Stage>, number: u64, waits: Waits) -> Self {
        let shutdown = CancellationToken::new();
        let identity =
            Identity { id: Box::new(move || Some(MemberId(number))), name: format!("member-{number}") };
        let reader = stage.reader.clone();
        let ingest = Ingest::with(reader, stage.clone(), identity, admission(), waits, shutdown.clone());
        Self::serve(ingest, shutdown).await
    }

    /// Any door; its streams end with `shutdown`.
    pub(super) async fn serve(ingest: Ingest, shutdown: CancellationToken) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = tonic::transport::Server::builder().add_service(ingest.service());
        tokio::spawn(router.serve_with_incoming(acceptor::incoming(
            listener,
            None,
            CancellationToken::new(),
        )));
        Self { ingest, address, shutdown }
    }
}

/// Returns once it is so.
pub(super) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, waiting).await.unwrap_or_else(|_| panic!("in time: {what}"));
}

/// Lets in whoever is not called `impostor`.
pub(super) fn admission() -> Admission {
    Box::new(|_, agent, _| match agent {
        "impostor" => Err("the certificate names another agent".to_owned()),
        _ => Ok(()),
    })
}

/// The class of a success and of a failure.
pub(super) const OK: OutcomeClass = OutcomeClass::Ok;
pub(super) const BAD: OutcomeClass = OutcomeClass::Timeout;
