//! Profiles and endpoints: what is refused, and with which words.

use super::*;
use crate::model::{Header, MonitorPatch, Protocol, StatusRange};

pub(super) fn named(endpoints: &[(&str, &str)]) -> Vec<(String, EndpointPatch)> {
    endpoints.iter().map(|(name, text)| ((*name).to_owned(), target(text))).collect()
}

fn with_priority(number: u32, text: &str) -> EndpointPatch {
    EndpointPatch { priority: Edit::Set(number), ..target(text) }
}

fn priorities(cluster: &Cluster) -> Vec<u32> {
    cluster.profile("web").endpoints.iter().map(|endpoint| endpoint.priority).collect()
}

pub(super) fn refusal(reply: Result<Reply, Rejection>) -> String {
    reply.expect_err("refused").to_string()
}

#[test]
fn val_1_every_fault_is_found_at_once_and_nothing_is_stored() {
    let mut cluster = Cluster::new();
    let fields = ProfilePatch {
        ttl: Edit::Set(u32::MAX),
        monitor: MonitorPatch {
            protocol: Edit::Set(Protocol::Tcp),
            path: Edit::Set("/".into()),
            interval_ms: Edit::Set(10_000),
            timeout_ms: Edit::Set(10_000),
            ..MonitorPatch::default()
        },
        ..ProfilePatch::default()
    };
    let endpoints = vec![
        ("e1".to_owned(), with_priority(1, "192.0.2.1")),
        ("e1".to_owned(), target("https://a.example")),
        (
            "e/3".to_owned(),
            EndpointPatch {
                weight: Edit::Set(1001),
                location: Edit::Set("r4".into()),
                always_serve: Edit::Set(true),
                enabled: Edit::Set(false),
                ..EndpointPatch::default()
            },
        ),
    ];
    let reply = cluster.apply(create_in("example.com", "-web", "ns1", fields, endpoints));
    assert_eq!(
        faults(reply),
        [
            "relative_name: 'ns1.example.com' is a name server of the zone 'example.com', which gives its addresses",
            "routing: is required: one of priority, weighted, performance, geographic, multivalue, subnet",
            "name: '-web' must begin and end with a letter or a digit",
            "ttl: 4294967295 is outside 0–2147483647",
            "monitor.port: is required for tcp",
            "monitor.path: '/' has no meaning for tcp; only http and https ask for a path",
            "monitor.timeout: 10s is outside 5s–9s for the interval 10s",
            "endpoints[1].target: 'https://a.example' has a scheme, a path or a port; only a DNS name or an address \
             is wanted here",
            "endpoints[1].priority: is missing; priorities are given on all endpoints or on none",
            "endpoints[2].target: is required: a DNS name, an IPv4 or an IPv6 address; or a profile as nested, or a service",
            "endpoints[2].location: there is no region 'r4'; did you mean 'r3'?",
            "endpoints[2].always_serve: can be switched on only while the endpoint is enabled",
            "endpoints[2].priority: is missing; priorities are given on all endpoints or on none",
            "endpoints[1].name: 'e1' is given twice",
            "endpoints[2].name: 'e/3' has a '/', which divides profile and endpoint elsewhere",
            "endpoints[2].weight: 1001 is outside 1–1000",
        ]
    );
    assert!(cluster.state.profiles.is_empty());
}

