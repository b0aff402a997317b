//! Agents that go blind and see again (PRB-14).

use waymark_core::model::Caseless;
use waymark_core::state::View;
use waymark_proto::agent::v1::Sight;

use super::agent::Agent;
use super::stage::{BAD, Door, Failure, OK, Stage};
use crate::ingest::limits::Waits;

fn is_blind(view: &View) -> bool {
    view.state.agents.get(&Caseless::new("a1")).is_some_and(|agent| agent.is_blind)
}

#[tokio::test]
async fn prb_14_a_blind_agents_outcomes_count_for_nothing_until_it_sees() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let last = agent.report([(endpoint, OK), (endpoint, BAD)]).await;
    agent.acknowledged(last).await;
    assert!(stage.tally(endpoint, "a1").is_some());

    agent.sees(Sight::Blind).await;
    stage.until("its verdicts are withdrawn", is_blind).await;
    assert!(stage.tally(endpoint, "a1").is_none());
    let last = agent.report([(endpoint, BAD); 5]).await;
    agent.acknowledged(last).await;
    assert!(stage.tally(endpoint, "a1").is_none());
    // Said again, and in doubt, nothing is proposed.
    let proposals = stage.proposals().len();
    agent.sees(Sight::Blind).await;
    agent.sees(Sight::Doubtful).await;
    let last = agent.report([(endpoint, BAD)]).await;
    agent.acknowledged(last).await;
    assert_eq!(stage.proposals().len(), proposals);

    // What follows on the same stream counts, although nothing of it was committed when it came.
    agent.sees(Sight::Clear).await;
    let last = agent.report([(endpoint, BAD)]).await;
    agent.acknowledged(last).await;
    assert!(!is_blind(&stage.view()));
    assert_eq!(stage.tally(endpoint, "a1").unwrap().failures, 1, "counting starts anew");
}

#[tokio::test]
async fn prb_14_what_could_not_be_proposed_at_once_is_proposed_again() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let last = agent.report([(endpoint, OK)]).await;
    agent.acknowledged(last).await;
    stage.fail([Failure::NoLeader, Failure::Unknown]);
    agent.sees(Sight::Blind).await;
    stage.until("its verdicts are withdrawn", is_blind).await;
    assert!(stage.tally(endpoint, "a1").is_none());
}

#[tokio::test]
async fn prb_14_an_agent_that_begins_blind_says_so_in_its_hello() {
    let stage = Stage::new(1, 3);
    let door = Door::open(&stage, 1, Waits::default()).await;
    let mut agent = Agent::connect(&door).await;
    agent.hello_seeing("a1", "eu", 7, Sight::Blind).await;
    agent.welcomed().await;
    assert!(is_blind(&stage.view()));
    // Another of its runs is in doubt: it stays what it was.
    let mut next = Agent::connect(&door).await;
    next.hello_seeing("a1", "eu", 8, Sight::Doubtful).await;
    next.welcomed().await;
    assert!(is_blind(&stage.view()));
    next.sees(Sight::Clear).await;
    stage.until("it sees", |view| !is_blind(view)).await;
}
