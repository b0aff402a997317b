//! The audit trail (SEC-5): what commands bring for it, and its entries as snapshots keep them and operators see them.

use bytes::Bytes;
use waymark_core::model::{LogIndex, Revision, Timestamp};
use waymark_core::state::{Action, AuditEntry, AuditHash, AuditNote};

use super::{Malformed, number};
use crate::admin::v1 as wire;
use crate::storage::v1 as stored;

impl From<&AuditNote> for stored::AuditNote {
    fn from(note: &AuditNote) -> Self {
        let AuditNote { from, act, object, detail } = note.clone();
        Self { from, act, object, detail }
    }
}

/// Cut to its limits, whoever wrote it: it is going to stand in the state.
impl From<stored::AuditNote> for AuditNote {
    fn from(message: stored::AuditNote) -> Self {
        let stored::AuditNote { from, act, object, detail } = message;
        Self::new(&from, &act, &object, &detail)
    }
}

pub(super) fn audited(message: stored::Audit) -> Result<Action, Malformed> {
    let outcome = number::<wire::AuditOutcome>("audit.outcome", message.outcome)?.try_into()?;
    Ok(Action::Audit { outcome })
}

/// The entry with its hash.
pub fn audit_message(entry: &AuditEntry) -> wire::AuditEntry {
    let hash = Bytes::copy_from_slice(&entry.hash().0);
    let AuditEntry { number, at, index, revision, author, note, outcome, previous } = entry;
    let AuditNote { from, act, object, detail } = note.clone();
    wire::AuditEntry {
        number: *number,
        at_ms: at.0,
        log_index: index.0,
        revision: revision.0,
        author: author.clone(),
        from,
        act,
        object,
        detail,
        outcome: wire::AuditOutcome::from(*outcome).into(),
        previous: Bytes::copy_from_slice(&previous.0),
        hash,
    }
}

/// The entry, unless it is another than the one whose hash stands beside it.
///
/// # Errors
/// A hash is none, or not that of the entry; or its number is one that no entry has, or behind which none could follow.
pub fn audit_entry(message: wire::AuditEntry) -> Result<AuditEntry, Malformed> {
    let wire::AuditEntry {
        number: place,
        at_ms,
        log_index,
        revision,
        author,
        from,
        act,
        object,
        detail,
        outcome,
        previous,
        hash,
    } = message;
    if matches!(place, 0 | u64::MAX) {
        return Err(Malformed::new("audit.number", format!("{place} is no entry's: they count from 1")));
    }
    let digest = |field, bytes: Bytes| {
        let bytes = <[u8; 32]>::try_from(&*bytes);
        bytes.map(AuditHash).map_err(|_| Malformed::new(field, "is no SHA-256 of 32 bytes"))
    };
    let entry = AuditEntry {
        number: place,
        at: Timestamp(at_ms),
        index: LogIndex(log_index),
        revision: Revision(revision),
        author,
        note: AuditNote { from, act, object, detail },
        outcome: number::<wire::AuditOutcome>("audit.outcome", outcome)?.try_into()?,
        previous: digest("audit.previous", previous)?,
    };
    if digest("audit.hash", hash)? == entry.hash() {
        return Ok(entry);
    }
    let description = format!("entry {place} says something else than what was hashed: it was changed");
    Err(Malformed::new("audit.hash", description))
}