#[test]
fn set_12_priorities_follow_the_order_unless_given() {
    let mut cluster = Cluster::with_web(3);
    assert_eq!(priorities(&cluster), [1, 2, 3]);
    cluster.apply(add_endpoint("e4", with_priority(900, "192.0.2.4"))).unwrap();
    cluster.apply(add_endpoint("e5", target("192.0.2.5"))).unwrap();
    assert_eq!(priorities(&cluster), [1, 2, 3, 900, 901]);

    // Cleared: the highest of the others and one, not of its own.
    let cleared = EndpointPatch { priority: Edit::Clear, ..EndpointPatch::default() };
    cluster.apply(update_endpoint("e5", cleared.clone())).unwrap();
    cluster.apply(update_endpoint("e1", cleared)).unwrap();
    assert_eq!(priorities(&cluster), [902, 2, 3, 900, 901]);

    // Beyond 1000: the lowest that is free.
    cluster.apply(add_endpoint("e6", with_priority(1000, "192.0.2.6"))).unwrap();
    cluster.apply(add_endpoint("e7", target("192.0.2.7"))).unwrap();
    cluster.apply(add_endpoint("e8", target("192.0.2.8"))).unwrap();
    assert_eq!(priorities(&cluster)[5..], [1000, 1, 4]);

    let taken =
        cluster.apply(update_endpoint("e8", EndpointPatch { priority: Edit::Set(2), ..Default::default() }));
    assert_eq!(faults(taken), ["priority: 2 is the priority of 'e2' already"]);
    for number in [0, 1001] {
        let wish = EndpointPatch { priority: Edit::Set(number), ..Default::default() };
        assert_eq!(
            faults(cluster.apply(update_endpoint("e8", wish))),
            [format!("priority: {number} is outside 1–1000")]
        );
    }
}

#[test]
fn val_1_a_lone_endpoint_is_judged_beside_the_others() {
    let mut cluster = Cluster::with_web(2);
    let wish = EndpointPatch {
        target: Edit::Set("192.0.2.2".into()),
        weight: Edit::Set(0),
        headers: Edit::Set(vec![Header { name: "Host".into(), value: "*".into() }]),
        ..EndpointPatch::default()
    };
    assert_eq!(
        faults(cluster.apply(update_endpoint("e1", wish))),
        [
            "target: 192.0.2.2 is the address of 'e2' already",
            "weight: 0 is outside 1–1000",
            "headers[0].value: has a '*': a Host must be one name, not a pattern",
        ]
    );
    assert_eq!(
        faults(cluster.apply(add_endpoint("e3", target("a.example")))),
        ["target: 'a.example' is a name, but others are addresses: a profile has one or the other"]
    );
    let switched = cluster.apply(update_endpoint("e1", target("a.example")));
    assert_eq!(faults(switched).len(), 1, "SET-21");
    assert_eq!(
        refusal(cluster.apply(add_endpoint("E1", target("192.0.2.9")))),
        "the endpoint 'web/e1' exists already"
    );
}

/// SET-15, SET-16: what was given and could not be read is told of once, and is not missing as well.
#[test]
fn val_1_a_mapping_that_cannot_be_read_is_not_missing() {
    let mut cluster = Cluster::with_web(0);
    let method = |routing| update_profile(ProfilePatch { routing: Edit::Set(routing), ..Default::default() });
    let mapped = |last: u8, geo: &[&str], subnets: &[&str]| {
        let list = |texts: &[&str]| match texts {
            [] => Edit::Keep,
            texts => Edit::Set(texts.iter().map(|text| (*text).to_owned()).collect()),
        };
        EndpointPatch { geo: list(geo), subnets: list(subnets), ..target(&format!("192.0.2.{last}")) }
    };
    cluster.apply(method(Routing::Geographic)).unwrap();
    let told = faults(cluster.apply(add_endpoint("e1", mapped(1, &["DEU"], &[]))));
    assert!(told.len() == 1 && told[0].starts_with("geo[0]: 'DEU'"), "{told:?}");
    assert_eq!(faults(cluster.apply(add_endpoint("e1", mapped(1, &[], &[])))).len(), 1);
    cluster.apply(method(Routing::Subnet)).unwrap();
    cluster.apply(add_endpoint("rest", mapped(1, &[], &[]))).unwrap();
    let told = faults(cluster.apply(add_endpoint("e2", mapped(2, &[], &["10.0.0.1/8"]))));
    assert!(told.len() == 1 && told[0].starts_with("subnets[0]: "), "{told:?}");
}

#[test]
fn set_21_a_profile_of_one_endpoint_may_change_its_kind() {
    let mut cluster = Cluster::with_web(1);
    cluster.apply(update_endpoint("e1", target("a.example"))).unwrap();
    assert_eq!(cluster.profile("web").endpoints[0].kind.to_string(), "a.example");
}

