//! DNS-17: what static records answer beside profiles and zone data.

use super::{RecordType, answers, ask, lines, negative};
use crate::answer::Rcode;
use crate::fixture::{add_profile, example_state, name, set_records, set_zone};
use crate::health::EndpointStatus::Online;
use crate::state::State;

const MX: RecordType = RecordType(15);
const TXT: RecordType = RecordType(16);
const CAA: RecordType = RecordType(257);

#[test]
fn dns_17_a_type_is_answered_with_its_set_and_others_with_nodata() {
    let mut state = example_state();
    set_records(&mut state, "example.com", "www", TXT, &[b"\x01a", b"\x01b"]);
    set_records(&mut state, "example.com", "www", RecordType::A, &[&[192, 0, 2, 7]]);
    let answer = ask(&state, "www.example.com", TXT);
    assert_eq!(
        answers(&answer),
        ["www.example.com 300 TXT \\# 2 0161", "www.example.com 300 TXT \\# 2 0162"],
        "in the order in which they were given"
    );
    assert!(answer.authoritative && answer.authority.is_empty() && answer.additional.is_empty());
    assert_eq!(answers(&ask(&state, "www.example.com", RecordType::A)), ["www.example.com 300 A 192.0.2.7"]);
    let other = ask(&state, "www.example.com", CAA);
    assert_eq!((other.rcode, negative(&other)), (Rcode::NoError, (30, "example.com".to_owned())));
}

/// DNS-5: static records make names and empty non-terminals like everything else that exists.
#[test]
fn dns_5_static_records_exist() {
    let mut state = example_state();
    set_records(&mut state, "example.com", "a.deep", TXT, &[b"\x01a"]);
    for (name, rcode) in [
        ("a.deep.example.com", Rcode::NoError),
        ("deep.example.com", Rcode::NoError),
        ("b.deep.example.com", Rcode::NxDomain),
        ("x.a.deep.example.com", Rcode::NxDomain),
    ] {
        assert_eq!(ask(&state, name, RecordType::A).rcode, rcode, "{name}");
    }
}

/// DNS-6: an alias is answered for every type and followed where it leads to names of ours.
#[test]
fn dns_6_static_aliases_are_followed() {
    let mut state = example_state();
    add_profile(&mut state, "example.com", "web", &[("192.0.2.1", Online)]);
    let alias = |target: &str| name(target).as_wire().to_vec();
    set_records(&mut state, "example.com", "www", RecordType::CNAME, &[&alias("web.example.com")]);
    set_records(&mut state, "example.com", "cdn", RecordType::CNAME, &[&alias("edge.example.net")]);
    set_records(&mut state, "example.com", "one", RecordType::CNAME, &[&alias("two.example.com")]);
    set_records(&mut state, "example.com", "two", RecordType::CNAME, &[&alias("one.example.com")]);
    assert_eq!(
        answers(&ask(&state, "www.example.com", RecordType::A)),
        ["www.example.com 300 CNAME web.example.com.", "web.example.com 30 A 192.0.2.1"]
    );
    for record_type in [RecordType::CNAME, RecordType::ANY, TXT, RecordType::A] {
        assert_eq!(
            answers(&ask(&state, "cdn.example.com", record_type)),
            ["cdn.example.com 300 CNAME edge.example.net."]
        );
    }
    assert_eq!(ask(&state, "one.example.com", RecordType::A).answers.len(), 2, "a loop ends");
    let text = ask(&state, "www.example.com", TXT);
    assert_eq!((text.answers.len(), text.authority.len()), (1, 1), "the profile has no text");
}

/// DNS-7: one set, the one for A, else AAAA, else that of the lowest number; at the apex before the SOA.
#[test]
fn dns_7_any_gets_one_static_set() {
    let mut state = example_state();
    let any = |state: &State, name: &str| answers(&ask(state, name, RecordType::ANY));
    for (relative, record_type, expected) in [
        ("www", CAA, "www.example.com 300 CAA \\# 0"),
        ("www", MX, "www.example.com 300 MX \\# 0"),
        ("@", TXT, "example.com 300 TXT \\# 0"),
    ] {
        let owner = set_records(&mut state, "example.com", relative, record_type, &[b""]);
        assert_eq!(any(&state, &owner.to_string()), [expected]);
    }
    set_records(&mut state, "example.com", "www", RecordType::AAAA, &[&[0; 16]]);
    assert_eq!(any(&state, "www.example.com"), ["www.example.com 300 AAAA ::"]);
    set_records(&mut state, "example.com", "www", RecordType::A, &[&[192, 0, 2, 7]]);
    assert_eq!(any(&state, "www.example.com"), ["www.example.com 300 A 192.0.2.7"]);
}

#[test]
fn dns_17_records_stand_beside_zone_data() {
    let mut state = example_state();
    set_records(&mut state, "example.com", "@", MX, &[b"\x00\x00\x00"]);
    set_records(&mut state, "example.com", "ns1", TXT, &[b"\x01a"]);
    let of = |name: &str, record_type| answers(&ask(&state, name, record_type));
    assert_eq!(of("example.com", MX), ["example.com 300 MX \\# 3 000000"]);
    assert_eq!(of("example.com", RecordType::NS).len(), 2);
    assert_eq!(of("example.com", RecordType::SOA).len(), 1);
    assert_eq!(of("ns1.example.com", TXT), ["ns1.example.com 300 TXT \\# 2 0161"]);
    assert_eq!(of("ns1.example.com", RecordType::A), ["ns1.example.com 3600 A 192.0.2.53"]);
}

/// RFC 4035 §3.1.4.1: what leads to a zone is its parent's to say, and nobody's where the parent is not ours.
#[test]
fn dns_17_ds_is_answered_by_the_zone_around() {
    let mut state = example_state();
    set_zone(&mut state, "lb.example.com", &[("ns.example.net", &[])]);
    add_profile(&mut state, "lb.example.com", "@", &[("192.0.2.1", Online)]);
    let ask = |state: &State, name: &str| ask(state, name, RecordType::DS);
    let unsigned = ask(&state, "lb.example.com");
    assert_eq!((unsigned.rcode, negative(&unsigned)), (Rcode::NoError, (30, "example.com".to_owned())));
    set_records(&mut state, "example.com", "lb", RecordType::DS, &[b"\x01"]);
    let signed = ask(&state, "lb.example.com");
    assert_eq!(lines(&signed.answers), ["lb.example.com 300 DS \\# 1 01"]);
    let top = ask(&state, "example.com");
    assert_eq!((top.rcode, negative(&top)), (Rcode::NoError, (30, "example.com".to_owned())));
    assert_eq!(negative(&ask(&state, "nope.lb.example.com")).1, "lb.example.com");
}
