//! What holds for every state, query and draw.

use std::collections::BTreeSet;

use proptest::prelude::{any, prop_assert, prop_assert_eq, prop_assume, proptest};

use crate::answer::{Answer, Query, Rcode, Record, RecordData, RecordType, decide};
use crate::fixture::{arbitrary_query, arbitrary_state, name, view};
use crate::health::EndpointStatus;
use crate::model::{LogIndex, Name, Target};
use crate::routing::NoTrace;
use crate::state::{State, View};

fn target_of(record: &Record) -> Option<Target> {
    match &record.data {
        RecordData::A(address) => Some(Target::V4(*address)),
        RecordData::Aaaa(address) => Some(Target::V6(*address)),
        RecordData::Cname(target) => Some(Target::Name(target.clone())),
        RecordData::Ns(_) | RecordData::Soa(_) => None,
    }
}

/// Is `record` what an endpoint of the profile at its name stands for, one that may serve?
fn is_from_a_usable_endpoint(view: &View, record: &Record) -> bool {
    let Some(plan) = view.plan(record.name.as_wire()) else { return false };
    let unusable = [EndpointStatus::Disabled, EndpointStatus::Stopped, EndpointStatus::Inactive];
    plan.endpoints
        .iter()
        .any(|planned| planned.target == target_of(record) && !unusable.contains(&planned.status))
}

/// The records of each owner and type, but the last of the chain must have one type, and aliases come one an owner.
fn is_one_chain(answer: &Answer, asked: &Name) -> bool {
    let mut owner = asked.clone();
    let mut records = answer.answers.iter().peekable();
    while let Some(record) = records.peek() {
        let RecordData::Cname(target) = &record.data else { break };
        if record.name != owner {
            return false;
        }
        owner = target.clone();
        records.next();
    }
    let rest: Vec<&Record> = records.collect();
    rest.iter().all(|record| record.name == owner && record.data.record_type() == rest[0].data.record_type())
}

fn has_duplicates(records: &[Record]) -> bool {
    let texts: BTreeSet<String> =
        records.iter().map(|record| format!("{} {}", record.name, record.data)).collect();
    texts.len() < records.len()
}

fn decide_at(state: &State, query: &Query, draw: u64) -> Answer {
    decide(&View::of(state.clone(), LogIndex(7)), query, draw, &mut NoTrace)
}

proptest! {
    /// RTE-14: state, query and draw decide; a view that was built elsewhere decides alike.
    #[test]
    fn rte_14_the_same_answer_everywhere(state in arbitrary_state(), query in arbitrary_query(), draw in any::<u64>()) {
        prop_assert_eq!(decide_at(&state, &query, draw), decide_at(&state, &query, draw));
    }

    /// RTE-3, DNS-6: who is Disabled or Stopped is never answered; one chain, one RRset, nothing twice.
    #[test]
    fn rte_3_only_usable_endpoints_are_answered(
        state in arbitrary_state(), query in arbitrary_query(), draw in any::<u64>(),
    ) {
        let view = view(state);
        let answer = decide(&view, &query, draw, &mut NoTrace);
        for record in &answer.answers {
            let is_zone_data = target_of(record).is_none()
                || view.name_server_addresses(&record.name).iter().any(|address| {
                    Some(Target::from(*address)) == target_of(record)
                });
            prop_assert!(is_zone_data || is_from_a_usable_endpoint(&view, record), "{record:?}");
        }
        prop_assert!(is_one_chain(&answer, &query.name), "{answer:?}");
        prop_assert!(!has_duplicates(&answer.answers) && !has_duplicates(&answer.additional));
    }

    /// DNS-5: a negative answer has the SOA of the last name's zone, a positive one none.
    #[test]
    fn dns_5_an_soa_goes_with_every_negative_answer_of_ours(
        state in arbitrary_state(), query in arbitrary_query(), draw in any::<u64>(),
    ) {
        let answer = decide_at(&state, &query, draw);
        let last = answer.answers.last();
        let end = match last.map(|record| &record.data) {
            Some(RecordData::Cname(target)) => target.clone(),
            _ => query.name.clone(),
        };
        if let [soa] = answer.authority.as_slice() {
            prop_assert!(last.is_none_or(|record| record.data.record_type() == RecordType::CNAME));
            prop_assert_eq!(&soa.name, &state.enclosing_zone(&end).expect("a zone of ours").name);
            prop_assert!(soa.ttl <= 30);
        } else {
            prop_assert!(answer.authority.is_empty());
            prop_assert!(answer.rcode == Rcode::Refused || last.is_some());
        }
    }

    /// DNS-5, RFC 8020: NXDOMAIN means nothing at or below; RTE-4: whether there is does not depend on the type.
    #[test]
    fn dns_5_nothing_is_below_a_name_that_does_not_exist(
        state in arbitrary_state(), query in arbitrary_query(), draw in any::<u64>(),
    ) {
        let answer = decide_at(&state, &query, draw);
        prop_assume!(answer.rcode == Rcode::NxDomain && answer.answers.is_empty());
        let text = Query { record_type: RecordType(16), ..query.clone() };
        prop_assert_eq!(decide_at(&state, &text, draw).rcode, Rcode::NxDomain);
        let below = Query { name: name("below").join(&query.name).expect("a short name"), ..query.clone() };
        prop_assert_eq!(decide_at(&state, &below, draw).rcode, Rcode::NxDomain);
        for profile in state.profiles.values().filter(|profile| profile.full_name.is_within(&query.name)) {
            let at_profile = Query { name: profile.full_name.clone(), ..query.clone() };
            prop_assert_eq!(decide_at(&state, &at_profile, draw).rcode, Rcode::NxDomain);
        }
    }
}