#[test]
fn set_18_always_serve_is_switched_on_while_enabled_and_outlives_a_pause() {
    let mut cluster = Cluster::with_web(1);
    let enabled = |on| EndpointPatch { enabled: Edit::Set(on), ..EndpointPatch::default() };
    let always = |on| EndpointPatch { always_serve: Edit::Set(on), ..EndpointPatch::default() };
    cluster.apply(update_endpoint("e1", enabled(false))).unwrap();
    let refused = cluster.apply(update_endpoint("e1", always(true)));
    assert_eq!(faults(refused), ["always_serve: can be switched on only while the endpoint is enabled"]);
    let both = EndpointPatch { enabled: Edit::Set(true), ..always(true) };
    cluster.apply(update_endpoint("e1", both)).unwrap();
    assert_eq!(cluster.status("e1"), "Unmonitored");
    cluster.apply(update_endpoint("e1", enabled(false))).unwrap();
    assert_eq!(cluster.status("e1"), "Disabled");
    // Said again it is no switching on.
    cluster.apply(update_endpoint("e1", always(true))).unwrap();
    cluster.apply(update_endpoint("e1", enabled(true))).unwrap();
    assert_eq!(cluster.status("e1"), "Unmonitored");
}

#[test]
fn val_2_an_update_changes_what_it_names() {
    let mut cluster = Cluster::new();
    let range = StatusRange { min: 200, max: 299 };
    let header = Header { name: "X-A".into(), value: "1".into() };
    let fields = ProfilePatch {
        ttl: Edit::Set(60),
        enabled: Edit::Set(true),
        monitor: MonitorPatch {
            protocol: Edit::Set(Protocol::Https),
            port: Edit::Set(8443),
            path: Edit::Set("/health".into()),
            interval_ms: Edit::Set(10_000),
            timeout_ms: Edit::Set(6_000),
            tolerated_failures: Edit::Set(1),
            recovery_successes: Edit::Set(2),
            expect: Edit::Set(vec![range]),
            headers: Edit::Set(vec![header]),
        },
        ..priority_routing()
    };
    let endpoint = EndpointPatch {
        weight: Edit::Set(7),
        location: Edit::Set("R1".into()),
        headers: Edit::Set(vec![Header { name: "X-B".into(), value: "2".into() }]),
        ..target("192.0.2.1")
    };
    cluster.apply(create_in("example.com", "web", "web", fields, vec![("e1".into(), endpoint)])).unwrap();
    let before = cluster.profile("web").clone();
    assert_eq!(before.endpoints[0].location.as_ref().map(Caseless::as_str), Some("r1"));

    let reply =
        cluster.apply(update_profile(ProfilePatch { ttl: Edit::Clear, ..Default::default() })).unwrap();
    let mut expected = before.clone();
    expected.ttl = None;
    expected.revision = reply.revision;
    assert_eq!(*cluster.profile("web"), expected);

    let weight = EndpointPatch { weight: Edit::Clear, ..Default::default() };
    let reply = cluster.apply(update_endpoint("E1", weight)).unwrap();
    expected.endpoints[0].weight = None;
    expected.endpoints[0].revision = reply.revision;
    expected.revision = reply.revision;
    assert_eq!(*cluster.profile("web"), expected);
    assert_eq!(expected.effective_ttl(), 30);
}

