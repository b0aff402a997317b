//! A zone of static records, of every type that is written by its fields, set in a member and written for another server.

use std::net::SocketAddr;

use harness::{Cluster, dns};

/// The zone.
pub(crate) const ZONE: &str = "static.waymark.test";

/// Name, type, time to live, data. Names in the data are whole.
const RECORDS: [(&str, &str, u32, &[&str]); 33] = [
    ("@", "MX", 300, &["10 mail.static.waymark.test.", "20 mx.example.net."]),
    ("@", "TXT", 3_600, &["\"v=spf1 mx -all\"", "\"two\" \"strings\""]),
    ("@", "CAA", 3_600, &["0 issue \"ca.example.net\""]),
    ("@", "HTTPS", 60, &["1 . alpn=h2,h3"]),
    ("ns1", "TXT", 60, &["\"beside addresses\""]),
    ("mail", "A", 300, &["192.0.2.25", "192.0.2.26"]),
    ("mail", "AAAA", 300, &["2001:db8::25"]),
    ("mail", "SSHFP", 300, &["4 2 123456789abcdef67890123456789abcdef67890123456789abcdef123456789"]),
    ("only4", "A", 30, &["192.0.2.4"]),
    ("only6", "AAAA", 30, &["2001:db8::6"]),
    ("www", "CNAME", 60, &["mail.static.waymark.test."]),
    ("one", "CNAME", 60, &["two.static.waymark.test."]),
    ("two", "CNAME", 40, &["three.static.waymark.test."]),
    ("three", "CNAME", 20, &["only4.static.waymark.test."]),
    ("out", "CNAME", 60, &["edge.example.net."]),
    ("gone", "CNAME", 60, &["nowhere.static.waymark.test."]),
    ("to-empty", "CNAME", 60, &["b.c.static.waymark.test."]),
    ("to-zone", "CNAME", 60, &["static.waymark.test."]),
    ("deep.a.b.c", "A", 60, &["192.0.2.60"]),
    ("_sip._tcp", "SRV", 60, &["0 5 5060 mail.static.waymark.test.", "1 5 5060 sip.example.net."]),
    (
        "_443._tcp.mail",
        "TLSA",
        60,
        &["3 1 1 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
    ),
    ("svc", "SVCB", 60, &["2 mail.static.waymark.test. port=8443"]),
    ("web", "HTTPS", 60, &["0 mail.static.waymark.test."]),
    ("naptr", "NAPTR", 60, &["100 10 \"u\" \"E2U+sip\" \"!^.*$!sip:info@example.net!\" ."]),
    ("7.2.0.192", "PTR", 60, &["mail.static.waymark.test."]),
    ("host", "HINFO", 60, &["\"any\" \"thing\""]),
    ("odd", "TYPE65280", 60, &["\\# 3 0a0b0c"]),
    ("uri", "URI", 60, &["10 1 \"https://www.example.net/\""]),
    ("_mix-ed", "TXT", 0, &["\"no time at all\""]),
    ("zero", "A", 2_147_483_647, &["192.0.2.99"]),
    ("long", "TXT", 60, &[LONG, LONG2, LONG3, LONG4, LONG5]),
    ("middle", "TXT", 60, &[LONG, LONG2]),
    ("x-y", "TXT", 60, &["\"\""]),
];

/// Texts so long that five of them do not fit into a datagram, and two not into one of 512 bytes.
const LONG: &str = concat!("\"a", long!(), "\"");
const LONG2: &str = concat!("\"b", long!(), "\"");
const LONG3: &str = concat!("\"c", long!(), "\"");
const LONG4: &str = concat!("\"d", long!(), "\"");
const LONG5: &str = concat!("\"e", long!(), "\"");

/// 250 letters.
macro_rules! long {
    () => {
        "qwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiop\
         qwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiopqwertyuiop"
    };
}
use long;

/// Sets the zone in a cluster. Returns it as a zone file, with the start of authority that `member` gives.
pub(crate) fn set(cluster: &Cluster, member: SocketAddr) -> String {
    let cli = cluster.cli();
    cli.ok(&format!("zone create {ZONE} --ns ns1.{ZONE}=127.0.0.1,::1 --ns ns.example.net"));
    let mut file = format!(
        "$ORIGIN {ZONE}.\n@ 3600 NS ns1\n@ 3600 NS ns.example.net.\nns1 3600 A 127.0.0.1\nns1 3600 AAAA ::1\n"
    );
    for (name, kind, ttl, data) in RECORDS {
        let quoted: Vec<String> = data.iter().map(|data| format!("'{data}'")).collect();
        cli.ok(&format!("record set {ZONE} {name} {kind} {} --ttl {ttl}s --wait all", quoted.join(" ")));
        data.iter().for_each(|data| file.push_str(&format!("{name} {ttl} {kind} {data}\n")));
    }
    let soa = dns::ask(member, ZONE, "SOA").expect("a reply");
    let soa = soa.answers.first().expect("a zone has a start of authority");
    file.push_str(&format!("@ {} SOA {}\n", soa.ttl, soa.data));
    file
}

/// Names that there are, names between them, names that there are not, and names of others.
pub(crate) fn names() -> Vec<String> {
    let owners = RECORDS
        .iter()
        .map(|(name, ..)| if *name == "@" { ZONE.to_owned() } else { format!("{name}.{ZONE}") });
    let others = [
        "ns1",
        "a.b.c",
        "b.c",
        "c",
        "_tcp",
        "_tcp.mail",
        "2.0.192",
        "nowhere",
        "x.nowhere",
        "below.mail",
        "below.www",
        "x.a.b.c",
        "*",
        "mai",
        "aa",
    ];
    let others = others.iter().map(|name| format!("{name}.{ZONE}"));
    let foreign = [
        "waymark.test",
        "test",
        ".",
        "xstatic.waymark.test",
        "static.waymark.test.example.net",
        "example.net",
    ];
    let mut names: Vec<String> = owners.chain(others).chain(foreign.map(str::to_owned)).collect();
    names.dedup();
    names
}
