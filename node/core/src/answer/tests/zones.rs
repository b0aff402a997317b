//! Zone data: SOA, NS, name servers' addresses, and names that are not ours.

use super::{RecordType, answers, ask, lines, negative};
use crate::answer::Rcode;
use crate::fixture::{add_profile, example_state, name, set_zone};
use crate::health::EndpointStatus::Online;
use crate::model::{Revision, Zone};
use crate::state::State;
use std::sync::Arc;

/// DNS-2.
#[test]
fn dns_2_the_serial_is_the_zones_revision() {
    let mut state = example_state();
    let zone = Zone { revision: Revision((1 << 32) + 7), ..(*state.zones[&name("example.com")]).clone() };
    state.zones.insert(zone.name.clone(), Arc::new(zone));
    let soa = "ns1.example.com. hostmaster.example.com. 7 3600 600 604800 30";
    let answer = ask(&state, "example.com", RecordType::SOA);
    assert_eq!(answers(&answer), [format!("example.com 3600 SOA {soa}")]);
    assert!(answer.authority.is_empty());
}

/// DNS-1, F-DNS-06: at the apex in the answer section, with glue.
#[test]
fn dns_1_the_apex_answers_soa_and_ns() {
    let state = example_state();
    let answer = ask(&state, "example.com", RecordType::NS);
    assert_eq!(
        answers(&answer),
        ["example.com 3600 NS ns1.example.com.", "example.com 3600 NS ns2.example.net."]
    );
    assert_eq!(
        lines(&answer.additional),
        ["ns1.example.com 3600 A 192.0.2.53", "ns1.example.com 3600 AAAA 2001:db8::53"]
    );
    assert!(answer.authority.is_empty());
    assert!(answer.authoritative);
}

/// DNS-5, F-DNS-06: below the apex NODATA or NXDOMAIN, with one SOA in the authority section.
#[test]
fn dns_5_lower_names_have_neither_soa_nor_ns() {
    let mut state = example_state();
    add_profile(&mut state, "example.com", "app", &[("192.0.2.1", Online)]);
    add_profile(&mut state, "example.com", "api.eu", &[("192.0.2.1", Online)]);
    for record_type in [RecordType::SOA, RecordType::NS] {
        for (name, rcode) in [
            ("app.example.com", Rcode::NoError),
            ("eu.example.com", Rcode::NoError),
            ("nope.example.com", Rcode::NxDomain),
        ] {
            let answer = ask(&state, name, record_type);
            assert_eq!(answer.rcode, rcode, "{name}");
            assert!(answer.answers.is_empty());
            assert_eq!(negative(&answer), (30, "example.com".to_owned()));
        }
    }
}

/// DNS-1, F-DNS-07.
#[test]
fn dns_1_in_zone_name_servers_have_addresses() {
    let state = example_state();
    let ask = |record_type| ask(&state, "ns1.example.com", record_type);
    assert_eq!(answers(&ask(RecordType::A)), ["ns1.example.com 3600 A 192.0.2.53"]);
    assert_eq!(answers(&ask(RecordType::AAAA)), ["ns1.example.com 3600 AAAA 2001:db8::53"]);
    assert!(ask(RecordType::A).authoritative);
    let other = ask(RecordType(16));
    assert_eq!(other.rcode, Rcode::NoError);
    assert_eq!(negative(&other), (30, "example.com".to_owned()));
}

/// DNS-1: the closest zone answers, and its SOA stands in negative answers.
#[test]
fn dns_1_the_closest_of_two_nested_zones_answers() {
    let mut state = example_state();
    set_zone(&mut state, "lb.example.com", &[("ns1.example.com", &[])]);
    let missing = ask(&state, "nope.lb.example.com", RecordType::A);
    assert_eq!(missing.rcode, Rcode::NxDomain);
    assert_eq!(negative(&missing), (30, "lb.example.com".to_owned()));
    let apex = ask(&state, "lb.example.com", RecordType::NS);
    assert_eq!(answers(&apex), ["lb.example.com 3600 NS ns1.example.com."]);
    assert!(apex.additional.is_empty(), "the name server lies outside this zone");
    assert_eq!(negative(&ask(&state, "nope.example.com", RecordType::A)).1, "example.com");
}

