//! Any static records, and the bytes of them that every version must read.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use waymark_core::model::{LogIndex, Name, RecordSet, RecordType, RelativeName, Revision, Timestamp};
use waymark_core::state::{Action, Past, Replaced, State};

use super::arbitrary::{revision, text};

fn record_type() -> impl Strategy<Value = RecordType> {
    any::<u16>().prop_map(RecordType)
}

fn data() -> impl Strategy<Value = Vec<Arc<[u8]>>> {
    vec(vec(any::<u8>(), 0..9).prop_map(Arc::from), 0..3)
}

/// Any wish for records.
pub(super) fn action() -> impl Strategy<Value = Action> {
    let place = || (text(), text(), record_type(), option::of(revision()));
    prop_oneof![
        (place(), any::<u32>(), data()).prop_map(
            |((zone, relative_name, record_type, if_revision), ttl, data)| Action::SetRecords {
                zone,
                relative_name,
                record_type,
                ttl,
                data,
                if_revision
            }
        ),
        place().prop_map(|(zone, relative_name, record_type, if_revision)| Action::DeleteRecords {
            zone,
            relative_name,
            record_type,
            if_revision
        }),
    ]
}

/// Puts records into each zone of a state.
pub(super) fn with_records(state: impl Strategy<Value = State>) -> impl Strategy<Value = State> {
    let relative_name = prop_oneof![Just("@"), Just("www"), Just("_sip._tcp")];
    let records = vec((relative_name, record_type(), any::<u32>(), data(), revision()), 0..3);
    (state, records).prop_map(|(mut state, records)| {
        for zone in state.zones.keys() {
            for (relative_name, record_type, ttl, data, revision) in &records {
                let relative_name = RelativeName::parse(relative_name).unwrap();
                let set = RecordSet {
                    zone: zone.clone(),
                    full_name: relative_name.within(zone).unwrap(),
                    relative_name,
                    record_type: *record_type,
                    ttl: *ttl,
                    data: data.clone(),
                    revision: *revision,
                };
                state.records.insert(set.key(), Arc::new(set));
            }
        }
        state
    })
}

fn mail(zone: &Name) -> RecordSet {
    let relative_name = RelativeName::parse("mail").unwrap();
    RecordSet {
        zone: zone.clone(),
        full_name: relative_name.within(zone).unwrap(),
        relative_name,
        record_type: RecordType(15),
        ttl: 300,
        data: vec![Arc::from(*b"\x00\x0a\x02mx\x07example\x03net\x00"), Arc::from(*b"\x00\x14\x00")],
        revision: Revision(15),
    }
}

pub(super) fn actions() -> [(&'static str, Action); 2] {
    let zone = Name::parse("tm.example.com").unwrap();
    let RecordSet { record_type, ttl, data, .. } = mail(&zone);
    let (zone, relative_name, if_revision) = (zone.to_string(), "mail".to_owned(), Some(Revision(41)));
    let delete = Action::DeleteRecords {
        zone: zone.clone(),
        relative_name: relative_name.clone(),
        record_type,
        if_revision,
    };
    let set = Action::SetRecords { zone, relative_name, record_type, ttl, data, if_revision };
    [("set_records", set), ("delete_records", delete)]
}

/// Records of the state's first zone, and a past in which they were replaced.
pub(super) fn add_records(state: &mut State) {
    let set = mail(state.zones.keys().next().expect("a zone"));
    let (name, record_type) = (set.full_name.clone(), set.record_type);
    let set = Arc::new(set);
    state.records.insert(set.key(), set.clone());
    let replaced = vec![
        Replaced::Records(name.clone(), record_type, Some(set)),
        Replaced::Records(name, record_type, None),
    ];
    let begins = state.history.begins();
    let past = Past { at: Timestamp(1_700_000_000_022), index: LogIndex(22), replaced };
    state.history.add(Revision(22), past);
    state.history.begin_at(begins);
}

#[test]
fn dns_17_a_snapshot_with_records_of_no_zone_is_refused() {
    let mut state = State::default();
    let set = mail(&Name::parse("tm.example.com").unwrap());
    state.records.insert(set.key(), Arc::new(set));
    let mut builder = crate::convert::StateBuilder::new(&crate::convert::snapshot_header(&state)).unwrap();
    for record in crate::convert::snapshot_records(&state) {
        builder.add(record).unwrap();
    }
    assert_eq!(builder.finish().unwrap_err().to_string(), "record_set.zone: 'tm.example.com' is no zone");
}
