//! What clients did and saw, and whether one register for each key could have shown it (CLU-7).
//!
//! Checked by porcupine-rs, a port of the checker that etcd's own suite uses: it searches with a memory of the states that it has
//! been in, which stateright's tester does not, and histories with outcomes that nobody knows would take that one for ever.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use porcupine_rs::{CheckResult, Model, Operation};

/// The time that one key may take.
const LIMIT: Duration = Duration::from_secs(30);

/// When a call returns whose outcome nobody knows: after everything.
const NEVER: i64 = i64::MAX / 4;

/// Numbers for those who made such calls: in the eyes of the model they are still waiting, so they are nobody's number.
const WAITING: u32 = 1_000_000;

/// One act and what came of it. Every value is written once; nothing written is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Saw this value at this revision.
    Read { value: u64, revision: u64 },
    /// Wrote this value; it got this revision, if that is known.
    Write { value: u64, revision: Option<u64> },
    /// Wrote this value in the place of the expected one; it got this revision, or it is not known whether it did anything.
    Swap { expected: u64, value: u64, revision: Option<u64> },
    /// Was told that the value is not the expected one any more.
    Refused { expected: u64 },
}

impl Act {
    /// Is it known what came of it?
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Self::Write { revision: None, .. } | Self::Swap { revision: None, .. })
    }

    /// Was a write acknowledged?
    pub(crate) fn has_written(&self) -> bool {
        self.is_known() && matches!(self, Self::Write { .. } | Self::Swap { .. })
    }
}

/// An act of a client, with the nanoseconds since the start at which it was begun and came back; `None`: nobody knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub(crate) key: u64,
    pub(crate) client: u32,
    pub(crate) called: i64,
    pub(crate) returned: Option<i64>,
    pub(crate) act: Act,
}

/// A value that is replaced, with a revision that rises.
#[derive(Clone, Debug)]
pub(crate) struct Register;

/// The value, and its revision if anybody was told it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Held {
    value: u64,
    revision: Option<u64>,
}

impl Held {
    fn after(&self, value: u64, revision: Option<u64>) -> (bool, Self) {
        let rises = self.revision.is_none_or(|before| revision.is_none_or(|now| now > before));
        (rises, Self { value, revision })
    }
}

impl Model for Register {
    type State = Held;
    type Op = Act;
    type Metadata = ();

    fn init() -> Held {
        Held { value: 0, revision: Some(0) }
    }

    fn step(held: &Held, act: &Act) -> (bool, Held) {
        match *act {
            Act::Read { value, revision } => {
                let fits = held.revision.is_none_or(|known| known == revision);
                (held.value == value && fits, Held { value, revision: Some(revision) })
            }
            Act::Write { value, revision } => held.after(value, revision),
            Act::Swap { expected, value, revision } if held.value == expected => held.after(value, revision),
            Act::Swap { revision, .. } => (revision.is_none(), held.clone()),
            Act::Refused { expected } => (held.value != expected, held.clone()),
        }
    }
}

/// What the check came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) keys: usize,
    pub(crate) acts: usize,
    pub(crate) unknown: usize,
    /// Keys that no register could have shown.
    pub(crate) illegal: Vec<u64>,
    /// Keys that the time did not suffice for.
    pub(crate) undecided: Vec<u64>,
}

