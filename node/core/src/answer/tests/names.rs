//! Profiles' names: what they answer, and NODATA or NXDOMAIN where they do not.

use super::{OTHER_TYPES, RecordType, answers, ask, negative};
use crate::answer::{Query, Rcode, decide};
use crate::fixture::{
    add_profile, disable_profile, edit_profile, example_state, name, query, set_endpoints, view,
};
use crate::health::EndpointStatus::{Degraded, Disabled, Online, Stopped};
use crate::model::{Name, ProfileId, Routing};
use crate::routing::NoTrace;
use crate::state::State;

/// A state with one profile at `app.example.com`.
fn app(endpoints: &[(&str, crate::health::EndpointStatus)]) -> (State, ProfileId) {
    let mut state = example_state();
    let id = add_profile(&mut state, "example.com", "app", endpoints);
    (state, id)
}

fn weigh(state: &mut State, id: ProfileId, weight: u32) {
    edit_profile(state, id, |profile| {
        profile.routing = Routing::Weighted;
        profile.endpoints.iter_mut().for_each(|endpoint| endpoint.weight = Some(weight));
    });
}

/// RTE-5, F-RTE-01: one tier alone, never two.
#[test]
fn rte_5_priority_answers_with_one_tier_alone() {
    let (mut state, id) = app(&[]);
    for (statuses, expected) in [
        ([Online, Online, Online], "192.0.2.11"),
        ([Degraded, Online, Online], "192.0.2.12"),
        ([Degraded, Degraded, Online], "192.0.2.13"),
        ([Degraded, Degraded, Degraded], "192.0.2.11"),
    ] {
        let targets = ["192.0.2.11", "192.0.2.12", "192.0.2.13"];
        set_endpoints(&mut state, id, &targets.into_iter().zip(statuses).collect::<Vec<_>>());
        let answer = ask(&state, "app.example.com", RecordType::A);
        assert_eq!(answers(&answer), [format!("app.example.com 30 A {expected}")]);
        assert!(answer.authority.is_empty() && answer.additional.is_empty() && answer.authoritative);
    }
}

/// RTE-2, RTE-6, F-RTE-03, F-RTE-06: the draw is over those that can answer the type, and gives one.
#[test]
fn rte_6_weighted_draws_among_those_that_fit_the_type() {
    let targets = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"];
    let (mut state, id) = app(&targets.map(|target| (target, Online)));
    weigh(&mut state, id, 50);
    let view = view(state);
    for (record_type, first) in [(RecordType::A, "192.0.2.1"), (RecordType::AAAA, "2001:db8::1")] {
        let mut firsts = 0;
        for draw in 0..1_000 {
            let answer = decide(&view, &query("app.example.com", record_type), draw, &mut NoTrace);
            assert_eq!(answer.answers.len(), 1);
            firsts += usize::from(answer.answers[0].data.to_string() == first);
        }
        // Even odds: 500 with a standard deviation of 16; the draws are fixed.
        assert!((450..=550).contains(&firsts), "{firsts} of 1000");
    }
}

/// DNS-5, F-DNS-01.
#[test]
fn dns_5_parents_of_names_are_empty_non_terminals() {
    let mut state = example_state();
    add_profile(&mut state, "example.com", "api.deep.eu", &[("192.0.2.1", Online)]);
    for record_type in [RecordType::A, RecordType::NS, RecordType(16), RecordType::ANY] {
        for name in ["deep.eu.example.com", "eu.example.com"] {
            let answer = ask(&state, name, record_type);
            assert_eq!((answer.rcode, answer.answers.len()), (Rcode::NoError, 0), "{name}");
            assert_eq!(negative(&answer), (30, "example.com".to_owned()));
        }
        for name in ["xx.eu.example.com", "below.api.deep.eu.example.com", "u.example.com"] {
            let answer = ask(&state, name, record_type);
            assert_eq!((answer.rcode, answer.answers.len()), (Rcode::NxDomain, 0), "{name}");
        }
    }
}

/// DNS-6, F-DNS-03: no data of the type, but the name is there; also where only the other family is healthy.
#[test]
fn dns_6_other_types_of_a_name_are_nodata() {
    let (mut state, id) = app(&[("192.0.2.1", Online)]);
    for record_type in OTHER_TYPES.into_iter().chain([RecordType::AAAA, RecordType::CNAME]) {
        let answer = ask(&state, "app.example.com", record_type);
        assert_eq!((answer.rcode, answer.answers.len()), (Rcode::NoError, 0), "{record_type}");
        assert_eq!(negative(&answer), (30, "example.com".to_owned()));
    }
    set_endpoints(&mut state, id, &[("192.0.2.1", Online), ("2001:db8::1", Stopped)]);
    assert_eq!(ask(&state, "app.example.com", RecordType::AAAA).rcode, Rcode::NoError);
    set_endpoints(&mut state, id, &[("192.0.2.1", Online), ("2001:db8::1", Disabled)]);
    assert_eq!(ask(&state, "app.example.com", RecordType::AAAA).rcode, Rcode::NoError);
}

