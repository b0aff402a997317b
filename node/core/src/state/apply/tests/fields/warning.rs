//! What is taken and warned about (VAL-5), present and absent.

use super::*;
use crate::model::{Header, HeaderValue, Protocol};

/// A new profile, and what its author is warned of, one warning a line.
#[track_caller]
fn table(rows: &[Row<'_, NewProfile>]) {
    for (value, edit, told) in rows {
        let mut new = NewProfile::good();
        edit(&mut new);
        let mut cluster = furnished();
        cluster.apply(Action::DeleteProfile { name: "web".into(), if_revision: None }).unwrap();
        let warnings = cluster.apply(new.action()).unwrap().warnings;
        let found: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(found.join("\n"), *told, "{value}");
    }
}

const NOTHING: &str = "";

#[test]
fn val_5_geographic_without_the_world() {
    fn geographic(new: &mut NewProfile, codes: &[&str]) {
        new.fields.routing = Edit::Set(Routing::Geographic);
        new.endpoints[0].1.geo = Edit::Set(codes.iter().map(|code| (*code).into()).collect());
    }
    const TOLD: &str =
        "endpoints: none has WORLD: clients from anywhere else, or from nowhere known, get no answer";
    table(&[
        ("without", |new| geographic(new, &["DE"]), TOLD),
        ("with", |new| geographic(new, &["DE", "WORLD"]), NOTHING),
        (
            "no endpoint",
            |new| {
                geographic(new, &[]);
                new.endpoints.clear();
            },
            TOLD,
        ),
        (
            "under another method",
            |new| {
                geographic(new, &["DE"]);
                new.fields.routing = Edit::Set(Routing::Weighted);
            },
            NOTHING,
        ),
    ]);
}

#[test]
fn val_5_subnet_without_a_fallback() {
    fn subnet(new: &mut NewProfile, subnets: &[&str]) {
        new.fields.routing = Edit::Set(Routing::Subnet);
        new.endpoints[0].1.subnets = Edit::Set(subnets.iter().map(|text| (*text).into()).collect());
    }
    table(&[
        (
            "without",
            |new| subnet(new, &["10.0.0.0/8"]),
            "endpoints: none is without subnets: there is no fallback, and resolvers may keep the empty answer of \
             one client for all of theirs (RFC 7871 §7.4)",
        ),
        ("with", |new| subnet(new, &[]), NOTHING),
        (
            "under another method",
            |new| {
                subnet(new, &["10.0.0.0/8"]);
                new.fields.routing = Edit::Set(Routing::Priority);
            },
            NOTHING,
        ),
    ]);
}

/// 30 s × 4 + 10 s are 130 s until an endpoint is seen to fail; 1 s × 1 + 0.2 s are 1.2 s.
#[test]
fn val_5_a_long_ttl() {
    fn fast(new: &mut NewProfile) {
        new.fields.monitor.interval_ms = Edit::Set(1_000);
        new.fields.monitor.timeout_ms = Edit::Set(200);
        new.fields.monitor.tolerated_failures = Edit::Set(0);
    }
    table(&[
        ("ten times", |new| new.fields.ttl = Edit::Set(1_300), NOTHING),
        (
            "above ten times",
            |new| new.fields.ttl = Edit::Set(1_301),
            "ttl: 1301s is above ten times the 130s that it takes to see an endpoint fail: resolvers will keep the \
             old answer far longer",
        ),
        (
            "ten times of the fastest",
            |new| {
                fast(new);
                new.fields.ttl = Edit::Set(12);
            },
            NOTHING,
        ),
        (
            "the default above the fastest",
            fast,
            "ttl: 30s is above ten times the 1200ms that it takes to see an endpoint fail: resolvers will keep the \
             old answer far longer",
        ),
    ]);
}

#[test]
fn val_5_a_target_of_ours() {
    fn to(new: &mut NewProfile, text: &str) {
        new.endpoints[0].1 = target(text);
    }
    table(&[
        (
            "in a zone of ours",
            |new| to(new, "www.Example.com"),
            "endpoints[0].target: 'www.example.com' lies in the zone 'example.com', which this cluster answers for",
        ),
        ("elsewhere", |new| to(new, "www.example.net"), NOTHING),
        ("an address", |new| to(new, "192.0.2.1"), NOTHING),
    ]);
}

/// SET-19: a minimum that the child has too few endpoints for.
#[test]
fn val_5_a_minimum_out_of_reach() {
    fn minima(new: &mut NewProfile, all: u32, v4: u32, v6: u32) {
        new.endpoints[0].1 = EndpointPatch {
            nested: Edit::Set("child".into()),
            endpoints_min: Edit::Set(all),
            endpoints_min_v4: Edit::Set(v4),
            endpoints_min_v6: Edit::Set(v6),
            ..EndpointPatch::default()
        };
    }
    table(&[
        ("within reach", |new| minima(new, 1, 1, 0), NOTHING),
        (
            "out of reach",
            |new| minima(new, 2, 3, 4),
            "endpoints[0].endpoints_min: 2 can never be available: the profile 'child' has 1 endpoints\n\
             endpoints[0].endpoints_min_v4: 3 can never be available: the profile 'child' has 1 endpoints that can \
             count over IPv4\n\
             endpoints[0].endpoints_min_v6: 4 can never be available: the profile 'child' has 0 endpoints that can \
             count over IPv6",
        ),
    ]);
}

#[test]
fn val_5_a_secret_in_clear_text() {
    fn secret(new: &mut NewProfile, protocol: Protocol) {
        let key = |value| Header { name: "X-Key".into(), value };
        let sealed = || HeaderValue::Sealed(vec![1; 60].into());
        new.fields.monitor.protocol = Edit::Set(protocol);
        new.fields.monitor.headers = Edit::Set(vec![key("plain".into())]);
        new.endpoints[0].1.headers = Edit::Set(vec![key(sealed())]);
        if protocol == Protocol::Http {
            new.fields.monitor.headers = Edit::Set(vec![key(sealed())]);
        }
    }
    table(&[
        (
            "http",
            |new| secret(new, Protocol::Http),
            "monitor.headers: have a secret, which http sends in clear text: https does not\n\
             endpoints[0].headers: have a secret, which http sends in clear text: https does not",
        ),
        ("https", |new| secret(new, Protocol::Https), NOTHING),
    ]);
}

/// Several at once, and again by a change that leaves them as they are; what is not warned of is silent.
#[test]
fn val_5_all_at_once_and_of_a_change() {
    let mut cluster = Cluster::with_web(1);
    let fields = ProfilePatch {
        routing: Edit::Set(Routing::Subnet),
        ttl: Edit::Set(86_400),
        ..ProfilePatch::default()
    };
    let told = |reply: Reply| reply.warnings.into_iter().map(|warning| warning.field).collect::<Vec<_>>();
    assert_eq!(told(cluster.apply(update_profile(fields.clone())).unwrap()), ["ttl"], "e1 is the fallback");
    let subnets = EndpointPatch { subnets: Edit::Set(vec!["10.0.0.0/8".into()]), ..EndpointPatch::default() };
    cluster.apply(update_endpoint("e1", subnets)).unwrap();
    assert_eq!(told(cluster.apply(update_profile(fields)).unwrap()), ["ttl", "endpoints"]);
    let own = add_endpoint("e2", target("192.0.2.2"));
    assert_eq!(told(cluster.apply(own).unwrap()), Vec::<String>::new());
}
