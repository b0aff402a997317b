//! How far the log had been acknowledged, noted beside it: a store that comes back shorter has lost its end.
//!
//! sled takes a damaged end of its file for one that was never written and opens without it. Consensus must not: what
//! is missing may have been acknowledged, and a vote may have gone back (CLU-2). The note is written after each flush of
//! the store and never before, so it is never ahead of it; being left to the operating system, it costs a microsecond
//! and survives everything but a power loss, after which it may be old, which only makes it say less. It is smaller than
//! a disk's sector and written over in place, so it is never half new. Where the log is
//! cut back on purpose, the lower note is made durable first.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::types::Vote;

/// `next:8 term:8 node:8 committed:1 checksum:4`, big-endian.
const LEN: usize = 29;
const CHECKED: usize = 25;

/// What the store had acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The index after the last entry; 0 while there is none.
    pub(super) next: u64,
    /// The vote.
    pub(super) vote: Vote,
}

impl Mark {
    /// Is `found`, what the store holds, at least what was acknowledged?
    pub(super) fn is_kept_by(&self, found: &Self) -> bool {
        found.next >= self.next && found.vote >= self.vote
    }

    fn encode(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..8].copy_from_slice(&self.next.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.vote.leader_id.term.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.vote.leader_id.node_id.to_be_bytes());
        bytes[24] = u8::from(self.vote.committed);
        let sum = crc32fast::hash(&bytes[..CHECKED]);
        bytes[CHECKED..].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8; LEN]) -> Option<Self> {
        let number =
            |at: usize| -> u64 { bytes[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)) };
        if bytes[CHECKED..] != crc32fast::hash(&bytes[..CHECKED]).to_be_bytes() {
            return None;
        }
        let mut vote = Vote::new(number(8), number(16));
        vote.committed = bytes[24] == 1;
        Some(Self { next: number(0), vote })
    }
}

/// The file that holds the note.
#[derive(Debug)]
pub(super) struct Watermark {
    file: File,
}

impl Watermark {
    /// Opens or creates the note at `path` and reads it; `None` if it is new or damaged.
    pub(super) fn open(path: &Path) -> io::Result<(Self, Option<Mark>)> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut bytes = [0; LEN];
        let found = file.read_exact_at(&mut bytes, 0).ok().and_then(|()| Mark::decode(&bytes));
        Ok((Self { file }, found))
    }

    /// Notes `mark`, which the store holds durably.
    pub(super) fn raise(&self, mark: &Mark) -> io::Result<()> {
        self.file.write_all_at(&mark.encode(), 0)
    }

    /// Notes `mark` durably, before the store is cut back to it.
    pub(super) fn lower(&self, mark: &Mark) -> io::Result<()> {
        self.raise(mark)?;
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_back_and_a_damaged_one_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("watermark");
        let mark = Mark { next: 12, vote: Vote::new_committed(3, 2) };
        let (watermark, found) = Watermark::open(&path).unwrap();
        assert_eq!(found, None);
        watermark.raise(&mark).unwrap();
        assert_eq!(Watermark::open(&path).unwrap().1, Some(mark));
        watermark.file.write_all_at(&[9], 3).unwrap();
        assert_eq!(Watermark::open(&path).unwrap().1, None);
    }

    #[test]
    fn clu_2_neither_a_shorter_log_nor_an_older_vote_keeps_a_note() {
        let mark = Mark { next: 12, vote: Vote::new(3, 2) };
        assert!(mark.is_kept_by(&mark));
        assert!(mark.is_kept_by(&Mark { next: 13, vote: Vote::new_committed(3, 2) }));
        assert!(!mark.is_kept_by(&Mark { next: 11, ..mark }));
        assert!(!mark.is_kept_by(&Mark { vote: Vote::new(2, 3), ..mark }));
    }
}