#[test]
fn set_5_the_switch_to_tcp_drops_what_only_http_has() {
    let mut cluster = Cluster::new();
    let header = || Edit::Set(vec![Header { name: "Host".into(), value: "a.example".into() }]);
    let monitor = MonitorPatch { path: Edit::Set("/x".into()), headers: header(), ..MonitorPatch::default() };
    let endpoints = vec![("e1".into(), EndpointPatch { headers: header(), ..target("192.0.2.1") })];
    let fields = ProfilePatch { monitor, ..priority_routing() };
    cluster.apply(create_in("example.com", "web", "web", fields, endpoints)).unwrap();

    let tcp = MonitorPatch { protocol: Edit::Set(Protocol::Tcp), ..MonitorPatch::default() };
    let switch = |monitor: &MonitorPatch| {
        update_profile(ProfilePatch { monitor: monitor.clone(), ..Default::default() })
    };
    assert_eq!(faults(cluster.apply(switch(&tcp))), ["monitor.port: is required for tcp"], "SET-4");
    let named = MonitorPatch { port: Edit::Set(53), path: Edit::Set("/x".into()), ..tcp.clone() };
    assert_eq!(faults(cluster.apply(switch(&named))).len(), 1, "a path named with tcp");
    cluster.apply(switch(&MonitorPatch { port: Edit::Set(53), ..tcp })).unwrap();
    let profile = cluster.profile("web");
    assert_eq!((profile.monitor.path.as_ref(), profile.monitor.headers.len()), (None, 0));
    assert!(profile.endpoints[0].headers.is_empty());
    let reply =
        cluster.apply(update_endpoint("e1", EndpointPatch { headers: header(), ..Default::default() }));
    assert_eq!(faults(reply), ["headers: are sent by http and https only, not by tcp"], "SET-10");
}

#[test]
fn obj_8_a_revision_is_looked_at_before_anything_else() {
    let mut cluster = Cluster::with_web(1);
    let current = cluster.profile("web").revision;
    let wrong = Revision(current.0 - 1);
    let fields = ProfilePatch { ttl: Edit::Set(u32::MAX), ..ProfilePatch::default() };
    let update =
        |if_revision| Action::UpdateProfile { name: "WEB".into(), fields: fields.clone(), if_revision };
    assert_eq!(
        cluster.apply(update(Some(wrong))),
        Err(Rejection::RevisionMismatch { noun: "profile", name: "web".into(), expected: wrong, current })
    );
    assert!(matches!(cluster.apply(update(Some(current))), Err(Rejection::Invalid(_))));
    let gone = Action::RemoveEndpoint { profile: "web".into(), name: "e1".into(), if_revision: Some(wrong) };
    assert!(matches!(cluster.apply(gone), Err(Rejection::RevisionMismatch { .. })));
    let zone = Action::DeleteZone { name: "example.com".into(), if_revision: Some(Revision(1)) };
    assert!(matches!(cluster.apply(zone), Err(Rejection::RevisionMismatch { noun: "zone", .. })));
    let region = Action::DeleteRegion { name: "r1".into(), if_revision: Some(Revision(7)) };
    assert!(matches!(cluster.apply(region), Err(Rejection::RevisionMismatch { noun: "region", .. })));
}

#[test]
fn obj_8_what_changes_nothing_moves_no_revision() {
    let mut cluster = Cluster::with_web(1);
    let before = cluster.state.clone();
    cluster.apply(update_profile(priority_routing())).unwrap();
    cluster.apply(update_profile(ProfilePatch::default())).unwrap();
    cluster.apply(update_endpoint("e1", target("192.0.2.1"))).unwrap();
    cluster.apply(Action::SetRegion(region_at("R1", 0))).unwrap();
    let fields = zone_fields(&[("NS1.example.com.", &["192.0.2.53"])]);
    cluster.apply(Action::UpdateZone { name: "Example.com".into(), fields, if_revision: None }).unwrap();
    assert_eq!(cluster.state, before);
    cluster.apply(Action::SetRegion(region_at("R1", 1))).unwrap();
    assert_eq!(cluster.state.regions[&Caseless::new("r1")].name.as_str(), "r1", "there is no rename");
}