/// DNS-5, F-DNS-04: min(SOA TTL, minimum), and never above the TTL of the profile at the name.
#[test]
fn dns_5_negative_answers_live_no_longer_than_the_profile_says() {
    let (mut state, id) = app(&[("192.0.2.1", Online)]);
    for (ttl, expected) in [(None, 30), (Some(5), 5), (Some(0), 0), (Some(300), 30)] {
        edit_profile(&mut state, id, |profile| profile.ttl = ttl);
        assert_eq!(negative(&ask(&state, "app.example.com", RecordType::AAAA)).0, expected);
        assert_eq!(negative(&ask(&state, "nope.example.com", RecordType::A)).0, 30);
    }
    edit_profile(&mut state, id, |profile| profile.ttl = Some(5));
    disable_profile(&mut state, id);
    let answer = ask(&state, "app.example.com", RecordType::A);
    assert_eq!((answer.rcode, negative(&answer).0), (Rcode::NxDomain, 5));
}

/// RTE-4: each way of having nobody.
#[test]
fn rte_4_nobody_left() {
    let (mut state, id) = app(&[]);
    let rcode = |state: &State| ask(state, "app.example.com", RecordType::A).rcode;
    assert_eq!(rcode(&state), Rcode::NxDomain, "no endpoint");
    set_endpoints(&mut state, id, &[("192.0.2.1", Disabled), ("192.0.2.2", Disabled)]);
    assert_eq!(rcode(&state), Rcode::NxDomain, "every endpoint disabled");
    set_endpoints(&mut state, id, &[("192.0.2.1", Disabled), ("192.0.2.2", Stopped)]);
    assert_eq!(rcode(&state), Rcode::NoError, "only Stopped ones beside Disabled");
    set_endpoints(&mut state, id, &[("2001:db8::1", Online)]);
    assert_eq!(rcode(&state), Rcode::NoError, "none fits the type");
    set_endpoints(&mut state, id, &[("192.0.2.1", Online)]);
    disable_profile(&mut state, id);
    assert_eq!(rcode(&state), Rcode::NxDomain, "profile disabled");
}

/// RTE-4, RFC 8020: a profile without anybody denies neither what is below its name nor other data of it.
#[test]
fn rte_4_nobody_left_but_the_name_exists_otherwise() {
    let (mut state, id) = app(&[("192.0.2.1", Online)]);
    disable_profile(&mut state, id);
    let below = add_profile(&mut state, "example.com", "below.app", &[("192.0.2.2", Online)]);
    assert_eq!(ask(&state, "app.example.com", RecordType::A).rcode, Rcode::NoError);
    disable_profile(&mut state, below);
    assert_eq!(ask(&state, "app.example.com", RecordType::A).rcode, Rcode::NxDomain);

    let apex = add_profile(&mut state, "example.com", "@", &[("192.0.2.3", Online)]);
    disable_profile(&mut state, apex);
    assert_eq!(ask(&state, "example.com", RecordType::A).rcode, Rcode::NoError);
    let any = ask(&state, "example.com", RecordType::ANY);
    assert_eq!(any, ask(&state, "example.com", RecordType::SOA), "the apex is never without data");
}

/// DNS-3, F-DNS-10: case changes nothing, the draw included.
#[test]
fn dns_3_case_does_not_matter() {
    let (mut state, id) = app(&[("192.0.2.1", Online), ("192.0.2.2", Online)]);
    weigh(&mut state, id, 1);
    let view = view(state);
    for (text, wire) in [
        ("app.example.com", b"\x03aPp\x07eXaMpLe\x03CoM\x00".as_slice()),
        ("nope.example.com", b"\x04nOPe\x07eXaMpLe\x03CoM\x00"),
        ("other.test", b"\x05OTHER\x04test\x00"),
    ] {
        for draw in 0..64 {
            let lower = query(text, RecordType::A);
            let mixed = Query { name: Name::from_wire(wire), ..lower.clone() };
            assert_eq!(mixed.name, name(text));
            let decide = |query| decide(&view, query, draw, &mut NoTrace);
            assert_eq!(decide(&mixed), decide(&lower));
        }
    }
}
