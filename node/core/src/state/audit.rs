//! Who changed what, when and from where: a chain in which each entry holds the hash of the one before it (SEC-5). Like the rest of
//! the state it is the same on every member: what an entry says was written by the member that was asked and stands in the log;
//! applying it adds the place in the chain, and what came of it.

use std::fmt;
use std::sync::Arc;

use imbl::OrdMap;
use sha2::{Digest, Sha256};

use super::{Action, Applied, Command, Context, State};
use crate::model::{LogIndex, Revision, Timestamp};

/// What the trail says of a command of an operator. Its texts are one line each, of [`AuditNote::TEXT_MAX`] characters at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditNote {
    /// The address from which it was asked, as `192.0.2.1:50000`; empty if that is not known.
    pub from: String,
    /// What was to be done, as `update profile`.
    pub act: String,
    /// To what, as `web`.
    pub object: String,
    /// The fields that were named, as `ttl=60 headers=Host:***`; never a header's value, which may be a secret (SEC-4).
    pub detail: String,
}

impl AuditNote {
    /// Longest text, in characters: fields of one endpoint or profile have a few hundred, and an import of latencies or a profile
    /// with 200 endpoints must not make an entry that is as large as itself.
    pub const TEXT_MAX: usize = 1_000;

    /// A note whose texts are cut where they are too long, behind which `…` stands, and are in one line.
    pub fn new(from: &str, act: &str, object: &str, detail: &str) -> Self {
        Self { from: line(from), act: line(act), object: line(object), detail: line(detail) }
    }
}

fn line(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    let mut short: String = text.chars().take(AuditNote::TEXT_MAX).map(plain).collect();
    if text.chars().nth(AuditNote::TEXT_MAX).is_some() {
        short.push('…');
    }
    short
}

/// What came of what an operator asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditOutcome {
    /// It is done.
    Done,
    /// It was so already.
    Unchanged,
    /// A rule forbids it.
    Refused,
    /// It is begun; what came of it stands in a later entry, unless nobody was left to tell.
    Begun,
    /// It was begun, and nobody knows what came of it.
    Unknown,
}

impl AuditOutcome {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Done, Self::Unchanged, Self::Refused, Self::Begun, Self::Unknown];

    /// The word for it, which is part of what is hashed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unchanged => "unchanged",
            Self::Refused => "refused",
            Self::Begun => "begun",
            Self::Unknown => "unknown",
        }
    }
}

/// SHA-256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditHash(pub [u8; 32]);

/// 64 hexadecimal digits.
impl fmt::Display for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// One link of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its place in the chain, from 1 and without a gap.
    pub number: u64,
    /// When the leader proposed it.
    pub at: Timestamp,
    /// The log entry.
    pub index: LogIndex,
    /// The state's counter after it: the revision of what it changed.
    pub revision: Revision,
    /// Who wished it, as `operator/alice`.
    pub author: String,
    /// What was wished, and from where.
    pub note: AuditNote,
    /// What came of it.
    pub outcome: AuditOutcome,
    /// The hash of the entry before; zeros for the first.
    pub previous: AuditHash,
}

impl AuditEntry {
    /// The hash of all that it says, the hash of the one before included.
    pub fn hash(&self) -> AuditHash {
        let Self { number, at, index, revision, author, note, outcome, previous } = self;
        let AuditNote { from, act, object, detail } = note;
        let mut hash = Sha256::new();
        hash.update(previous.0);
        for number in [*number, at.0, index.0, revision.0] {
            hash.update(number.to_be_bytes());
        }
        for text in [author, from, act, object, detail, outcome.as_str()] {
            // With its length, or what one text loses another could gain.
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        AuditHash(hash.finalize().into())
    }
}

/// Why entries are no chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditFault {
    /// One is missing, is there twice or stands in another's place.
    #[error("entry {expected} should stand where entry {found} is: an entry was taken out, added or moved")]
    Gap {
        /// Which number should come.
        expected: u64,
        /// Which number comes.
        found: u64,
    },
    /// It does not follow from the one before.
    #[error("entry {number} does not hold the hash of the one before it: one of the two was changed")]
    Unchained {
        /// Its number.
        number: u64,
    },
}

/// The latest [`AuditTrail::KEPT_MAX`] entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditTrail {
    /// By their numbers.
    pub entries: OrdMap<u64, Arc<AuditEntry>>,
}

impl AuditTrail {
    /// Most entries that are kept, as many as events; the oldest go first. Whoever has to keep more exports them.
    pub const KEPT_MAX: usize = 10_000;

    /// Adds what `command` asked for, if an operator did, and what came of it.
    pub(super) fn note(applied: &mut Applied, before: &State, context: Context, command: &Command) {
        let Some(note) = &command.note else { return };
        let revision = applied.state.counter;
        let outcome = match (&command.action, &applied.reply) {
            (Action::Audit { outcome }, _) => *outcome,
            (_, Err(_)) => AuditOutcome::Refused,
            (_, Ok(_)) if revision == before.counter => AuditOutcome::Unchanged,
            (_, Ok(_)) => AuditOutcome::Done,
        };
        let trail = &mut applied.state.audit;
        let last = trail.entries.get_max().map(|(_, entry)| entry);
        let entry = AuditEntry {
            number: last.map_or(0, |last| last.number) + 1,
            at: context.at,
            index: context.index,
            revision,
            author: command.author.clone(),
            note: note.clone(),
            outcome,
            previous: last.map(|last| last.hash()).unwrap_or_default(),
        };
        trail.entries.insert(entry.number, Arc::new(entry));
        while trail.entries.len() > Self::KEPT_MAX {
            let Some((oldest, _)) = trail.entries.get_min().cloned() else { break };
            trail.entries.remove(&oldest);
        }
    }

    /// Fails unless each of `entries` follows from the one before. Where they begin is not judged: older ones are forgotten.
    ///
    /// # Errors
    /// The place of the first that does not, from 0, and why.
    pub fn check<'a>(entries: impl IntoIterator<Item = &'a AuditEntry>) -> Result<(), (usize, AuditFault)> {
        let mut before: Option<&AuditEntry> = None;
        for (place, entry) in entries.into_iter().enumerate() {
            let expected = before.map_or(entry.number, |before| before.number + 1);
            if entry.number != expected {
                return Err((place, AuditFault::Gap { expected, found: entry.number }));
            }
            if before.is_some_and(|before| entry.previous != before.hash()) {
                return Err((place, AuditFault::Unchained { number: entry.number }));
            }
            before = Some(entry);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
