//! The stream to a member: what goes up it, and what happens when it breaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use waymark_agent::agent::{self, Probe, Settings};
use waymark_agent::probe::{self, ProbeReport};
use waymark_agent::uplink::Identity;
use waymark_core::health::{Check, Outcome, OutcomeClass};
use waymark_core::model::Protocol;
use waymark_proto::admin::v1 as wire;
use waymark_proto::agent::v1::ProbeOutcome;

use crate::endpoint::{Endpoint, check, eventually, tools};
use crate::member::Member;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// An agent in this process; it is gone with the test.
struct Agent {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Agent {
    fn start(members: &[&Member], probe: Probe) -> Self {
        Self::with_room(members, probe, 64)
    }

    fn with_room(members: &[&Member], probe: Probe, probes_max: usize) -> Self {
        let identity = Identity { agent: "a1".to_owned(), region: "eu".to_owned(), run: 77 };
        let members = members.iter().map(|member| member.url.clone()).collect();
        let stop = CancellationToken::new();
        let run = agent::run(Settings { identity, members, probes_max }, probe, stop.clone());
        Self { stop, task: tokio::spawn(async move { run.await.unwrap() }) }
    }

    /// Ends it as a signal does, and waits until it has drained.
    async fn end(mut self) {
        self.stop.cancel();
        (&mut self.task).await.unwrap();
    }
}

fn real() -> Probe {
    Arc::new(move |check| {
        let tools = tools();
        async move { probe::run(&tools, &check).await }.boxed()
    })
}

/// Probes that find `report()` without touching anything.
fn finding(report: impl Fn(&Check) -> ProbeReport + Send + Sync + 'static) -> Probe {
    Arc::new(move |check| {
        let report = report(&check);
        async move { report }.boxed()
    })
}

fn ok() -> ProbeReport {
    ProbeReport::of(Outcome { class: OutcomeClass::Ok, status: Some(200) })
}

/// An http check of `endpoint` every 100 ms.
fn fast(endpoint: &Endpoint) -> Check {
    Check { interval_ms: 100, timeout_ms: 90, ..endpoint.check() }
}

/// A check that nothing answers, every `interval_ms`.
fn idle(interval_ms: u64) -> Check {
    Check { interval_ms, timeout_ms: interval_ms, ..check(Protocol::Tcp, "127.0.0.1:9".parse().unwrap()) }
}

fn class(outcome: &ProbeOutcome) -> wire::OutcomeClass {
    outcome.outcome.as_ref().unwrap().class()
}

/// STA-6, PRB-9: who it is, what it found, numbered from 1, and a heartbeat every 2 s.
#[tokio::test]
async fn sta_6_an_agent_says_who_it_is_and_what_it_finds() {
    let endpoint = Endpoint::responding(OK).await;
    let mut member = Member::start().await;
    let _agent = Agent::start(&[&member], real());
    let mut session = member.serve(&[(7, fast(&endpoint))]).await;
    let hello = &session.hello;
    assert_eq!((hello.agent.as_str(), hello.region.as_str(), hello.run), ("a1", "eu", 77));
    assert_eq!(hello.version, env!("CARGO_PKG_VERSION"));
    for sequence in 1..=3 {
        let outcome = session.outcome().await;
        assert_eq!(
            (outcome.endpoint, outcome.sequence, class(&outcome)),
            (7, sequence, wire::OutcomeClass::Ok)
        );
        assert_eq!(outcome.outcome.unwrap().status, Some(200));
        assert_eq!((outcome.address.as_str(), outcome.detail.as_str()), ("127.0.0.1", ""));
        assert!(outcome.connect_us.is_some() && outcome.first_byte_us.is_some() && outcome.tls_us.is_none());
        assert!(outcome.age_ms < 100, "{outcome:?}");
        session.acknowledge(sequence).await;
    }
    session.heartbeat().await;
    let first = Instant::now();
    session.heartbeat().await;
    assert!((1_800..2_400).contains(&first.elapsed().as_millis()), "{:?}", first.elapsed());
}

/// PRB-11: a removed check stops, and a changed one is probed anew.
#[tokio::test]
async fn prb_11_changes_act_within_an_interval() {
    let (before, after) = (Endpoint::responding(OK).await, Endpoint::responding(OK).await);
    let marked = Endpoint::responding("HTTP/1.1 503 X\r\n\r\n").await;
    let mut member = Member::start().await;
    let _agent = Agent::start(&[&member], real());
    let mut session = member.serve(&[(1, fast(&before)), (2, fast(&after))]).await;
    eventually("both are probed", || !before.visits().is_empty() && !after.visits().is_empty()).await;
    session.assign(false, &[(1, fast(&marked))], &[2]).await;
    // What was sent before the change is still on its way; the first 503 comes behind it.
    while class(&session.outcome().await) != wire::OutcomeClass::Status {}
    let (probed_before, probed_after) = (before.visits().len(), after.visits().len());
    for _ in 0..5 {
        let outcome = session.outcome().await;
        assert_eq!((outcome.endpoint, class(&outcome)), (1, wire::OutcomeClass::Status), "{outcome:?}");
    }
    assert_eq!(
        (before.visits().len(), after.visits().len()),
        (probed_before, probed_after),
        "both have stopped"
    );
}

/// PRB-11, STA-11: what a probe finds whose check has changed or is gone meanwhile is not reported.
#[tokio::test]
async fn prb_11_what_was_in_flight_is_not_reported() {
    let release = CancellationToken::new();
    let in_flight = Arc::new(AtomicUsize::new(0));
    let (gate, counted) = (release.clone(), Arc::clone(&in_flight));
    let probe: Probe = Arc::new(move |check| {
        let (gate, counted) = (gate.clone(), Arc::clone(&counted));
        async move {
            if check.port == 1 {
                counted.fetch_add(1, Ordering::Relaxed);
                gate.cancelled().await;
                return ProbeReport::of(Outcome { class: OutcomeClass::Refused, status: None });
            }
            ok()
        }
        .boxed()
    });
    let old = Check { port: 1, ..idle(100) };
    let mut member = Member::start().await;
    let _agent = Agent::start(&[&member], probe);
    let mut session = member.serve(&[(1, old.clone()), (2, old)]).await;
    eventually("both are under way", || in_flight.load(Ordering::Relaxed) >= 4).await;
    session.assign(false, &[(1, idle(100))], &[2]).await;
    assert_eq!(session.outcome().await.endpoint, 1);
    release.cancel();
    for _ in 0..5 {
        let outcome = session.outcome().await;
        assert_eq!((outcome.endpoint, class(&outcome)), (1, wire::OutcomeClass::Ok), "{outcome:?}");
    }
}

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

/// PRB-11: a member that welcomes and then says nothing does not stop the probes.
#[tokio::test]
async fn a_member_that_assigns_nothing_is_left() {
    let endpoint = Endpoint::responding(OK).await;
    let (mut first, mut second) = (Member::start().await, Member::start().await);
    let _agent = Agent::start(&[&first, &second], real());
    drop(first.serve(&[(1, fast(&endpoint))]).await);
    let mute = second.session().await;
    mute.welcome().await;
    let probed = endpoint.visits().len();
    eventually("probing goes on", || endpoint.visits().len() > probed + 10).await;
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
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    let start = Instant::now();
    first.serve(&[]).await;
    assert!((900..6_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
}

/// STA-5: a member that is still connected but acknowledges nothing is left within the time that loses an agent.
#[tokio::test]
async fn a_member_that_acknowledges_nothing_is_left() {
    let (mut first, mut second) = (Member::start().await, Member::start().await);
    let _agent = Agent::start(&[&first, &second], finding(|_| ok()));
    let mut stalled = first.serve(&[(1, idle(100))]).await;
    stalled.outcome().await;
    let start = Instant::now();
    let mut session = second.serve(&[(1, idle(100))]).await;
    assert!((7_000..10_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
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
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}

/// What says something new leaves at once; what does not waits for company, 50 ms at most.
#[tokio::test]
async fn news_leaves_at_once_and_the_rest_in_batches() {
    let mut member = Member::start().await;
    let _agent = Agent::start(&[&member], finding(|_| ok()));
    let checks: Vec<(u64, Check)> = (1..=200).map(|id| (id, idle(100))).collect();
    let mut session = member.serve(&checks).await;
    let mut seen = 0;
    while seen < 400 {
        seen += session.report().await.unwrap().len();
    }
    // Every endpoint has been heard of twice: 2,000 outcomes a second, none of them news.
    let mut sizes = Vec::new();
    for _ in 0..10 {
        let outcomes = session.report().await.unwrap();
        assert!(outcomes.iter().all(|outcome| outcome.age_ms <= 80), "{outcomes:?}");
        sizes.push(outcomes.len());
        session.acknowledge(outcomes.last().unwrap().sequence).await;
    }
    assert!(sizes.iter().all(|size| *size <= 512) && sizes.iter().sum::<usize>() > 500, "{sizes:?}");
}

/// PRB-12: a probe that panics is reported as the agent's trouble, and starts again in its turn.
#[tokio::test]
async fn prb_12_a_panicking_probe_is_restarted() {
    let mut member = Member::start().await;
    let tries = Arc::new(AtomicUsize::new(0));
    let probe = finding(move |_| {
        assert_eq!(tries.fetch_add(1, Ordering::Relaxed) % 2, 1, "a fault on purpose, every other time");
        ok()
    });
    let _agent = Agent::start(&[&member], probe);
    let mut session = member.serve(&[(1, idle(100))]).await;
    for expected in [wire::OutcomeClass::Agent, wire::OutcomeClass::Ok, wire::OutcomeClass::Agent] {
        let outcome = session.outcome().await;
        assert_eq!(class(&outcome), expected, "{outcome:?}");
        assert_eq!(outcome.detail.contains("panicked"), expected == wire::OutcomeClass::Agent);
    }
}

/// PRB-8, PRB-12: slow probes delay no other, and beyond the bound there is a report instead of a probe.
#[tokio::test]
async fn prb_8_slow_probes_delay_nobody() {
    let mut member = Member::start().await;
    let probe: Probe = Arc::new(|check| {
        async move {
            if check.port == 1 {
                std::future::pending::<()>().await;
            }
            ok()
        }
        .boxed()
    });
    let _agent = Agent::with_room(&[&member], probe, 3);
    let stuck = Check { port: 1, ..idle(100) };
    let mut session = member.serve(&[(1, stuck.clone()), (2, idle(100))]).await;
    let (mut full, mut lively) = (0, 0);
    while full < 3 {
        let outcome = session.outcome().await;
        match class(&outcome) {
            wire::OutcomeClass::Agent => {
                assert!(outcome.detail.contains("3 probes under way"), "{outcome:?}");
                full += 1;
            }
            _ => lively += 1,
        }
        session.acknowledge(outcome.sequence).await;
    }
    assert!(lively >= 2, "the other went on while probes were stuck");
}

/// OPS-4: on its way out an agent lets probes end, hands in what they found, and is gone once that is acknowledged.
#[tokio::test]
async fn ops_4_an_agent_drains() {
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    let probe: Probe = Arc::new(move |_| {
        let counted = Arc::clone(&counted);
        async move {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(200)).await;
            ok()
        }
        .boxed()
    });
    let mut member = Member::start().await;
    let agent = Agent::start(&[&member], probe);
    let mut session = member.serve(&[(1, idle(1_000))]).await;
    eventually("a probe is under way", || begun.load(Ordering::Relaxed) == 1).await;
    let start = Instant::now();
    let ending = tokio::spawn(agent.end());
    let outcome = session.outcome().await;
    assert_eq!(outcome.sequence, 1);
    assert!(!ending.is_finished(), "it waits for the acknowledgement");
    session.acknowledge(1).await;
    ending.await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(begun.load(Ordering::Relaxed), 1);
}

/// OPS-4: an agent to which nobody listens ends in time all the same.
#[tokio::test]
async fn ops_4_a_member_that_says_nothing_does_not_keep_an_agent() {
    let mut member = Member::start().await;
    let agent = Agent::start(&[&member], finding(|_| ok()));
    let mut deaf = member.serve(&[(1, idle(50))]).await;
    deaf.outcome().await;
    let start = Instant::now();
    agent.end().await;
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    deaf.wait_for_end().await;
}
