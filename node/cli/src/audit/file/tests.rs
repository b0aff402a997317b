//! SEC-5: whatever happens to an exported file is found, and named by its line.

use waymark_core::model::{LogIndex, Timestamp};
use waymark_core::state::{Action, AuditEntry, AuditNote, AuditOutcome, Command, Context, State, apply};
use waymark_proto::convert::audit_message;

use super::*;

fn trail() -> Vec<AuditEntry> {
    let mut state = State::default();
    for (index, object) in [(7, "m1"), (8, "naïve \"m2\""), (11, "m3"), (12, "")] {
        let note = AuditNote::new("192.0.2.1:50000", "add member", object, "");
        let action = Action::Audit { outcome: AuditOutcome::Begun };
        let command =
            Command { note: Some(note), author: "operator/alice".into(), ..Command::of_cluster(action) };
        let context = Context { index: LogIndex(index), at: Timestamp(1_700_000_000_000 + index) };
        state = apply(&state, context, &command).state;
    }
    state.audit.entries.values().map(|entry| AuditEntry::clone(entry)).collect()
}

fn written(entries: &[AuditEntry]) -> String {
    entries.iter().map(|entry| line(&Entry::from(audit_message(entry))) + "\n").collect()
}

fn exported() -> String {
    written(&trail())
}

fn fault(text: &str) -> String {
    verified(text).map(|entries| format!("{} entries are taken", entries.len())).unwrap_err()
}

#[test]
fn sec_5_a_flipped_bit_anywhere_is_found_at_its_line() {
    let text = exported();
    assert_eq!(verified(&text).unwrap().len(), 4);
    let mut line = 1;
    for place in 0..text.len() {
        for bit in 0..8 {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1 << bit;
            // What is not UTF-8 any more cannot even be read.
            let Ok(flipped) = String::from_utf8(bytes) else { continue };
            let fault = fault(&flipped);
            assert!(fault.starts_with(&format!("line {line}:")), "byte {place}, bit {bit}: {fault}");
        }
        line += usize::from(text.as_bytes()[place] == b'\n');
    }
}

#[test]
fn sec_5_what_is_missing_doubled_or_moved_is_found() {
    let text = exported();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let of = |places: &[usize]| places.iter().map(|place| lines[*place]).collect::<String>();
    for (places, wanted) in [
        (&[0, 2, 3][..], "line 2: entry 2 should stand where entry 3 is"),
        (&[0, 1, 1, 2, 3], "line 3: entry 3 should stand where entry 2 is"),
        (&[0, 2, 1, 3], "line 2: entry 2 should stand where entry 3 is"),
    ] {
        assert!(fault(&of(places)).starts_with(wanted), "{places:?}: {}", fault(&of(places)));
    }
    assert_eq!(verified(&of(&[1, 2, 3])).unwrap().len(), 3, "the oldest are forgotten");
    assert_eq!(fault(""), "there is no entry in it");
    assert!(
        fault(text.trim_end()).starts_with("line 4: it says the same"),
        "the end of a line is part of it"
    );
}

#[test]
fn sec_5_a_forged_entry_with_a_hash_of_its_own_does_not_fit_the_next() {
    let mut forged = trail();
    forged[1].author = "operator/eve".into();
    let fault = fault(&written(&forged));
    assert!(fault.starts_with("line 3: entry 3 does not hold the hash of the one before it"), "{fault}");
}

#[test]
fn sec_5_what_is_no_chain_is_not_exported() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("audit.jsonl");
    let entries = |trail: Vec<AuditEntry>| -> Vec<Entry> {
        trail.iter().map(|entry| Entry::from(audit_message(entry))).collect()
    };
    let mut broken = trail();
    broken.remove(1);
    let fault = write(&file, &entries(broken)).unwrap_err();
    assert!(fault.contains("no chain: line 2: entry 2 should stand where entry 3 is"), "{fault}");
    assert!(!file.exists(), "nobody shall take it for one");
    assert_eq!(write(&file, &entries(trail())).unwrap().last, 4);
    assert_eq!(write(&directory.path().join("empty.jsonl"), &[]).unwrap().entries, 0);
}

#[test]
fn sec_5_a_cut_end_is_found_by_the_hash_that_was_shown() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("audit.jsonl");
    let text = exported();
    fs::write(&file, &text).unwrap();
    let whole = verify(&file, None).unwrap();
    assert_eq!((whole.entries, whole.first, whole.last), (4, 1, 4));
    assert!(verify(&file, Some(&whole.hash)).is_ok());
    let cut: String = text.split_inclusive('\n').take(3).collect();
    fs::write(&file, cut).unwrap();
    let shorter = verify(&file, None).unwrap();
    assert!(shorter.last == 3 && shorter.hash != whole.hash, "it is a chain, but a shorter one");
    let fault = verify(&file, Some(&whole.hash)).unwrap_err();
    assert!(fault.starts_with("no entry up to 3 has the hash"), "{fault}");
}
