//! Explanations say what was decided, and why, in words for the engineer on call.

use super::explain;
use crate::answer::RecordType;
use crate::fixture::{add_profile, disable_profile, edit_profile, example_state, name, query, view};
use crate::health::EndpointStatus::{CheckingEndpoint, Degraded, Disabled, Online};
use crate::model::Routing;
use crate::routing::PoolKind;

#[test]
fn rte_15_names_every_endpoint_the_rule_and_the_draw() {
    let mut state = example_state();
    let statuses = [
        ("192.0.2.1", Degraded),
        ("192.0.2.2", Online),
        ("192.0.2.3", CheckingEndpoint),
        ("2001:db8::1", Online),
        ("192.0.2.4", Disabled),
    ];
    add_profile(&mut state, "example.com", "web", &statuses);
    let explanation = explain(&view(state), &query("web.example.com", RecordType::A), 0);
    assert_eq!(explanation.zone, Some(name("example.com")));
    assert_eq!(explanation.reason, "profile 'web.example.com' answers with 192.0.2.2");
    let [profile] = explanation.profiles.as_slice() else { panic!("one profile: {explanation:?}") };
    assert_eq!((profile.pool.as_str(), profile.chosen.as_slice()), ("healthy", &[1][..]));
    assert_eq!(profile.rule, "priority: 'e2' has the lowest number in the pool, 2");
    let reasons: Vec<&str> = profile.endpoints.iter().map(|endpoint| endpoint.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "out: Degraded, and 2 healthier endpoints are in the pool",
            "in: Online",
            "in: CheckingEndpoint, which counts as available until something is known",
            "out: an IPv6 address cannot answer A",
            "out: disabled by the operator",
        ]
    );
}

#[test]
fn rte_15_follows_a_chain() {
    let mut state = example_state();
    add_profile(&mut state, "example.com", "www", &[("web.example.com", Online)]);
    let web =
        add_profile(&mut state, "example.com", "web", &[("192.0.2.1", Degraded), ("192.0.2.2", Degraded)]);
    edit_profile(&mut state, web, |profile| profile.routing = Routing::Weighted);
    let explanation = explain(&view(state), &query("www.example.com", RecordType::A), 3);
    let [www, web] = explanation.profiles.as_slice() else { panic!("two profiles: {explanation:?}") };
    assert_eq!((www.pool, web.pool), (PoolKind::Healthy, PoolKind::BestEffort));
    assert_ne!(www.draw, web.draw, "each level draws for itself");
    let chosen = &web.plan.endpoints[web.chosen[0]].endpoint;
    assert_eq!(
        explanation.reason,
        format!(
            "profile 'www.example.com' answers with the alias web.example.com; \
             then profile 'web.example.com' answers with {}",
            chosen.kind
        )
    );
    assert_eq!(web.rule, format!("weighted: the draw fell on '{}', weight 1 of 2 in the pool", chosen.name));
}

#[test]
fn rte_15_says_why_there_is_nothing() {
    let mut state = example_state();
    let off = add_profile(&mut state, "example.com", "off", &[("192.0.2.1", Online)]);
    disable_profile(&mut state, off);
    add_profile(&mut state, "example.com", "api.eu", &[("192.0.2.1", Online)]);
    add_profile(&mut state, "example.com", "out", &[("a.example.net", Online)]);
    let view = view(state);
    for (asked, record_type, reason) in [
        (
            "off.example.com",
            RecordType::A,
            "NXDOMAIN: profile 'off.example.com' is disabled, and nothing else exists at or below off.example.com",
        ),
        ("eu.example.com", RecordType::A, "NODATA: eu.example.com exists, but has no A record of its own"),
        (
            "api.eu.example.com",
            RecordType(65),
            "NODATA: no available endpoint of profile 'api.eu.example.com' can answer HTTPS",
        ),
        ("nope.example.com", RecordType::A, "NXDOMAIN: nothing exists at or below nope.example.com"),
        ("a.example.net", RecordType::A, "REFUSED: no zone here encloses a.example.net"),
        (
            "out.example.com",
            RecordType::A,
            "profile 'out.example.com' answers with the alias a.example.net; \
             then a.example.net is outside the zones here: the resolver goes on from there",
        ),
        ("example.com", RecordType::NS, "zone data: the name servers of example.com"),
        ("ns1.example.com", RecordType::A, "zone data: the addresses of name server ns1.example.com"),
    ] {
        assert_eq!(explain(&view, &query(asked, record_type), 0).reason, reason);
    }
    let profile = &explain(&view, &query("off.example.com", RecordType::A), 0).profiles[0];
    assert_eq!(profile.rule, "nobody: profile 'off.example.com' is disabled");
    assert_eq!(profile.endpoints[0].reason, "out: its profile is disabled");
}
