//! A profile's own fields: OBJ-2, OBJ-3, OBJ-5, SET-1, SET-2, SET-17.

use super::*;

#[test]
fn obj_2_name() {
    let mut cluster = Cluster::new();
    cluster.apply(create_profile("Taken", "taken", vec![])).unwrap();
    check(
        &cluster,
        &NewProfile::good(),
        NewProfile::action,
        &[
            ("missing", |new| new.name = "".into(), "name: is empty"),
            ("shortest", |new| new.name = "a".into(), TAKEN),
            ("a digit", |new| new.name = "0".into(), TAKEN),
            ("everything that it may have", |new| new.name = "Web-1..eu".into(), TAKEN),
            ("longest", |new| new.name = long(63), TAKEN),
            ("too long", |new| new.name = long(64), "name: is 64 characters long; at most 63 are allowed"),
            ("first", |new| new.name = "-a".into(), "name: '-a' must begin and end with a letter or a digit"),
            ("last", |new| new.name = "a.".into(), "name: 'a.' must begin and end with a letter or a digit"),
            (
                "underscore",
                |new| new.name = "a_b".into(),
                "name: 'a_b' has a character other than letters, digits, '-' and '.'",
            ),
            (
                "blank",
                |new| new.name = "a b".into(),
                "name: 'a b' has a character other than letters, digits, '-' and '.'",
            ),
            (
                "outside ASCII",
                |new| new.name = "w\u{fc}b".into(),
                "name: 'w\u{fc}b' has a character other than letters, digits, '-' and '.'",
            ),
            ("without case", |new| new.name = "tAKEN".into(), "the profile 'Taken' exists already"),
        ],
    );
}

#[test]
fn obj_3_relative_name() {
    check(
        &Cluster::new(),
        &NewProfile::good(),
        NewProfile::action,
        &[
            ("missing", |new| new.relative_name = "".into(), "relative_name: '' is empty"),
            ("a label", |new| new.relative_name = "w".into(), TAKEN),
            ("labels", |new| new.relative_name = "_x.api.eu".into(), TAKEN),
            ("the apex", |new| new.relative_name = "@".into(), TAKEN),
            ("longest label", |new| new.relative_name = long(63), TAKEN),
            (
                "label too long",
                |new| new.relative_name = long(64),
                "relative_name: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' has a label longer \
                 than 63 characters",
            ),
            ("longest", |new| new.relative_name = ["a"; 121].join("."), TAKEN),
            (
                "too long with the zone",
                |new| new.relative_name = format!("b{}", [long(59), long(59), long(59), long(61)].join(".")),
                "relative_name: 'baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaa\
                 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.\
                 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is longer than 253 characters",
            ),
            (
                "an empty label",
                |new| new.relative_name = "a..b".into(),
                "relative_name: 'a..b' has an empty label",
            ),
            (
                "a hyphen first",
                |new| new.relative_name = "-a".into(),
                "relative_name: '-a' has a label that begins or ends with '-'",
            ),
            (
                "a wildcard",
                |new| new.relative_name = "*".into(),
                "relative_name: '*' is a wildcard; wildcards are not supported",
            ),
            (
                "a blank",
                |new| new.relative_name = "a b".into(),
                "relative_name: 'a b' has a character other than letters, digits, '-' and '_'; write an \
                 international name in its xn-- form",
            ),
        ],
    );
}

/// No name is anybody else's.
#[test]
fn obj_3_names_of_others() {
    let mut cluster = Cluster::new();
    cluster.apply(create_profile("taken", "taken", vec![])).unwrap();
    cluster.apply(create_zone("lb.example.com", &[("ns.example.net", &[])])).unwrap();
    check(
        &cluster,
        &NewProfile::good(),
        NewProfile::action,
        &[
            (
                "without case",
                |new| new.relative_name = "TAKEN".into(),
                "relative_name: 'taken.example.com' is the name of the profile 'taken' already",
            ),
            (
                "a name server's",
                |new| new.relative_name = "ns1".into(),
                "relative_name: 'ns1.example.com' is a name server of the zone 'example.com', which gives its \
                 addresses",
            ),
            (
                "another zone's",
                |new| new.relative_name = "x.lb".into(),
                "relative_name: 'x.lb.example.com' lies in the zone 'lb.example.com', which is closer than \
                 'example.com'",
            ),
            (
                "a name at the apex",
                |new| {
                    new.relative_name = "@".into();
                    new.endpoints[0].1 = target("a.example");
                },
                "endpoints[0].target: 'a.example' is a name: at the zone's apex only addresses can stand beside SOA \
                 and NS; 'flatten' would have it answered by its addresses",
            ),
            (
                "a name at the apex, flattened",
                |new| {
                    new.relative_name = "@".into();
                    new.fields.flatten = Edit::Set(true);
                    new.endpoints[0].1 = target("a.example");
                },
                TAKEN,
            ),
            (
                "a profile at the apex, flattened",
                |new| {
                    new.relative_name = "@".into();
                    new.fields.flatten = Edit::Set(true);
                    new.endpoints[0].1 =
                        EndpointPatch { nested: Edit::Set("taken".into()), ..EndpointPatch::default() };
                },
                "endpoints[0].nested: 'taken' may come to answer with a name: at the zone's apex only addresses can \
                 stand beside SOA and NS",
            ),
        ],
    );
}

