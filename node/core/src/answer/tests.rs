//! What a resolver must see, rule by rule and case by case (spec §2), and what holds for every state and query.

mod chains;
mod names;
mod properties;
mod static_records;
mod zones;

use super::{Answer, RecordData, RecordType, decide};
use crate::fixture::{query, view};
use crate::routing::NoTrace;
use crate::state::State;

/// The types of F-DNS-03: MX, TXT, SVCB, HTTPS, CAA and one that nobody has a word for.
const OTHER_TYPES: [RecordType; 6] =
    [RecordType(15), RecordType(16), RecordType(64), RecordType(65), RecordType(257), RecordType(65_280)];

/// The answer of `state` to a question, with a draw that does not matter.
fn ask(state: &State, name: &str, record_type: RecordType) -> Answer {
    decide(&view(state.clone()), &query(name, record_type), 0, &mut NoTrace)
}

/// The answer section as text: `name ttl type data`.
fn answers(answer: &Answer) -> Vec<String> {
    lines(&answer.answers)
}

fn lines(records: &[super::Record]) -> Vec<String> {
    let line = |record: &super::Record| {
        format!("{} {} {} {}", record.name, record.ttl, record.data.record_type(), record.data)
    };
    records.iter().map(line).collect()
}

/// The time to live and the owner of the only SOA in the authority section, where nothing is answered.
fn negative(answer: &Answer) -> (u32, String) {
    assert!(answer.authoritative);
    assert!(answer.additional.is_empty());
    let [soa] = answer.authority.as_slice() else { panic!("one SOA expected: {answer:?}") };
    assert!(matches!(soa.data, RecordData::Soa(_)));
    (soa.ttl, soa.name.to_string())
}
