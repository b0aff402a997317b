//! An agent that looks at canary targets to know whether it sees (PRB-14).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use waymark_agent::probe::ProbeReport;
use waymark_core::health::{Outcome, OutcomeClass};
use waymark_proto::agent::v1::Sight;

use crate::member::Member;
use crate::running::{Agent, finding, idle, ok};

/// The port of the canary, by which the probes of these tests know it.
const CANARY_PORT: u16 = 4_443;

fn refused() -> ProbeReport {
    ProbeReport::of(Outcome { class: OutcomeClass::Refused, status: None })
}

/// An agent whose canary and endpoints are there only while the flag is set.
fn start(member: &Member, is_there: &Arc<AtomicBool>) -> Agent {
    let seen = Arc::clone(is_there);
    let probe = finding(move |check| match (seen.load(Ordering::Relaxed), check.port) {
        (true, _) => ok(),
        // Trouble of the agent's own is a miss too: it could not look elsewhere either.
        (false, CANARY_PORT) => ProbeReport::agent_trouble("no descriptors"),
        (false, _) => refused(),
    });
    Agent::with_canaries(&[member], probe, &["127.0.0.1:4443"])
}

/// PRB-14: before it has seen anything it reports nothing, then that it is blind, and outcomes only once it sees.
#[tokio::test]
async fn prb_14_an_agent_that_starts_blind_says_so_before_anything_else() {
    let is_there = Arc::new(AtomicBool::new(false));
    let mut member = Member::start().await;
    let _agent = start(&member, &is_there);
    let mut session = member.serve(&[(7, idle(100))]).await;
    // On a busy machine it may have looked twice before it came.
    if session.hello.sight() != Sight::Blind {
        assert_eq!(session.hello.sight(), Sight::Doubtful);
        assert_eq!(session.sighted().await, Sight::Blind);
    }
    assert!(session.reports_nothing(Duration::from_millis(500)).await);
    is_there.store(true, Ordering::Relaxed);
    assert_eq!(session.sighted().await, Sight::Clear);
    let outcome = session.outcome().await;
    assert_eq!(outcome.outcome.unwrap().class(), waymark_proto::admin::v1::OutcomeClass::Ok, "{outcome:?}");
}

/// PRB-14: once it is in doubt nothing that it finds is reported, and of what it found so nothing comes later.
#[tokio::test]
async fn prb_14_what_is_found_in_doubt_is_never_reported() {
    let is_there = Arc::new(AtomicBool::new(true));
    let mut member = Member::start().await;
    let agent = start(&member, &is_there);
    let mut session = member.serve(&[(7, idle(100))]).await;
    let outcome = session.outcome().await;
    session.acknowledge(outcome.sequence).await;
    is_there.store(false, Ordering::Relaxed);
    // Until the canary's next turn failures are reported; then there is silence, and the word for it.
    assert_eq!(session.sighted().await, Sight::Blind);
    assert!(session.reports_nothing(Duration::from_millis(500)).await);
    drop(session);
    let mut session = member.serve(&[(7, idle(100))]).await;
    assert_eq!(session.hello.sight(), Sight::Blind, "a new stream is told at once");
    is_there.store(true, Ordering::Relaxed);
    assert_eq!(session.sighted().await, Sight::Clear);
    let outcome = session.outcome().await;
    assert_eq!(outcome.outcome.unwrap().class(), waymark_proto::admin::v1::OutcomeClass::Ok, "{outcome:?}");
    agent.end().await;
}

/// PRB-14: without canaries nothing changes.
#[tokio::test]
async fn prb_14_an_agent_without_canaries_takes_its_sight_for_granted() {
    let mut member = Member::start().await;
    let _agent = Agent::start(&[&member], finding(|_| refused()));
    let mut session = member.serve(&[(7, idle(100))]).await;
    assert_eq!(session.hello.sight(), Sight::Clear);
    assert_eq!(session.outcome().await.endpoint, 7);
}
