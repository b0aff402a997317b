//! CPU time of a DNS answer over UDP, beside a bare echo of the same datagrams in the same run.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Command, Stdio};
use std::time::Duration;

use harness::{Cluster, eventually, ports};

use crate::{cpu, row};

/// Queries in flight at one time: enough to keep the process under test busy, too few to overflow its socket.
const WINDOW: usize = 64;

/// Rounds in which echo and members take turns.
const ROUNDS: u64 = 4;

pub(crate) fn measure(queries: u64) {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok("zone create bench.test --ns ns1.bench.test=127.0.0.1");
    for (name, routing) in [("static", "priority"), ("shared", "weighted")] {
        cli.ok(&format!(
            "profile create {name} --zone bench.test --relative-name {name} --routing {routing}"
        ));
        for host in 1..=3 {
            cli.ok(&format!("endpoint add {name} e{host} --target 192.0.2.{host} --weight {host}"));
        }
    }
    let echo_address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()));
    let mut echo = Command::new(std::env::current_exe().expect("the system knows this executable"))
        .args(["--echo", &echo_address.to_string()])
        .stdin(Stdio::null())
        .spawn()
        .expect("this executable starts");
    eventually("the echo answers", || harness::dns::ask(echo_address, "static.bench.test", "A"));
    let member = (cluster.members[0].pid(), cluster.members[0].dns);
    let runs = [
        ("echo", (echo.id(), echo_address), "static"),
        ("priority, 3 endpoints", member, "static"),
        ("weighted, 3 endpoints", member, "shared"),
    ];
    let mut costs = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for ((_, (pid, address), name), costs) in runs.iter().zip(&mut costs) {
            costs.push(ask(*pid, *address, &format!("{name}.bench.test"), queries / ROUNDS));
        }
    }
    let _ = echo.kill();
    let _ = echo.wait();
    let medians = costs.map(median);
    row(
        "DNS over UDP, bare echo (floor)",
        &format!("{:.2} µs CPU", medians[0]),
        &format!("{queries} datagrams"),
    );
    for ((what, ..), cost) in runs.iter().zip(medians).skip(1) {
        let ratio = cost / medians[0];
        row(
            &format!("DNS over UDP, {what}"),
            &format!("{cost:.2} µs CPU"),
            &format!("{ratio:.2} × the echo"),
        );
    }
}

/// CPU microseconds that `pid` used for each of `queries`.
fn ask(pid: u32, address: SocketAddr, name: &str, queries: u64) -> f64 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket can be had on loopback");
    socket.connect(address).expect("a UDP socket can be connected");
    socket.set_read_timeout(Some(Duration::from_secs(1))).expect("a timeout can be set");
    let (_, packet) = harness::dns::packet(name, "A");
    let mut reply = [0; 1_500];
    let mut exchange = |count: u64| {
        let mut replies = 0;
        for _ in 0..count / WINDOW as u64 {
            for _ in 0..WINDOW {
                socket.send(&packet).expect("loopback takes a datagram");
            }
            for _ in 0..WINDOW {
                replies += u64::from(socket.recv(&mut reply).is_ok());
            }
        }
        replies
    };
    exchange(queries / 10);
    let before = cpu::used(pid);
    let replies = exchange(queries);
    cpu::micros_each(cpu::used(pid) - before, replies)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
