//! What was asked of every name server on the DNS flag day of 2019 and since: each form of EDNS gets a proper reply, over
//! UDP and over TCP (RFC 6891, RFC 8906; DNS-3, DNS-8, DNS-9, DNS-13).

use std::net::SocketAddr;

use harness::{Cluster, dns};

use crate::packets::{A, AA, AD, CD, DO, Opt, PLAIN_OPT, QR, Query, RA, RD, TC, Z};

const ZONE: &str = "flag.waymark.test";

const NO_ERROR: u16 = 0;
const BAD_VERSION: u16 = 16;

/// An option whose code is for experiments, with two bytes of data.
const UNKNOWN_OPTION: &[u8] = &[0xfd, 0xe9, 0, 2, 1, 2];
const SUBNET: &[u8] = &[0, 8, 0, 7, 0, 1, 24, 0, 198, 51, 100];
const COOKIE: &[u8] = b"\0\x0a\0\x08resolver";
const NSID: &[u8] = &[0, 3, 0, 0];
/// All of them together, with the time a resolver would like its connection to last.
const MANY: &[u8] = b"\0\x08\0\x07\0\x01\x18\0\xc6\x33\x64\0\x0a\0\x08resolver\0\x03\0\0\xfd\xe9\0\0";

/// One form of a question, and what is to come back.
struct Row {
    what: &'static str,
    /// The header's flags.
    flags: u16,
    opt: Option<Opt>,
    code: u16,
    /// The flags that come back beside QR.
    told: u16,
    /// The flags of OPT that come back; None if no OPT does.
    opt_told: Option<u16>,
    /// The codes of its options.
    options: &'static [u16],
}

const fn opt(version: u8, flags: u16, options: &'static [u8]) -> Option<Opt> {
    Some(Opt { version, flags, options, ..PLAIN_OPT })
}

const fn row(what: &'static str, opt: Option<Opt>, code: u16, options: &'static [u16]) -> Row {
    let opt_told = match opt {
        Some(opt) => Some(opt.flags & DO),
        None => None,
    };
    let told = if code == NO_ERROR { AA } else { 0 };
    Row { what, flags: 0, opt, code, told, opt_told, options }
}

/// For a name that has one address.
const ROWS: [Row; 19] = [
    row("dns: no EDNS", None, NO_ERROR, &[]),
    row("edns: version 0", opt(0, 0, &[]), NO_ERROR, &[]),
    row("edns1: an unknown version", opt(1, 0, &[]), BAD_VERSION, &[]),
    row("edns255: the last version", opt(255, 0, &[]), BAD_VERSION, &[]),
    row("ednsopt: an unknown option", opt(0, 0, UNKNOWN_OPTION), NO_ERROR, &[]),
    row("edns1opt: both", opt(1, 0, UNKNOWN_OPTION), BAD_VERSION, &[]),
    row("ednsflags: unknown flags", opt(0, 0x0080, &[]), NO_ERROR, &[]),
    row("all unknown flags", opt(0, 0x7fff, &[]), NO_ERROR, &[]),
    row("edns1flags: a version and flags", opt(1, 0x0080, &[]), BAD_VERSION, &[]),
    row("do: DNSSEC wanted", opt(0, DO, &[]), NO_ERROR, &[]),
    row("do and unknown flags", opt(0, DO | 0x4001, &[]), NO_ERROR, &[]),
    row("edns1do: a version and DNSSEC", opt(1, DO, &[]), BAD_VERSION, &[]),
    row("ednsnsid: who answers", opt(0, 0, NSID), NO_ERROR, &[3]),
    row("ednscookie: a cookie", opt(0, 0, COOKIE), NO_ERROR, &[10]),
    row("ednssubnet: a client subnet", opt(0, 0, SUBNET), NO_ERROR, &[8]),
    row("ednslist: many options", opt(0, DO, MANY), NO_ERROR, &[3, 8, 10]),
    row("edns1list: many options of an unknown version", opt(1, DO, MANY), BAD_VERSION, &[]),
    Row {
        flags: RD | AD | CD | Z | RA,
        told: AA | RD | CD,
        ..row("flags: those of the header", None, NO_ERROR, &[])
    },
    Row { flags: RD | AD, told: AA | RD, ..row("flags beside EDNS", opt(0, DO, &[]), NO_ERROR, &[]) },
];

