//! What happens when the stream to a member breaks, or brings nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use tonic::Status;

use crate::endpoint::{Endpoint, eventually};
use crate::member::Member;
use crate::running::{Agent, OK, fast, finding, idle, ok, real};

/// STA-6, STA-5: another member takes over; what was not acknowledged comes again, in order and with its age, and
/// probing has gone on meanwhile.
#[tokio::test]
async fn sta_6_the_rest_is_resent_to_the_next_member() {
    let (mut first, mut second) = (Member::start().await, Member::start().await);
    let _agent = Agent::start(&[&first, &second], finding(|_| ok()));
    let mut session = first.serve(&[(1, idle(100))]).await;
    for sequence in 1..=4 {
        assert_eq!(session.outcome().await.sequence, sequence);
    }
    session.acknowledge(2).await;
    // The acknowledgement must be there before the end.
    session.outcome().await;
    drop(session);
    drop(first);
    let mut session = second.session().await;
    session.welcome().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    session.assign(true, &[(1, idle(100))], &[]).await;
    let resent = session.report().await.unwrap();
    let sequences: Vec<u64> = resent.iter().map(|outcome| outcome.sequence).collect();
    assert_eq!(sequences, (3..3 + sequences.len() as u64).collect::<Vec<_>>(), "in order, without a gap");
    assert!(sequences.len() >= 3, "probing went on: {sequences:?}");
    let ages: Vec<u64> = resent.iter().map(|outcome| outcome.age_ms).collect();
    assert!(ages.is_sorted_by(|older, newer| older >= newer), "{ages:?}");
    assert!(ages[0] >= 500 && ages[0] - ages[1] >= 50, "{ages:?}");
    session.acknowledge(*sequences.last().unwrap()).await;
    assert_eq!(session.outcome().await.sequence, sequences.last().unwrap() + 1);
}

/// PRB-11, STA-11: a returning agent knows its assignment before it probes or reports: what an old check found is
/// dropped, and an endpoint that is gone is not probed.
#[tokio::test]
async fn prb_11_a_returning_agent_first_learns_what_to_probe() {
    let gone = Endpoint::responding(OK).await;
    let (mut first, mut second) = (Member::start().await, Member::start().await);
    let _agent = Agent::start(&[&first, &second], real());
    let mut session = first.serve(&[(1, fast(&gone)), (2, idle(100))]).await;
    session.outcome().await;
    drop(session);
    drop(first);
    let mut session = second.session().await;
    session.welcome().await;
    // Probes that had begun before the welcome arrived may still connect; then there is silence.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let probed = gone.visits().len();
    tokio::time::sleep(Duration::from_millis(400)).await;
    session.assign(true, &[(2, idle(100))], &[]).await;
    for _ in 0..5 {
        assert_eq!(session.outcome().await.endpoint, 2);
    }
    assert_eq!(gone.visits().len(), probed);
}

/// PRB-11: while a member that has welcomed an agent keeps its assignment back, the agent starts no probe: its checks may
/// be void. A member that never brings it is left within seconds, and probing goes on.
#[tokio::test]
async fn prb_11_a_member_that_assigns_nothing_is_left() {
    let endpoint = Endpoint::responding(OK).await;
    let (mut first, mut second) = (Member::start().await, Member::start().await);
    let _agent = Agent::start(&[&first, &second], real());
    drop(first.serve(&[(1, fast(&endpoint))]).await);
    let mute = second.session().await;
    mute.welcome().await;
    // Probes that had begun before the welcome arrived may still connect; then there is silence.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let probed = endpoint.visits().len();
    tokio::time::sleep(Duration::from_millis(2_000)).await;
    assert_eq!(endpoint.visits().len(), probed, "nothing is probed in the dark");
    eventually("probing goes on", || endpoint.visits().len() > probed).await;
    first.serve(&[]).await;
}

/// STA-6: the superseded session is told so, and stays away; probing goes on.
#[tokio::test]
async fn sta_6_a_superseded_agent_leaves_the_field() {
    let (mut first, mut second) = (Member::start().await, Member::start().await);
    let probes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&probes);
    let probe = finding(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        ok()
    });
    let _agent = Agent::start(&[&first, &second], probe);
    let session = first.serve(&[(1, idle(50))]).await;
    eventually("it probes", || probes.load(Ordering::Relaxed) > 0).await;
    session.refuse(Status::aborted("a newer session of a1 is in force")).await;
    assert!(second.is_left_alone(Duration::from_secs(2)).await);
    let before = probes.load(Ordering::Relaxed);
    eventually("it goes on probing", || probes.load(Ordering::Relaxed) > before + 5).await;
}

/// FAIL-4, STA-5: a member without a leader is left at once, one that refuses the agent a little later.
#[tokio::test]
async fn an_agent_moves_on_from_a_member_that_cannot_serve() {
    let (mut first, mut second) = (Member::start().await, Member::start().await);
    let _agent = Agent::start(&[&first, &second], finding(|_| ok()));
    first.session().await.refuse(Status::unavailable("no leader")).await;
    let start = Instant::now();
    second.session().await.refuse(Status::not_found("no region eu")).await;
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    let start = Instant::now();
    first.serve(&[]).await;
    assert!((900..9_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
}

/// STA-5: a member that is still connected but acknowledges nothing is left, though not while an election may last.
#[tokio::test]
async fn a_member_that_acknowledges_nothing_is_left() {
    let (mut first, mut second) = (Member::start().await, Member::start().await);
    let _agent = Agent::start(&[&first, &second], finding(|_| ok()));
    let mut stalled = first.serve(&[(1, idle(100))]).await;
    stalled.outcome().await;
    let start = Instant::now();
    let mut session = second.serve(&[(1, idle(100))]).await;
    assert!((13_000..20_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    assert_eq!(session.outcome().await.sequence, 1);
}

/// STA-5: a member whose machine or path has died, so that not even a reset comes, is noticed within 8 s.
#[tokio::test]
async fn a_member_that_has_gone_silent_is_left() {
    let (mut first, mut second) = (Member::start().await, Member::start().await);
    let frozen = first.freeze_behind_a_relay().await;
    let _agent = Agent::start(&[&first, &second], finding(|_| ok()));
    let _session = first.serve(&[]).await;
    frozen.cancel();
    let start = Instant::now();
    second.serve(&[]).await;
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
