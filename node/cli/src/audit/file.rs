//! The exported audit trail: one JSON object a line, each as `audit list -o json` shows it.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;
use waymark_core::state::AuditTrail;
use waymark_proto::admin::v1::AuditEntry;
use waymark_proto::convert::audit_entry;

use super::entry::Entry;
use crate::output::{Shown, Style};

/// A file that holds a part of the chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chain {
    #[serde(skip)]
    done: &'static str,
    file: String,
    entries: usize,
    /// The number of the first entry; 0 if there is none.
    first: u64,
    /// The number of the last entry; 0 if there is none.
    last: u64,
    /// The last entry's hash, which stands for all before it.
    hash: String,
}

impl Chain {
    fn of(done: &'static str, file: &Path, entries: &[Entry]) -> Self {
        let (first, last) = (entries.first(), entries.last());
        Self {
            done,
            file: file.display().to_string(),
            entries: entries.len(),
            first: first.map_or(0, |entry| entry.number),
            last: last.map_or(0, |entry| entry.number),
            hash: last.map(|entry| entry.hash.clone()).unwrap_or_default(),
        }
    }
}

impl Shown for Chain {
    const KIND: &'static str = "AuditFile";

    fn names(&self) -> Vec<String> {
        vec![self.file.clone()]
    }

    fn text(&self, _: &Style) -> String {
        let Self { done, file, entries, first, last, hash } = self;
        match entries {
            0 => format!("{done} {file}: nothing was changed yet\n"),
            1.. => format!("{done} {file}: entries {first} to {last}; the hash of entry {last} is {hash}\n"),
        }
    }
}

fn line(entry: &Entry) -> String {
    serde_json::to_string(entry).expect("an entry has text for keys, so it can be written as JSON")
}

/// Writes `entries` into a new file, which is nobody else's business; what is no chain is not written.
pub(super) fn write(path: &Path, entries: &[Entry]) -> Result<Chain, String> {
    let lines: String = entries.iter().map(|entry| line(entry) + "\n").collect();
    if !lines.is_empty() {
        let broken = |fault| format!("it is not written, as what the member has is no chain: {fault}");
        verified(&lines).map_err(broken)?;
    }
    let options = File::options().write(true).create_new(true).mode(0o600).open(path);
    let mut file = options.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => "it is there already; choose another name, or move it away".to_owned(),
        _ => format!("it cannot be written: {error}"),
    })?;
    let written = file.write_all(lines.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| format!("it cannot be written: {error}"))?;
    Ok(Chain::of("exported", path, entries))
}

/// Reads the file, and fails at the first line that is not as it was written, or, given the hash of an entry, unless that entry
/// is in it.
pub(super) fn verify(path: &Path, hash: Option<&str>) -> Result<Chain, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let entries = verified(&text)?;
    if let Some(hash) = hash
        && !entries.iter().any(|entry| entry.hash == hash)
    {
        let last = entries.last().map_or(0, |entry| entry.number);
        return Err(format!(
            "no entry up to {last} has the hash {hash}: the file ends before it, or is of another chain"
        ));
    }
    Ok(Chain::of("verified", path, &entries))
}

fn verified(text: &str) -> Result<Vec<Entry>, String> {
    let (mut entries, mut links) = (Vec::new(), Vec::new());
    for (place, written) in text.split_inclusive('\n').enumerate() {
        let at = |reason: String| format!("line {}: {reason}", place + 1);
        let entry: Entry =
            serde_json::from_str(written).map_err(|error| at(format!("it is no entry: {error}")))?;
        let message = AuditEntry::try_from(&entry).map_err(at)?;
        // There is one way to write an entry: whatever else says the same is not what was exported.
        if line(&Entry::from(message.clone())) + "\n" != written {
            return Err(at(
                "it says the same as an entry, but is not written as one: it was changed".to_owned()
            ));
        }
        links.push(audit_entry(message).map_err(|fault| at(fault.description))?);
        entries.push(entry);
    }
    if entries.is_empty() {
        return Err("there is no entry in it".to_owned());
    }
    match AuditTrail::check(&links) {
        Ok(()) => Ok(entries),
        Err((place, fault)) => Err(format!("line {}: {fault}", place + 1)),
    }
}

#[cfg(test)]
mod tests;