#[test]
fn obj_5_endpoints() {
    fn many(new: &mut NewProfile, count: u8) {
        new.endpoints =
            (1..=count).map(|last| (format!("e{last}"), target(&format!("192.0.2.{last}")))).collect();
    }
    check(
        &Cluster::new(),
        &NewProfile::good(),
        NewProfile::action,
        &[
            ("none", |new| many(new, 0), TAKEN),
            ("most", |new| many(new, 200), TAKEN),
            ("too many", |new| many(new, 201), "endpoints: 201 are too many; a profile has at most 200"),
        ],
    );
}

/// Each method with an endpoint that has what it needs.
#[test]
fn set_1_routing() {
    const REQUIRED: &str =
        "routing: is required: one of priority, weighted, performance, geographic, multivalue, subnet";
    fn routed(new: &mut NewProfile, routing: Routing) {
        new.fields.routing = Edit::Set(routing);
        new.endpoints[0].1.location = Edit::Set("r1".into());
        new.endpoints[0].1.geo = Edit::Set(vec!["WORLD".into()]);
    }
    check(
        &Cluster::new(),
        &NewProfile::good(),
        NewProfile::action,
        &[
            ("priority", |new| routed(new, Routing::Priority), TAKEN),
            ("weighted", |new| routed(new, Routing::Weighted), TAKEN),
            ("performance", |new| routed(new, Routing::Performance), TAKEN),
            ("geographic", |new| routed(new, Routing::Geographic), TAKEN),
            ("multivalue", |new| routed(new, Routing::Multivalue), TAKEN),
            ("subnet", |new| routed(new, Routing::Subnet), TAKEN),
            ("missing", |new| new.fields.routing = Edit::Keep, REQUIRED),
            ("cleared", |new| new.fields.routing = Edit::Clear, REQUIRED),
        ],
    );
    let update = |fields: &ProfilePatch| update_profile(fields.clone());
    check(
        &Cluster::with_web(1),
        &ProfilePatch::default(),
        update,
        &[
            ("not named", |_| {}, TAKEN),
            ("another", |fields| fields.routing = Edit::Set(Routing::Subnet), TAKEN),
            ("cleared", |fields| fields.routing = Edit::Clear, REQUIRED),
        ],
    );
}

#[test]
fn set_2_ttl() {
    check(
        &Cluster::new(),
        &NewProfile::good(),
        NewProfile::action,
        &[
            ("lowest", |new| new.fields.ttl = Edit::Set(0), TAKEN),
            ("highest", |new| new.fields.ttl = Edit::Set(2_147_483_647), TAKEN),
            (
                "too high",
                |new| new.fields.ttl = Edit::Set(2_147_483_648),
                "ttl: 2147483648 is outside 0–2147483647",
            ),
            ("missing", |new| new.fields.ttl = Edit::Clear, TAKEN),
        ],
    );
}

/// Multivalue alone uses it; the others keep it (VAL-4), so it must be good under them too.
#[test]
fn set_17_max_return() {
    for routing in Routing::ALL {
        let mut good = NewProfile::good();
        good.fields.routing = Edit::Set(routing);
        good.endpoints[0].1.location = Edit::Set("r1".into());
        good.endpoints[0].1.geo = Edit::Set(vec!["WORLD".into()]);
        check(
            &Cluster::new(),
            &good,
            NewProfile::action,
            &[
                ("too low", |new| new.fields.max_return = Edit::Set(0), "max_return: 0 is outside 1–8"),
                ("lowest", |new| new.fields.max_return = Edit::Set(1), TAKEN),
                ("highest", |new| new.fields.max_return = Edit::Set(8), TAKEN),
                ("too high", |new| new.fields.max_return = Edit::Set(9), "max_return: 9 is outside 1–8"),
                ("missing", |new| new.fields.max_return = Edit::Clear, TAKEN),
            ],
        );
        let mut cluster = Cluster::new();
        good.fields.max_return = Edit::Set(8);
        cluster.apply(good.action()).unwrap();
        assert_eq!(cluster.profile("web").max_return, Some(8), "VAL-4: kept under {routing:?}");
    }
}

/// What nobody gives is not stored, but derived when it is read.
#[test]
fn set_2_set_4_to_set_9_set_11_set_13_set_17_defaults() {
    let mut cluster = Cluster::new();
    cluster.apply(NewProfile::good().action()).unwrap();
    let profile = cluster.profile("web");
    assert_eq!((profile.enabled, profile.ttl, profile.max_return), (true, None, None));
    assert!(!profile.flatten);
    assert_eq!((profile.effective_ttl(), profile.effective_max_return()), (30, 2));
    let monitor = &profile.monitor;
    assert_eq!((monitor.protocol.as_str(), monitor.effective_port()), ("http", Some(80)));
    assert_eq!((monitor.effective_path(), monitor.effective_interval_ms()), ("/", 30_000));
    assert_eq!((monitor.effective_tolerated_failures(), monitor.effective_recovery_successes()), (3, 1));
    let expected: Vec<_> = monitor.effective_expect().iter().map(|range| (range.min, range.max)).collect();
    assert_eq!((expected, monitor.headers.len()), (vec![(200, 200)], 0));
    let endpoint = &profile.endpoints[0];
    assert_eq!((endpoint.enabled, endpoint.always_serve, endpoint.effective_weight()), (true, false, 1));
    assert_eq!((endpoint.priority, endpoint.geo.len(), endpoint.subnets.len()), (1, 0, 0));
    assert_eq!((&endpoint.location, endpoint.headers.len()), (&None, 0));
}
