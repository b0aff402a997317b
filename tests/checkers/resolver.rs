//! Unbound in front of a cluster, as strict as it gets: it asks for one label after the other, in letters of mixed case that
//! must come back, and takes nothing that it did not ask for. What it resolves is what was configured (F-DNS-01, F-DNS-10).

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use harness::eventually::claim;
use harness::peer::{self, Running};
use harness::{Cluster, eventually, ports};

use crate::packets::{PLAIN_OPT, Query, RD, lines};

/// A zone of the cluster, and one nested in it, to which nothing is delegated: resolvers have to be told of both.
const ZONE: &str = "tm.waymark.test";
const NESTED: &str = "eu.tm.waymark.test";
/// A zone that is not the cluster's, which aliases lead to.
const ELSEWHERE: &str = "edge.example";

const NX_DOMAIN: u16 = 3;
const TYPES: [(&str, u16); 8] =
    [("A", 1), ("NS", 2), ("CNAME", 5), ("SOA", 6), ("MX", 15), ("TXT", 16), ("AAAA", 28), ("HTTPS", 65)];

/// What a name comes to.
enum Expected {
    /// These records and no others, as many as there are; owner, type and data, the last ones of a chain.
    All(&'static [&'static str]),
    /// So many of these.
    Of(usize, &'static [&'static str]),
    /// The name has none of this type.
    Nothing,
    /// There is no such name.
    Missing,
}
use Expected::{All, Missing, Nothing, Of};

/// What stands in the cluster.
const COMMANDS: [&str; 45] = [
    "zone create tm.waymark.test --ns ns1.tm.waymark.test=127.0.0.53 --ns ns2.tm.waymark.test=127.0.0.54",
    "zone create eu.tm.waymark.test --ns ns1.eu.tm.waymark.test=127.0.0.55",
    "region set near --at 50,8",
    "region set far --at -30,150",
    "profile create first --zone tm.waymark.test --relative-name first --routing priority",
    "endpoint add first a --target 192.0.2.1 --priority 1",
    "endpoint add first b --target 192.0.2.2 --priority 2",
    "endpoint add first six --target 2001:db8::1 --priority 3",
    "profile create share --zone tm.waymark.test --relative-name share --routing weighted",
    "endpoint add share a --target 192.0.2.11 --weight 1",
    "endpoint add share b --target 192.0.2.12 --weight 3",
    "profile create close --zone tm.waymark.test --relative-name close.by --routing performance",
    "endpoint add close a --target 192.0.2.21 --location near",
    "profile create place --zone tm.waymark.test --relative-name place --routing geographic",
    "endpoint add place world --target 192.0.2.31 --geo WORLD",
    "endpoint add place eu --target 192.0.2.32 --geo GEO-EU",
    "profile create many --zone tm.waymark.test --relative-name many --routing multivalue --max-return 3",
    "endpoint add many a --target 192.0.2.41",
    "endpoint add many b --target 192.0.2.42",
    "endpoint add many c --target 192.0.2.43",
    "endpoint add many d --target 192.0.2.44",
    "profile create net --zone tm.waymark.test --relative-name net --routing subnet",
    "endpoint add net here --target 192.0.2.51 --subnet 127.0.0.0/8",
    "endpoint add net rest --target 192.0.2.52",
    "profile create deep --zone tm.waymark.test --relative-name v1.api.deep.down --routing priority",
    "endpoint add deep a --target 192.0.2.61",
    "profile create out --zone tm.waymark.test --relative-name out --routing priority",
    "endpoint add out edge --target www.edge.example",
    "profile create alias --zone tm.waymark.test --relative-name alias --routing priority",
    "endpoint add alias in --target first.tm.waymark.test",
    "profile create chain --zone tm.waymark.test --relative-name chain --routing priority",
    "endpoint add chain in --target alias.tm.waymark.test",
    "profile create both --zone tm.waymark.test --relative-name both --routing priority",
    "endpoint add both parent --nested first",
    "profile create apex --zone eu.tm.waymark.test --relative-name @ --routing priority",
    "endpoint add apex a --target 192.0.2.71",
    "profile create web-eu --zone eu.tm.waymark.test --relative-name web --routing priority",
    "endpoint add web-eu a --target first.tm.waymark.test",
    "record set tm.waymark.test @ MX '10 mail.tm.waymark.test' '20 mx.edge.example'",
    "record set tm.waymark.test @ TXT '\"v=spf1 mx -all\"'",
    "record set tm.waymark.test mail A 192.0.2.81",
    "record set tm.waymark.test www CNAME chain.tm.waymark.test",
    "record set tm.waymark.test far CNAME out.tm.waymark.test",
    "record set tm.waymark.test gone CNAME nowhere.tm.waymark.test",
    "record set tm.waymark.test a.b.c.d.e TXT '\"at the bottom\"' --wait all",
];

