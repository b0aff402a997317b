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
pub(crate) use limit::measure_within as measure_limit_within;

use crate::row;

/// The core of whatever is measured, and that of whoever asks.
pub(super) const SERVER_CORE: usize = 0;
const ASKER_CORE: usize = 1;

/// Rounds in which all of them take turns; the median counts.
const ROUNDS: usize = 5;

/// What of DNS is measured beside other name servers.
#[derive(clap::Args)]
pub(crate) struct Plan {
    /// Names of each kind that DNS is measured with
    #[arg(long, default_value_t = 1_000)]
    names: u32,
    /// Measure only names of this kind; may be given several times, as the next may
    #[arg(long, value_enum)]
    kind: Vec<Kind>,
    /// Measure only queries that come so
    #[arg(long, value_enum)]
    shape: Vec<Shape>,
}

impl Plan {
    fn kinds(&self) -> Vec<Kind> {
        Kind::ALL.into_iter().filter(|kind| self.kind.is_empty() || self.kind.contains(kind)).collect()
    }

    fn shapes(&self) -> impl Iterator<Item = Shape> {
        Shape::ALL.into_iter().filter(|shape| self.shape.is_empty() || self.shape.contains(shape))
    }
}

/// Somebody who answers.
struct Subject {
    name: String,
    pid: u32,
    address: SocketAddr,
    /// Which kinds it can answer.
    kinds: Vec<Kind>,
    /// The address from which its clients ask, each by its number.
    clients: fn(usize) -> Ipv4Addr,
    /// Is that what it should say?
    is_reply: fn(&[u8]) -> bool,
}

/// A reply that says something, or that there is nothing.
fn is_answer(reply: &[u8]) -> bool {
    let [_, _, flags, code, _, _, _, answers, _, authorities, ..] = *reply else { return false };
    flags & 0x84 == 0x84 && code & 0xf == 0 && answers + authorities == 1
}

fn on_loopback(_client: usize) -> Ipv4Addr {
    Ipv4Addr::LOCALHOST
}

/// Measures as `plan` says.
pub(crate) fn measure(plan: &Plan, quick: bool) {
    let time = Duration::from_millis(if quick { 200 } else { 1_500 });
    let (names, kinds) = (plan.names, plan.kinds());
    // Whoever is started has one core from the beginning, and so as many threads as that is good for.
    pin_self(SERVER_CORE);
    let (floor, floor_address) = start_floor();
    let mut subjects = vec![Subject {
        name: "bare batched echo (floor)".to_owned(),
        pid: floor.0.id(),
        address: floor_address,
        kinds: kinds.clone(),
        clients: on_loopback,
        is_reply: |_| true,
    }];
    let cluster = Cluster::start(1);
    names::create(&cluster, names, &kinds);
    subjects.push(Subject {
        name: "Waymark".to_owned(),
        pid: cluster.members[0].pid(),
        address: cluster.members[0].dns,
        kinds: kinds.clone(),
        clients: on_loopback,
        is_reply: is_answer,
    });
    let peers = peers::start(names, &kinds);
    subjects.extend(peers.iter().map(peers::Peer::subject));
    pin_self(ASKER_CORE);
    for shape in plan.shapes() {
        for kind in &kinds {
            measure_kind(shape, *kind, names, &subjects, time);
        }
    }
    if plan.kind.is_empty() && plan.shape.is_empty() {
        limit::measure(quick);
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
