//! An endpoint's own fields: OBJ-4, OBJ-6, SET-10, SET-12 … SET-14, SET-18, SET-20, SET-21.

use super::*;
use crate::model::Header;

fn table(rows: &[Row<'_, NewEndpoint>]) {
    check(&furnished(), &NewEndpoint::good(), NewEndpoint::action, rows);
}

/// A change of `e1`, which is alone but for what the row's cluster adds.
fn changes(rows: &[Row<'_, EndpointPatch>]) {
    let update = |fields: &EndpointPatch| update_endpoint("e1", fields.clone());
    check(&furnished(), &EndpointPatch::default(), update, rows);
}

#[test]
fn obj_4_name() {
    const UNSEEN: &str = "has a character that cannot be seen";
    table(&[
        ("missing", |new| new.name = "".into(), "name: is empty"),
        ("shortest", |new| new.name = "a".into(), TAKEN),
        ("longest", |new| new.name = "\u{fc}".repeat(260), TAKEN),
        (
            "too long",
            |new| new.name = "\u{fc}".repeat(261),
            "name: is 261 characters long; at most 260 are allowed",
        ),
        ("printable", |new| new.name = "Frankfurt (main), \u{fc}ber".into(), TAKEN),
        (
            "a slash",
            |new| new.name = "a/b".into(),
            "name: 'a/b' has a '/', which divides profile and endpoint elsewhere",
        ),
        ("a blank alone", |new| new.name = " ".into(), "name: ' ' begins or ends with a blank"),
        ("a blank first", |new| new.name = " e".into(), "name: ' e' begins or ends with a blank"),
        ("a blank last", |new| new.name = "e ".into(), "name: 'e ' begins or ends with a blank"),
        ("a tab", |new| new.name = "a\tb".into(), &format_name("a\\tb", UNSEEN)),
        ("no width", |new| new.name = "a\u{202e}b".into(), &format_name("a\\u{202e}b", UNSEEN)),
        ("without case", |new| new.name = "E1".into(), "the endpoint 'web/e1' exists already"),
    ]);
    let twice = |new: &mut NewProfile| new.endpoints.push(("E1".into(), target("192.0.2.2")));
    check(
        &Cluster::new(),
        &NewProfile::good(),
        NewProfile::action,
        &[("twice in one wish", twice, "endpoints[1].name: 'E1' is given twice")],
    );
}

/// One of target, nested and service; which one never changes.
#[test]
fn obj_6_kind() {
    fn kind(fields: &mut EndpointPatch, target: Option<&str>, nested: Option<&str>, service: Option<&str>) {
        let edit = |text: Option<&str>| text.map_or(Edit::Keep, |text| Edit::Set(text.into()));
        (fields.target, fields.nested, fields.service) = (edit(target), edit(nested), edit(service));
    }
    table(&[
        ("external", |new| kind(&mut new.fields, Some("192.0.2.2"), None, None), TAKEN),
        ("nested", |new| kind(&mut new.fields, None, Some("CHILD"), None), TAKEN),
        ("a service", |new| kind(&mut new.fields, None, None, Some("DB")), TAKEN),
        (
            "missing",
            |new| kind(&mut new.fields, None, None, None),
            "target: is required: a DNS name, an IPv4 or an IPv6 address; or a profile as nested, or a service",
        ),
        (
            "all three",
            |new| kind(&mut new.fields, Some("192.0.2.2"), Some("child"), Some("db")),
            "nested: is given beside target; an endpoint is one of target, nested and service\n\
             service: is given beside target; an endpoint is one of target, nested and service",
        ),
        (
            "a misspelt profile",
            |new| kind(&mut new.fields, None, Some("chlid"), None),
            "nested: there is no profile 'chlid'; did you mean 'child'?",
        ),
        (
            "a misspelt service",
            |new| kind(&mut new.fields, None, None, Some("bd")),
            "service: there is no service 'bd'; did you mean 'db'?",
        ),
    ]);
    changes(&[
        (
            "another kind",
            |fields| fields.nested = Edit::Set("child".into()),
            "nested: this is an external endpoint, and stays one; remove it and add it anew",
        ),
        (
            "cleared",
            |fields| fields.target = Edit::Clear,
            "target: is required: a DNS name, an IPv4 or an IPv6 address",
        ),
    ]);
}

#[test]
fn set_12_priority() {
    table(&[
        ("too low", |new| new.fields.priority = Edit::Set(0), "priority: 0 is outside 1–1000"),
        ("lowest", |new| new.fields.priority = Edit::Set(2), TAKEN),
        ("highest", |new| new.fields.priority = Edit::Set(1_000), TAKEN),
        ("too high", |new| new.fields.priority = Edit::Set(1_001), "priority: 1001 is outside 1–1000"),
        (
            "another's",
            |new| new.fields.priority = Edit::Set(1),
            "priority: 1 is the priority of 'e1' already",
        ),
        ("missing", |new| new.fields.priority = Edit::Clear, TAKEN),
    ]);
    fn two(new: &mut NewProfile, first: Option<u32>, second: Option<u32>) {
        let edit = |number: Option<u32>| number.map_or(Edit::Keep, Edit::Set);
        new.endpoints[0].1.priority = edit(first);
        let other = EndpointPatch { priority: edit(second), ..target("192.0.2.2") };
        new.endpoints.push(("e2".into(), other));
    }
    check(
        &Cluster::new(),
        &NewProfile::good(),
        NewProfile::action,
        &[
            ("on none", |new| two(new, None, None), TAKEN),
            ("on all", |new| two(new, Some(1_000), Some(1)), TAKEN),
            (
                "on the first",
                |new| two(new, Some(7), None),
                "endpoints[1].priority: is missing; priorities are given on all endpoints or on none",
            ),
            (
                "on the second",
                |new| two(new, None, Some(7)),
                "endpoints[0].priority: is missing; priorities are given on all endpoints or on none",
            ),
            (
                "two alike",
                |new| two(new, Some(7), Some(7)),
                "endpoints[1].priority: 7 is the priority of 'e1' already",
            ),
        ],
    );
}

#[test]
fn set_13_weight() {
    table(&[
        ("too low", |new| new.fields.weight = Edit::Set(0), "weight: 0 is outside 1–1000"),
        ("lowest", |new| new.fields.weight = Edit::Set(1), TAKEN),
        ("highest", |new| new.fields.weight = Edit::Set(1_000), TAKEN),
        ("too high", |new| new.fields.weight = Edit::Set(1_001), "weight: 1001 is outside 1–1000"),
        ("missing", |new| new.fields.weight = Edit::Clear, TAKEN),
    ]);
}

/// What only `performance` requires is in `method`.
#[test]
fn set_14_location() {
    table(&[
        ("the operator's own", |new| new.fields.location = Edit::Set("R1".into()), TAKEN),
        ("a cloud's", |new| new.fields.location = Edit::Set("aws:eu-central-1".into()), TAKEN),
        ("missing", |new| new.fields.location = Edit::Clear, TAKEN),
        (
            "misspelt",
            |new| new.fields.location = Edit::Set("aws:eu-centrl-1".into()),
            "location: there is no region 'aws:eu-centrl-1'; did you mean 'aws:eu-central-1'?",
        ),
        (
            "unlike any",
            |new| new.fields.location = Edit::Set("zzzzzzzz".into()),
            "location: there is no region 'zzzzzzzz'",
        ),
        ("empty", |new| new.fields.location = Edit::Set("".into()), "location: there is no region ''"),
        (
            "on a nested endpoint",
            |new| {
                new.fields.target = Edit::Keep;
                new.fields.nested = Edit::Set("child".into());
                new.fields.location = Edit::Set("r1".into());
            },
            TAKEN,
        ),
        (
            "on a service endpoint",
            |new| {
                new.fields.target = Edit::Keep;
                new.fields.service = Edit::Set("cdn".into());
                new.fields.location = Edit::Set("r1".into());
            },
            "location: a service endpoint lives where its service does; set it there",
        ),
    ]);
}

#[test]
fn set_18_always_serve() {
    fn nested(fields: &mut EndpointPatch) {
        fields.target = Edit::Keep;
        fields.nested = Edit::Set("child".into());
    }
    table(&[
        ("on", |new| new.fields.always_serve = Edit::Set(true), TAKEN),
        ("off", |new| new.fields.always_serve = Edit::Set(false), TAKEN),
        (
            "on while disabled",
            |new| {
                new.fields.enabled = Edit::Set(false);
                new.fields.always_serve = Edit::Set(true);
            },
            "always_serve: can be switched on only while the endpoint is enabled",
        ),
        (
            "off while disabled",
            |new| {
                new.fields.enabled = Edit::Set(false);
                new.fields.always_serve = Edit::Set(false);
            },
            TAKEN,
        ),
        (
            "on a service endpoint",
            |new| {
                new.fields.target = Edit::Keep;
                new.fields.service = Edit::Set("db".into());
                new.fields.always_serve = Edit::Set(true);
            },
            TAKEN,
        ),
        (
            "on a nested endpoint",
            |new| {
                nested(&mut new.fields);
                new.fields.always_serve = Edit::Set(true);
            },
            "always_serve: is not for nested endpoints: they follow their child",
        ),
        (
            "off on a nested endpoint",
            |new| {
                nested(&mut new.fields);
                new.fields.always_serve = Edit::Set(false);
            },
            TAKEN,
        ),
    ]);
}

#[test]
fn set_20_target() {
    const NOT_BARE: &str = "has a scheme, a path or a port; only a DNS name or an address is wanted here";
    fn to(new: &mut NewEndpoint, text: &str) {
        new.fields = target(text);
    }
    table(&[
        ("IPv4", |new| to(new, "192.0.2.2"), TAKEN),
        ("IPv6", |new| to(new, "2001:DB8::2"), TAKEN),
        ("private", |new| to(new, "10.0.0.1"), TAKEN),
        ("unique local", |new| to(new, "fd00::1"), TAKEN),
        ("empty", |new| to(new, ""), "target: '' is empty"),
        ("a scheme", |new| to(new, "https://a.example"), &format_target("https://a.example", NOT_BARE)),
        ("a port", |new| to(new, "a.example:80"), &format_target("a.example:80", NOT_BARE)),
        ("a port of IPv6", |new| to(new, "[2001:db8::1]:80"), &format_target("[2001:db8::1]:80", NOT_BARE)),
        ("a network", |new| to(new, "192.0.2.2/32"), &format_target("192.0.2.2/32", NOT_BARE)),
        ("unspecified", |new| to(new, "0.0.0.0"), "target: '0.0.0.0' is the unspecified address"),
        ("unspecified IPv6", |new| to(new, "::"), "target: '::' is the unspecified address"),
        ("multicast", |new| to(new, "224.0.0.1"), "target: '224.0.0.1' is a multicast address"),
        ("multicast IPv6", |new| to(new, "ff02::1"), "target: 'ff02::1' is a multicast address"),
        ("broadcast", |new| to(new, "255.255.255.255"), "target: '255.255.255.255' is the broadcast address"),
        (
            "mapped",
            |new| to(new, "::ffff:192.0.2.2"),
            "target: '::ffff:192.0.2.2' is an IPv4-mapped address; write the IPv4 address itself",
        ),
        ("a misspelt address", |new| to(new, "192.0.2"), "target: '192.0.2' is no IPv4 address"),
        ("too high an address", |new| to(new, "192.0.2.256"), "target: '192.0.2.256' is no IPv4 address"),
        ("a number", |new| to(new, "2130706433"), "target: '2130706433' is no IPv4 address"),
        ("an empty label", |new| to(new, "a..b"), "target: 'a..b' has an empty label"),
        ("another's", |new| to(new, "192.0.2.1"), "target: 192.0.2.1 is the address of 'e1' already"),
    ]);
}

/// A profile does not answer with itself.
#[test]
fn set_20_its_own_name() {
    check(
        &Cluster::new(),
        &NewProfile::good(),
        NewProfile::action,
        &[
            (
                "its own",
                |new| new.endpoints[0].1 = target("WEB.example.com"),
                "endpoints[0].target: 'web.example.com' is the profile's own name: 'e1' would lead back to it for \
                 ever",
            ),
            ("one below", |new| new.endpoints[0].1 = target("a.web.example.com"), TAKEN),
        ],
    );
}

#[test]
fn set_21_addressing() {
    fn targets(new: &mut NewProfile, targets: &[&str]) {
        new.endpoints =
            (1..).zip(targets).map(|(number, text)| (format!("e{number}"), target(text))).collect();
    }
    check(
        &Cluster::new(),
        &NewProfile::good(),
        NewProfile::action,
        &[
            ("both families", |new| targets(new, &["192.0.2.1", "2001:db8::1"]), TAKEN),
            ("names, one of them twice", |new| targets(new, &["a.example", "A.example", "b.example"]), TAKEN),
            (
                "names beside addresses",
                |new| targets(new, &["192.0.2.1", "2001:db8::1", "a.example", "b.example"]),
                "endpoints[2].target: 'a.example' is a name, but others are addresses: a profile has one or the \
                 other\n\
                 endpoints[3].target: 'b.example' is a name, but others are addresses: a profile has one or the other",
            ),
            (
                "an address beside names",
                |new| targets(new, &["a.example", "192.0.2.1"]),
                "endpoints[1].target: '192.0.2.1' is an address, but others are names: a profile has one or the \
                 other",
            ),
            (
                "the same address in other letters",
                |new| targets(new, &["2001:db8::1", "2001:DB8:0::1"]),
                "endpoints[1].target: 2001:db8::1 is the address of 'e1' already",
            ),
        ],
    );
    changes(&[("the only one may change", |fields| *fields = target("a.example"), TAKEN)]);
}

/// The rules of a header are the profile's too: see `monitor`.
#[test]
fn set_10_headers() {
    fn headers(new: &mut NewEndpoint, count: usize) {
        let header = |number| Header { name: format!("X-{number}"), value: "v".into() };
        new.fields.headers = Edit::Set((0..count).map(header).collect());
    }
    let rows: &[Row<'_, NewEndpoint>] = &[
        ("most", |new| headers(new, 8), TAKEN),
        ("too many", |new| headers(new, 9), "headers: 9 are too many; at most 8 are allowed"),
        ("missing", |new| new.fields.headers = Edit::Clear, TAKEN),
        (
            "a pattern as Host",
            |new| new.fields.headers = Edit::Set(vec![Header { name: "Host".into(), value: "*".into() }]),
            "headers[0].value: has a '*': a Host must be one name, not a pattern",
        ),
    ];
    table(rows);
    let mut tcp = furnished();
    let monitor = crate::model::MonitorPatch {
        protocol: Edit::Set(crate::model::Protocol::Tcp),
        port: Edit::Set(53),
        ..Default::default()
    };
    tcp.apply(update_profile(ProfilePatch { monitor, ..ProfilePatch::default() })).unwrap();
    let rows: &[Row<'_, NewEndpoint>] =
        &[("with tcp", |new| headers(new, 1), "headers: are sent by http and https only, not by tcp")];
    check(&tcp, &NewEndpoint::good(), NewEndpoint::action, rows);
}

fn format_name(name: &str, fault: &str) -> String {
    format!("name: '{name}' {fault}")
}

fn format_target(target: &str, fault: &str) -> String {
    format!("target: '{target}' {fault}")
}
