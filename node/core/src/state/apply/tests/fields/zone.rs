//! A zone's fields: DNS-1.

use super::*;
use crate::model::ZoneTimers;

/// The name and the fields of a new zone.
type NewZone = (String, ZonePatch);

fn servers(new: &mut NewZone, servers: &[(&str, &[&str])]) {
    new.1 = zone_fields(servers);
}

fn table(rows: &[Row<'_, NewZone>]) {
    let good = ("b.example".to_owned(), zone_fields(&[("ns.example.net", &[])]));
    let create = |(name, fields): &NewZone| Action::CreateZone { name: name.clone(), fields: fields.clone() };
    check(&Cluster::with_web(1), &good, create, rows);
}

#[test]
fn dns_1_name() {
    table(&[
        ("missing", |new| new.0 = "".into(), "name: '' is empty"),
        ("shortest", |new| new.0 = "b".into(), TAKEN),
        ("longest label", |new| new.0 = long(63), TAKEN),
        ("with a final dot", |new| new.0 = "B.example.".into(), TAKEN),
        ("an empty label", |new| new.0 = "b..example".into(), "name: 'b..example' has an empty label"),
        (
            "a wildcard",
            |new| new.0 = "*.example".into(),
            "name: '*.example' is a wildcard; wildcards are not supported",
        ),
        ("without case", |new| new.0 = "EXAMPLE.com".into(), "the zone 'example.com' exists already"),
        (
            "around a profile",
            |new| new.0 = "web.example.com".into(),
            "name: 'web.example.com' would take names from profiles of the zone around it: 'web' (web.example.com)",
        ),
    ]);
}

#[test]
fn dns_1_name_servers() {
    table(&[
        (
            "missing",
            |new| new.1.name_servers = Edit::Keep,
            "name_servers: is empty; a zone needs at least one name server",
        ),
        ("none", |new| servers(new, &[]), "name_servers: is empty; a zone needs at least one name server"),
        (
            "inside, with addresses",
            |new| servers(new, &[("ns.b.example", &["192.0.2.1", "2001:db8::1"])]),
            TAKEN,
        ),
        ("the zone's own name", |new| servers(new, &[("b.example", &["192.0.2.1"])]), TAKEN),
        (
            "inside, without",
            |new| servers(new, &[("ns.b.example", &[])]),
            "name_servers[0].addresses: is empty; 'ns.b.example' lies in the zone, so that nobody else can give its \
             address",
        ),
        (
            "outside, with addresses",
            |new| servers(new, &[("ns.example.net", &["192.0.2.1"])]),
            "name_servers[0].addresses: 'ns.example.net' lies outside the zone, where its own zone gives its \
             addresses",
        ),
        (
            "twice",
            |new| servers(new, &[("a.example.net", &[]), ("A.example.net", &[])]),
            "name_servers[1].name: 'a.example.net' is given twice",
        ),
        ("no name", |new| servers(new, &[("a..b", &[])]), "name_servers[0].name: 'a..b' has an empty label"),
        ("most", |new| many(new, 13), TAKEN),
        ("too many", |new| many(new, 14), "name_servers: 14 are too many; at most 13 are allowed"),
    ]);
}

fn many(new: &mut NewZone, count: usize) {
    let server = |number| (format!("ns{number}.example.net"), Vec::new());
    new.1.name_servers = Edit::Set((0..count).map(server).collect());
}

#[test]
fn dns_1_addresses() {
    fn addresses(new: &mut NewZone, texts: &[&str]) {
        servers(new, &[("ns.b.example", texts)]);
    }
    const FIELD: &str = "name_servers[0].addresses";
    table(&[
        (
            "most",
            |new| {
                addresses(
                    new,
                    &["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6", "::1", "::2"],
                )
            },
            TAKEN,
        ),
        (
            "too many",
            |new| {
                addresses(
                    new,
                    &[
                        "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6", "::1", "::2",
                        "::3",
                    ],
                );
            },
            &format!("{FIELD}: 9 are too many; at most 8 are allowed"),
        ),
        (
            "twice",
            |new| addresses(new, &["2001:db8::1", "2001:DB8:0::1"]),
            &format!("{FIELD}[1]: 2001:db8::1 is given twice"),
        ),
        (
            "a name",
            |new| addresses(new, &["nowhere"]),
            &format!("{FIELD}[0]: 'nowhere' is no IPv4 or IPv6 address"),
        ),
        (
            "unspecified",
            |new| addresses(new, &["0.0.0.0", "::"]),
            &format!(
                "{FIELD}[0]: 0.0.0.0 is the unspecified address\n{FIELD}[1]: :: is the unspecified address"
            ),
        ),
        (
            "multicast",
            |new| addresses(new, &["224.0.0.1", "ff02::1"]),
            &format!(
                "{FIELD}[0]: 224.0.0.1 is a multicast address\n{FIELD}[1]: ff02::1 is a multicast address"
            ),
        ),
        (
            "broadcast, mapped",
            |new| addresses(new, &["255.255.255.255", "::ffff:192.0.2.1"]),
            &format!(
                "{FIELD}[0]: 255.255.255.255 is the broadcast address\n\
                 {FIELD}[1]: ::ffff:192.0.2.1 is an IPv4-mapped address; write the IPv4 address itself"
            ),
        ),
    ]);
}

fn timers(new: &mut NewZone, set: impl FnOnce(&mut ZoneTimers<Edit<u32>>)) {
    set(&mut new.1.timers);
}

#[test]
fn dns_1_times_to_live() {
    const OUTSIDE: &str = "2147483648 is outside 0–2147483647";
    table(&[
        (
            "shortest",
            |new| timers(new, |t| (t.soa_ttl, t.name_server_ttl) = (Edit::Set(0), Edit::Set(0))),
            TAKEN,
        ),
        ("longest", |new| timers(new, |t| t.soa_ttl = Edit::Set(2_147_483_647)), TAKEN),
        (
            "the SOA's too long",
            |new| timers(new, |t| t.soa_ttl = Edit::Set(2_147_483_648)),
            &format!("soa_ttl: {OUTSIDE}"),
        ),
        (
            "the name servers' too long",
            |new| timers(new, |t| t.name_server_ttl = Edit::Set(2_147_483_648)),
            &format!("name_server_ttl: {OUTSIDE}"),
        ),
        ("negative, shortest", |new| timers(new, |t| t.negative_ttl = Edit::Set(0)), TAKEN),
        ("negative, longest", |new| timers(new, |t| t.negative_ttl = Edit::Set(86_400)), TAKEN),
        (
            "negative, too long",
            |new| timers(new, |t| t.negative_ttl = Edit::Set(86_401)),
            "negative_ttl: 86401 is outside 0–86400",
        ),
    ]);
}

#[test]
fn dns_1_times_of_secondaries() {
    fn set(new: &mut NewZone, refresh: u32, retry: u32, expire: u32) {
        new.1.timers.refresh = Edit::Set(refresh);
        new.1.timers.retry = Edit::Set(retry);
        new.1.timers.expire = Edit::Set(expire);
    }
    const MAX: u32 = 2_147_483_647;
    table(&[
        ("shortest", |new| set(new, 61, 60, 121), TAKEN),
        ("longest", |new| set(new, MAX - 60, 60, MAX), TAKEN),
        (
            "too short",
            |new| set(new, 59, 58, 117),
            "soa_refresh: 59 is outside 60–2147483647\nsoa_retry: 58 is outside 60–2147483647",
        ),
        ("too long", |new| set(new, MAX, 600, MAX + 600), "soa_expire: 2147484247 is outside 60–2147483647"),
        (
            "a retry that is none",
            |new| set(new, 600, 600, 1_200),
            "soa_retry: 600 is not below the refresh, 600",
        ),
        (
            "given up too soon",
            |new| set(new, 600, 300, 899),
            "soa_expire: 899 is below refresh and retry together, 600 + 300",
        ),
        (
            "largest numbers",
            |new| set(new, u32::MAX, u32::MAX - 1, u32::MAX),
            "soa_refresh: 4294967295 is outside 60–2147483647\n\
             soa_retry: 4294967294 is outside 60–2147483647\n\
             soa_expire: 4294967295 is outside 60–2147483647\n\
             soa_expire: 4294967295 is below refresh and retry together, 4294967295 + 4294967294",
        ),
    ]);
}

#[test]
fn dns_1_mailbox() {
    table(&[
        ("an address", |new| new.1.mailbox = Edit::Set("John.Doe@b.example".into()), TAKEN),
        ("a name", |new| new.1.mailbox = Edit::Set("hostmaster.b.example".into()), TAKEN),
        ("missing", |new| new.1.mailbox = Edit::Clear, TAKEN),
        (
            "nobody",
            |new| new.1.mailbox = Edit::Set("@b.example".into()),
            "mailbox: '@b.example' must have 1 to 63 printable characters in front of the '@'",
        ),
        ("no name", |new| new.1.mailbox = Edit::Set("a@b..c".into()), "mailbox: 'a@b..c' has an empty label"),
    ]);
}
