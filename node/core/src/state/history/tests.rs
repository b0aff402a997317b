//! The limits of what is kept. That every moment comes back is a property of `apply`'s own random tests.

use super::*;

fn past(at: u64, objects: usize) -> Past {
    let region = |number| Replaced::Region(Caseless::new(&format!("r{number}")), None);
    Past { at: Timestamp(at), index: LogIndex(at), replaced: (0..objects).map(region).collect() }
}

#[test]
fn rte_15_the_oldest_goes_first_and_the_beginning_is_told() {
    let mut history = History::default();
    history.add(Revision(1), past(10, 1));
    history.add(Revision(2), past(20, 1));
    assert_eq!(history.begins(), Timestamp(0));
    history.add(Revision(3), past(30, History::WEIGHT_MAX / 128 - 1));
    assert_eq!((history.iter().count(), history.begins()), (2, Timestamp(10)));
    history.forget(Timestamp(30));
    assert_eq!((history.iter().count(), history.begins()), (1, Timestamp(20)));
    history.forget(Timestamp(30));
    assert_eq!(history.iter().count(), 1);
    let state = State { history, ..State::default() };
    assert_eq!(state.at(Timestamp(19), LogIndex(9)), Err(Forgotten { begins: Timestamp(20) }));
    assert!(state.at(Timestamp(20), LogIndex(9)).is_ok());
}

#[test]
fn rte_15_seven_days_are_kept() {
    let mut history = History::default();
    assert!(!history.is_overdue(Timestamp(u64::MAX)));
    history.add(Revision(1), past(1_000, 1));
    assert!(!history.is_overdue(Timestamp(1_000 + 604_800_000)));
    assert!(history.is_overdue(Timestamp(1_001 + 604_800_000)));
}

#[test]
fn rte_15_a_clock_that_was_ahead_neither_keeps_nor_hides_anything() {
    let mut history = History::default();
    for (counter, at) in [(1, 10), (2, 9_000), (3, 20), (4, 30)] {
        history.add(Revision(counter), past(at, 1));
    }
    history.forget(Timestamp(11));
    assert_eq!((history.iter().count(), history.begins()), (3, Timestamp(10)));
    history.forget(Timestamp(25));
    assert_eq!((history.iter().count(), history.begins()), (1, Timestamp(20)));
    let ahead = History::SPAN_MS + 25;
    assert!(!history.is_overdue(Timestamp(ahead)) && history.is_overdue(Timestamp(ahead + 10)));
}

#[test]
fn rte_15_parts_of_one_command_are_one_past() {
    let mut history = History::default();
    history.begin_at(History::UNKNOWN);
    history.add(Revision(1), past(10, 2));
    history.add(Revision(1), past(10, 3));
    let replaced: Vec<usize> = history.iter().map(|(_, past)| past.replaced.len()).collect();
    assert_eq!((replaced, history.begins()), (vec![5], Timestamp(10)));
}