/// What Unbound is to resolve.
const TABLE: [(&str, &str, Expected); 52] = [
    ("tm.waymark.test", "SOA", Of(1, &[])),
    ("tm.waymark.test", "NS", All(&["ns1.tm.waymark.test.", "ns2.tm.waymark.test."])),
    ("tm.waymark.test", "MX", All(&["10 mail.tm.waymark.test.", "20 mx.edge.example."])),
    ("tm.waymark.test", "TXT", All(&["v=spf1 mx -all"])),
    ("tm.waymark.test", "A", Nothing),
    ("ns1.tm.waymark.test", "A", All(&["127.0.0.53"])),
    ("ns2.tm.waymark.test", "AAAA", Nothing),
    ("first.tm.waymark.test", "A", All(&["192.0.2.1"])),
    ("first.tm.waymark.test", "AAAA", All(&["2001:db8::1"])),
    ("first.tm.waymark.test", "TXT", Nothing),
    ("x.first.tm.waymark.test", "A", Missing),
    ("share.tm.waymark.test", "A", Of(1, &["192.0.2.11", "192.0.2.12"])),
    ("share.tm.waymark.test", "AAAA", Nothing),
    ("close.by.tm.waymark.test", "A", All(&["192.0.2.21"])),
    ("by.tm.waymark.test", "A", Nothing),
    ("by.tm.waymark.test", "NS", Nothing),
    ("place.tm.waymark.test", "A", All(&["192.0.2.31"])),
    ("place.tm.waymark.test", "HTTPS", Nothing),
    ("many.tm.waymark.test", "A", Of(3, &["192.0.2.41", "192.0.2.42", "192.0.2.43", "192.0.2.44"])),
    ("net.tm.waymark.test", "A", All(&["192.0.2.51"])),
    ("v1.api.deep.down.tm.waymark.test", "A", All(&["192.0.2.61"])),
    ("v1.api.deep.down.tm.waymark.test", "AAAA", Nothing),
    ("api.deep.down.tm.waymark.test", "A", Nothing),
    ("deep.down.tm.waymark.test", "TXT", Nothing),
    ("down.tm.waymark.test", "MX", Nothing),
    ("v2.api.deep.down.tm.waymark.test", "A", Missing),
    ("out.tm.waymark.test", "A", All(&["192.0.2.91"])),
    ("out.tm.waymark.test", "CNAME", All(&["www.edge.example."])),
    ("out.tm.waymark.test", "MX", Nothing),
    ("alias.tm.waymark.test", "A", All(&["192.0.2.1"])),
    ("alias.tm.waymark.test", "AAAA", All(&["2001:db8::1"])),
    ("alias.tm.waymark.test", "TXT", Nothing),
    ("chain.tm.waymark.test", "A", All(&["192.0.2.1"])),
    ("both.tm.waymark.test", "A", All(&["192.0.2.1"])),
    ("eu.tm.waymark.test", "A", All(&["192.0.2.71"])),
    ("eu.tm.waymark.test", "NS", All(&["ns1.eu.tm.waymark.test."])),
    ("eu.tm.waymark.test", "MX", Nothing),
    ("web.eu.tm.waymark.test", "A", All(&["192.0.2.1"])),
    ("nope.eu.tm.waymark.test", "A", Missing),
    ("mail.tm.waymark.test", "A", All(&["192.0.2.81"])),
    ("mail.tm.waymark.test", "AAAA", Nothing),
    ("www.tm.waymark.test", "A", All(&["192.0.2.1"])),
    ("www.tm.waymark.test", "CNAME", All(&["chain.tm.waymark.test."])),
    ("far.tm.waymark.test", "A", All(&["192.0.2.91"])),
    ("gone.tm.waymark.test", "A", Missing),
    ("a.b.c.d.e.tm.waymark.test", "TXT", All(&["at the bottom"])),
    ("a.b.c.d.e.tm.waymark.test", "A", Nothing),
    ("c.d.e.tm.waymark.test", "A", Nothing),
    ("e.tm.waymark.test", "NS", Nothing),
    ("z.c.d.e.tm.waymark.test", "A", Missing),
    ("nowhere.tm.waymark.test", "A", Missing),
    ("deep.below.nowhere.tm.waymark.test", "AAAA", Missing),
];

