//! `geographic` and `subnet`, and the overrides by subnet.

use super::*;
use crate::health::EndpointStatus::{Degraded, Disabled, Online, Stopped};

pub(super) const DE: &str = "198.51.100.7";
pub(super) const FR: &str = "198.51.101.7";
pub(super) const CALIFORNIA: &str = "203.0.113.7";
pub(super) const NOWHERE: &str = "192.0.2.77";

fn geographic(world: EndpointStatus, europe: EndpointStatus, germany: EndpointStatus) -> View {
    let (state, _) = state_with(
        Routing::Geographic,
        &[
            ("192.0.2.1", world, |endpoint| endpoint.geo = vec![Place::WORLD]),
            ("192.0.2.2", europe, |endpoint| endpoint.geo = vec![place("GEO-EU")]),
            ("192.0.2.3", germany, |endpoint| endpoint.geo = vec![place("DE"), place("US-CA")]),
        ],
    );
    located(state)
}

#[test]
fn rte_8_from_the_clients_place_upward() {
    let view = geographic(Online, Online, Online);
    assert_eq!(answer_for(&view, DE), "192.0.2.3");
    assert_eq!(answer_for(&view, CALIFORNIA), "192.0.2.3");
    assert_eq!(answer_for(&view, FR), "192.0.2.2");
    assert_eq!(answer_for(&view, "2001:db8::7"), "192.0.2.1", "Japan has WORLD alone");
    assert_eq!(answer_for(&view, NOWHERE), "192.0.2.1");
    assert_eq!(
        rule_for(&view, FR),
        "geographic: the client is in France (FR), and 'e2' has GEO-EU; its health does not matter"
    );
}

/// F-RTE-11: a client belongs to its endpoint.
#[test]
fn rte_8_health_is_ignored_and_the_others_are_not_asked() {
    assert_eq!(answer_for(&geographic(Online, Online, Degraded), DE), "192.0.2.3");
    assert_eq!(answer_for(&geographic(Online, Online, Stopped), DE), "NODATA");
    assert_eq!(answer_for(&geographic(Online, Online, Disabled), DE), "192.0.2.2", "as if it were not there");
    assert_eq!(answer_for(&geographic(Disabled, Disabled, Online), FR), "NODATA");
    assert_eq!(answer_for(&geographic(Disabled, Online, Online), NOWHERE), "NODATA");
    let reason = decide_for(&geographic(Online, Online, Stopped), DE).reason;
    assert_eq!(
        reason,
        "NODATA: 'e3' of profile 'web.example.com', which is meant for this client, is stopped"
    );
}

/// STA-13: who is drained has no place and no range, as if disabled; but NODATA when it was the last.
#[test]
fn sta_13_geographic_and_subnet_look_past_whoever_is_drained() {
    /// The same, but that the endpoints of these places are drained.
    fn drained(view: &View, places: &[usize]) -> View {
        let mut state = view.state.clone();
        let profile = view.plan(query("web.example.com", RecordType::A).name.as_wire()).unwrap();
        for place in places {
            let id = profile.endpoints[*place].endpoint.id;
            state.overrides.insert(id, overridden(OverrideKind::Drain));
        }
        located(state)
    }
    let view = geographic(Online, Online, Online);
    for (places, expected) in
        [(&[][..], "192.0.2.3"), (&[2], "192.0.2.2"), (&[2, 1], "192.0.2.1"), (&[0, 1, 2], "NODATA")]
    {
        assert_eq!(answer_for(&drained(&view, places), DE), expected, "{places:?}");
    }
    assert!(reasons_for(&drained(&view, &[2]), DE)[2].starts_with("out: drained by an operator"));

    let view = subnets(Online, Some(Online));
    for (places, expected) in
        [(&[][..], "192.0.2.1"), (&[0], "192.0.2.3"), (&[2], "192.0.2.1"), (&[0, 2], "NODATA")]
    {
        assert_eq!(answer_for(&drained(&view, places), DE), expected, "{places:?}");
    }
    let whole = &[0, 1, 2][..];
    assert_eq!(
        decide_for(&drained(&view, whole), DE).reason,
        "NODATA: every endpoint of profile 'web.example.com' that is enabled is drained or stopped"
    );
}

#[test]
fn rte_8_a_and_aaaa_never_lead_to_different_places() {
    let (state, _) = state_with(
        Routing::Geographic,
        &[
            ("2001:db8:ff::1", Online, |endpoint| endpoint.geo = vec![Place::WORLD]),
            ("192.0.2.2", Online, |endpoint| endpoint.geo = vec![place("DE")]),
        ],
    );
    let view = located(state);
    let aaaa = |client| shown(&explain(&view, &asked_from(client, RecordType::AAAA), 7).answer);
    assert_eq!((answer_for(&view, DE), aaaa(DE)), ("192.0.2.2".into(), "NODATA".into()));
    assert_eq!((answer_for(&view, FR), aaaa(FR)), ("NODATA".into(), "2001:db8:ff::1".into()));
}