/// Checks each key by itself. Pictures of what is illegal go to `directory`.
pub(crate) fn check(history: &[Recorded], directory: &Path) -> Checked {
    let mut by_key: BTreeMap<u64, Vec<Operation<Register>>> = BTreeMap::new();
    for (number, recorded) in (WAITING..).zip(history) {
        let waits = recorded.returned.is_none();
        by_key.entry(recorded.key).or_default().push(Operation {
            client_id: Some(if waits { number } else { recorded.client }),
            call_time: recorded.called,
            return_time: recorded.returned.unwrap_or(NEVER),
            op: recorded.act,
            metadata: None,
        });
    }
    let unknown = history.iter().filter(|recorded| recorded.returned.is_none()).count();
    let mut checked = Checked { keys: by_key.len(), acts: history.len(), unknown, ..Checked::default() };
    for (key, operations) in by_key {
        match porcupine_rs::check_operations_timeout(&operations, LIMIT) {
            CheckResult::Ok => {}
            CheckResult::Unknown => checked.undecided.push(key),
            CheckResult::Illegal => {
                checked.illegal.push(key);
                let (_, found) = porcupine_rs::check_operations_info_timeout(&operations, LIMIT);
                // The picture is a help; that there is none changes nothing.
                let _ = porcupine_rs::visualize_path(&found, &directory.join(format!("illegal-{key}.html")));
            }
        }
    }
    checked
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acts on one key, each with the moments of call and return.
    fn checked(acts: &[(i64, Option<i64>, Act)]) -> Checked {
        let recorded = |(client, (called, returned, act)): (u32, &(i64, Option<i64>, Act))| Recorded {
            key: 1,
            client,
            called: *called,
            returned: *returned,
            act: *act,
        };
        let history: Vec<Recorded> = (0..).zip(acts).map(recorded).collect();
        let directory = tempfile::tempdir().unwrap();
        let checked = check(&history, directory.path());
        assert_eq!(directory.path().join("illegal-1.html").exists(), !checked.illegal.is_empty());
        checked
    }

    fn is_legal(acts: &[(i64, Option<i64>, Act)]) -> bool {
        checked(acts).illegal.is_empty()
    }

    const WRITE: Act = Act::Write { value: 1, revision: Some(5) };
    const READ: Act = Act::Read { value: 1, revision: 5 };
    const NOTHING: Act = Act::Read { value: 0, revision: 0 };

    #[test]
    fn clu_7_a_read_shows_the_last_write_and_no_older_one() {
        assert!(is_legal(&[(0, Some(1), WRITE), (2, Some(3), READ)]));
        assert!(!is_legal(&[(0, Some(1), WRITE), (2, Some(3), NOTHING)]));
        assert!(is_legal(&[(0, Some(9), WRITE), (2, Some(3), NOTHING), (4, Some(5), READ)]));
        assert!(!is_legal(&[(0, Some(9), WRITE), (2, Some(3), READ), (4, Some(5), NOTHING)]));
        assert!(!is_legal(&[(0, Some(1), WRITE), (2, Some(3), Act::Read { value: 1, revision: 6 })]));
    }

    #[test]
    fn clu_7_a_write_that_nobody_heard_of_may_take_effect_late_or_never_but_once() {
        let unknown = (0, None, Act::Write { value: 2, revision: None });
        let read = |at, value, revision| (at, Some(at + 1), Act::Read { value, revision });
        let write = (2, Some(3), WRITE);
        assert!(is_legal(&[unknown, write, read(4, 1, 5), read(6, 2, 7)]));
        assert!(is_legal(&[unknown, write, read(4, 1, 5), read(6, 1, 5)]));
        assert!(!is_legal(&[unknown, write, read(4, 2, 7), read(6, 1, 5)]));
        assert_eq!(checked(&[unknown, write]).unknown, 1);
    }

    #[test]
    fn clu_7_a_swap_needs_what_it_expects_and_revisions_rise() {
        let swap = |expected, revision| Act::Swap { expected, value: 3, revision };
        assert!(is_legal(&[(0, Some(1), WRITE), (2, Some(3), swap(1, Some(6)))]));
        assert!(!is_legal(&[(0, Some(1), WRITE), (2, Some(3), swap(2, Some(6)))]));
        assert!(!is_legal(&[(0, Some(1), WRITE), (2, Some(3), swap(1, Some(4)))]));
        assert!(!is_legal(&[(0, Some(1), WRITE), (2, Some(3), Act::Refused { expected: 1 })]));
        let unknown = (2, None, swap(2, None));
        assert!(is_legal(&[(0, Some(1), WRITE), unknown, (4, Some(5), READ)]));
        assert!(!is_legal(&[
            (0, Some(1), WRITE),
            unknown,
            (4, Some(5), Act::Read { value: 3, revision: 6 })
        ]));
    }
}
