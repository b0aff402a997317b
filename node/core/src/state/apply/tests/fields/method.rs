//! What each method requires of the endpoints, and what it merely keeps (SET-14 … SET-16, SET-22, VAL-4). A method is
//! judged alike on a new profile and on one that is switched to it (SET-1).

use super::*;

/// Carries each row out under `routing`: on a new profile, and by a switch from `priority`, which requires nothing.
#[track_caller]
fn table(routing: Routing, rows: &[Row<'_, NewProfile>]) {
    let mut base = furnished();
    base.apply(Action::DeleteProfile { name: "web".into(), if_revision: None }).unwrap();
    let create = |new: &NewProfile| {
        let mut new = new.clone();
        new.fields.routing = Edit::Set(routing);
        new.action()
    };
    check(&base, &NewProfile::good(), create, rows);
    for row in rows {
        let mut new = NewProfile::good();
        row.1(&mut new);
        let mut cluster = base.clone();
        cluster.apply(new.action()).unwrap();
        let switch = ProfilePatch { routing: Edit::Set(routing), ..ProfilePatch::default() };
        check(&cluster, &switch, |fields| update_profile(fields.clone()), &[(row.0, |_| {}, row.2)]);
    }
}

/// The endpoints' fields, of `e1`, `e2` ….
fn endpoints(new: &mut NewProfile, all: Vec<EndpointPatch>) {
    new.endpoints = (1..).zip(all).map(|(number, fields)| (format!("e{number}"), fields)).collect();
}

fn nested(child: &str) -> EndpointPatch {
    EndpointPatch { nested: Edit::Set(child.into()), ..EndpointPatch::default() }
}

fn service(name: &str) -> EndpointPatch {
    EndpointPatch { service: Edit::Set(name.into()), ..EndpointPatch::default() }
}

fn at(region: &str, fields: EndpointPatch) -> EndpointPatch {
    EndpointPatch { location: Edit::Set(region.into()), ..fields }
}

fn with_codes(codes: &[&str], fields: EndpointPatch) -> EndpointPatch {
    EndpointPatch { geo: Edit::Set(codes.iter().map(|code| (*code).into()).collect()), ..fields }
}

fn with_subnets(subnets: &[&str], fields: EndpointPatch) -> EndpointPatch {
    EndpointPatch { subnets: Edit::Set(subnets.iter().map(|text| (*text).into()).collect()), ..fields }
}

/// Everything that any method has.
fn everything(new: &mut NewProfile) {
    new.fields.max_return = Edit::Set(3);
    let all = [("192.0.2.1", "WORLD", "10.0.0.0/8"), ("192.0.2.2", "DE", "172.16.0.0/12")].map(
        |(address, code, subnet)| EndpointPatch {
            weight: Edit::Set(7),
            ..at("r1", with_codes(&[code], with_subnets(&[subnet], target(address))))
        },
    );
    endpoints(new, all.into());
}

#[test]
fn val_4_every_method_keeps_what_it_does_not_use() {
    for routing in Routing::ALL {
        table(routing, &[("everything", everything, TAKEN)]);
        let mut new = NewProfile::good();
        everything(&mut new);
        let mut cluster = Cluster::new();
        cluster.apply(new.action()).unwrap();
        let before = cluster.profile("web").clone();
        let switch = ProfilePatch { routing: Edit::Set(routing), ..ProfilePatch::default() };
        cluster.apply(update_profile(switch)).unwrap();
        let after = cluster.profile("web");
        assert_eq!(after.endpoints, before.endpoints, "{routing:?}");
        assert_eq!(after.max_return, Some(3), "{routing:?}");
    }
}

#[test]
fn set_1_priority_and_weighted_require_nothing() {
    for routing in [Routing::Priority, Routing::Weighted] {
        table(
            routing,
            &[
                ("nobody", |new| new.endpoints.clear(), TAKEN),
                ("a name", |new| endpoints(new, vec![target("a.example")]), TAKEN),
                (
                    "every kind",
                    |new| endpoints(new, vec![target("192.0.2.1"), nested("child"), service("db")]),
                    TAKEN,
                ),
            ],
        );
    }
}

#[test]
fn set_14_performance_requires_a_location() {
    const REQUIRED: &str = "location: is required by the method performance: a region's name";
    table(
        Routing::Performance,
        &[
            ("nobody", |new| new.endpoints.clear(), TAKEN),
            ("an external endpoint's", |new| endpoints(new, vec![at("r1", target("192.0.2.1"))]), TAKEN),
            ("a nested endpoint's", |new| endpoints(new, vec![at("r1", nested("child"))]), TAKEN),
            ("a service's own", |new| endpoints(new, vec![service("cdn")]), TAKEN),
            (
                "missing",
                |new| endpoints(new, vec![at("r1", target("192.0.2.1")), target("192.0.2.2")]),
                &format!("endpoints[1].{REQUIRED}"),
            ),
            (
                "missing on a nested endpoint",
                |new| endpoints(new, vec![nested("child")]),
                &format!("endpoints[0].{REQUIRED}"),
            ),
            (
                "missing on a service",
                |new| endpoints(new, vec![service("db")]),
                "endpoints[0].service: the service 'db' has no location, which the method performance requires",
            ),
        ],
    );
}

#[test]
fn set_15_geographic_requires_a_code() {
    const REQUIRED: &str = "is required by the method geographic: at least one code, as in WORLD or GEO-EU";
    table(
        Routing::Geographic,
        &[
            ("nobody", |new| new.endpoints.clear(), TAKEN),
            ("one", |new| endpoints(new, vec![with_codes(&["FR"], target("192.0.2.1"))]), TAKEN),
            (
                "on every kind",
                |new| {
                    endpoints(
                        new,
                        vec![
                            with_codes(&["FR"], target("192.0.2.1")),
                            with_codes(&["DE"], nested("child")),
                            with_codes(&["WORLD"], service("db")),
                        ],
                    );
                },
                TAKEN,
            ),
            (
                "missing",
                |new| {
                    endpoints(
                        new,
                        vec![target("192.0.2.1"), with_codes(&["WORLD"], nested("child")), service("db")],
                    );
                },
                &format!("endpoints[0].geo: {REQUIRED}\nendpoints[2].geo: {REQUIRED}"),
            ),
        ],
    );
}

#[test]
fn set_16_subnet_has_one_fallback() {
    table(
        Routing::Subnet,
        &[
            ("nobody", |new| new.endpoints.clear(), TAKEN),
            ("the fallback alone", |new| endpoints(new, vec![target("192.0.2.1")]), TAKEN),
            (
                "no fallback",
                |new| endpoints(new, vec![with_subnets(&["10.0.0.0/8"], target("192.0.2.1"))]),
                TAKEN,
            ),
            (
                "two fallbacks",
                |new| {
                    endpoints(
                        new,
                        vec![
                            target("192.0.2.1"),
                            with_subnets(&["10.0.0.0/8"], nested("child")),
                            service("db"),
                        ],
                    );
                },
                "endpoints[2].subnets: is empty, but 'e1' is the fallback already; the method subnet takes one at \
                 most",
            ),
        ],
    );
}

#[test]
fn set_22_multivalue_takes_addresses_only() {
    const RULE: &str = "the method multivalue takes external endpoints with addresses only";
    table(
        Routing::Multivalue,
        &[
            ("nobody", |new| new.endpoints.clear(), TAKEN),
            ("addresses", |new| endpoints(new, vec![target("192.0.2.1"), target("2001:db8::1")]), TAKEN),
            (
                "a name",
                |new| endpoints(new, vec![target("a.example")]),
                &format!("endpoints[0].target: 'a.example' is a name: {RULE}"),
            ),
            (
                "a parent, and a service",
                |new| endpoints(new, vec![nested("child"), service("db")]),
                &format!(
                    "endpoints[0].nested: 'child' is a profile: {RULE}\n\
                     endpoints[1].service: 'db' is a service: {RULE}"
                ),
            ),
        ],
    );
    // It may be a child.
    let mut cluster = furnished();
    let routing = ProfilePatch { routing: Edit::Set(Routing::Multivalue), ..ProfilePatch::default() };
    let update = Action::UpdateProfile { name: "child".into(), fields: routing, if_revision: None };
    cluster.apply(update).unwrap();
    cluster.apply(add_endpoint("e2", nested("child"))).unwrap();
}