/// DNS-1, RFC 2181 §5: a name server's name has one set of addresses, whoever is asked for it and in whatever section.
#[test]
fn dns_1_two_zones_cannot_give_a_name_server_two_sets_of_addresses() {
    let mut state = example_state();
    let name_server = "ns1.lb.example.com";
    set_zone(&mut state, "example.com", &[(name_server, &["192.0.2.1"])]);
    let address = |state: &State| lines(&ask(state, "example.com", RecordType::NS).additional);
    // A nested zone without addresses for it takes none away.
    set_zone(&mut state, "lb.example.com", &[("ns.example.net", &[])]);
    assert_eq!(answers(&ask(&state, name_server, RecordType::A)), ["ns1.lb.example.com 3600 A 192.0.2.1"]);
    assert_eq!(address(&state), ["ns1.lb.example.com 3600 A 192.0.2.1"]);
    set_zone(&mut state, "lb.example.com", &[(name_server, &["192.0.2.2"])]);
    assert_eq!(answers(&ask(&state, name_server, RecordType::A)), ["ns1.lb.example.com 3600 A 192.0.2.2"]);
    assert_eq!(address(&state), ["ns1.lb.example.com 3600 A 192.0.2.2"]);
}

/// RFC 2181 §5: a set holds nothing twice.
#[test]
fn dns_6_sets_hold_nothing_twice() {
    let mut state = example_state();
    let twice: (&str, &[&str]) = ("ns1.example.com", &["192.0.2.53", "192.0.2.53"]);
    set_zone(&mut state, "example.com", &[twice, twice]);
    assert_eq!(answers(&ask(&state, "example.com", RecordType::NS)).len(), 1);
    assert_eq!(ask(&state, "example.com", RecordType::NS).additional.len(), 1);
    assert_eq!(answers(&ask(&state, "ns1.example.com", RecordType::A)).len(), 1);
}

/// DNS-4.
#[test]
fn dns_4_refuses_what_is_not_ours() {
    let state = example_state();
    for name in ["other.test", "com", "notexample.com", "example.com.evil.test", "ns2.example.net"] {
        let answer = ask(&state, name, RecordType::A);
        assert_eq!((answer.rcode, answer.authoritative), (Rcode::Refused, false), "{name}");
        assert!(answer.answers.is_empty() && answer.authority.is_empty() && answer.additional.is_empty());
    }
}

/// DNS-7: one RRset, the one for A, else AAAA; at the apex the SOA.
#[test]
fn dns_7_any_gets_one_set() {
    let mut state = example_state();
    add_profile(&mut state, "example.com", "both", &[("192.0.2.1", Online), ("2001:db8::1", Online)]);
    add_profile(&mut state, "example.com", "six", &[("2001:db8::1", Online)]);
    add_profile(&mut state, "example.com", "alias", &[("six.example.com", Online)]);
    add_profile(&mut state, "example.com", "api.eu", &[("192.0.2.1", Online)]);
    let any = |name| ask(&state, name, RecordType::ANY);
    assert_eq!(answers(&any("both.example.com")), ["both.example.com 30 A 192.0.2.1"]);
    assert_eq!(answers(&any("six.example.com")), ["six.example.com 30 AAAA 2001:db8::1"]);
    assert_eq!(answers(&any("alias.example.com")), ["alias.example.com 30 CNAME six.example.com."]);
    assert_eq!(answers(&any("ns1.example.com")), ["ns1.example.com 3600 A 192.0.2.53"]);
    assert_eq!(any("example.com"), ask(&state, "example.com", RecordType::SOA));
    assert_eq!(negative(&any("eu.example.com")).0, 30);
    assert_eq!(any("nope.example.com").rcode, Rcode::NxDomain);

    add_profile(&mut state, "example.com", "@", &[("192.0.2.9", Online)]);
    let apex = ask(&state, "example.com", RecordType::ANY);
    assert_eq!(answers(&apex), ["example.com 30 A 192.0.2.9"]);
}
