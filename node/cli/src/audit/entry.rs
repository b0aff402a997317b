//! An entry of the audit trail, as it is listed and as it stands in a file.

use comfy_table::Cell;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use waymark_core::state::AuditOutcome;
use waymark_proto::admin::v1 as wire;

use crate::output::{Shown, Style, table, time};

/// What an operator asked for.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) number: u64,
    at: String,
    log_index: u64,
    revision: u64,
    author: String,
    from: String,
    act: String,
    object: String,
    detail: String,
    outcome: String,
    previous: String,
    pub(super) hash: String,
}

impl From<wire::AuditEntry> for Entry {
    fn from(message: wire::AuditEntry) -> Self {
        let outcome = AuditOutcome::try_from(message.outcome()).map_or("", AuditOutcome::as_str).to_owned();
        let hexadecimal = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
        let wire::AuditEntry {
            number,
            at_ms,
            log_index,
            revision,
            author,
            from,
            act,
            object,
            detail,
            outcome: _,
            previous,
            hash,
        } = message;
        let (at, previous, hash) = (time::rfc_3339(at_ms), hexadecimal(&previous), hexadecimal(&hash));
        Self { number, at, log_index, revision, author, from, act, object, detail, outcome, previous, hash }
    }
}

impl TryFrom<&Entry> for wire::AuditEntry {
    type Error = String;

    fn try_from(entry: &Entry) -> Result<Self, String> {
        let Entry {
            number,
            at,
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
        } = entry;
        let moment: Timestamp = at.parse().map_err(|_| format!("at '{at}' is no moment"))?;
        let known = AuditOutcome::ALL.into_iter().find(|known| known.as_str() == outcome);
        let known = known.ok_or_else(|| format!("outcome '{outcome}' is none"))?;
        let bytes = |field: &str, text: &str| {
            let bytes = data_encoding::HEXLOWER.decode(text.as_bytes());
            bytes.map(Into::into).map_err(|_| format!("{field} '{text}' is not hexadecimal"))
        };
        Ok(Self {
            number: *number,
            at_ms: u64::try_from(moment.as_millisecond()).map_err(|_| format!("at '{at}' is too early"))?,
            log_index: *log_index,
            revision: *revision,
            author: author.clone(),
            from: from.clone(),
            act: act.clone(),
            object: object.clone(),
            detail: detail.clone(),
            outcome: wire::AuditOutcome::from(known).into(),
            previous: bytes("previous", previous)?,
            hash: bytes("hash", hash)?,
        })
    }
}

/// Entries, oldest first.
#[derive(Debug, Serialize)]
pub(super) struct EntryList {
    pub(super) entries: Vec<Entry>,
}

impl Shown for EntryList {
    const KIND: &'static str = "AuditList";

    fn names(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.number.to_string()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown =
            table::table(style, &["NUMBER", "AT", "AUTHOR", "FROM", "CHANGE", "OUTCOME", "REVISION"]);
        for Entry { number, at, author, from, act, object, detail, outcome, revision, .. } in &self.entries {
            let change = format!("{act} {object} {detail}");
            let (number, revision, change) =
                (number.to_string(), revision.to_string(), change.trim_end().to_owned());
            let cells = [&number, at, author, from, &change, outcome, &revision];
            shown.add_row(cells.map(Cell::new));
        }
        table::finish(shown)
    }
}
