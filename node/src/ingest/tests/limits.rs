//! Streams that are refused, and limits that are reached: each with an error that names it (SEC-6).

use std::time::Duration;

use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;
use waymark_core::model::{self, AgentRun, EndpointId, MemberId, Revision, Timestamp};
use waymark_core::state::View;
use waymark_proto::agent::v1::{self as wire, mesh_client::MeshClient};

use super::agent::{Agent, probe_outcome};
use super::stage::{BAD, DEADLINE, Door, OK, Stage};
use crate::ingest::ending::Ending;
use crate::ingest::limits::{
    BATCH_MAX, MESSAGE_BYTES_MAX, OUTCOMES_PER_SECOND_MAX, REPORT_OUTCOMES_MAX, STREAMS_MAX, UNSETTLED_MAX,
    Waits,
};
use crate::ingest::recent::Recent;
use crate::ingest::session::{Greeting, Records, Session};
use crate::raft::{HeldSession, ProposeError, Proposed};

#[tokio::test]
async fn sec_6_a_hello_must_come_first_soon_and_once() {
    let stage = Stage::new(1, 3);
    let waits = Waits { hello: Duration::from_millis(200), ..Waits::default() };
    let door = Door::open(&stage, 1, waits).await;
    let mut silent = Agent::connect(&door).await;
    let status = silent.ending().await.unwrap();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("Hello"), "{}", status.message());

    let mut hasty = Agent::connect(&door).await;
    hasty.heartbeat().await;
    assert_eq!(hasty.ending().await.unwrap().code(), Code::InvalidArgument);

    let (mut repeating, _) = Agent::open(&door, "a1", 7).await;
    repeating.hello("a1", "eu", 7).await;
    assert_eq!(repeating.ending().await.unwrap().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn sec_2_an_agent_that_is_not_who_it_says_is_refused_before_the_log() {
    let stage = Stage::new(1, 3);
    let door = Door::open(&stage, 1, Waits::default()).await;
    let mut impostor = Agent::greet(&door, "impostor", 7).await;
    let status = impostor.ending().await.unwrap();
    assert_eq!(status.code(), Code::PermissionDenied);
    assert!(status.message().contains("another agent"), "{}", status.message());
    assert!(stage.proposals().is_empty());
}

#[tokio::test]
async fn obj_9_the_cluster_refuses_bad_names_and_regions_that_are_not_there() {
    let stage = Stage::new(1, 3);
    let door = Door::open(&stage, 1, Waits::default()).await;
    for (name, region, code) in [
        ("a1", "nowhere", Code::NotFound),
        ("no spaces please", "eu", Code::InvalidArgument),
        (&"x".repeat(300), "eu", Code::InvalidArgument),
    ] {
        let mut agent = Agent::connect(&door).await;
        agent.hello(name, region, 7).await;
        let status = agent.ending().await.unwrap();
        assert_eq!(status.code(), code, "{name} {region}: {}", status.message());
    }
}

#[tokio::test]
async fn sec_6_a_report_has_a_size() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let check = agent.check(endpoint);
    let outcomes =
        |count: usize| (1..=count as u64).map(|sequence| probe_outcome(endpoint, check, sequence, OK));
    agent.send_report(outcomes(REPORT_OUTCOMES_MAX).collect()).await;
    agent.acknowledged(REPORT_OUTCOMES_MAX as u64).await;
    agent.send_report(outcomes(REPORT_OUTCOMES_MAX + 1).collect()).await;
    let status = agent.ending().await.unwrap();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(status.message().contains("512"), "{}", status.message());
}

#[tokio::test]
async fn sec_6_a_message_has_a_size() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let outcome = probe_outcome(endpoint, agent.check(endpoint), 1, OK);
    let detail = "x".repeat(MESSAGE_BYTES_MAX);
    agent.send_report(vec![wire::ProbeOutcome { detail, ..outcome }]).await;
    let mut unheard = Agent::greet(&door, &"x".repeat(MESSAGE_BYTES_MAX), 7).await;
    for status in [agent.ending().await.unwrap(), unheard.ending().await.unwrap()] {
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert!(status.message().contains("1048576"), "{}", status.message());
    }
}

#[tokio::test]
async fn sec_6_sessions_are_opened_at_a_rate() {
    let stage = Stage::new(1, 3);
    // At the product's 100 a second, a busy machine might not come to the limit.
    let waits = Waits { openings_per_second: 1, ..Waits::default() };
    assert_eq!(Waits::default().openings_per_second, 100);
    let door = Door::open(&stage, 1, waits).await;
    let refused = async {
        loop {
            let mut agent = Agent::greet(&door, "nobody's", 7).await;
            let status = agent.ending().await.unwrap();
            if status.code() == Code::ResourceExhausted {
                return status;
            }
        }
    };
    let status = tokio::time::timeout(DEADLINE, refused).await.expect("the rate is limited");
    let told = "the number of sessions opened on one member in a second";
    assert!(status.message().contains(told), "{}", status.message());
}

