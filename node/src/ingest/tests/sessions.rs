//! Sessions come, go and replace each other; counts stay (STA-6, STA-7).

use tonic::Code;
use waymark_core::health::{EndpointStatus, OutcomeClass, Verdict};
use waymark_core::model::{Caseless, Edit, EndpointId, EndpointPatch, Revision};
use waymark_core::state::Action;

use super::agent::Agent;
use super::stage::{BAD, Door, OK, PROFILE, Stage, eventually};
use crate::ingest::limits::Waits;

#[tokio::test]
async fn sta_7_a_healthy_endpoint_costs_the_log_nothing() {
    let stage = Stage::new(3, 3);
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let endpoints = stage.endpoints();
    let all = || endpoints.iter().map(|endpoint| (*endpoint, OK)).collect::<Vec<_>>();
    let first = agent.report(all()).await;
    agent.acknowledged(first).await;
    assert_eq!(stage.health(endpoints[0]).status, EndpointStatus::Online);

    let (proposals, applied) = (stage.proposals().len(), stage.view().applied);
    for _ in 0..300 {
        agent.report(all()).await;
    }
    agent.acknowledged(agent.sequence).await;
    assert_eq!((stage.proposals().len(), stage.view().applied), (proposals, applied));
    assert_eq!((door.ingest.counts().confirming, door.ingest.counts().proposed), (900, 3));

    // Failures cost something until the verdict has turned, and then no more (tolerated 3).
    for _ in 0..10 {
        let last = agent.report([(endpoints[0], BAD)]).await;
        agent.acknowledged(last).await;
    }
    assert_eq!(stage.proposals().len(), proposals + 4);
    assert_eq!(stage.health(endpoints[0]).status, EndpointStatus::Degraded);
}

#[tokio::test]
async fn sta_7_a_failing_run_goes_on_after_a_reconnect_to_another_member() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let first = Door::open(&stage, 1, Waits::default()).await;
    let second = Door::open(&stage, 2, Waits::default()).await;
    let (mut agent, session) = Agent::open(&first, "a1", 7).await;
    for class in [OK, BAD, BAD] {
        let last = agent.report([(endpoint, class)]).await;
        agent.acknowledged(last).await;
    }
    assert_eq!(stage.tally(endpoint, "a1").unwrap().failures, 2);

    drop(agent);
    let (mut agent, next_session) = Agent::open(&second, "a1", 7).await;
    assert!(next_session > session);
    // The last one again, as if its acknowledgement had been lost, and two more.
    agent.send_report((3..=5).map(|sequence| agent.outcome(endpoint, sequence, BAD)).collect()).await;
    agent.acknowledged(5).await;
    let tally = stage.tally(endpoint, "a1").unwrap();
    assert_eq!((tally.failures, tally.sequence, tally.verdict), (4, 5, Some(Verdict::Down)));
    assert_eq!(second.ingest.counts().replayed, 1);
}

#[tokio::test]
async fn sta_6_what_is_replayed_or_reordered_changes_nothing() {
    let stage = Stage::new(2, 3);
    let endpoints = stage.endpoints();
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let history: Vec<_> = [OK, BAD, BAD, OK, BAD, BAD]
        .into_iter()
        .zip(1..)
        .map(|(class, sequence)| agent.outcome(endpoints[sequence as usize % 2], sequence, class))
        .collect();
    agent.send_report(history.clone()).await;
    agent.acknowledged(6).await;
    let (state, proposals) = (stage.view().state.clone(), stage.proposals().len());

    for again in [&history[2..4], &history[..], &history[5..]] {
        agent.send_report(again.to_vec()).await;
    }
    let mut reversed = history.clone();
    reversed.reverse();
    agent.send_report(reversed).await;
    let (mut fresh, _) = Agent::open(&door, "a1", 7).await;
    let reopened = stage.view().state.health.clone();
    assert_eq!(agent.ending().await.unwrap().code(), Code::Unavailable);
    fresh.send_report(history).await;
    fresh.acknowledged(6).await;
    assert_eq!(reopened, state.health);
    assert_eq!(stage.view().state.health, state.health);
    // Opening the second session was the only thing put before the cluster.
    assert_eq!(stage.proposals().len(), proposals + 1);
}

#[tokio::test]
async fn sta_6_of_two_agents_with_one_name_the_older_is_told() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let other = Door::open(&stage, 2, Waits::default()).await;
    let (mut older, _) = Agent::open(&door, "a1", 7).await;
    let (mut newer, session) = Agent::open(&other, "A1", 8).await;
    let status = older.ending().await.unwrap();
    assert_eq!(status.code(), Code::Aborted);
    assert!(status.message().contains("the name 'a1'"), "{}", status.message());
    assert!(status.message().contains(&format!("session {session}")), "{}", status.message());
    assert!(status.message().contains("member 2"), "{}", status.message());

    let last = newer.report([(endpoint, OK)]).await;
    newer.acknowledged(last).await;
    assert_eq!(stage.lease("a1"), Some(Revision(session)));
}

