//! An agent that the bench plays: it speaks the agents' protocol itself, so that it knows the moment at which an outcome leaves, and
//! reports for any number of endpoints as fast as it is heard.

use std::time::Duration;

use harness::{Caller, Cluster, pki};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use waymark_proto::admin::v1::{Outcome, OutcomeClass};
use waymark_proto::agent::v1::agent_message::Kind;
use waymark_proto::agent::v1::mesh_client::MeshClient;
use waymark_proto::agent::v1::{
    AgentMessage, Check, Heartbeat, Hello, MemberMessage, ProbeOutcome, Report, member_message,
};

/// Most outcomes in a report, by the protocol.
const REPORT_MAX: usize = 512;

/// How often it says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// How long a report may take to be settled.
const PATIENCE: Duration = Duration::from_secs(120);

/// A session that is open.
pub(crate) struct Reporter {
    sender: mpsc::Sender<AgentMessage>,
    acknowledged: watch::Receiver<u64>,
    checks: Vec<Check>,
    sequence: u64,
}

impl Reporter {
    /// The caller for [`Self::open`]: a member of `cluster` by its place, as an agent in `region`.
    pub(crate) fn caller(cluster: &Cluster, member: usize, region: &str) -> Caller {
        let identity = pki::identity(cluster.directory(), "agent", Some(region), &name(region));
        Caller::new(&cluster.members[member].url(), pki::open(identity))
    }

    /// Opens a session in `region` and takes what is to be probed, which must be there by now.
    pub(crate) async fn open(caller: Caller, region: &str) -> Self {
        let (sender, receiver) = mpsc::channel(64);
        let hello = Hello {
            agent: name(region),
            region: region.to_owned(),
            run: 1,
            version: "bench".into(),
            ..Hello::default()
        };
        send(&sender, Kind::Hello(hello)).await;
        let mut mesh = MeshClient::new(caller.connect().await.expect("the member takes connections"));
        let mut stream =
            mesh.session(ReceiverStream::new(receiver)).await.expect("the session opens").into_inner();
        let checks = assignment(&mut stream).await;
        let (settle, acknowledged) = watch::channel(0);
        tokio::spawn(async move {
            while let Ok(Some(message)) = stream.message().await {
                if let Some(member_message::Kind::Acknowledgement(settled)) = message.kind {
                    settle.send_replace(settled.sequence);
                }
            }
        });
        let beating = sender.clone();
        tokio::spawn(async move {
            let mut beats = tokio::time::interval(HEARTBEAT);
            while beating.send(AgentMessage { kind: Some(Kind::Heartbeat(Heartbeat {})) }).await.is_ok() {
                beats.tick().await;
            }
        });
        Self { sender, acknowledged, checks, sequence: 0 }
    }

    /// How many endpoints it probes.
    pub(crate) fn endpoints(&self) -> usize {
        self.checks.len()
    }

    /// Sends an outcome for each endpoint that it probes.
    pub(crate) async fn send(&mut self, class: OutcomeClass) {
        let checks = std::mem::take(&mut self.checks);
        for some in checks.chunks(REPORT_MAX) {
            let outcomes = some.iter().map(|check| self.outcome(check, class)).collect();
            send(&self.sender, Kind::Report(Report { outcomes })).await;
        }
        self.checks = checks;
    }

    /// Waits until all that was sent is committed, or known to change nothing.
    pub(crate) async fn settled(&mut self) {
        let all = self.sequence;
        let settled = self.acknowledged.wait_for(|acknowledged| *acknowledged >= all);
        tokio::time::timeout(PATIENCE, settled).await.expect("in time").expect("the session is open");
    }

    fn outcome(&mut self, check: &Check, class: OutcomeClass) -> ProbeOutcome {
        self.sequence += 1;
        ProbeOutcome {
            endpoint: check.endpoint,
            check_revision: check.revision,
            sequence: self.sequence,
            outcome: Some(Outcome { class: class.into(), status: None }),
            ..ProbeOutcome::default()
        }
    }
}

fn name(region: &str) -> String {
    format!("bench-{region}")
}

async fn send(sender: &mpsc::Sender<AgentMessage>, kind: Kind) {
    sender.send(AgentMessage { kind: Some(kind) }).await.expect("the session is open");
}

/// All parts of the first assignment.
async fn assignment(stream: &mut Streaming<MemberMessage>) -> Vec<Check> {
    let mut checks = Vec::new();
    loop {
        let message = stream.message().await.expect("the stream goes on").expect("an assignment comes");
        if let Some(member_message::Kind::Assignment(part)) = message.kind {
            checks.extend(part.checks);
            if !part.more {
                return checks;
            }
        }
    }
}
