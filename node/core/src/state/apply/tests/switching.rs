//! A live profile under one method after the other (SET-1): no moment without an answer.

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, proptest};
use proptest::{option, sample};

use super::*;
use crate::fixture::{arbitrary_client, check_answer, locator, query_of};
use crate::model::{MonitorPatch, RecordType};
use crate::state::LatencyRowDraft;

/// `web` with four endpoints that have what every method needs, and an agent whose every failure decides.
fn ready_for_every_method() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.view.locator = locator();
    let endpoints = [
        ("192.0.2.1", "r1", "WORLD", None),
        ("192.0.2.2", "r2", "GEO-EU", Some("198.51.100.0/25")),
        ("192.0.2.3", "r3", "DE", Some("2001:db8:1::/48")),
        ("192.0.2.4", "r3", "US-CA", Some("203.0.113.0-203.0.113.99")),
    ];
    let endpoints = (1..).zip(endpoints).map(|(number, (address, region, code, subnet))| {
        let fields = EndpointPatch {
            location: Edit::Set(region.into()),
            geo: Edit::Set(vec![code.into()]),
            subnets: Edit::Set(subnet.into_iter().map(str::to_owned).collect()),
            ..target(address)
        };
        (format!("e{number}"), fields)
    });
    let monitor = MonitorPatch { tolerated_failures: Edit::Set(0), ..MonitorPatch::default() };
    let fields = ProfilePatch { monitor, ..priority_routing() };
    cluster.apply(create_in("example.com", "web", "web", fields, endpoints.collect())).unwrap();
    let row = |network: &str, region: &str| LatencyRowDraft {
        network: network.into(),
        latencies: vec![(region.into(), 5)],
    };
    let set = vec![row("198.51.100.0/24", "r3"), row("2001:db8::/40", "r2")];
    cluster.apply(Action::UpdateLatency { set, remove: Vec::new() }).unwrap();
    cluster.open("a1", "r1", 1);
    cluster
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 24, ..Default::default() })]

    /// Fifty switches among all six methods while endpoints fail and come back: every client is answered after each.
    #[test]
    fn set_1_no_switch_leaves_a_client_without_an_answer(
        switches in vec((sample::select(&Routing::ALL[..]), option::of((1_usize..=4, any::<bool>()))), 50),
        clients in vec(arbitrary_client(), 10),
        draw in any::<u64>(),
    ) {
        let mut cluster = ready_for_every_method();
        let name = cluster.profile("web").full_name.clone();
        for (sequence, (routing, outcome)) in (1..).zip(switches) {
            let switch = ProfilePatch { routing: Edit::Set(routing), ..ProfilePatch::default() };
            cluster.apply(update_profile(switch)).unwrap();
            if let Some((endpoint, is_up)) = outcome {
                cluster.report("a1", &format!("e{endpoint}"), sequence, if is_up { "+" } else { "-" });
            }
            for client in &clients {
                let query = query_of(&name, RecordType::A, *client);
                let answer = check_answer(&cluster.view, &query, draw.wrapping_add(sequence));
                let most = if routing == Routing::Multivalue { 2 } else { 1 };
                prop_assert!((1..=most).contains(&answer.answers.len()), "{:?}: {:?}: {:?}", routing, query, answer);
            }
        }
    }
}