/// An Unbound of its own, whose cache is empty, that asks these members.
fn start(directory: &Path, members: &[SocketAddr]) -> (Running, SocketAddr) {
    let program = peer::installed("unbound", "unbound");
    fs::create_dir_all(directory).unwrap();
    let elsewhere = format!(
        "$ORIGIN {ELSEWHERE}.\n@ 60 SOA ns hostmaster 1 3600 600 604800 60\n@ 60 NS ns\nns 60 A 127.0.0.1\nwww 60 A 192.0.2.91\n"
    );
    fs::write(directory.join("elsewhere"), elsewhere).unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
    let addresses: String =
        members.iter().map(|member| format!("  stub-addr: {}@{}\n", member.ip(), member.port())).collect();
    let config = format!(
        "server:
  directory: \"{dir}\"
  chroot: \"\"
  username: \"\"
  pidfile: \"\"
  use-syslog: no
  logfile: \"\"
  do-daemonize: no
  num-threads: 1
  do-ip6: no
  interface: {ip}@{port}
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  module-config: \"iterator\"
  qname-minimisation: yes
  qname-minimisation-strict: yes
  use-caps-for-id: yes
  harden-glue: yes
  harden-short-bufsize: yes
  harden-large-queries: yes
  harden-below-nxdomain: yes
  harden-referral-path: yes
  harden-algo-downgrade: yes
  harden-dnssec-stripped: yes
  local-zone: \"test.\" nodefault
remote-control:
  control-enable: no
stub-zone:
  name: \"{ZONE}\"
  stub-prime: no
{addresses}stub-zone:
  name: \"{NESTED}\"
  stub-prime: no
{addresses}auth-zone:
  name: \"{ELSEWHERE}\"
  zonefile: \"{dir}/elsewhere\"
  for-downstream: no
  for-upstream: yes
  fallback-enabled: no
",
        dir = directory.display(),
        ip = address.ip(),
        port = address.port(),
    );
    let path = directory.join("unbound.conf");
    fs::write(&path, config).unwrap();
    let running =
        Running::start(&program, &["-d".into(), "-c".into(), path.display().to_string()], directory);
    eventually("Unbound answers", || {
        resolve(address, &format!("www.{ELSEWHERE}"), "A")
            .map_err(|error| format!("{error}; {}", fs::read_to_string(directory.join("log")).unwrap()))
    });
    (running, address)
}

/// The response code, and the data of all records of the type asked for.
fn resolve(resolver: SocketAddr, name: &str, kind: &str) -> Result<(u16, Vec<String>), String> {
    let (_, number) = TYPES.iter().find(|(word, _)| *word == kind).expect("the type is in the list");
    let reply =
        Query { flags: RD, opt: Some(PLAIN_OPT), ..Query::new(name, *number) }.ask(resolver, false)?;
    let marker = format!(" in {} ", kind.to_lowercase());
    let answers = lines(&reply.message.answers);
    let data = answers.iter().filter_map(|line| line.split_once(&marker)).map(|(_, data)| data.to_owned());
    Ok((reply.code(), data.collect()))
}

/// How often a stub asks: a resolver that meets a dead server for the first time waits for it longer than we wait for a reply.
const ATTEMPTS: usize = 4;

/// The same, asked again while no reply comes.
fn resolve_as_a_stub_does(
    resolver: SocketAddr,
    name: &str,
    kind: &str,
) -> Result<(u16, Vec<String>), String> {
    let mut found = resolve(resolver, name, kind);
    for _ in 1..ATTEMPTS {
        if found.is_ok() {
            break;
        }
        found = resolve(resolver, name, kind);
    }
    found
}

fn judge(expected: &Expected, found: &(u16, Vec<String>)) -> Result<(), String> {
    let (code, data) = found;
    let fits = match expected {
        All(all) => *code == 0 && data.iter().map(String::as_str).eq(all.iter().copied()),
        Of(count, all) => {
            *code == 0
                && data.len() == *count
                && data.iter().all(|data| all.is_empty() || all.contains(&data.as_str()))
        }
        Nothing => *code == 0 && data.is_empty(),
        Missing => *code == NX_DOMAIN,
    };
    claim(fits, format!("{found:?}"))
}

/// What is not as expected through this resolver.
fn faults(resolver: SocketAddr) -> Vec<String> {
    let judged = TABLE.iter().filter_map(|(name, kind, expected)| {
        let found = resolve_as_a_stub_does(resolver, name, kind);
        let judged = found.and_then(|found| judge(expected, &found));
        judged.err().map(|error| format!("{name} {kind}: {error}"))
    });
    judged.collect()
}

/// DNS-3, DNS-5, DNS-6, DNS-17, F-DNS-01, F-DNS-07, F-DNS-10: every kind of name through a strict resolver, and again when one
/// of its three members is gone and nothing is cached.
#[test]
#[ignore = "needs Debian's package unbound: make checkers"]
fn dns_5_a_strict_resolver_finds_every_name_also_with_a_member_gone() {
    let mut cluster = Cluster::start(3);
    let cli = cluster.cli();
    COMMANDS.iter().for_each(|command| drop(cli.ok(command)));
    let members: Vec<SocketAddr> = cluster.members.iter().map(|member| member.dns).collect();
    let directory = cluster.directory().join("unbound-1");
    let (_all, resolver) = start(&directory, &members);
    let found = faults(resolver);
    assert!(found.is_empty(), "{}", found.join("\n"));
    // Each member by itself, so that none hides behind the others.
    for (nth, member) in members.iter().enumerate() {
        let (_one, resolver) =
            start(&cluster.directory().join(format!("unbound-of-m{}", nth + 1)), &[*member]);
        let found = faults(resolver);
        assert!(found.is_empty(), "m{}:\n{}", nth + 1, found.join("\n"));
    }
    cluster.members[1].kill();
    let (_rest, resolver) = start(&cluster.directory().join("unbound-2"), &members);
    let found = faults(resolver);
    assert!(found.is_empty(), "with a member gone:\n{}", found.join("\n"));
}
