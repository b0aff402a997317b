//! CPU time of an HTTP probe in the agent.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use harness::eventually::{claim, let_pass};
use harness::{Cluster, FakeEndpoint, eventually, ports};

use crate::{cpu, row};

const ENDPOINTS: u8 = 200;

pub(crate) fn measure(scale: u32) {
    let mut cluster = Cluster::start(1);
    let port = ports::free();
    let address = |host| SocketAddr::from((Ipv4Addr::new(127, 0, 200, host), port));
    let endpoints: Vec<FakeEndpoint> =
        (1..=ENDPOINTS).map(|host| FakeEndpoint::http(address(host))).collect();
    let cli = cluster.cli();
    cli.ok("zone create bench.test --ns ns1.bench.test=127.0.0.1");
    cli.ok(&format!(
        "profile create web --zone bench.test --relative-name web --routing priority --port {port} --interval 1s"
    ));
    for endpoint in &endpoints {
        cli.ok(&format!("endpoint add web e{0} --target {0}", endpoint.ip()));
    }
    cluster.start_agents(&["r1"]);
    let requests = || endpoints.iter().map(FakeEndpoint::requests).sum::<u64>();
    eventually("every endpoint was probed", || {
        let unprobed = endpoints.iter().filter(|endpoint| endpoint.requests() == 0).count();
        claim(unprobed == 0, format!("{unprobed} are not"))
    });
    let pid = cluster.agents[0].pid();
    let (used, probed) = (cpu::used(pid), requests());
    let_pass(Duration::from_secs(u64::from(2 * scale)), "probes are being counted");
    let (used, probed) = (cpu::used(pid) - used, requests() - probed);
    let each = cpu::micros_each(used, probed);
    row("agent, HTTP probe", &format!("{each:.0} µs CPU"), &format!("{probed} probes, 200 a second"));
}
