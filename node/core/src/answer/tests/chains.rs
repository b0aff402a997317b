//! Profiles whose endpoints are names: one CNAME, followed as long as it stays in our zones (DNS-6, RTE-13).

use super::{OTHER_TYPES, RecordType, answers, ask, negative};
use crate::answer::{ALIASES_MAX, Rcode};
use crate::fixture::{add_profile, edit_profile, example_state, name, set_records, set_zone};
use crate::health::EndpointStatus::Online;
use crate::state::State;

/// Profiles `alias` → `target`, and `only4` with one IPv4 address and a TTL of 7.
fn alias_to(target: &str) -> State {
    let mut state = example_state();
    add_profile(&mut state, "example.com", "alias", &[(target, Online)]);
    let only4 = add_profile(&mut state, "example.com", "only4", &[("192.0.2.4", Online)]);
    edit_profile(&mut state, only4, |profile| profile.ttl = Some(7));
    state
}

/// DNS-6, F-DNS-08 (c): an alias out of our zones is all there is to say, for every type.
#[test]
fn dns_6_an_alias_out_of_our_zones_stands_alone() {
    let state = alias_to("x.example.net");
    let types = [RecordType::A, RecordType::AAAA, RecordType::NS, RecordType::SOA, RecordType::CNAME];
    for record_type in types.into_iter().chain(OTHER_TYPES) {
        let answer = ask(&state, "alias.example.com", record_type);
        assert_eq!((answer.rcode, answer.authoritative), (Rcode::NoError, true));
        assert_eq!(answers(&answer), ["alias.example.com 30 CNAME x.example.net."]);
        assert!(answer.authority.is_empty() && answer.additional.is_empty());
    }
}

/// RTE-13: each owner has its own TTL.
#[test]
fn rte_13_an_alias_within_our_zones_is_followed() {
    let answer = ask(&alias_to("only4.example.com"), "alias.example.com", RecordType::A);
    assert_eq!(
        answers(&answer),
        ["alias.example.com 30 CNAME only4.example.com.", "only4.example.com 7 A 192.0.2.4"]
    );
    assert!(answer.authority.is_empty());
}

/// RTE-13, F-DNS-08 (a), RFC 6604: the RCODE is the last name's.
#[test]
fn rte_13_an_alias_to_a_missing_name_is_nxdomain() {
    let answer = ask(&alias_to("gone.example.com"), "alias.example.com", RecordType::A);
    assert_eq!(answer.rcode, Rcode::NxDomain);
    assert_eq!(answers(&answer), ["alias.example.com 30 CNAME gone.example.com."]);
    assert_eq!(negative(&answer), (30, "example.com".to_owned()));
}

/// RTE-13, F-DNS-08 (b): NODATA of the last name, in its zone, no longer than its TTL.
#[test]
fn rte_13_an_alias_to_a_name_without_the_type_is_nodata() {
    let answer = ask(&alias_to("only4.example.com"), "alias.example.com", RecordType::AAAA);
    assert_eq!(answer.rcode, Rcode::NoError);
    assert_eq!(answers(&answer), ["alias.example.com 30 CNAME only4.example.com."]);
    assert_eq!(negative(&answer), (7, "example.com".to_owned()));
}

/// RTE-13: the SOA is that of the last name's zone.
#[test]
fn rte_13_a_chain_into_another_zone_ends_by_that_zone() {
    let mut state = alias_to("gone.example.org");
    set_zone(&mut state, "example.org", &[("ns2.example.net", &[])]);
    let answer = ask(&state, "alias.example.com", RecordType::A);
    assert_eq!((answer.rcode, negative(&answer).1.as_str()), (Rcode::NxDomain, "example.org"));

    let state = alias_to("ns1.example.com");
    let answer = ask(&state, "alias.example.com", RecordType::A);
    assert_eq!(
        answers(&answer),
        ["alias.example.com 30 CNAME ns1.example.com.", "ns1.example.com 3600 A 192.0.2.53"]
    );
}

/// DNS-6: who asks for the alias itself gets that.
#[test]
fn dns_6_a_question_for_the_alias_is_not_followed() {
    for record_type in [RecordType::CNAME, RecordType::ANY] {
        let answer = ask(&alias_to("gone.example.com"), "alias.example.com", record_type);
        assert_eq!(answer.rcode, Rcode::NoError);
        assert_eq!(answers(&answer), ["alias.example.com 30 CNAME gone.example.com."]);
        assert!(answer.authority.is_empty());
    }
}

#[test]
fn dns_6_loops_end_with_the_chain_so_far() {
    let mut state = alias_to("back.example.com");
    add_profile(&mut state, "example.com", "back", &[("alias.example.com", Online)]);
    add_profile(&mut state, "example.com", "self", &[("self.example.com", Online)]);
    let answer = ask(&state, "alias.example.com", RecordType::A);
    assert_eq!(
        answers(&answer),
        ["alias.example.com 30 CNAME back.example.com.", "back.example.com 30 CNAME alias.example.com."]
    );
    assert_eq!((answer.rcode, answer.authority.len()), (Rcode::NoError, 0));
    let answer = ask(&state, "self.example.com", RecordType::A);
    assert_eq!(answers(&answer), ["self.example.com 30 CNAME self.example.com."]);
}

/// DNS-6: eight aliases are followed, a ninth is left to the resolver.
#[test]
fn dns_6_long_chains_end_after_eight_aliases() {
    let mut state = example_state();
    for step in 0..9 {
        let target = format!("c{}.example.com", step + 1);
        add_profile(&mut state, "example.com", &format!("c{step}"), &[(&target, Online)]);
    }
    add_profile(&mut state, "example.com", "c9", &[("192.0.2.9", Online)]);

    let whole = ask(&state, "c1.example.com", RecordType::A);
    assert_eq!(whole.answers.len(), ALIASES_MAX as usize + 1);
    assert_eq!(answers(&whole)[8], "c9.example.com 30 A 192.0.2.9");

    let cut = ask(&state, "c0.example.com", RecordType::A);
    assert_eq!(cut.answers.len(), ALIASES_MAX as usize);
    assert_eq!(answers(&cut)[7], "c7.example.com 30 CNAME c8.example.com.");
    assert_eq!((cut.rcode, cut.authority.len()), (Rcode::NoError, 0));
}

/// RFC 2308 §5: what an alias leads to may be missing for a shorter time than the alias lives.
#[test]
fn dns_15_nothing_at_the_end_of_a_chain_is_not_fresh_for_as_long_as_the_chain() {
    let mut state = example_state();
    let target = name("nobody.example.com");
    set_records(&mut state, "example.com", "long", RecordType::CNAME, &[target.as_wire()]);
    let answer = ask(&state, "long.example.com", RecordType::A);
    assert_eq!((answer.answers[0].ttl, answer.seconds_fresh()), (300, Some(30)));
    assert_eq!(ask(&state, "www.example.net", RecordType::A).seconds_fresh(), None, "REFUSED is no answer");
}
