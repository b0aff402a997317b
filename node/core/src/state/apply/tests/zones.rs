//! Zones, the names in them, and regions: who may have which.

use super::configuration::{named, refusal};
use super::*;

#[test]
fn obj_3_a_name_belongs_to_one_profile() {
    let mut cluster = Cluster::with_web(1);
    let taken = cluster.apply(create_profile("web2", "WEB", vec![]));
    assert_eq!(faults(taken), ["relative_name: 'web.example.com' is the name of the profile 'web' already"]);
    for text in ["", "a..b", "-a", "*", "a b"] {
        assert_eq!(faults(cluster.apply(create_profile("web2", text, vec![]))).len(), 1, "{text}");
    }
    let long = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(50)].join(".");
    assert_eq!(faults(cluster.apply(create_profile("web2", &long, vec![]))).len(), 1);
    cluster.apply(create_profile("web2", "api.eu.web", vec![])).unwrap();
}

/// F-DNS-23.
#[test]
fn dns_16_the_apex_takes_addresses_only() {
    let mut cluster = Cluster::new();
    let names = cluster.apply(create_profile("apex", "@", named(&[("e1", "a.example")])));
    assert_eq!(faults(names).len(), 1);
    cluster.apply(create_profile("apex", "@", named(&[("e1", "192.0.2.1")]))).unwrap();
    let add = Action::AddEndpoint {
        profile: "apex".into(),
        name: "e2".into(),
        fields: target("a.example"),
        if_revision: None,
    };
    assert_eq!(faults(cluster.apply(add)).len(), 2, "not at the apex, and not beside an address");
}

#[test]
fn dns_1_zones_nest_without_taking_names() {
    let mut cluster = Cluster::with_web(1);
    let inside = create_zone("web.example.com", &[("ns.example.net", &[])]);
    assert_eq!(
        faults(cluster.apply(inside)),
        [
            "name: 'web.example.com' would take names from profiles of the zone around it: 'web' (web.example.com)"
        ]
    );
    cluster.apply(create_zone("lb.example.com", &[("ns.example.net", &[])])).unwrap();
    assert_eq!(
        faults(cluster.apply(create_profile("api", "api.lb", vec![]))),
        [
            "relative_name: 'api.lb.example.com' lies in the zone 'lb.example.com', which is closer than 'example.com'"
        ]
    );
    cluster.apply(create_in("lb.example.com", "api", "api", priority_routing(), vec![])).unwrap();
    // A zone in between takes nothing from the nested one.
    cluster.apply(create_zone("com", &[("ns.example.net", &[])])).unwrap();
    assert_eq!(refusal(cluster.apply(create_zone("COM.", &[]))), "the zone 'com' exists already");
    let delete = |name: &str| Action::DeleteZone { name: name.into(), if_revision: None };
    assert_eq!(
        refusal(cluster.apply(delete("lb.example.com"))),
        "the zone 'lb.example.com' is in use by profile 'api'"
    );
    cluster.apply(delete("com")).unwrap();
}

#[test]
fn obj_9_a_refusal_names_ten_and_counts_the_rest() {
    let mut cluster = Cluster::new();
    for n in 0..12 {
        cluster.apply(create_profile(&format!("p{n}"), &format!("p{n}"), vec![])).unwrap();
    }
    let delete = Action::DeleteZone { name: "example.com".into(), if_revision: None };
    match cluster.apply(delete) {
        Err(Rejection::InUse { by, .. }) => {
            assert_eq!(by.len(), 11);
            assert_eq!(by[10], "and 2 more");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn dns_16_name_servers_and_profiles_keep_apart() {
    let mut cluster = Cluster::with_web(1);
    let fields = zone_fields(&[("ns1.example.com", &["192.0.2.53"]), ("web.example.com", &["192.0.2.54"])]);
    let update = Action::UpdateZone { name: "example.com".into(), fields, if_revision: None };
    assert_eq!(
        faults(cluster.apply(update)),
        ["name_servers[1].name: 'web.example.com' is the name of the profile 'web'"]
    );
}

#[test]
fn val_5_a_name_server_with_other_addresses_in_another_zone_is_told_of() {
    let mut cluster = Cluster::new();
    let create = |zone: &str, address: &str| create_zone(zone, &[("ns.lb.b.example", &[address])]);
    assert!(cluster.apply(create("b.example", "192.0.2.1")).unwrap().warnings.is_empty());
    let reply = cluster.apply(create("lb.b.example", "192.0.2.2")).unwrap();
    let told: Vec<_> = reply.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "name_servers[0].addresses: the zone 'b.example' gives 'ns.lb.b.example' other addresses; those of the \
             closer zone, 'lb.b.example', are answered"
        ]
    );
    let fields = zone_fields(&[("ns.lb.b.example", &["192.0.2.2"])]);
    let update = Action::UpdateZone { name: "b.example".into(), fields, if_revision: None };
    assert!(cluster.apply(update).unwrap().warnings.is_empty());
}

#[test]
fn val_1_all_of_a_zone_is_judged_at_once() {
    let mut cluster = Cluster::new();
    let servers: &[(&str, &[&str])] = &[
        ("a..b", &["192.0.2.1"]),
        ("ns.b.example", &["nowhere", "0.0.0.0"]),
        ("ns.b.example", &[]),
        ("ns.example.net", &["192.0.2.1"]),
    ];
    let mut fields = zone_fields(servers);
    fields.mailbox = Edit::Set("@".into());
    assert_eq!(
        faults(cluster.apply(Action::CreateZone { name: "b.example".into(), fields })),
        [
            "name_servers[0].name: 'a..b' has an empty label",
            "name_servers[1].addresses[0]: 'nowhere' is no IPv4 or IPv6 address",
            "name_servers[1].addresses[1]: 0.0.0.0 is the unspecified address",
            "name_servers[2].name: 'ns.b.example' is given twice",
            "name_servers[2].addresses: is empty; 'ns.b.example' lies in the zone, so that nobody else can give its \
             address",
            "name_servers[3].addresses: 'ns.example.net' lies outside the zone, where its own zone gives its addresses",
            "mailbox: '@' must have 1 to 63 printable characters in front of the '@'",
        ]
    );
    let unnamed = Action::CreateZone { name: "b example".into(), fields: ZonePatch::default() };
    assert_eq!(faults(cluster.apply(unnamed)).len(), 2);
}

#[test]
fn set_14_a_region_in_use_stays() {
    let mut cluster = Cluster::with_web(1);
    let lives = EndpointPatch { location: Edit::Set("r2".into()), ..EndpointPatch::default() };
    cluster.apply(update_endpoint("e1", lives)).unwrap();
    let session = cluster.open("a1", "r1", 1);
    let delete = |name: &str| Action::DeleteRegion { name: name.into(), if_revision: None };
    assert_eq!(refusal(cluster.apply(delete("r1"))), "the region 'r1' is in use by agent 'a1'");
    assert_eq!(refusal(cluster.apply(delete("r2"))), "the region 'r2' is in use by endpoint 'web/e1'");
    cluster.apply(delete("r3")).unwrap();
    cluster.apply(Action::LoseAgent { agent: "a1".into(), session }).unwrap();
    cluster.apply(delete("r1")).unwrap();
    assert!(matches!(
        cluster.apply(open_session("a1", "r1", 1)),
        Err(Rejection::NotFound { noun: "region", .. })
    ));
}
