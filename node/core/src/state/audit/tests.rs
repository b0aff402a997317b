//! SEC-5: entries for what operators ask for, and for nothing else, with what came of it; a chain that shows each tampering.

use super::*;
use crate::fixture::example_state;
use crate::model::{Edit, ZonePatch};
use crate::state::{CommandId, apply};

fn context(index: u64) -> Context {
    Context { index: LogIndex(index), at: Timestamp(1_700_000_000_000 + index) }
}

fn command(author: &str, act: &str, action: Action) -> Command {
    let note = AuditNote::new("192.0.2.1:50000", act, "example.org", "ecs=true");
    Command { author: author.into(), note: Some(note), ..Command::of_cluster(action) }
}

fn create() -> Action {
    let server = ("ns1.example.net".to_owned(), Vec::new());
    let fields = ZonePatch { name_servers: Edit::Set(vec![server]), ..ZonePatch::default() };
    Action::CreateZone { name: "example.org".into(), fields }
}

fn update() -> Action {
    let fields = ZonePatch { ecs: Edit::Set(false), ..ZonePatch::default() };
    Action::UpdateZone { name: "example.org".into(), fields, if_revision: None }
}

fn lived_through() -> State {
    let begun = Action::Audit { outcome: AuditOutcome::Begun };
    let commands = [
        command("operator/alice", "create zone", create()),
        command("operator/alice", "create zone", create()),
        command("operator/bob", "update zone", update()),
        command("operator/bob", "update zone", update()),
        command("operator/alice", "remove member", begun),
    ];
    commands
        .iter()
        .zip(7..)
        .fold(example_state(), |state, (command, index)| apply(&state, context(index), command).state)
}

fn entries(state: &State) -> Vec<AuditEntry> {
    state.audit.entries.values().map(|entry| AuditEntry::clone(entry)).collect()
}

#[test]
fn sec_5_every_wish_of_an_operator_is_an_entry_with_what_came_of_it() {
    let state = lived_through();
    let entries = entries(&state);
    let said: Vec<_> = entries
        .iter()
        .map(|entry| (entry.number, &*entry.author, &*entry.note.act, entry.outcome, entry.index.0))
        .collect();
    let (alice, bob) = ("operator/alice", "operator/bob");
    assert_eq!(
        said,
        [
            (1, alice, "create zone", AuditOutcome::Done, 7),
            (2, alice, "create zone", AuditOutcome::Refused, 8),
            (3, bob, "update zone", AuditOutcome::Done, 9),
            (4, bob, "update zone", AuditOutcome::Unchanged, 10),
            (5, alice, "remove member", AuditOutcome::Begun, 11),
        ]
    );
    assert_eq!((entries[4].revision, entries[4].at), (state.counter, Timestamp(1_700_000_000_011)));
    assert_eq!(entries[0].revision.0 + 1, state.counter.0, "only what changes something counts");
    // Other versions must come to the same.
    let hash = entries[4].hash().to_string();
    assert_eq!(hash, "2cc2b5558e6ac5022d3bc1f714556ce0b697ab0f7d368eb71366ff6f0667a314");
}

#[test]
fn sec_5_members_own_commands_and_retries_are_no_entries() {
    let state = lived_through();
    let own = Command::of_cluster(Action::ForgetHistory { before: Timestamp(1) });
    assert_eq!(apply(&state, context(12), &own).state.audit, state.audit);
    let wish = Command { id: Some(CommandId(5)), ..command("operator/alice", "create zone", create()) };
    let once = apply(&state, context(12), &wish).state;
    assert_eq!(once.audit.entries.len(), 6);
    assert_eq!(apply(&once, context(13), &wish).state.audit, once.audit);
}

/// A member that replays what a version before the trail has written comes to the trail of one that need not: the notes are in
/// the log, and what has none makes no entry.
#[test]
fn sec_5_the_trail_begins_with_the_first_note_of_the_log() {
    let mut old = command("operator", "", create());
    old.note = None;
    let replayed = apply(&example_state(), context(6), &old).state;
    assert_eq!(replayed.audit, AuditTrail::default());
    let noted = apply(&replayed, context(7), &command("operator/bob", "update zone", update())).state;
    assert_eq!(entries(&noted)[0].number, 1);
}

#[test]
fn sec_5_each_tampering_with_a_chain_is_found() {
    let entries = entries(&lived_through());
    assert_eq!(AuditTrail::check(&entries), Ok(()));
    assert_eq!(AuditTrail::check(&entries[1..]), Ok(()), "the oldest are forgotten");
    let changes: [fn(&mut AuditEntry); 9] = [
        |entry| entry.at.0 += 1,
        |entry| entry.index.0 += 1,
        |entry| entry.revision.0 += 1,
        |entry| entry.author = "operator/eve".into(),
        |entry| entry.note.from = "192.0.2.2:50000".into(),
        |entry| entry.note.object.push('x'),
        |entry| (entry.note.act, entry.note.object) = ("create".into(), " zoneexample.org".into()),
        |entry| entry.outcome = AuditOutcome::Refused,
        |entry| entry.previous.0[31] ^= 1,
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut forged = entries.clone();
        change(&mut forged[0]);
        let found = AuditTrail::check(&forged);
        assert_eq!(found, Err((1, AuditFault::Unchained { number: 2 })), "change {at}");
    }
    let mut missing = entries.clone();
    missing.remove(1);
    assert_eq!(AuditTrail::check(&missing), Err((1, AuditFault::Gap { expected: 2, found: 3 })));
    let mut swapped = entries.clone();
    swapped.swap(1, 2);
    assert_eq!(AuditTrail::check(&swapped), Err((1, AuditFault::Gap { expected: 2, found: 3 })));
}

#[test]
fn sec_5_the_oldest_entries_go_and_the_chain_goes_on() {
    let mut state = example_state();
    let most = AuditTrail::KEPT_MAX as u64;
    let text = "m\n".repeat(AuditNote::TEXT_MAX);
    for index in 1..=most + 5 {
        let note = AuditNote::new("", "add member", &text, "");
        let action = Action::Audit { outcome: AuditOutcome::Done };
        let command = Command { note: Some(note), ..Command::of_cluster(action) };
        state = apply(&state, context(index), &command).state;
    }
    let kept = &state.audit.entries;
    assert_eq!((kept.len() as u64, kept.get_min().unwrap().0), (most, 6));
    assert_eq!(AuditTrail::check(kept.values().map(AsRef::as_ref)), Ok(()));
    let object = &kept[&6].note.object;
    assert!(object.chars().count() == AuditNote::TEXT_MAX + 1 && object.ends_with("m …"), "cut, and so said");
    assert_eq!(AuditNote::new("", "", object, "").object, *object, "what was cut is not cut again");
}
