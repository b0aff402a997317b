//! For whom an answer holds (DNS-10): never for a client that would get another one, and for as many as it can.

use proptest::prelude::{any, prop_assert_eq, proptest};
use proptest::sample;

use super::*;
use crate::health::EndpointStatus::{Degraded, Online};

fn scope(view: &View, client: &str) -> Option<u8> {
    decide_for(view, client).answer.scope
}

#[test]
fn dns_10_methods_that_ignore_the_client_hold_for_everybody() {
    for routing in [Routing::Priority, Routing::Weighted, Routing::Multivalue] {
        let (state, _) = state_with(routing, &[("192.0.2.1", Online, |_| {}), ("192.0.2.2", Online, |_| {})]);
        let view = located(state);
        assert_eq!(scope(&view, "198.51.100.0/24"), Some(0));
        assert_eq!(scope(&view, "198.51.100.7"), None, "never unasked");
    }
}

#[test]
fn dns_10_geographic_holds_as_far_as_the_same_endpoint_is_asked() {
    let (state, _) = state_with(
        Routing::Geographic,
        &[
            ("192.0.2.1", Online, |endpoint| endpoint.geo = vec![Place::WORLD]),
            ("192.0.2.2", Online, |endpoint| endpoint.geo = vec![place("GEO-EU")]),
            ("192.0.2.3", Online, |endpoint| endpoint.subnets = vec![span("198.51.100.128/25")]),
        ],
    );
    let view = located(state);
    assert_eq!(
        scope(&view, "198.51.101.0/24"),
        Some(24),
        "Germany and France, but for the override in Germany"
    );
    assert_eq!(scope(&view, "198.51.100.0/24"), Some(25), "a rule divides what was sent");
    assert_eq!(scope(&view, "198.51.100.129/32"), Some(25));
    assert_eq!(scope(&view, "2001:db8::/56"), Some(0), "WORLD for all of IPv6: nothing there is in Europe");
    assert_eq!(scope(&view, "203.0.113.0/24"), Some(5), "200.0.0.0/5 is the widest without 198.51.100.0/23");
    assert_eq!(scope(&view, "0.0.0.0/0"), Some(0), "the source decided");
}

#[test]
fn dns_10_negative_answers_hold_for_everybody() {
    let (state, _) = state_with(
        Routing::Subnet,
        &[("192.0.2.1", Online, |endpoint| endpoint.subnets = vec![span("10.0.0.0/8")])],
    );
    let view = view(state);
    assert_eq!(
        (answer_for(&view, "198.51.100.0/24"), scope(&view, "198.51.100.0/24")),
        ("NODATA".into(), Some(0))
    );
    assert_eq!(scope(&view, "10.1.2.0/24"), Some(8));
}

#[test]
fn rte_1_a_zone_that_takes_no_subnets_answers_without_the_option() {
    let (mut state, _) = state_with(Routing::Priority, &[("192.0.2.1", Online, |_| {})]);
    let zone = state.zones.get_mut(&crate::fixture::name("example.com")).expect("the zone");
    Arc::make_mut(zone).ecs = false;
    assert_eq!(scope(&view(state), "198.51.100.0/24"), None);
}

/// RTE-13: a chain's scope is the longest on the way, whatever is at its end, and no zone on the way looks at a client
/// subnet that the reply would not tell of.
#[test]
fn rte_13_a_chains_scope_is_the_longest_on_the_way() {
    let chain = |first_takes: bool, second_takes: bool, end: &str| {
        let (mut state, _) = state_with(
            Routing::Subnet,
            &[
                ("web.example.org", Online, |endpoint| endpoint.subnets = vec![span("198.51.100.0/24")]),
                ("gone.example.org", Online, |_| {}),
            ],
        );
        crate::fixture::set_zone(&mut state, "example.org", &[("ns.example.net", &[])]);
        let second =
            add_profile(&mut state, "example.org", end, &[("192.0.2.1", Online), ("192.0.2.2", Online)]);
        edit_profile(&mut state, second, |profile| {
            profile.routing = Routing::Subnet;
            profile.endpoints[0].subnets = vec![span("198.51.100.128/25")];
        });
        for (zone, takes) in [("example.com", first_takes), ("example.org", second_takes)] {
            let zone = state.zones.get_mut(&crate::fixture::name(zone)).expect("the zone");
            Arc::make_mut(zone).ecs = takes;
        }
        view(state)
    };
    let both = chain(true, true, "web");
    assert_eq!(
        (answer_for(&both, "198.51.100.128/25"), scope(&both, "198.51.100.128/25")),
        ("web.example.org. 192.0.2.1".into(), Some(25))
    );
    assert_eq!(
        scope(&both, "198.51.101.0/24"),
        Some(24),
        "an alias to a name that is not there is the client's own"
    );
    let source = chain(true, false, "web");
    assert_eq!(
        answer_for(&source, "198.51.100.128/25"),
        "web.example.org. 192.0.2.2",
        "by the packet's source"
    );
    assert_eq!(scope(&source, "198.51.100.128/25"), Some(24));
    let silent = chain(false, true, "web");
    assert_eq!(
        (answer_for(&silent, "198.51.100.128/25"), scope(&silent, "198.51.100.128/25")),
        ("NXDOMAIN".into(), None)
    );
}