/// What is said of each endpoint of the first profile.
fn reasons_for(view: &View, client: &str) -> Vec<String> {
    let profile = decide_for(view, client).profiles.remove(0);
    profile.endpoints.into_iter().map(|endpoint| endpoint.reason).collect()
}

#[test]
fn rte_15_geographic_says_who_was_asked_and_why_the_others_were_not() {
    let worldwide = reasons_for(&geographic(Online, Degraded, Online), FR);
    assert_eq!(
        worldwide,
        [
            "not asked: it has WORLD, but 'e2' has a place that is closer to the client's",
            "asked: it has the client, whatever its health (Degraded)",
            "not asked: none of DE, US-CA is where the client is",
        ]
    );
    // Nobody has the client, so nobody reads as if he could have answered.
    let nobody = reasons_for(&geographic(Disabled, Online, Online), NOWHERE);
    assert_eq!(nobody[0], "out: disabled by the operator");
    assert_eq!(nobody[1], "not asked: GEO-EU is not where the client is");
    assert!(nobody.iter().all(|reason| !reason.starts_with("in: ")), "{nobody:?}");
}

#[test]
fn rte_15_subnet_says_who_was_asked_and_why_the_others_were_not() {
    assert_eq!(
        reasons_for(&subnets(Online, Some(Online)), DE),
        [
            "in: it has the client's range; Online",
            "not asked: 2001:db8:1::/48 is not where the client is",
            "not asked: the fallback, and the client is in a range of 'e1'",
        ]
    );
    assert_eq!(
        reasons_for(&subnets(Degraded, Some(Online)), DE),
        [
            "out: it has the client's range, but is Degraded, and the fallback stands in",
            "not asked: 2001:db8:1::/48 is not where the client is",
            "in: the fallback; Online",
        ]
    );
    let nobody = reasons_for(&subnets(Online, None), NOWHERE);
    assert_eq!(nobody[0], "not asked: 198.51.100.0/24 is not where the client is");
    assert!(nobody.iter().all(|reason| reason.starts_with("not asked: ")), "{nobody:?}");
}

fn subnets(owner: EndpointStatus, fallback: Option<EndpointStatus>) -> View {
    let mut endpoints: Vec<Sketch> = vec![
        ("192.0.2.1", owner, |endpoint| endpoint.subnets = vec![span("198.51.100.0/24")]),
        ("192.0.2.2", Online, |endpoint| endpoint.subnets = vec![span("2001:db8:1::/48")]),
    ];
    if let Some(status) = fallback {
        endpoints.push(("192.0.2.3", status, |_| {}));
    }
    view(state_with(Routing::Subnet, &endpoints).0)
}

#[test]
fn rte_10_every_row_of_the_table() {
    let answer = |owner, fallback| answer_for(&subnets(owner, fallback), DE);
    assert_eq!(answer(Online, Some(Online)), "192.0.2.1");
    assert_eq!(answer(Degraded, Some(Online)), "192.0.2.3");
    assert_eq!(answer(Degraded, Some(Degraded)), "192.0.2.1", "best effort");
    assert_eq!(answer(Degraded, None), "192.0.2.1", "best effort");
    assert_eq!(answer(Stopped, Some(Online)), "192.0.2.3");
    assert_eq!(answer(Stopped, Some(Degraded)), "192.0.2.3");
    assert_eq!(answer(Stopped, None), "NODATA");
    assert_eq!(answer(Disabled, Some(Online)), "192.0.2.3", "as if it had no ranges");
    assert_eq!(answer(Disabled, None), "NODATA");
    assert_eq!(answer_for(&subnets(Online, Some(Online)), NOWHERE), "192.0.2.3");
    assert_eq!(answer_for(&subnets(Online, Some(Stopped)), NOWHERE), "NODATA");
    assert_eq!(answer_for(&subnets(Online, None), NOWHERE), "NODATA");
    let aaaa = explain(&subnets(Online, Some(Online)), &asked_from(DE, RecordType::AAAA), 7).answer;
    assert_eq!(shown(&aaaa), "NODATA", "the owner cannot answer the type");
}

