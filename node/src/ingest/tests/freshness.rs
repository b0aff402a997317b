//! Verdicts expire when nothing comes any more (STA-4, STA-5, FAIL-1, F-STA-04). The monitor's verdicts live 3.2 s.

use std::time::{Duration, Instant};

use waymark_core::health::EndpointStatus;
use waymark_core::model::Caseless;
use waymark_core::state::View;

use super::agent::Agent;
use super::stage::{BAD, Door, OK, Stage};
use crate::ingest::limits::Waits;

const LIFETIME: Duration = Duration::from_millis(3_200);

#[tokio::test]
async fn sta_5_a_verdict_expires_although_the_agent_lives_and_others_do_not() {
    let stage = Stage::new(2, 3);
    let endpoints = stage.endpoints();
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let last = agent.report([(endpoints[0], OK), (endpoints[1], OK)]).await;
    agent.acknowledged(last).await;
    let reported = Instant::now();
    let silent = endpoints[0];
    let name = Caseless::new("a1");
    let has_expired = move |view: &View| !view.state.health[&silent].tallies.contains_key(&name);
    while !has_expired(&stage.view()) {
        assert!(reported.elapsed() < 3 * LIFETIME, "the verdict has not expired");
        agent.report([(endpoints[1], OK)]).await;
        agent.acknowledged(agent.sequence).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(reported.elapsed() + Duration::from_millis(100) >= LIFETIME, "{:?}", reported.elapsed());
    // Blindness is no verdict (STA-4): the status stays and is marked.
    let health = stage.health(silent);
    assert_eq!(health.status, EndpointStatus::Online);
    assert!(health.stale_since.is_some());
    assert!(stage.tally(endpoints[1], "a1").is_some());

    // What comes afterwards starts anew.
    let last = agent.report([(silent, BAD)]).await;
    agent.acknowledged(last).await;
    assert_eq!(stage.tally(silent, "a1").unwrap().failures, 1);
}

#[tokio::test]
async fn sta_5_a_count_from_a_former_session_expires_if_nothing_comes_in_the_next() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let first = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&first, "a1", 7).await;
    let last = agent.report([(endpoint, BAD)]).await;
    agent.acknowledged(last).await;
    drop(agent);

    let second = Door::open(&stage, 2, Waits::default()).await;
    let (agent, _) = Agent::open(&second, "a1", 7).await;
    let opened = Instant::now();
    let name = Caseless::new("a1");
    stage
        .until("the count has expired", |view| view.state.health[&endpoint].tallies.get(&name).is_none())
        .await;
    assert!(opened.elapsed() + Duration::from_millis(100) >= LIFETIME, "{:?}", opened.elapsed());
    drop(agent);
}