#[test]
fn obj_9_a_name_removed_and_added_again_is_a_new_object() {
    let mut cluster = Cluster::with_web(1);
    let (profile, endpoint) = (cluster.profile("web").id, cluster.endpoint("e1"));
    cluster.open("a1", "r1", 1);
    cluster.report("a1", "e1", 1, "+");
    cluster.apply(remove_endpoint("e1")).unwrap();
    cluster.apply(add_endpoint("e1", target("192.0.2.1"))).unwrap();
    assert_ne!(cluster.endpoint("e1"), endpoint);
    assert_eq!(cluster.status("e1"), "CheckingEndpoint");
    cluster.apply(Action::DeleteProfile { name: "web".into(), if_revision: None }).unwrap();
    cluster.apply(create_profile("Web", "web", named(&[("e1", "192.0.2.1")]))).unwrap();
    assert_ne!(cluster.profile("web").id, profile);
    assert_eq!(
        refusal(cluster.apply(create_profile("wEB", "x", vec![]))),
        "the profile 'Web' exists already"
    );
}

#[test]
fn val_3_what_is_missing_is_guessed_at() {
    let mut cluster = Cluster::with_web(1);
    let missing = |reply: Result<Reply, Rejection>| match reply {
        Err(Rejection::NotFound { noun, hint, .. }) => (noun, hint.unwrap_or_default()),
        other => panic!("{other:?}"),
    };
    let delete = |name: &str| Action::DeleteProfile { name: name.into(), if_revision: None };
    assert_eq!(missing(cluster.apply(delete("wbe"))), ("profile", "web".into()));
    assert_eq!(missing(cluster.apply(delete("something"))), ("profile", String::new()));
    assert_eq!(missing(cluster.apply(remove_endpoint("e9"))), ("endpoint", "web/e1".into()));
    let zone = |name: &str| Action::DeleteZone { name: name.into(), if_revision: None };
    assert_eq!(missing(cluster.apply(zone("exmaple.com"))), ("zone", "example.com".into()));
    assert_eq!(missing(cluster.apply(zone("example..com"))), ("zone", "example.com".into()));
    let region = Action::DeleteRegion { name: "r4".into(), if_revision: None };
    assert_eq!(missing(cluster.apply(region)).0, "region");
    assert_eq!(missing(cluster.apply(open_session("a1", "r4", 1))).0, "region");
    assert_eq!(missing(cluster.apply(Action::ForgetAgent { name: "a1".into() })).0, "agent");
}

#[test]
fn val_5_warnings_refuse_nothing() {
    let mut cluster = Cluster::new();
    let fields = ProfilePatch { ttl: Edit::Set(86_400), ..priority_routing() };
    let reply = cluster
        .apply(create_in("example.com", "web", "web", fields, named(&[("e1", "www.example.com")])))
        .unwrap();
    let fields: Vec<_> = reply.warnings.iter().map(|warning| warning.field.as_str()).collect();
    assert_eq!(fields, ["ttl", "endpoints[0].target"]);
    let reply = cluster.apply(add_endpoint("e2", target("a.example.com"))).unwrap();
    assert_eq!(reply.warnings.len(), 1);
    assert_eq!(reply.warnings[0].field, "target");
    assert!(cluster.apply(add_endpoint("e3", target("a.example.net"))).unwrap().warnings.is_empty());
}

#[test]
fn val_1_what_is_absurd_is_refused_in_few_words() {
    let mut cluster = Cluster::new();
    let wish = EndpointPatch { weight: Edit::Set(0), ..target(&"x".repeat(100_000)) };
    let endpoints = (0..2_000).map(|_| ("a/b".repeat(10_000), wish.clone())).collect();
    let found = faults(cluster.apply(create_profile(&"p".repeat(100_000), &"r.".repeat(10_000), endpoints)));
    assert!(found.contains(&"endpoints: 2000 are too many; a profile has at most 200".to_owned()));
    assert!(found.len() < 200 * 5, "{}", found.len());
    assert!(found.iter().all(|fault| fault.len() < 1_000));
    let addresses = vec!["nowhere"; 500];
    let servers: Vec<(&str, &[&str])> = (0..500).map(|_| ("a..b", addresses.as_slice())).collect();
    assert!(faults(cluster.apply(create_zone("b.example", &servers))).len() < 13 * 12);
    match cluster.apply(Action::DeleteProfile { name: "y".repeat(100_000), if_revision: None }) {
        Err(Rejection::NotFound { name, .. }) => assert!(name.len() < 1_000),
        other => panic!("{other:?}"),
    }
}