/// A state in which ranges, places, rows and nested levels meet.
fn crowded(routing: Routing, statuses: [EndpointStatus; 3], nested: Routing) -> View {
    let (mut state, web) = state_with(
        routing,
        &[
            ("192.0.2.1", statuses[0], |endpoint| {
                endpoint.geo = vec![place("GEO-EU")];
                endpoint.location = Some(Caseless::new("frankfurt"));
                endpoint.subnets = vec![span("198.51.100.32-198.51.100.99")];
            }),
            ("192.0.2.2", statuses[1], |endpoint| {
                endpoint.geo = vec![place("FR"), Place::WORLD];
                endpoint.location = Some(Caseless::new("frankfurt"));
                endpoint.subnets = vec![span("198.51.101.0/26"), span("203.0.113.128/25")];
            }),
        ],
    );
    let child =
        add_profile(&mut state, "example.com", "child", &[("192.0.2.3", Online), ("192.0.2.4", Online)]);
    edit_profile(&mut state, child, |profile| {
        profile.routing = nested;
        profile.endpoints[0].geo = vec![place("DE"), place("US")];
        profile.endpoints[1].geo = vec![place("FR")];
        profile.endpoints[0].subnets = vec![span("198.51.100.0/24")];
        for (endpoint, region) in profile.endpoints.iter_mut().zip(["frankfurt", "oregon"]) {
            endpoint.location = Some(Caseless::new(region));
        }
    });
    nest(&mut state, web, &[("child.example.com", statuses[2])]);
    edit_profile(&mut state, web, |profile| {
        profile.endpoints[2].geo = vec![place("DE"), place("US-CA")];
        profile.endpoints[2].location = Some(Caseless::new("oregon"));
    });
    set_region(&mut state, "frankfurt", 50, 9);
    set_region(&mut state, "oregon", 46, -120);
    set_row(&mut state, "198.51.100.0/25", &[("oregon", 5), ("frankfurt", 7)]);
    set_row(&mut state, "198.51.100.64/27", &[("frankfurt", 3)]);
    set_row(&mut state, "203.0.113.0/24", &[]);
    set_row(&mut state, "100.64.7.64/26", &[("sydney", 3)]);
    located(state)
}

proptest! {
    /// Every address inside the scope of a positive answer gets the same answer.
    #[test]
    fn dns_10_no_client_within_the_scope_gets_another_answer(
        routing in sample::select(Routing::ALL.to_vec()),
        nested in sample::select(vec![Routing::Performance, Routing::Geographic, Routing::Subnet, Routing::Priority]),
        statuses in proptest::array::uniform3(sample::select(vec![Online, Degraded])),
        network in sample::select(vec!["198.51.100.0", "198.51.101.0", "203.0.113.0", "100.64.7.0"]),
        prefix in 20_u8..=32,
        last in any::<u8>(),
        others in proptest::collection::vec(any::<u32>(), 30),
        draw in any::<u64>(),
    ) {
        let view = crowded(routing, statuses, nested);
        let base = u32::from(network.parse::<std::net::Ipv4Addr>().expect(network)) | u32::from(last);
        let subnet = Network::around(std::net::Ipv4Addr::from(base).into(), prefix);
        let query = Query { subnet: Some(subnet), ..query("web.example.com", RecordType::A) };
        let answer = explain(&view, &query, draw).answer;
        if answer.answers.is_empty() {
            prop_assert_eq!(answer.scope, Some(0));
            return Ok(());
        }
        let scope = answer.scope.expect("the zone takes client subnets");
        let block = Network::around(subnet.address(), scope);
        for other in others {
            let host_bits = u32::MAX.checked_shr(u32::from(scope)).unwrap_or(0);
            let std::net::IpAddr::V4(first) = block.address() else { panic!("{block} is IPv4") };
            let client = Network::around(std::net::Ipv4Addr::from(u32::from(first) | other & host_bits).into(), 32);
            let inside = explain(&view, &Query { subnet: Some(client), ..query.clone() }, draw);
            prop_assert_eq!(&inside.answer.answers, &answer.answers, "{} in {}: {}", client, block, inside.reason);
        }
    }
}