/// A member with one name of one address, and one of 60.
fn member() -> (Cluster, SocketAddr) {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(&format!("zone create {ZONE} --ns ns1.{ZONE}=127.0.0.1"));
    cli.ok(&format!("record set {ZONE} one A 192.0.2.1"));
    let many: Vec<String> = (1..=60).map(|nth| format!("192.0.2.{nth}")).collect();
    cli.ok(&format!("record set {ZONE} many A {} --wait all", many.join(" ")));
    let address = cluster.members[0].dns;
    // Cookies come with a secret, which the leader draws.
    harness::eventually("the cluster has a secret", || {
        let query = Query { opt: opt(0, 0, COOKIE), ..Query::new(&format!("one.{ZONE}"), A) };
        let options = query.ask(address, false)?.options();
        harness::eventually::claim(options == [10], format!("{options:?}"))
    });
    (cluster, address)
}

/// DNS-3, DNS-9, DNS-13, F-DNS-24.
#[test]
fn dns_9_every_form_of_the_flag_day_gets_its_reply() {
    let (_cluster, member) = member();
    let name = format!("one.{ZONE}");
    for row in &ROWS {
        let query = Query { flags: row.flags, opt: row.opt, ..Query::new(&name, A) };
        for over_tcp in [false, true] {
            let told = format!("{}, {}", row.what, if over_tcp { "TCP" } else { "UDP" });
            let reply = query.ask(member, over_tcp).unwrap_or_else(|error| panic!("{told}: {error}"));
            let found = (reply.code(), reply.flags(), reply.opt());
            let opt = row.opt_told.map(|flags| (1_232, 0, flags));
            assert_eq!(found, (row.code, QR | row.told, opt), "{told}");
            let mut options = reply.options();
            options.sort_unstable();
            assert_eq!(options, row.options, "{told}");
            let answers = u16::from(row.code == NO_ERROR);
            assert_eq!(reply.counts(), [answers, 0, u16::from(opt.is_some())], "{told}");
        }
    }
}

/// DNS-8, F-DNS-11, F-DNS-12: `edns512tcp` and its like. An answer of 60 addresses, by the size that the asker takes.
#[test]
fn dns_8_what_is_too_long_says_so_and_is_whole_over_tcp() {
    let (_cluster, member) = member();
    let name = format!("many.{ZONE}");
    let sized = |size| Some(Opt { size, ..PLAIN_OPT });
    for (opt, fits) in [
        (None, false),
        (sized(0), false),
        (sized(100), false),
        (sized(512), false),
        (sized(700), false),
        (sized(1_232), true),
        (sized(4_096), true),
        (sized(65_535), true),
        (Some(Opt { size: 512, flags: DO, options: SUBNET, ..PLAIN_OPT }), false),
    ] {
        let query = Query { opt, flags: RD, ..Query::new(&name, A) };
        let (cut, whole) = (query.ask(member, false).unwrap(), query.ask(member, true).unwrap());
        let (opts, most) = (u16::from(opt.is_some()), opt.map_or(512, |opt| opt.size.clamp(512, 1_232)));
        assert!(cut.bytes.len() <= most.into(), "{} bytes with {opt:?}", cut.bytes.len());
        let expected = if fits { (AA, [60, 0, opts]) } else { (AA | TC, [0, 0, opts]) };
        assert_eq!((cut.flags(), cut.counts()), (QR | RD | expected.0, expected.1), "{opt:?}");
        assert_eq!(cut.message.queries, whole.message.queries, "the question stays with {opt:?}");
        assert_eq!((whole.flags(), whole.counts()), (QR | RD | AA, [60, 0, opts]), "over TCP with {opt:?}");
    }
}

/// F-DNS-22, DNS-14: whoever asks with `dig` over TCP after TC gets the same as at once.
#[test]
fn dns_14_a_plain_client_over_tcp_gets_the_whole() {
    let (_cluster, member) = member();
    let reply = dns::ask_tcp(member, &format!("many.{ZONE}"), "A").unwrap();
    assert_eq!((reply.answers.len(), reply.metadata.truncation), (60, false));
}