#[tokio::test]
async fn sta_5_a_session_that_was_given_up_is_opened_again_while_its_stream_lives() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, session) = Agent::open(&door, "a1", 7).await;
    let last = agent.report([(endpoint, OK)]).await;
    agent.acknowledged(last).await;

    stage.commit(Action::LoseAgent { agent: "a1".into(), session: Revision(session) });
    let name = Caseless::new("a1");
    stage.until("the agent is back", |view| !view.state.agents[&name].lost).await;
    let reopened = &stage.view().state.agents[&name];
    assert!(reopened.session > Revision(session));
    assert_eq!(reopened.run.0, 7);

    let last = agent.report([(endpoint, OK)]).await;
    agent.acknowledged(last).await;
    assert_eq!(stage.tally(endpoint, "a1").unwrap().verdict, Some(Verdict::Up));
    assert_eq!(stage.lease("a1"), Some(reopened.session));
}

#[tokio::test]
async fn sta_6_a_forgotten_agent_that_lives_is_taken_in_again() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, session) = Agent::open(&door, "a1", 7).await;
    stage.hold(true);
    let last = agent.report([(endpoint, OK)]).await;
    stage.commit(Action::LoseAgent { agent: "a1".into(), session: Revision(session) });
    stage.commit(Action::ForgetAgent { name: "a1".into() });
    stage.hold(false);
    agent.acknowledged(last).await;
    assert_eq!(stage.tally(endpoint, "a1").unwrap().verdict, Some(Verdict::Up));
}

#[tokio::test]
async fn sta_6_what_is_not_assigned_is_dropped_counted_and_acknowledged() {
    let stage = Stage::new(2, 3);
    let endpoints = stage.endpoints();
    stage.commit(update_endpoint("e2", EndpointPatch { enabled: Edit::Set(false), ..Default::default() }));
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let proposals = stage.proposals().len();
    let last = agent.report([(endpoints[1], BAD), (EndpointId(9_999), OK)]).await;
    agent.acknowledged(last).await;
    assert_eq!((door.ingest.counts().not_assigned, stage.proposals().len()), (2, proposals));
    assert!(door.ingest.recent().of(endpoints[1]).is_empty());
}

fn update_endpoint(name: &str, fields: EndpointPatch) -> Action {
    Action::UpdateEndpoint { profile: PROFILE.into(), name: name.into(), fields, if_revision: None }
}

/// STA-11: in the proposal that is in flight, behind it on the member, and on the way from the agent.
#[tokio::test]
async fn sta_11_what_was_in_flight_when_the_check_changed_counts_for_nothing() {
    let stage = Stage::new(1, 3);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    stage.hold(true);
    let proposals = stage.proposals().len();
    agent.report([(endpoint, BAD)]).await;
    eventually("the first is in flight", || stage.proposals().len() > proposals).await;
    agent.report([(endpoint, BAD)]).await;
    eventually("the second waits", || door.ingest.counts().proposed == 2).await;
    let old = agent.check(endpoint);
    let target = Edit::Set("192.0.2.99".to_owned());
    stage.commit(update_endpoint("e1", EndpointPatch { target, ..Default::default() }));
    let on_its_way = agent.report([(endpoint, BAD)]).await;
    stage.hold(false);
    agent.acknowledged(on_its_way).await;
    assert_eq!((stage.tally(endpoint, "a1"), door.ingest.counts().not_assigned), (None, 1));

    while agent.check(endpoint) == old {
        agent.assignment().await;
    }
    let last = agent.report([(endpoint, BAD)]).await;
    agent.acknowledged(last).await;
    assert_eq!(stage.tally(endpoint, "a1").unwrap().failures, 1);
}

#[tokio::test]
async fn prb_9_trouble_of_the_agents_own_is_shown_and_never_counts() {
    let stage = Stage::new(1, 0);
    let endpoint = stage.endpoints()[0];
    let door = Door::open(&stage, 1, Waits::default()).await;
    let (mut agent, _) = Agent::open(&door, "a1", 7).await;
    let proposals = stage.proposals().len();
    let last = agent.report([(endpoint, OutcomeClass::Agent)]).await;
    agent.acknowledged(last).await;
    assert_eq!((stage.tally(endpoint, "a1"), stage.proposals().len()), (None, proposals));
    let recent = door.ingest.recent().of(endpoint);
    assert_eq!(recent[0].0, Caseless::new("a1"));
    assert_eq!(recent[0].1[0].outcome.class, OutcomeClass::Agent);
    assert_eq!(recent[0].1[0].address, Some("192.0.2.1".parse().unwrap()));
}
