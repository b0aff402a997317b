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
    history.add(Revision(3), past(30, History::OBJECTS_MAX - 1));
    assert_eq!((history.iter().count(), history.begins()), (2, Timestamp(10)));
    assert!(history.forget(Timestamp(30)));
    assert_eq!((history.iter().count(), history.begins()), (1, Timestamp(20)));
    assert!(!history.forget(Timestamp(30)));
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
