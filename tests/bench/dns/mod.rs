//! `make bench-dns`: what a DNS answer over UDP costs, beside gdnsd and Knot with the same names and beside a bare batched
//! echo, all in the same rounds. Servers have one core to themselves, the asker another.

mod asker;
mod floor;
mod limit;
mod names;
mod peers;

use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::time::Duration;

use harness::peer::Running;
use harness::{Cluster, eventually, ports};
use rustix::thread::{CpuSet, sched_setaffinity};

use self::asker::{Load, Shape};
use self::names::{Kind, packets};
pub(crate) use floor::serve as serve_floor;
pub(crate) use limit::{measure as measure_limit, measure_within as measure_limit_within};

use crate::row;

/// The core of whatever is measured, and that of whoever asks.
pub(super) const SERVER_CORE: usize = 0;
const ASKER_CORE: usize = 1;

/// Rounds in which all of them take turns; the median counts.
const ROUNDS: usize = 5;

/// Somebody who answers.
struct Subject {
    name: String,
    pid: u32,
    address: SocketAddr,
    /// Which kinds it can answer.
    kinds: Vec<Kind>,
    /// The address from which its clients ask, each by its number.
    clients: fn(usize) -> Ipv4Addr,
}

fn on_loopback(_client: usize) -> Ipv4Addr {
    Ipv4Addr::LOCALHOST
}

/// Measures with `names` names of each kind.
pub(crate) fn measure(names: u32, quick: bool) {
    let time = Duration::from_millis(if quick { 200 } else { 1_500 });
    // Whoever is started has one core from the beginning, and so as many threads as that is good for.
    pin_self(SERVER_CORE);
    let (floor, floor_address) = start_floor();
    let mut subjects = vec![Subject {
        name: "bare batched echo (floor)".to_owned(),
        pid: floor.0.id(),
        address: floor_address,
        kinds: Kind::ALL.to_vec(),
        clients: on_loopback,
    }];
    let cluster = Cluster::start(1);
    names::create(&cluster, names);
    subjects.push(Subject {
        name: "Waymark".to_owned(),
        pid: cluster.members[0].pid(),
        address: cluster.members[0].dns,
        kinds: Kind::ALL.to_vec(),
        clients: on_loopback,
    });
    let peers = peers::start(names);
    subjects.extend(peers.iter().map(peers::Peer::subject));
    pin_self(ASKER_CORE);
    for shape in Shape::ALL {
        for kind in Kind::ALL {
            measure_kind(shape, kind, names, &subjects, time);
        }
    }
}

fn measure_kind(shape: Shape, kind: Kind, names: u32, subjects: &[Subject], time: Duration) {
    let packets = packets(kind, names);
    let subjects: Vec<&Subject> = subjects.iter().filter(|subject| subject.kinds.contains(&kind)).collect();
    let mut loads: Vec<Vec<Load>> = subjects.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for (subject, loads) in subjects.iter().zip(&mut loads) {
            loads.push(asker::ask(shape, subject, &packets, time));
        }
    }
    let floor = median(loads[0].iter().map(|load| load.cpu_micros));
    for (subject, loads) in subjects.iter().zip(&loads) {
        let of = |value: fn(&Load) -> f64| median(loads.iter().map(value));
        let cpu = of(|load| load.cpu_micros);
        let lost: u64 = loads.iter().map(|load| load.lost).sum();
        row(
            &format!("{} of {names} names, {}: {}", kind.word(), shape.word(), subject.name),
            &format!(
                "{cpu:.2} µs CPU, {:.2} × the floor, {:.2} µs of it its own",
                cpu / floor,
                of(|load| load.user_micros)
            ),
            &format!(
                "{:.0}/s, p50 {:.0} µs, p99 {:.0} µs, {lost} lost",
                of(|load| load.per_second),
                of(|load| load.p50_micros),
                of(|load| load.p99_micros)
            ),
        );
    }
}

fn start_floor() -> (Running, SocketAddr) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
    let child = Command::new(std::env::current_exe().expect("the system knows this executable"))
        .args(["--floor", &address.to_string()])
        .stdin(Stdio::null())
        .spawn()
        .expect("this executable starts");
    eventually("the echo answers", || harness::dns::ask(address, "a.test", "A"));
    (Running(child), address)
}

/// This thread, and what it starts from now on.
fn pin_self(core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core);
    // On a machine with one core there is nowhere else to go.
    let _ = sched_setaffinity(None, &cores);
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
