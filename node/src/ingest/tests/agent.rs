//! An agent that sends what a test says and waits for what it expects.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};
use waymark_core::health::{Outcome, OutcomeClass};
use waymark_core::model::{EndpointId, Revision};
use waymark_proto::agent::v1::{self as wire, agent_message, member_message, mesh_client::MeshClient};

use super::stage::{DEADLINE, Door};

/// The agent's side of a stream.
pub(super) struct Agent {
    outgoing: Option<mpsc::Sender<wire::AgentMessage>>,
    incoming: Streaming<wire::MemberMessage>,
    /// The number of the last outcome that was sent.
    pub(super) sequence: u64,
    /// The revision of each check that the agent was last told of.
    checks: HashMap<u64, u64>,
}

impl Agent {
    /// A stream on which nothing was said yet.
    pub(super) async fn connect(door: &Door) -> Self {
        let mut client = MeshClient::connect(format!("http://{}", door.address)).await.unwrap();
        let (outgoing, messages) = mpsc::channel(1_024);
        let incoming = client.session(ReceiverStream::new(messages)).await.unwrap().into_inner();
        Self { outgoing: Some(outgoing), incoming, sequence: 0, checks: HashMap::new() }
    }

    /// A stream that began with a Hello from the region `eu`.
    pub(super) async fn greet(door: &Door, name: &str, run: u64) -> Self {
        let agent = Self::connect(door).await;
        agent.hello(name, "eu", run).await;
        agent
    }

    /// The same, welcomed and with its full assignment; returns the session's number too.
    pub(super) async fn open(door: &Door, name: &str, run: u64) -> (Self, u64) {
        let mut agent = Self::greet(door, name, run).await;
        let session = agent.welcomed().await;
        assert!(agent.assignment().await.full);
        (agent, session)
    }

    pub(super) async fn hello(&self, name: &str, region: &str, run: u64) {
        self.hello_seeing(name, region, run, wire::Sight::Clear).await;
    }

    /// A Hello that says how well the agent sees.
    pub(super) async fn hello_seeing(&self, name: &str, region: &str, run: u64, sight: wire::Sight) {
        let hello = wire::Hello {
            agent: name.into(),
            region: region.into(),
            run,
            version: "1.0".into(),
            sight: sight.into(),
            ..Default::default()
        };
        self.send(agent_message::Kind::Hello(hello)).await;
    }

    /// Says how well it sees from now on.
    pub(super) async fn sees(&self, sight: wire::Sight) {
        self.send(agent_message::Kind::Sighted(wire::Sighted { sight: sight.into() })).await;
    }

    pub(super) async fn heartbeat(&self) {
        self.send(agent_message::Kind::Heartbeat(wire::Heartbeat {})).await;
    }

    /// An outcome of the check that the agent was last told of.
    pub(super) fn outcome(
        &self,
        endpoint: EndpointId,
        sequence: u64,
        class: OutcomeClass,
    ) -> wire::ProbeOutcome {
        probe_outcome(endpoint, self.check(endpoint), sequence, class)
    }

    /// The revision of the check of that endpoint that the agent was last told of; 0 if of none.
    pub(super) fn check(&self, endpoint: EndpointId) -> Revision {
        Revision(self.checks.get(&endpoint.0).copied().unwrap_or_default())
    }

    /// Sends a report of new outcomes, and returns the last one's number.
    pub(super) async fn report(
        &mut self,
        outcomes: impl IntoIterator<Item = (EndpointId, OutcomeClass)>,
    ) -> u64 {
        let from = self.sequence + 1;
        let numbered = |(sequence, (endpoint, class))| self.outcome(endpoint, sequence, class);
        let outcomes: Vec<_> = (from..).zip(outcomes).map(numbered).collect();
        self.sequence += outcomes.len() as u64;
        self.send_report(outcomes).await;
        self.sequence
    }

    pub(super) async fn send_report(&self, outcomes: Vec<wire::ProbeOutcome>) {
        self.send(agent_message::Kind::Report(wire::Report { outcomes })).await;
    }

    async fn send(&self, kind: agent_message::Kind) {
        let outgoing = self.outgoing.as_ref().expect("the agent has not closed");
        // A stream that the member has ended takes nothing any more; the test then sees how it ended.
        let _ = outgoing.send(wire::AgentMessage { kind: Some(kind) }).await;
    }

    /// Says that nothing more will be sent.
    pub(super) fn close(&mut self) {
        self.outgoing = None;
    }

    async fn next(&mut self) -> Option<Result<member_message::Kind, Status>> {
        let message = timeout(DEADLINE, self.incoming.next()).await.expect("the member says something");
        message.map(|message| message.map(|message| message.kind.expect("a kind that is known")))
    }

    async fn expect(&mut self) -> member_message::Kind {
        let kind = self.next().await.expect("the stream goes on").expect("the stream goes on");
        if let member_message::Kind::Assignment(assignment) = &kind {
            self.checks.extend(assignment.checks.iter().map(|check| (check.endpoint, check.revision)));
        }
        kind
    }

    pub(super) async fn welcomed(&mut self) -> u64 {
        match self.expect().await {
            member_message::Kind::Welcome(welcome) => welcome.session,
            other => panic!("no welcome: {other:?}"),
        }
    }

    /// The next assignment message.
    pub(super) async fn assignment(&mut self) -> wire::Assignment {
        loop {
            match self.expect().await {
                member_message::Kind::Assignment(assignment) => return assignment,
                member_message::Kind::Acknowledgement(_) => {}
                other => panic!("no assignment: {other:?}"),
            }
        }
    }

    /// Returns once everything up to `sequence` is acknowledged.
    pub(super) async fn acknowledged(&mut self, sequence: u64) {
        while self.acknowledgement().await < sequence {}
    }

    /// The next acknowledgement.
    pub(super) async fn acknowledgement(&mut self) -> u64 {
        loop {
            match self.expect().await {
                member_message::Kind::Acknowledgement(acknowledgement) => return acknowledgement.sequence,
                member_message::Kind::Assignment(_) => {}
                other => panic!("no acknowledgement: {other:?}"),
            }
        }
    }

    /// Is nothing acknowledged within `wait`?
    pub(super) async fn hears_nothing(&mut self, wait: Duration) -> bool {
        timeout(wait, self.incoming.next()).await.is_err()
    }

    /// How the member ends the stream; `None` if without a complaint.
    pub(super) async fn ending(&mut self) -> Option<Status> {
        loop {
            match self.next().await {
                Some(Ok(_)) => {}
                Some(Err(status)) => return Some(status),
                None => return None,
            }
        }
    }
}

/// One outcome as agents send it.
pub(super) fn probe_outcome(
    endpoint: EndpointId,
    check: Revision,
    sequence: u64,
    class: OutcomeClass,
) -> wire::ProbeOutcome {
    let outcome = Outcome { class, status: (class == OutcomeClass::Ok).then_some(200) };
    wire::ProbeOutcome {
        endpoint: endpoint.0,
        sequence,
        outcome: Some(outcome.into()),
        address: "192.0.2.1".into(),
        check_revision: check.0,
        ..Default::default()
    }
}
