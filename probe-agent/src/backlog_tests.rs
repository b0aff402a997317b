//! The backlog's promises: order, numbers, bounds, resending (STA-6), and which outcomes hurry.

use std::time::Duration;

use proptest::prelude::*;
use waymark_core::health::OutcomeClass;

use super::*;

fn report(class: OutcomeClass, status: Option<u16>) -> ProbeReport {
    ProbeReport::of(Outcome { class, status })
}

fn ok() -> ProbeReport {
    report(OutcomeClass::Ok, Some(200))
}

fn refused() -> ProbeReport {
    report(OutcomeClass::Refused, None)
}

fn push(backlog: &mut Backlog, endpoint: u64, report: ProbeReport) -> Urgency {
    backlog.push(EndpointId(endpoint), Revision(endpoint), report, Instant::now())
}

fn take(backlog: &mut Backlog, max: usize) -> Vec<u64> {
    backlog.take_batch(max).map(|entry| entry.sequence).collect()
}

#[test]
fn sta_6_numbers_go_up_by_one_and_leave_in_order() {
    let mut backlog = Backlog::new(10);
    for _ in 0..5 {
        push(&mut backlog, 1, ok());
    }
    assert_eq!(take(&mut backlog, 3), [1, 2, 3]);
    assert_eq!(take(&mut backlog, 3), [4, 5]);
    assert_eq!(take(&mut backlog, 3), [0; 0]);
    assert!(backlog.is_unanswered());
}

#[test]
fn sta_6_what_is_not_acknowledged_goes_out_again_with_its_time() {
    let mut backlog = Backlog::new(10);
    let ended = Instant::now();
    for _ in 0..4 {
        backlog.push(EndpointId(1), Revision(1), ok(), ended);
    }
    take(&mut backlog, 3);
    assert!(backlog.acknowledge(2));
    assert!(!backlog.acknowledge(2), "no news");
    backlog.resend();
    assert!(!backlog.is_unanswered());
    let again: Vec<_> = backlog.take_batch(10).map(|entry| (entry.sequence, entry.ended)).collect();
    assert_eq!(again, [(3, ended), (4, ended)]);
    backlog.acknowledge(4);
    assert!(backlog.is_empty());
}

#[test]
fn sta_6_nothing_unsent_can_be_acknowledged() {
    let mut backlog = Backlog::new(10);
    push(&mut backlog, 1, ok());
    push(&mut backlog, 1, ok());
    take(&mut backlog, 1);
    assert!(backlog.acknowledge(u64::MAX));
    assert_eq!(take(&mut backlog, 10), [2]);
}

#[test]
fn sta_6_the_oldest_give_way_and_are_counted() {
    let mut backlog = Backlog::new(3);
    for _ in 0..3 {
        push(&mut backlog, 1, ok());
    }
    take(&mut backlog, 2);
    push(&mut backlog, 1, ok());
    push(&mut backlog, 1, ok());
    assert_eq!(backlog.dropped(), 2);
    assert_eq!(take(&mut backlog, 10), [3, 4, 5]);
}

#[test]
fn sta_11_what_an_old_check_found_is_dropped() {
    let mut backlog = Backlog::new(10);
    for endpoint in [1, 2, 1, 2] {
        push(&mut backlog, endpoint, ok());
    }
    take(&mut backlog, 3);
    assert_eq!(
        backlog.push(EndpointId(2), Revision(9), ok(), Instant::now()),
        Urgency::AtOnce,
        "a new check"
    );
    backlog.retain(|endpoint, check| (endpoint, check) == (EndpointId(2), Revision(9)));
    assert_eq!(backlog.unsent(), 1);
    assert_eq!(take(&mut backlog, 10), [5]);
    backlog.acknowledge(5);
    assert!(backlog.is_empty());
    assert_eq!(push(&mut backlog, 1, ok()), Urgency::AtOnce, "a first outcome again");
}

/// Success after success may wait; whatever differs, or may turn a verdict, leaves at once.
#[test]
fn what_may_turn_a_verdict_leaves_at_once() {
    let mut backlog = Backlog::new(100);
    assert_eq!(push(&mut backlog, 1, ok()), Urgency::AtOnce, "the first");
    assert_eq!(push(&mut backlog, 1, ok()), Urgency::Soon);
    assert_eq!(push(&mut backlog, 2, ok()), Urgency::AtOnce, "another endpoint's first");
    for nth in 1..=10 {
        assert_eq!(
            push(&mut backlog, 1, refused()),
            Urgency::AtOnce,
            "failure {nth} may exceed what is tolerated"
        );
    }
    assert_eq!(push(&mut backlog, 1, refused()), Urgency::Soon, "no tolerance is that wide");
    assert_eq!(
        push(&mut backlog, 1, report(OutcomeClass::Status, Some(503))),
        Urgency::AtOnce,
        "another cause"
    );
    for nth in 1..=10 {
        assert_eq!(push(&mut backlog, 1, ok()), Urgency::AtOnce, "success {nth} may be the recovery");
    }
    assert_eq!(push(&mut backlog, 1, ok()), Urgency::Soon);
    assert_eq!(push(&mut backlog, 1, report(OutcomeClass::Ok, Some(204))), Urgency::AtOnce, "another status");
}

#[derive(Clone, Debug)]
enum Step {
    Push(u64),
    Take(usize),
    Acknowledge(u64),
    Resend,
    Forget(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..4_u64).prop_map(Step::Push),
        3 => (0..4_usize).prop_map(Step::Take),
        2 => (0..60_u64).prop_map(Step::Acknowledge),
        1 => Just(Step::Resend),
        1 => (1..4_u64).prop_map(Step::Forget),
    ]
}

proptest! {
    /// STA-6: on one stream numbers only rise; the bound holds; nothing is lost but what was dropped, forgotten or
    /// acknowledged after it was sent.
    #[test]
    fn sta_6_in_any_order_of_events(steps in prop::collection::vec(step(), 0..80)) {
        let mut backlog = Backlog::new(8);
        let mut model: Vec<(u64, u64)> = Vec::new();
        let (mut pushed, mut dropped, mut highest_on_stream) = (0, 0, 0);
        for step in steps {
            match step {
                Step::Push(endpoint) => {
                    pushed += 1;
                    if model.len() == 8 {
                        model.remove(0);
                        dropped += 1;
                    }
                    model.push((pushed, endpoint));
                    let ended = Instant::now() + Duration::from_millis(pushed);
                    backlog.push(EndpointId(endpoint), Revision(endpoint), ok(), ended);
                }
                Step::Take(max) => {
                    for sequence in take(&mut backlog, max) {
                        prop_assert!(sequence > highest_on_stream);
                        highest_on_stream = sequence;
                    }
                }
                Step::Acknowledge(sequence) => {
                    backlog.acknowledge(sequence);
                    model.retain(|(have, _)| *have > sequence.min(highest_on_stream));
                }
                Step::Resend => {
                    backlog.resend();
                    highest_on_stream = 0;
                }
                Step::Forget(endpoint) => {
                    backlog.retain(|have, _| have != EndpointId(endpoint));
                    model.retain(|(_, have)| *have != endpoint);
                }
            }
            prop_assert_eq!(backlog.dropped(), dropped);
        }
        backlog.resend();
        let left = model.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>();
        prop_assert_eq!(take(&mut backlog, usize::MAX), left);
    }
}