/// RTE-15: where the fallback should have answered, the reason says what it was that kept it from it.
#[test]
fn rte_10_the_reason_names_the_fallback() {
    let reason = |view: &View, client, record_type| explain(view, &asked_from(client, record_type), 7).reason;
    let a = |owner, fallback, client| reason(&subnets(owner, Some(fallback)), client, RecordType::A);
    assert_eq!(
        a(Online, Stopped, NOWHERE),
        "NODATA: no endpoint of profile 'web.example.com' is meant for this client, and 'e3', the fallback, is \
         stopped"
    );
    assert_eq!(
        a(Stopped, Stopped, DE),
        "NODATA: 'e1' of profile 'web.example.com', which is meant for this client, is stopped, and 'e3', the \
         fallback, is stopped"
    );
    let six: Sketch = ("2001:db8::1", Online, |endpoint| endpoint.subnets = vec![span("2001:db8:1::/48")]);
    let view = view(state_with(Routing::Subnet, &[six, ("192.0.2.3", Online, |_| {})]).0);
    assert_eq!(
        reason(&view, NOWHERE, RecordType::AAAA),
        "NODATA: no endpoint of profile 'web.example.com' is meant for this client, and 'e2', the fallback, cannot \
         answer AAAA"
    );
}

/// F-RTE-16: families are kept apart, and a mapped address is IPv4.
#[test]
fn rte_10_families_do_not_meet() {
    let view = subnets(Online, Some(Online));
    assert_eq!(answer_for(&view, "2001:db8:1::7"), "192.0.2.2");
    assert_eq!(answer_for(&view, "2001:db8:2::7"), "192.0.2.3");
    assert_eq!(answer_for(&view, "::ffff:198.51.100.7"), "192.0.2.1");
}

#[test]
fn rte_11_overrides_come_first() {
    let overridden = |routing, status| {
        let (mut state, _) = state_with(
            routing,
            &[
                ("192.0.2.1", status, |endpoint| {
                    endpoint.location = Some(Caseless::new("far"));
                    endpoint.geo = vec![place("JP")];
                    endpoint.subnets = vec![span("198.51.100.0/25")];
                }),
                ("192.0.2.2", Online, |endpoint| {
                    endpoint.location = Some(Caseless::new("near"));
                    endpoint.geo = vec![Place::WORLD];
                }),
            ],
        );
        set_region(&mut state, "near", 50, 9);
        set_region(&mut state, "far", -35, 150);
        located(state)
    };
    assert_eq!(answer_for(&overridden(Routing::Geographic, Online), DE), "192.0.2.1");
    assert_eq!(
        answer_for(&overridden(Routing::Geographic, Degraded), DE),
        "192.0.2.1",
        "whatever its health"
    );
    assert_eq!(answer_for(&overridden(Routing::Geographic, Stopped), DE), "NODATA");
    assert_eq!(answer_for(&overridden(Routing::Geographic, Online), "198.51.100.200"), "192.0.2.2");
    assert_eq!(answer_for(&overridden(Routing::Performance, Online), DE), "192.0.2.1");
    assert_eq!(
        answer_for(&overridden(Routing::Performance, Degraded), DE),
        "192.0.2.2",
        "only if in the pool"
    );
    assert_eq!(answer_for(&overridden(Routing::Priority, Online), NOWHERE), "192.0.2.1", "kept, unused");
}

/// DNS-7: where A has nobody for this client, AAAA is asked, whatever the profile has for others.
#[test]
fn dns_7_any_is_chosen_for_the_client() {
    let any = |view: &View, client| shown(&explain(view, &asked_from(client, RecordType::ANY), 7).answer);
    let owners: [Sketch; 2] = [
        ("2001:db8:ff::1", Online, |endpoint| {
            endpoint.geo = vec![place("DE")];
            endpoint.subnets = vec![span("198.51.100.0/24")];
        }),
        ("192.0.2.2", Online, |endpoint| endpoint.geo = vec![Place::WORLD]),
    ];
    for routing in [Routing::Geographic, Routing::Subnet] {
        let view = located(state_with(routing, &owners).0);
        assert_eq!(any(&view, DE), "2001:db8:ff::1", "{routing:?}");
        assert_eq!(any(&view, FR), "192.0.2.2", "{routing:?}");
        let scope = explain(&view, &asked_from("198.51.100.0/24", RecordType::ANY), 7).answer.scope;
        assert_eq!(scope, Some(24), "{routing:?}: both choices hold for that network");
    }
    let (mut state, web) = state_with(Routing::Priority, &[]);
    let german = add_profile(&mut state, "example.com", "de", &[("192.0.2.1", Online)]);
    edit_profile(&mut state, german, |profile| {
        profile.routing = Routing::Geographic;
        profile.endpoints[0].geo = vec![place("DE")];
    });
    add_profile(&mut state, "example.com", "six", &[("2001:db8::6", Online)]);
    nest(&mut state, web, &[("de.example.com", Online), ("six.example.com", Online)]);
    let view = located(state);
    assert_eq!((any(&view, DE), any(&view, FR)), ("192.0.2.1".into(), "2001:db8::6".into()));
}
