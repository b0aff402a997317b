//! What holds for every state, query and draw.

use proptest::prelude::{any, prop_assert, prop_assert_eq, prop_assume, proptest};

use crate::answer::{
    Answer, Query, Rcode, RecordData, RecordType, Settled, decide, decide_directly, settled, settled_by,
};
use crate::fixture::{arbitrary_query, arbitrary_state, check_answer, check_scope, located, name};
use crate::model::{LogIndex, ProfileId, Target};
use crate::routing::NoTrace;
use crate::state::{Change, State};

fn decide_at(state: &State, query: &Query, draw: u64) -> Answer {
    decide(&located(state.clone()), query, draw, &mut NoTrace)
}

/// Everything that is different between two states.
fn changes(before: &State, after: &State) -> Vec<Change> {
    let zones = before.zones.keys().chain(after.zones.keys()).cloned().map(Change::Zone);
    let gone = before.profiles.values();
    let gone = gone.map(|profile| Change::ProfileRemoved(profile.id, profile.full_name.clone()));
    let profiles = after.profiles.keys().copied().map(Change::Profile);
    let records = before.records.values().chain(after.records.values());
    let records = records.map(|set| Change::Records(set.full_name.clone(), set.record_type));
    let regions = before.regions.keys().chain(after.regions.keys()).cloned().map(Change::Region);
    profiles.chain(gone).chain(zones).chain(records).chain(regions).chain([Change::Latency]).collect()
}

/// The targets that `draw` falls on.
fn drawn<'a>(
    settled: &Settled<'a>,
    profile: ProfileId,
    record_type: RecordType,
    draw: u64,
) -> Vec<&'a Target> {
    let sum = settled.endpoints.iter().map(|(weight, _)| weight).sum();
    let mut place = settled_by(draw, profile, sum);
    for (weight, planned) in &settled.endpoints {
        match place.checked_sub(*weight) {
            Some(left) => place = left,
            None => return planned.answers(record_type).collect(),
        }
    }
    Vec::new()
}

proptest! {
    /// RTE-5, RTE-6, RTE-14, DNS-10: what is settled for everybody is what each is answered with.
    #[test]
    fn rte_14_what_is_settled_is_what_is_decided(
        state in arbitrary_state(), query in arbitrary_query(), draw in any::<u64>(),
    ) {
        let view = located(state);
        for profile in view.state.profiles.values() {
            let name = profile.full_name.as_wire();
            let plan = view.plan(name).expect("each profile has a plan");
            for record_type in [RecordType::A, RecordType::AAAA, query.record_type] {
                let Some(settled) = settled(&view, plan, name, record_type, 3) else { continue };
                prop_assert!(settled.endpoints.len() <= 3);
                let direct = decide_directly(&view, plan, name, record_type, query.source, query.subnet, draw);
                let direct = direct.expect("it is simple");
                let targets = drawn(&settled, profile.id, record_type, draw);
                prop_assert_eq!(direct.targets().collect::<Vec<_>>(), targets);
                prop_assert_eq!(direct.authority, settled.authority);
                prop_assert_eq!(direct.ttl, settled.ttl);
                prop_assert_eq!(direct.scope, query.subnet.filter(|_| settled.takes_subnets).map(|_| 0));
            }
        }
    }

    /// RTE-14: state, query and draw decide; a view that was built elsewhere, and came another way, decides alike.
    #[test]
    fn rte_14_the_same_answer_everywhere(
        earlier in arbitrary_state(), state in arbitrary_state(), query in arbitrary_query(), draw in any::<u64>(),
    ) {
        let earlier = located(earlier);
        let changed = earlier.after(state.clone(), &changes(&earlier.state, &state), LogIndex(9));
        let answer = decide(&changed, &query, draw, &mut NoTrace);
        prop_assert_eq!(answer, decide_at(&state, &query, draw));
    }

    /// RTE-3, RTE-15, DNS-6, DNS-10: see `fixture::claims`.
    #[test]
    fn rte_3_rte_15_dns_10_what_is_claimed_of_every_answer(
        state in arbitrary_state(), query in arbitrary_query(), draw in any::<u64>(),
        others in proptest::collection::vec(any::<u128>(), 20),
    ) {
        let view = located(state);
        let answer = check_answer(&view, &query, draw);
        others.into_iter().for_each(|other| check_scope(&view, &query, draw, &answer, other));
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
            prop_assert_eq!(&soa.name, &state.answering_zone(&end, query.record_type).expect("a zone of ours").name);
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
