//! Nested profiles: what they answer, under whose name, and what happens when a child has nobody.

use super::*;
use crate::health::EndpointStatus::{Degraded, Online};

/// F-RTE-19: the child's name shows nowhere, its TTL neither.
#[test]
fn rte_12_the_child_answers_under_the_asked_name_and_ttl() {
    let (mut state, web) = state_with(Routing::Priority, &[]);
    let child =
        add_profile(&mut state, "example.com", "eu", &[("192.0.2.1", Degraded), ("192.0.2.2", Online)]);
    edit_profile(&mut state, child, |profile| profile.ttl = Some(77));
    edit_profile(&mut state, web, |profile| profile.ttl = Some(5));
    nest(&mut state, web, &[("eu.example.com", Online)]);
    let explanation = decide_for(&view(state), "198.51.100.7");
    let record = &explanation.answer.answers[0];
    assert_eq!((record.name.to_string(), record.ttl), ("web.example.com".into(), 5));
    assert_eq!(shown(&explanation.answer), "192.0.2.2");
    let depths: Vec<_> = explanation.profiles.iter().map(|profile| profile.depth).collect();
    assert_eq!(depths, [0, 1]);
    assert_eq!(explanation.reason, "profile 'web.example.com' answers with 192.0.2.2");
}

#[test]
fn rte_12_a_name_of_the_child_is_one_alias() {
    let (mut state, web) = state_with(Routing::Priority, &[]);
    add_profile(&mut state, "example.com", "eu", &[("a.example.net", Online)]);
    nest(&mut state, web, &[("eu.example.com", Online)]);
    assert_eq!(answer_for(&view(state), "198.51.100.7"), "a.example.net.");
}

/// DNS-6: a child that answers with its parent's name leads back, which ends like any loop.
#[test]
fn dns_6_a_child_that_leads_back_ends_the_chain() {
    let (mut state, web) = state_with(Routing::Weighted, &[]);
    add_profile(&mut state, "example.com", "back", &[("web.example.com", Online)]);
    add_profile(&mut state, "example.com", "over", &[("back.example.com", Online)]);
    nest(&mut state, web, &[("back.example.com", Online), ("over.example.com", Online)]);
    let view = view(state);
    for draw in 0..64 {
        let answer = explain(&view, &asked_from("198.51.100.7", RecordType::A), draw << 58).answer;
        let shown = shown(&answer);
        assert!(
            ["web.example.com.", "back.example.com. web.example.com."].contains(&shown.as_str()),
            "{shown}"
        );
        assert_eq!(answer.rcode, Rcode::NoError);
    }
}

#[test]
fn rte_2_a_nested_endpoint_can_answer_what_its_child_can_through_every_level() {
    let (mut state, web) = state_with(Routing::Priority, &[]);
    let middle = add_profile(&mut state, "example.com", "middle", &[]);
    add_profile(&mut state, "example.com", "six", &[("2001:db8::1", Online)]);
    add_profile(&mut state, "example.com", "four", &[("192.0.2.4", Degraded)]);
    nest(&mut state, middle, &[("six.example.com", Online)]);
    nest(&mut state, web, &[("middle.example.com", Online), ("four.example.com", Online)]);
    let view = view(state);
    assert_eq!(
        answer_for(&view, "198.51.100.7"),
        "192.0.2.4",
        "the first can answer AAAA alone; best effort below"
    );
    let aaaa = explain(&view, &asked_from("198.51.100.7", RecordType::AAAA), 7);
    assert_eq!(shown(&aaaa.answer), "2001:db8::1");
    assert_eq!(aaaa.profiles.iter().map(|profile| profile.depth).collect::<Vec<_>>(), [0, 1, 2]);
}

/// The parent of a geographic child that has nobody for the client chooses again without it, unless it is one that says
/// who answers a client, and nobody else.
#[test]
fn rte_12_a_child_without_anybody_is_passed_over() {
    for (routing, answer) in [
        (Routing::Priority, "192.0.2.9"),
        (Routing::Weighted, "192.0.2.9"),
        (Routing::Performance, "192.0.2.9"),
        (Routing::Geographic, "NODATA"),
        (Routing::Subnet, "NODATA"),
    ] {
        let (mut state, web) = state_with(routing, &[]);
        let german = add_profile(&mut state, "example.com", "de", &[("192.0.2.1", Online)]);
        edit_profile(&mut state, german, |profile| {
            profile.routing = Routing::Geographic;
            profile.endpoints[0].geo = vec![place("DE")];
        });
        add_profile(&mut state, "example.com", "spare", &[("192.0.2.9", Degraded)]);
        nest(&mut state, web, &[("de.example.com", Online), ("spare.example.com", Degraded)]);
        edit_profile(&mut state, web, |profile| {
            profile.endpoints[0].geo = vec![Place::WORLD];
            profile.endpoints[0].subnets = vec![span("0.0.0.0/0")];
        });
        let view = located(state);
        assert_eq!(answer_for(&view, "198.51.100.7"), "192.0.2.1", "{routing:?}: a client in Germany");
        let french = decide_for(&view, "198.51.101.7");
        assert_eq!(shown(&french.answer), answer, "{routing:?}: a client in France");
        if answer != "NODATA" {
            let last = french.profiles.iter().rfind(|profile| profile.depth == 0).expect("the parent");
            assert_eq!(last.endpoints[0].reason, "out: its profile has nobody for this client");
        }
    }
}

/// However many nested profiles have nobody, a query ends.
#[test]
fn rte_12_a_query_asks_so_many_profiles_and_no_more() {
    let (mut state, web) = state_with(Routing::Priority, &[]);
    let mut below = "level0.example.com".to_owned();
    let leaf = add_profile(&mut state, "example.com", "level0", &[("192.0.2.1", Online)]);
    edit_profile(&mut state, leaf, |profile| {
        profile.routing = Routing::Geographic;
        profile.endpoints[0].geo = vec![place("JP")];
    });
    for level in 1..=4 {
        let id = add_profile(&mut state, "example.com", &format!("level{level}"), &[]);
        nest(&mut state, id, &vec![(below.as_str(), Online); 20]);
        below = format!("level{level}.example.com");
    }
    nest(&mut state, web, &[(below.as_str(), Online)]);
    let explanation = decide_for(&located(state), "198.51.100.7");
    assert_eq!(shown(&explanation.answer), "NODATA");
    assert_eq!(explanation.profiles.len(), 256);
    assert!(explanation.reason.contains("more profiles than one query may ask"), "{}", explanation.reason);
}
