//! Which clients an endpoint is for: SET-15, SET-16. What a method requires of it is in `method`.

use super::*;
use crate::model::{Violation, Violations, profile_limits};

fn table(rows: &[Row<'_, NewEndpoint>]) {
    let mut cluster = furnished();
    let fields = EndpointPatch {
        geo: Edit::Set(vec!["DE".into()]),
        subnets: Edit::Set(vec!["10.1.0.0/16".into(), "2001:db8:1::/48".into()]),
        ..EndpointPatch::default()
    };
    cluster.apply(update_endpoint("e1", fields)).unwrap();
    check(&cluster, &NewEndpoint::good(), NewEndpoint::action, rows);
}

fn geo(new: &mut NewEndpoint, codes: &[&str]) {
    new.fields.geo = Edit::Set(codes.iter().map(|code| (*code).to_owned()).collect());
}

fn subnets(new: &mut NewEndpoint, texts: &[&str]) {
    new.fields.subnets = Edit::Set(texts.iter().map(|text| (*text).to_owned()).collect());
}

#[test]
fn set_15_codes() {
    table(&[
        ("missing", |new| new.fields.geo = Edit::Clear, TAKEN),
        ("none", |new| geo(new, &[]), TAKEN),
        ("every level", |new| geo(new, &["WORLD", "GEO-EU", "FR", "US-CA", "XK"]), TAKEN),
        ("in small letters", |new| geo(new, &["geo-as"]), TAKEN),
        (
            "misspelt",
            |new| geo(new, &["WORLD", "EU"]),
            "geo[1]: 'EU' is no code of a place (did you mean GEO-EU, Europe?)",
        ),
        ("unlike any", |new| geo(new, &["12"]), "geo[0]: '12' is no code of a place"),
        ("empty", |new| geo(new, &[""]), "geo[0]: '' is no code of a place"),
        ("twice", |new| geo(new, &["FR", "fr"]), "geo[1]: FR is given twice"),
        ("another's", |new| geo(new, &["FR", "DE"]), "geo[1]: DE is a code of 'e1' already"),
        (
            "too many",
            |new| new.fields.geo = Edit::Set(vec!["12".into(); profile_limits::GEO_MAX + 1]),
            &too_many("geo", profile_limits::GEO_MAX),
        ),
    ]);
}

/// The first line, one for each that was looked at, and a count of those that are not told in full.
fn too_many(field: &str, max: usize) -> String {
    let mut told = format!("{field}: {} are too many; at most {max} are allowed", max + 1);
    for place in 0..Violations::FOUND_MAX - 1 {
        told += &format!("\n{field}[{place}]: '12' is no code of a place");
    }
    format!("{told}\n{}", Violation::more(max + 1 - Violations::FOUND_MAX))
}

#[test]
fn set_16_subnets() {
    fn many(new: &mut NewEndpoint, count: usize) {
        let text = |number: usize| format!("172.{}.{}.0/24", 16 + number / 256, number % 256);
        new.fields.subnets = Edit::Set((0..count).map(text).collect());
    }
    table(&[
        ("missing", |new| new.fields.subnets = Edit::Clear, TAKEN),
        ("none", |new| subnets(new, &[]), TAKEN),
        ("networks", |new| subnets(new, &["192.0.2.0/24", "2001:db8:2::/48"]), TAKEN),
        ("ranges", |new| subnets(new, &["192.0.2.7-192.0.2.9", "2001:db8:3::1-2001:db8:3::2"]), TAKEN),
        (
            "one address",
            |new| subnets(new, &["192.0.2.7/32", "2001:db8:2::1/128", "192.0.2.9-192.0.2.9"]),
            TAKEN,
        ),
        ("overlapping each other", |new| subnets(new, &["192.0.2.0/24", "192.0.2.7-192.0.3.1"]), TAKEN),
        ("mapped, which counts as IPv4", |new| subnets(new, &["::ffff:192.0.2.0/120"]), TAKEN),
        ("most", |new| many(new, profile_limits::SUBNETS_MAX), TAKEN),
        (
            "too many",
            |new| many(new, profile_limits::SUBNETS_MAX + 1),
            "subnets: 1001 are too many; at most 1000 are allowed",
        ),
    ]);
}

#[test]
fn set_16_what_cannot_be_read() {
    table(&[
        (
            "host bits",
            |new| subnets(new, &["192.0.2.7/24"]),
            "subnets[0]: '192.0.2.7/24' has bits set behind its prefix; did you mean 192.0.2.0/24?",
        ),
        (
            "host bits of IPv6",
            |new| subnets(new, &["2001:db8::1/64"]),
            "subnets[0]: '2001:db8::1/64' has bits set behind its prefix; did you mean 2001:db8::/64?",
        ),
        (
            "too long a prefix",
            |new| subnets(new, &["192.0.2.0/33"]),
            "subnets[0]: '33' is no prefix length; IPv4 has 0 to 32",
        ),
        (
            "too long a prefix of IPv6",
            |new| subnets(new, &["2001:db8::/129"]),
            "subnets[0]: '129' is no prefix length; IPv6 has 0 to 128",
        ),
        (
            "no prefix",
            |new| subnets(new, &["192.0.2.0/"]),
            "subnets[0]: '' is no prefix length; IPv4 has 0 to 32",
        ),
        (
            "an address alone",
            |new| subnets(new, &["192.0.2.7"]),
            "subnets[0]: '192.0.2.7' is neither a network, as in 198.51.100.0/24, nor a range, as in \
             198.51.100.1-198.51.100.9",
        ),
        (
            "no address",
            |new| subnets(new, &["192.0.2.0/24", "192.0.2.256-192.0.3.1"]),
            "subnets[1]: '192.0.2.256' is no IPv4 or IPv6 address",
        ),
        (
            "reversed",
            |new| subnets(new, &["192.0.2.9-192.0.2.7"]),
            "subnets[0]: 192.0.2.9-192.0.2.7 ends before it begins",
        ),
        (
            "of both families",
            |new| subnets(new, &["192.0.2.9-2001:db8::1"]),
            "subnets[0]: 192.0.2.9-2001:db8::1 begins with one family of addresses and ends with the other",
        ),
        (
            "empty",
            |new| subnets(new, &[""]),
            "subnets[0]: '' is neither a network, as in 198.51.100.0/24, nor a range, as in \
             198.51.100.1-198.51.100.9",
        ),
    ]);
}

/// `e1` has 10.1.0.0/16 and 2001:db8:1::/48.
#[test]
fn set_16_overlaps() {
    table(&[
        ("beside another's", |new| subnets(new, &["10.0.0.0/16", "10.2.0.0-10.2.0.7"]), TAKEN),
        (
            "within another's",
            |new| subnets(new, &["10.1.7.0/24"]),
            "subnets: 10.1.7.0/24 overlaps 10.1.0.0/16 of 'e1'",
        ),
        (
            "around another's",
            |new| subnets(new, &["10.0.0.0/8"]),
            "subnets: 10.0.0.0/8 overlaps 10.1.0.0/16 of 'e1'",
        ),
        (
            "across another's end",
            |new| subnets(new, &["10.1.255.255-10.2.0.7"]),
            "subnets: 10.1.255.255-10.2.0.7 overlaps 10.1.0.0/16 of 'e1'",
        ),
        (
            "another's in IPv6",
            |new| subnets(new, &["2001:db8:1:2::/64"]),
            "subnets: 2001:db8:1:2::/64 overlaps 2001:db8:1::/48 of 'e1'",
        ),
        (
            "everybody",
            |new| subnets(new, &["0.0.0.0/1", "128.0.0.0-255.255.255.255"]),
            "subnets: 0.0.0.0/0 overlaps 10.1.0.0/16 of 'e1'",
        ),
    ]);
}

#[test]
fn set_16_what_is_kept() {
    let mut cluster = Cluster::with_web(1);
    let mut new = NewEndpoint::good();
    subnets(&mut new, &["192.0.2.7-192.0.3.1", "10.0.1.0/24", "192.0.2.0/24", "10.0.0.0/24"]);
    cluster.apply(new.action()).unwrap();
    let kept: Vec<_> = cluster.profile("web").endpoints[1].subnets.iter().map(ToString::to_string).collect();
    assert_eq!(kept, ["10.0.0.0/23", "192.0.2.0-192.0.3.1"], "those that overlap or touch are one");
}
