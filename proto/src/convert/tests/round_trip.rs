//! Out of core, through bytes, and back in: the same.

use proptest::prelude::*;
use prost::Message;
use waymark_core::health::{Check, Outcome};
use waymark_core::model::{Edit, EndpointId, EndpointPatch, Header, HeaderValue, Timestamp};
use waymark_core::state::{Action, ApplyLevel, AuditEntry, Command, Rejection, Reply, State};

use super::golden_files::golden;
use super::{arbitrary, brake, enrolment, overrides, places, records, wishes};
use crate::convert::{
    Malformed, StateBuilder, audit_entry, audit_message, entry_message, entry_parts, snapshot_header,
    snapshot_records,
};
use crate::{admin, agent, storage::v1 as stored};

/// As a disk or a wire would have it.
fn through_bytes<M: Message + Default>(message: &M) -> M {
    M::decode(message.encode_to_vec().as_slice()).expect("prost reads what it wrote")
}

fn rebuilt(state: &State) -> Result<State, Malformed> {
    let mut builder = StateBuilder::new(&through_bytes(&snapshot_header(state)))?;
    for record in snapshot_records(state) {
        builder.add(through_bytes(&record))?;
    }
    builder.finish()
}

/// SEC-5: what counts on from there must not overflow.
#[test]
fn sec_5_a_number_that_no_entry_has_is_refused() {
    let first = super::golden_events::audit().entries.values().next().expect("it has entries").clone();
    let entry = |number| AuditEntry { number, ..AuditEntry::clone(&first) };
    let read = |number| audit_entry(through_bytes(&audit_message(&entry(number))));
    for number in [1, u64::MAX - 1] {
        assert_eq!(read(number), Ok(entry(number)));
    }
    for number in [0, u64::MAX] {
        let refused = read(number).unwrap_err();
        assert_eq!(refused.field, "audit.number", "{refused}");
        let record = stored::snapshot_record::Kind::Audit(audit_message(&entry(number)));
        let mut builder = StateBuilder::new(&snapshot_header(&State::default())).expect("a header of ours");
        assert!(builder.add(stored::SnapshotRecord { kind: Some(record) }).is_err());
    }
}

proptest! {
    #[test]
    fn commands_and_entries(commands in proptest::collection::vec(wishes::command(), 0..4), at: u64) {
        let entry = through_bytes(&entry_message(Timestamp(at), &commands));
        let (read_at, read) = entry_parts(entry).expect("what was proposed is readable");
        prop_assert_eq!(read_at, Timestamp(at));
        // The text tells letters apart that the comparison of names does not.
        prop_assert_eq!(format!("{read:?}"), format!("{commands:?}"));
        prop_assert_eq!(read, commands);
    }

    #[test]
    fn replies(reply in wishes::reply()) {
        let message = through_bytes(&stored::CommandReply::from(&reply));
        prop_assert_eq!(Result::<Reply, Rejection>::try_from(message), Ok(reply));
    }

    #[test]
    fn checks(check in arbitrary::check(), endpoint: u64) {
        let message = through_bytes(&agent::v1::Check::from((EndpointId(endpoint), &check)));
        prop_assert_eq!(<(EndpointId, Check)>::try_from(message), Ok((EndpointId(endpoint), check)));
    }

    #[test]
    fn outcomes(outcome in arbitrary::outcome()) {
        let message = through_bytes(&admin::v1::Outcome::from(outcome));
        prop_assert_eq!(Outcome::try_from(message), Ok(outcome));
    }

    #[test]
    fn snapshots(state in places::with_places(brake::braked(overrides::overridden(records::with_records(enrolment::with_enrolment(arbitrary::state())))))) {
        let read = rebuilt(&state).expect("what was written is readable");
        prop_assert_eq!(format!("{read:?}"), format!("{state:?}"));
        prop_assert_eq!(read, state);
    }

    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(message) = stored::Command::decode(bytes.as_slice()) {
            let _ = Command::try_from(message);
        }
        if let Ok(record) = stored::SnapshotRecord::decode(bytes.as_slice()) {
            let _ = StateBuilder::new(&snapshot_header(&State::default())).expect("the format is ours").add(record);
        }
    }
}

