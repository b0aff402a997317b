//! Other name servers with the same names, where they are installed: gdnsd and Knot, as Debian packages them.

use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use harness::peer::{self, Running};
use harness::{ports, within};

use super::names::{ALIAS, Kind, NETWORKS, WEIGHTS, ZONE, address, label, named};
use super::{SERVER_CORE, Subject};
use crate::row;

/// A peer that runs, and its files.
pub(super) struct Peer {
    name: &'static str,
    address: SocketAddr,
    kinds: Vec<Kind>,
    process: Running,
    _dir: tempfile::TempDir,
}

impl Peer {
    pub(super) fn subject(&self) -> Subject {
        let (name, address, kinds) = (self.name.to_owned(), self.address, self.kinds.clone());
        let pid = self.process.0.id();
        Subject { name, pid, address, kinds, clients: super::on_loopback, is_reply: super::is_answer }
    }
}

/// Starts those that are installed; says of the others that they are not.
pub(super) fn start(names: u32, kinds: &[Kind]) -> Vec<Peer> {
    let all = [
        ("gdnsd", "/usr/sbin/gdnsd", gdnsd as Set, &Kind::ALL[..]),
        ("Knot", "/usr/sbin/knotd", knot, &[Kind::Static, Kind::Alias, Kind::Nodata]),
    ];
    all.into_iter()
        .map(|(name, program, set, able)| {
            let kinds: Vec<Kind> = kinds.iter().copied().filter(|kind| able.contains(kind)).collect();
            (name, program, set, kinds)
        })
        .filter(|(.., kinds)| !kinds.is_empty())
        .filter_map(|(name, program, set, kinds)| start_one(name, program, set, kinds, names))
        .collect()
}

/// How long a peer may take to load its names: minutes, where they are hundred thousands.
const LOADING_MAX: Duration = Duration::from_secs(300);

/// Writes a peer's files into a directory for an address; the arguments to start it with.
type Set = fn(&Path, SocketAddr, u32, &[Kind]) -> Vec<String>;

fn start_one(name: &'static str, program: &str, set: Set, kinds: Vec<Kind>, names: u32) -> Option<Peer> {
    if !Path::new(program).exists() {
        row(name, "not measured", "not installed");
        return None;
    }
    let dir = tempfile::tempdir().expect("a directory can be made");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
    let arguments = set(dir.path(), address, names, &kinds);
    // Pinned before it starts, so that it has one thread where it goes by the number of cores.
    let log = fs::File::create(dir.path().join("log")).expect("a file can be made");
    let child = Command::new("taskset")
        .args(["-c", &SERVER_CORE.to_string(), program])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a descriptor can be had"))
        .stderr(log)
        .spawn();
    let process = Running(child.expect("taskset is there"));
    let answers = within(LOADING_MAX, || match harness::dns::ask(address, &format!("ns1.{ZONE}"), "A") {
        Ok(reply) if !reply.answers.is_empty() => Ok(()),
        other => {
            Err(format!("{other:?}; {}", fs::read_to_string(dir.path().join("log")).unwrap_or_default()))
        }
    });
    if let Err(last) = answers {
        row(name, "not measured", &format!("it does not answer within {LOADING_MAX:?}: {last}"));
        return None;
    }
    Some(Peer { name, address, kinds, process, _dir: dir })
}

fn zone_file(names: u32, lines: impl Fn(u32) -> String) -> String {
    let mut zone =
        "@ 3600 SOA ns1 hostmaster 1 3600 600 604800 30\n@ 3600 NS ns1\nns1 3600 A 127.0.0.1\n".to_owned();
    (0..names).for_each(|nth| zone.push_str(&lines(nth)));
    zone
}

/// The lines of a name of that kind in a zone file; two kinds are plugins of gdnsd there.
fn record(kind: Kind, nth: u32) -> String {
    let name = label(kind, nth);
    match kind {
        Kind::Static | Kind::Nodata => format!("{name} 30 A {}\n", address(nth, 0)),
        Kind::Alias => format!("{name} 30 CNAME {ALIAS}.\n"),
        Kind::Weighted => format!("{name} 30 DYNA weighted!r{nth}\n"),
        Kind::Geo => format!("{name} 30 DYNA geoip!r{nth}\n"),
    }
}

fn records(kinds: &[Kind], nth: u32) -> String {
    named(kinds).into_iter().map(|kind| record(kind, nth)).collect()
}

fn gdnsd(dir: &Path, address_of: SocketAddr, names: u32, kinds: &[Kind]) -> Vec<String> {
    let mut weighted = String::new();
    let mut geo = String::new();
    // Its plugins want at least one resource.
    let resources = |kind| if kinds.contains(&kind) { names } else { 1 };
    for nth in 0..resources(Kind::Weighted) {
        let each =
            |which: u32| format!("a{which} = [ {}, {} ]", address(nth, which), WEIGHTS[which as usize]);
        let addresses = [0, 1, 2].map(each).join(" ");
        let _ = writeln!(weighted, "      r{nth} => {{ service_types = up multi = false {addresses} }}");
    }
    for nth in 0..resources(Kind::Geo) {
        let (one, other) = (address(nth, 0), address(nth, 1));
        let _ = writeln!(
            geo,
            "      r{nth} => {{ map => m dcmap => {{ one => {one} other => {other} }} service_types = up }}"
        );
    }
    let [one, other] = NETWORKS;
    let text = format!(
        "options => {{
  listen => {{ {address_of} => {{ udp_threads = 1 tcp_threads = 1 }} }}
  run_dir = \"{run}\" state_dir = \"{run}\" min_ttl = 1 zones_rfc1035_threads = 1
}}
plugins => {{
  weighted => {{
    service_types = up
{weighted}  }}
  geoip => {{
    maps => {{ m => {{ datacenters = [ one, other ] nets => {{ {one} = [ one ] {other} = [ other ] }} }} }}
    resources => {{
{geo}    }}
  }}
}}
",
        run = dir.join("run").display()
    );
    fs::create_dir_all(dir.join("run")).expect("a directory can be made");
    fs::create_dir_all(dir.join("zones")).expect("a directory can be made");
    fs::write(dir.join("config"), text).expect("a file can be written");
    let zone = zone_file(names, |nth| records(kinds, nth));
    fs::write(dir.join("zones").join(ZONE), zone).expect("a file can be written");
    vec!["-c".to_owned(), dir.display().to_string(), "start".to_owned()]
}

fn knot(dir: &Path, address_of: SocketAddr, names: u32, kinds: &[Kind]) -> Vec<String> {
    peer::knot(dir, address_of, ZONE, &zone_file(names, |nth| records(kinds, nth)))
}
