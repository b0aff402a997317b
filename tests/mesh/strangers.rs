//! Agents that are not who they say, twice there, or send what no agent sends.

use std::time::Duration;

use harness::eventually::claim;
use harness::net::alone;
use harness::{Agent, Caller, eventually, pki, within};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};
use waymark_proto::admin::v1::{Outcome, OutcomeClass};
use waymark_proto::agent::v1::agent_message::Kind;
use waymark_proto::agent::v1::mesh_client::MeshClient;
use waymark_proto::agent::v1::{self as wire, AgentMessage, ProbeOutcome, member_message};

use crate::scene::{HASTY, PATIENCE, Scene};

/// Who sends what no agent sends, with an agent's certificate.
const FORGER: &str = "a-forger";

/// SEC-2, SEC-6, STA-6: two processes of one name, an agent of another region, a forger and a flood: each is told what is wrong, nobody
/// else notices, and no status changes.
#[test]
fn sec_6_strangers_are_told_what_is_wrong_and_harm_nobody() {
    alone("strangers::sec_6_strangers_are_told_what_is_wrong_and_harm_nobody", || {
        let mut scene = Scene::start(2);
        scene.profile("web", HASTY);
        scene.all_up();
        let (begun, session, other) = (scene.now(), scene.session("a-r1"), scene.session("a-r2"));
        wrong_region(&scene);
        let newer = twice(&mut scene, session);
        let runtime = Runtime::new().unwrap();
        runtime.block_on(forge(&scene));
        runtime.block_on(oversize(&scene));
        runtime.block_on(flood(&scene));
        // The older of the two comes back by itself.
        scene.await_session("a-r1", newer);
        scene.await_verdicts("web", &["up", "up"]);
        assert_eq!(scene.session("a-r2"), other, "its stream was never broken");
        let asked = scene.found("web").into_iter().filter(|found| found.agent == "a-r2" && found.at >= begun);
        let asked: Vec<Duration> = asked.map(|found| found.at).collect();
        let longest = asked.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(longest < Duration::from_secs(5), "a probe each second, and once none for {longest:?}");
        assert_eq!(scene.answer(0, "web"), "10.77.0.31");
        assert!(scene.cluster.members.iter_mut().all(harness::Member::is_running));
        scene.holds(&[]);
    });
}

/// SEC-2: a certificate is of one region.
fn wrong_region(scene: &Scene) {
    let directory = scene.cluster.directory();
    let identity = pki::identity(directory, "agent", Some("r1"), "a-astray");
    let start = || Agent::start_as(identity, "a-astray", "r2", &scene.cluster.urls(), directory, Vec::new());
    let mut astray = scene.on_agents_host(0, start);
    assert_eq!(astray.process().wait().code(), Some(1));
    let said = astray.process().log();
    assert!(said.contains("agent/r1/a-astray"), "{said}");
}

/// STA-6: of two processes with one name the newer counts, and the older is told. Returns the newer one's session.
fn twice(scene: &mut Scene, session: u64) -> u64 {
    let identity = pki::identity(scene.cluster.directory(), "agent", Some("r1"), "a-r1");
    let elsewhere = tempfile::tempdir().unwrap();
    let urls = scene.cluster.urls();
    let start = || Agent::start_as(identity, "a-r1", "r1", &urls, elsewhere.path(), Vec::new());
    let mut second = scene.on_agents_host(1, start);
    let told = "another agent with this name has taken over";
    let older = scene.cluster.agents[0].process();
    eventually("the older is told", || claim(older.log().contains(told), older.log()));
    scene.await_session("a-r1", session);
    assert!(!second.process().log().contains(told));
    second.kill();
    scene.session("a-r1")
}

/// A forger's stream.
struct Forger {
    outgoing: mpsc::Sender<AgentMessage>,
    incoming: Streaming<wire::MemberMessage>,
}

impl Forger {
    /// One that has been welcomed, and its first check.
    async fn open(scene: &Scene) -> (Self, wire::Check) {
        let identity = pki::identity(scene.cluster.directory(), "agent", Some("r1"), FORGER);
        let caller = Caller::new(&scene.cluster.members[0].url(), pki::open(identity));
        let (outgoing, messages) = mpsc::channel(4);
        let hello = wire::Hello { agent: FORGER.into(), region: "r1".into(), run: 1, ..Default::default() };
        outgoing.send(AgentMessage { kind: Some(Kind::Hello(hello)) }).await.unwrap();
        let mut mesh = MeshClient::new(caller.connect().await.unwrap());
        let incoming = mesh.session(ReceiverStream::new(messages)).await.unwrap().into_inner();
        let mut forger = Self { outgoing, incoming };
        loop {
            if let Some(member_message::Kind::Assignment(assignment)) = forger.hear().await.unwrap() {
                let check = assignment.checks.into_iter().next().unwrap();
                return (forger, check);
            }
        }
    }