#[test]
fn an_update_without_a_mask_in_the_log_is_malformed() {
    let wish = stored::ZoneWish { zone: Some(admin::v1::Zone::default()), mask: None, if_revision: None };
    let command =
        stored::Command { action: Some(stored::command::Action::UpdateZone(wish)), ..Default::default() };
    assert_eq!(Command::try_from(command).unwrap_err().field, "command.mask");
}

#[test]
fn a_snapshot_of_another_format_is_refused() {
    let header = stored::SnapshotHeader { format_version: 2, ..snapshot_header(&State::default()) };
    assert_eq!(
        StateBuilder::new(&header).unwrap_err().to_string(),
        "format_version: 2 is not readable by this version, which reads 1"
    );
}

/// CLU-9: a header's level is read for ever, one that says none is of the lowest, and one above what is supported is refused.
#[test]
fn clu_9_a_snapshot_says_by_which_level_of_apply_it_goes() {
    let raised = State { apply_level: ApplyLevel(2), ..State::default() };
    let today = snapshot_header(&raised);
    let bytes = golden("snapshot.header.apply-level.hex", &today.encode_to_vec());
    let header = stored::SnapshotHeader::decode(bytes.as_slice()).expect("the old bytes are readable");
    assert_eq!(header, today, "the old bytes read as something else");
    let read =
        |header| StateBuilder::new(&header).and_then(StateBuilder::finish).map(|state| state.apply_level);
    assert_eq!(read(header.clone()), Ok(ApplyLevel(2)));
    assert_eq!(read(stored::SnapshotHeader { apply_level: 0, ..header.clone() }), Ok(ApplyLevel::LOWEST));
    let above = stored::SnapshotHeader { apply_level: ApplyLevel::HIGHEST.0 + 1, ..header };
    let refused = read(above).unwrap_err().to_string();
    assert!(
        refused.starts_with(&format!(
            "apply_level: {} is above what this version supports",
            ApplyLevel::HIGHEST.0 + 1
        )),
        "{refused}"
    );
}

#[test]
fn a_snapshot_with_an_object_twice_or_a_health_of_nothing_is_refused() {
    let empty = || StateBuilder::new(&snapshot_header(&State::default())).unwrap();
    let region = admin::v1::Region { name: "eu".into(), ..Default::default() };
    let record = stored::SnapshotRecord { kind: Some(stored::snapshot_record::Kind::Region(region)) };
    let mut builder = empty();
    builder.add(record.clone()).unwrap();
    assert_eq!(builder.add(record).unwrap_err().field, "region.name");

    let health =
        stored::StoredHealth { endpoint: 9, status: admin::v1::Status::Online.into(), ..Default::default() };
    let mut builder = empty();
    builder
        .add(stored::SnapshotRecord { kind: Some(stored::snapshot_record::Kind::Health(health)) })
        .unwrap();
    assert_eq!(builder.finish().unwrap_err().field, "health.endpoint");
}

/// SEC-4: whatever forgets to encrypt a secret loses it; it does not come to stand in the log.
#[test]
fn sec_4_a_secret_that_is_not_encrypted_is_not_written() {
    let header = Header { name: "X-Key".into(), value: HeaderValue::Secret("topsecret".into()) };
    let fields = EndpointPatch { headers: Edit::Set(vec![header]), ..EndpointPatch::default() };
    let action = Action::AddEndpoint { profile: "web".into(), name: "one".into(), fields, if_revision: None };
    let bytes = stored::Command::from(&Command::of_cluster(action)).encode_to_vec();
    let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    assert!(has(b"X-Key") && !has(b"topsecret"));
}