#[tokio::test]
async fn sec_6_a_member_holds_so_many_streams_and_no_more() {
    let stage = Stage::new(1, 3);
    let door = Door::open(&stage, 1, Waits { hello: DEADLINE, ..Waits::default() }).await;
    let mut client = MeshClient::connect(format!("http://{}", door.address)).await.unwrap();
    let mut open = Vec::new();
    for _ in 0..STREAMS_MAX {
        let (outgoing, messages) = tokio::sync::mpsc::channel(1);
        let incoming = client.session(ReceiverStream::new(messages)).await.unwrap();
        open.push((outgoing, incoming));
    }
    let status = client.session(tokio_stream::empty()).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(status.message().contains("1000"), "{}", status.message());

    open.pop();
    let taken = async { while client.session(tokio_stream::empty()).await.is_err() {} };
    tokio::time::timeout(DEADLINE, taken).await.expect("there is room again");
}

fn report(outcomes: Vec<wire::ProbeOutcome>) -> wire::AgentMessage {
    wire::AgentMessage { kind: Some(wire::agent_message::Kind::Report(wire::Report { outcomes })) }
}

#[test]
fn sec_6_an_agent_has_so_many_outcomes_in_a_second() {
    let mut session = session();
    let view = View::default();
    let mut sequence = 0;
    let mut send = |now_ms| {
        let outcomes = (0..REPORT_OUTCOMES_MAX).map(|_| {
            sequence += 1;
            probe_outcome(EndpointId(1), Revision(1), sequence, OK)
        });
        session.hear(report(outcomes.collect()), &view, now_ms, Timestamp(0))
    };
    let per_message = REPORT_OUTCOMES_MAX as u64 + 1;
    for _ in 0..2 * OUTCOMES_PER_SECOND_MAX / per_message {
        send(0).unwrap();
    }
    let ending = send(0).unwrap_err();
    assert!(matches!(ending, Ending::Limit { most: OUTCOMES_PER_SECOND_MAX, .. }), "{ending}");
    send(1_000).unwrap();
}

#[test]
fn sec_6_a_session_reads_no_further_while_too_much_waits_to_be_committed() {
    let stage = Stage::new(1, 3);
    let (endpoint, view) = (stage.endpoints()[0], stage.view());
    let check = view.check(endpoint).unwrap().revision;
    let mut session = session();
    for first in (0..UNSETTLED_MAX as u64).step_by(REPORT_OUTCOMES_MAX) {
        assert!(session.may_read());
        let outcomes =
            (1..=REPORT_OUTCOMES_MAX as u64).map(|next| probe_outcome(endpoint, check, first + next, BAD));
        session.hear(report(outcomes.collect()), &view, 0, Timestamp(0)).unwrap();
    }
    assert!(!session.may_read());

    // One batch that is committed makes room again; the time in which nothing was read is no silence.
    assert!(session.propose(0).is_some());
    let replies = vec![Ok(Default::default())];
    let long_after = 60_000;
    session.settle(Ok(Proposed { replies, index: view.applied }), &with_agent(&view), long_after).unwrap();
    assert!(session.may_read());
    assert_eq!(session.heard_ms, long_after);
    assert_eq!(session.unsettled.acknowledge(), Some(BATCH_MAX as u64));

    // If even a full queue cannot be committed, the agent is better off elsewhere.
    let first = UNSETTLED_MAX as u64;
    let outcomes = |more: u64| {
        let sequences = first + more + 1..=first + more + REPORT_OUTCOMES_MAX as u64;
        report(sequences.map(|sequence| probe_outcome(endpoint, check, sequence, BAD)).collect())
    };
    for more in (0..BATCH_MAX as u64).step_by(REPORT_OUTCOMES_MAX) {
        session.hear(outcomes(more), &view, long_after, Timestamp(0)).unwrap();
    }
    assert!(session.propose(long_after).is_some());
    let ending = session.settle(Err(ProposeError::Busy), &view, long_after).unwrap_err();
    assert_eq!(ending, Ending::Leaderless);
}

/// The same view, with the session of [`session`] in it.
fn with_agent(view: &View) -> View {
    let agent = model::Agent {
        name: "a1".into(),
        region: "eu".into(),
        run: AgentRun(7),
        session: Revision(1),
        member: MemberId(1),
        version: "1.0".into(),
        lost: false,
        is_blind: false,
        since: Timestamp(0),
    };
    let mut state = view.state.clone();
    state.agents.insert(agent.name.clone(), agent.into());
    view.after(state, &[], view.applied)
}

fn session() -> Session {
    let greeting = Greeting {
        agent: "a1".into(),
        region: "eu".into(),
        run: AgentRun(7),
        version: "1.0".into(),
        member: MemberId(1),
        queries_per_minute: 0,
        is_blind: None,
    };
    let held = HeldSession { agent: "a1".into(), session: Revision(1) };
    let records = Records {
        rings: Recent::default().open(&held.agent),
        counters: Default::default(),
        measurements: Default::default(),
        keys: Default::default(),
    };
    Session::new(held, greeting, "member-1".into(), Waits::default(), records)
}
