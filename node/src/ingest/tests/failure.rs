//! Proposals fail, leaders go, members stop: nothing that was acknowledged is missing, nothing counts twice (STA-6,
//! FAIL-3, FAIL-4, F-CLU-15).

use std::time::Duration;

use tonic::Code;
use waymark_core::model::Caseless;
use waymark_core::state::Action;

use super::agent::Agent;
use super::stage::{BAD, DEADLINE, Door, Failure, OK, Stage, eventually};
use crate::ingest::limits::Waits;

/// Waits that a test can sit out.
fn short() -> Waits {
    Waits {
        leaderless: Duration::from_millis(400),
        leader_pause: Duration::from_millis(20),
        retry_pause: Duration::from_millis(20),
        ..Waits::default()
    }
}

fn recorded(commands: &[waymark_core::state::Command]) -> usize {
    let outcomes = |command: &waymark_core::state::Command| match &command.action {
        Action::RecordOutcomes { outcomes, .. } => outcomes.len(),
        _ => 0,
    };
    commands.iter().map(outcomes).sum()
}

#[tokio::test]
async fn sta_6_acknowledges_only_what_is_committed_and_proposes_again_what_is_not() {
    let stage = Stage::new(2, 9);
    let endpoints = stage.endpoints();
    let door = Door::open(&stage, 1, Waits { leaderless: DEADLINE, ..short() }).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    stage.fail([Failure::NoLeader, Failure::Unknown, Failure::Unanswered]);
    let last = agent.report([(endpoints[0], BAD), (endpoints[0], BAD), (endpoints[1], OK)]).await;
    agent.acknowledged(last).await;
    assert_eq!(stage.tally(endpoints[0], "a1").unwrap().failures, 2);
    let proposals = stage.proposals();
    assert_eq!(proposals[proposals.len() - 4..].iter().map(|p| recorded(p)).collect::<Vec<_>>(), [3; 4]);
}

#[tokio::test]
async fn perf_3_gathers_what_queued_while_a_proposal_was_in_flight() {
    let stage = Stage::new(1, 9);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    stage.hold(true);
    let before = stage.proposals().len();
    for _ in 0..5 {
        agent.report([(endpoint, BAD)]).await;
    }
    // What is known to change nothing does not jump the queue of acknowledgements.
    agent.report([(endpoint, waymark_core::health::OutcomeClass::Agent)]).await;
    assert!(agent.hears_nothing(Duration::from_millis(200)).await);
    assert_eq!(door.ingest.counts().received(), 6);
    stage.hold(false);
    agent.acknowledged(6).await;
    let gathered: Vec<usize> =
        stage.proposals()[before..].iter().map(|proposal| recorded(proposal)).collect();
    assert_eq!((gathered.iter().sum::<usize>(), gathered.len()), (5, 2), "{gathered:?}");
    assert_eq!(stage.tally(endpoint, "a1").unwrap().failures, 5);
}

#[tokio::test]
async fn sta_6_a_stream_that_is_cut_is_resumed_without_loss_or_double_count() {
    let stage = Stage::new(1, 9);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    stage.fail([Failure::Unanswered]);
    stage.hold(true);
    agent.report([(endpoint, BAD), (endpoint, BAD)]).await;
    let before = stage.proposals().len();
    eventually("it is in flight", || stage.proposals().len() > before).await;
    drop(agent);
    stage.hold(false);

    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    agent.send_report((1..=3).map(|sequence| agent.outcome(endpoint, sequence, BAD)).collect()).await;
    agent.acknowledged(3).await;
    assert_eq!(stage.tally(endpoint, "a1").unwrap().failures, 3);
}

#[tokio::test]
async fn fail_4_a_member_without_a_leader_sends_its_agents_away_even_if_nothing_changes() {
    let stage = Stage::new(1, 3);
    let door = Door::open(&stage, 1, short()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    stage.lead(false);
    let status = agent.ending().await.unwrap();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("leader"), "{}", status.message());

    let mut refused = Agent::greet(&door, "a1", 7).await;
    assert_eq!(refused.ending().await.unwrap().code(), Code::Unavailable);

    stage.lead(true);
    let taken = async {
        loop {
            let mut agent = Agent::greet(&door, "a1", 7).await;
            if !agent.hears_nothing(Duration::from_secs(1)).await && stage.lease("a1").is_some() {
                break;
            }
        }
    };
    tokio::time::timeout(DEADLINE, taken).await.expect("agents are taken again");
}

#[tokio::test]
async fn fail_4_a_stream_whose_proposals_fail_for_too_long_ends() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, short()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    stage.fail([Failure::NoLeader; 1_000]);
    agent.report([(endpoint, BAD)]).await;
    assert_eq!(agent.ending().await.unwrap().code(), Code::Unavailable);
    eventually("the lease is given back", || stage.lease("a1").is_none()).await;
}

#[tokio::test]
async fn clu_5_a_stream_on_a_member_whose_store_has_failed_ends_at_once() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    stage.fail([Failure::Storage]);
    agent.report([(endpoint, BAD)]).await;
    let status = agent.ending().await.unwrap();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("no space left"), "{}", status.message());
}

#[tokio::test]
async fn ops_4_a_member_that_stops_commits_what_it_was_brought_and_says_so() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    stage.hold(true);
    agent.report([(endpoint, BAD)]).await;
    let last = agent.report([(endpoint, BAD)]).await;
    eventually("it is brought", || door.ingest.counts().received() >= last).await;
    door.shutdown.cancel();
    stage.hold(false);
    agent.acknowledged(last).await;
    assert_eq!(agent.ending().await.unwrap().code(), Code::Unavailable);
    assert_eq!(stage.tally(endpoint, "a1").unwrap().failures, 2);
    tokio::time::timeout(DEADLINE, door.ingest.ended()).await.expect("no stream is left");
}

#[tokio::test]
async fn sta_6_an_agent_that_closes_gets_its_last_acknowledgement() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let last = agent.report([(endpoint, BAD)]).await;
    agent.close();
    agent.acknowledged(last).await;
    assert!(agent.ending().await.is_none());
    assert!(!stage.view().state.agents[&Caseless::new("a1")].lost);
}

#[tokio::test]
async fn f_clu_15_a_silent_stream_is_ended() {
    let stage = Stage::new(1, 3);
    let waits = Waits { silence: Duration::from_secs(2), ..Waits::default() };
    let door = Door::open(&stage, 1, waits).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    for _ in 0..4 {
        agent.heartbeat().await;
        assert!(agent.hears_nothing(Duration::from_millis(700)).await, "heartbeats keep the stream");
    }
    let status = agent.ending().await.unwrap();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert!(status.message().contains("heartbeat"), "{}", status.message());
}
