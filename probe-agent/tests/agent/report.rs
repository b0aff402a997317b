//! What goes up the stream to a member, what comes down, and how an agent ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use waymark_agent::agent::Probe;
use waymark_agent::probe::ProbeReport;
use waymark_core::health::{Check, Outcome, OutcomeClass};
use waymark_core::model::Revision;
use waymark_proto::admin::v1 as wire;

use crate::endpoint::{Endpoint, eventually};
use crate::member::Member;
use crate::running::{Agent, OK, class, fast, finding, idle, ok, real};

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
        assert_eq!(
            outcome.check_revision,
            u64::from(endpoint.address.port()),
            "STA-11: which check found it"
        );
        assert!(outcome.connect_us.is_some() && outcome.first_byte_us.is_some() && outcome.tls_us.is_none());
        assert!(outcome.age_ms < 500, "{outcome:?}");
        session.acknowledge(sequence).await;
    }
    session.heartbeat().await;
    let first = Instant::now();
    session.heartbeat().await;
    assert!((1_500..3_500).contains(&first.elapsed().as_millis()), "{:?}", first.elapsed());
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
    let old = Check { port: 1, revision: Revision(1), ..idle(100) };
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
        assert!(outcomes.iter().all(|outcome| outcome.age_ms <= 300), "{outcomes:?}");
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
    assert!(start.elapsed() < Duration::from_millis(2_500), "{:?}", start.elapsed());
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