    async fn hear(&mut self) -> Result<Option<member_message::Kind>, Status> {
        let message = tokio::time::timeout(PATIENCE, self.incoming.message()).await.expect("it is answered");
        message.map(|message| message.expect("the stream goes on, or ends with a reason").kind)
    }

    async fn report(&self, outcomes: Vec<ProbeOutcome>) -> bool {
        let report = wire::Report { outcomes };
        self.outgoing.send(AgentMessage { kind: Some(Kind::Report(report)) }).await.is_ok()
    }

    async fn acknowledged(&mut self, wanted: u64) {
        loop {
            if let Some(member_message::Kind::Acknowledgement(told)) = self.hear().await.unwrap()
                && told.sequence >= wanted
            {
                return;
            }
        }
    }

    /// Why the stream ended.
    async fn ending(&mut self) -> Status {
        loop {
            if let Err(status) = self.hear().await {
                return status;
            }
        }
    }
}

fn found(check: &wire::Check, sequence: u64, class: OutcomeClass) -> ProbeOutcome {
    let outcome = Outcome { class: class.into(), status: None };
    ProbeOutcome {
        endpoint: check.endpoint,
        check_revision: check.revision,
        sequence,
        outcome: Some(outcome),
        ..ProbeOutcome::default()
    }
}

/// STA-6: what is malformed, foreign, replayed or too old is acknowledged, so that nobody sends it for ever, and changes nothing.
async fn forge(scene: &Scene) {
    let (mut forger, check) = Forger::open(scene).await;
    let refused = |sequence| found(&check, sequence, OutcomeClass::Refused);
    assert!(forger.report(vec![found(&check, 10, OutcomeClass::Ok)]).await);
    forger.acknowledged(10).await;
    let replayed: Vec<ProbeOutcome> = (1..=10).map(refused).collect();
    assert!(forger.report(replayed.clone()).await && forger.report(replayed).await);
    let foreign = (11..=20).map(|sequence| ProbeOutcome { endpoint: 999_999, ..refused(sequence) });
    assert!(forger.report(foreign.collect()).await);
    let former = (21..=30).map(|sequence| ProbeOutcome { check_revision: 1, ..refused(sequence) });
    assert!(forger.report(former.collect()).await);
    let late = (31..=40).map(|sequence| ProbeOutcome { age_ms: 600_000, ..refused(sequence) });
    assert!(forger.report(late.collect()).await);
    let unknown = Some(Outcome { class: 77, status: None });
    let malformed = (41..=50).map(|sequence| ProbeOutcome { outcome: unknown, ..refused(sequence) });
    assert!(forger.report(malformed.chain([refused(0), ProbeOutcome::default()]).collect()).await);
    assert!(forger.report(vec![found(&check, 51, OutcomeClass::Agent)]).await);
    forger.acknowledged(51).await;
    let status = scene.status("web").unwrap();
    let agents = status["regions"][0]["agents"].as_array().unwrap();
    let own = agents.iter().find(|agent| agent["name"] == FORGER).unwrap();
    assert_eq!((own["verdict"].as_str(), own["failures"].as_u64()), (Some("up"), Some(0)), "{status}");
}

/// SEC-6: a report has its most outcomes, and a message its most bytes.
async fn oversize(scene: &Scene) {
    let (mut forger, check) = Forger::open(scene).await;
    assert!(forger.report(vec![found(&check, 1, OutcomeClass::Ok); 513]).await);
    let told = forger.ending().await;
    assert!(told.code() == Code::ResourceExhausted && told.message().contains("512"), "{told:?}");

    let (mut forger, check) = Forger::open(scene).await;
    let detail = "x".repeat(2 << 20);
    assert!(forger.report(vec![ProbeOutcome { detail, ..found(&check, 1, OutcomeClass::Ok) }]).await);
    let told = forger.ending().await;
    assert!(told.code() == Code::ResourceExhausted && told.message().contains("1048576"), "{told:?}");
}

/// SEC-6: an agent has so many outcomes in a second.
async fn flood(scene: &Scene) {
    let (mut forger, _) = Forger::open(scene).await;
    // The shortest that there are: this machine may be slower than the limit is high.
    let outgoing = forger.outgoing.clone();
    let sending = tokio::spawn(async move {
        let report = wire::Report { outcomes: vec![ProbeOutcome::default(); 512] };
        let message = AgentMessage { kind: Some(Kind::Report(report)) };
        while outgoing.send(message.clone()).await.is_ok() {}
    });
    let told = tokio::time::timeout(PATIENCE, forger.ending()).await.expect("the limit is reached");
    assert!(told.code() == Code::ResourceExhausted && told.message().contains("200000"), "{told:?}");
    drop(forger);
    within(PATIENCE, || claim(sending.is_finished(), "it still sends")).unwrap();
}
