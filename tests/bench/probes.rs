//! CPU time of a probe in the agent (PERF-4), beside a bare loop that does no more than it must, and beside blackbox_exporter where that
//! is installed; and whether twenty thousand endpoints are probed evenly and on time (PRB-8).

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use harness::eventually::{claim, let_pass};
use harness::{Cluster, eventually};
use tokio::runtime::Runtime;
use waymark_proto::admin::v1::{Endpoint, Monitor, Profile, Protocol, Routing};

use crate::exporter::Exporter;
use crate::farm::{self, Farm, Visit};
use crate::{bulk, cpu, row};

/// Endpoints of one profile, the most there may be.
const EACH: u32 = 200;
const INTERVAL: Duration = Duration::from_secs(10);
/// Probes by the bare loop and by the exporter.
const TURNS: u32 = 2_000;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nConnection: close\r\n\r\n";

pub(crate) fn measure(scale: u32) {
    let exporter = Exporter::start();
    // A handshake takes the far side as long, on the same two cores.
    for (protocol, profiles) in [(Protocol::Http, 10), (Protocol::Tcp, 10), (Protocol::Https, 2)] {
        let farm = Farm::start(protocol);
        let floor = (protocol != Protocol::Https).then(|| bare(protocol, farm.port()));
        let theirs = exporter.as_ref().map(|exporter| by_exporter(exporter, protocol, farm.port()));
        let (ours, visits) = by_agent(protocol, profiles * scale, &farm);
        let word = protocol.as_str_name().trim_start_matches("PROTOCOL_");
        if let Some(floor) = floor {
            row(
                &format!("{word} probe, a bare loop (floor)"),
                &micros(floor),
                &format!("{TURNS} probes, one after the other"),
            );
        }
        match theirs {
            Some(theirs) => {
                row(
                    &format!("{word} probe, blackbox_exporter"),
                    &micros(theirs),
                    &format!("{TURNS} probes, one after the other"),
                );
            }
            None => row(
                &format!("{word} probe, blackbox_exporter"),
                "not measured",
                "not installed (Debian: prometheus-blackbox-exporter)",
            ),
        }
        let beside = [("the bare loop", floor), ("blackbox_exporter", theirs)];
        let ratios = beside.map(|(who, theirs)| Some(format!("{:.2} × {who}; ", ours / theirs?)));
        let endpoints = profiles * scale * EACH;
        row(
            &format!("{word} probe, the agent: {endpoints} endpoints at {} s", INTERVAL.as_secs()),
            &micros(ours),
            &format!("{}{}", ratios.into_iter().flatten().collect::<String>(), punctuality(&visits)),
        );
    }
}

fn micros(each: f64) -> String {
    format!("{each:.1} µs CPU")
}

/// What one probe takes whoever does nothing beside: connect, ask, read the head, close.
fn bare(protocol: Protocol, port: u16) -> f64 {
    let before = cpu::of_this_thread();
    for number in 0..TURNS {
        let mut stream = TcpStream::connect((farm::address(number), port)).expect("the farm listens");
        if protocol == Protocol::Tcp {
            socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).expect("it can be set");
            continue;
        }
        stream.write_all(REQUEST).expect("the farm reads");
        let length = stream.read(&mut [0; 1_024]).expect("the farm answers");
        assert!(length > 0, "the farm answers");
    }
    cpu::micros_each(cpu::of_this_thread() - before, TURNS.into())
}

fn by_exporter(exporter: &Exporter, protocol: Protocol, port: u16) -> f64 {
    let probe = |number| exporter.probe(protocol, SocketAddr::from((farm::address(number), port)));
    (0..TURNS / 10).for_each(probe);
    let before = cpu::exact(exporter.pid()).all;
    (0..TURNS).for_each(probe);
    cpu::micros_each(cpu::exact(exporter.pid()).all - before, TURNS.into())
}

/// What one takes the agent that probes that many profiles of endpoints, and all visits in two intervals.
fn by_agent(protocol: Protocol, profiles: u32, farm: &Farm) -> (f64, Vec<Visit>) {
    let mut cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(&format!("zone create {zone} --ns ns1.{zone}=127.0.0.1", zone = bulk::ZONE));
    let runtime = Runtime::new().expect("a runtime can be made");
    let (member, port) = (cluster.members[0].caller(), farm.port());
    runtime.block_on(bulk::create(&member, profiles, move |nth| vec![profile(protocol, nth, port)]));
    let already = farm.count();
    cluster.start_agents(&["r1"]);
    let endpoints = u64::from(profiles * EACH);
    eventually("every endpoint was probed", || {
        let probed = farm.count() - already;
        claim(probed >= endpoints, format!("{probed} of {endpoints}"))
    });
    let pid = cluster.agents[0].pid();
    let (used, probed) = (cpu::exact(pid).all, farm.count());
    let_pass(2 * INTERVAL, "probes are being counted");
    let (used, visits) = (cpu::exact(pid).all - used, farm.visits());
    let counted = usize::try_from(probed).expect("it fits");
    let visits = visits[counted..].to_vec();
    (cpu::micros_each(used, visits.len() as u64), visits)
}

fn profile(protocol: Protocol, nth: u32, port: u16) -> Profile {
    let name = format!("p{nth:06}");
    let endpoint = |which: u32| Endpoint {
        name: format!("e{which}"),
        target: farm::address(nth * EACH + which).to_string(),
        ..Endpoint::default()
    };
    Profile {
        name: name.clone(),
        zone: bulk::ZONE.to_owned(),
        relative_name: name,
        routing: Routing::Weighted.into(),
        monitor: Some(Monitor {
            protocol: protocol.into(),
            port: Some(port.into()),
            interval_ms: Some(u64::try_from(INTERVAL.as_millis()).expect("it fits")),
            ..Monitor::default()
        }),
        endpoints: (0..EACH).map(endpoint).collect(),
        ..Profile::default()
    }
}

/// How full the fullest second was beside the mean, and how far a probe was at most from one interval after the one before.
fn punctuality(visits: &[Visit]) -> String {
    let Some((_, first)) = visits.first() else { return "nobody was probed".to_owned() };
    let mut seconds: HashMap<u64, usize> = HashMap::new();
    let mut last: HashMap<IpAddr, Instant> = HashMap::new();
    let mut off = Duration::ZERO;
    for (address, at) in visits {
        *seconds.entry(at.duration_since(*first).as_secs()).or_default() += 1;
        if let Some(before) = last.insert(*address, *at) {
            off = off.max(at.duration_since(before).abs_diff(INTERVAL));
        }
    }
    let fullest = seconds.values().max().copied().unwrap_or_default();
    let mean = visits.len() as f64 / (2 * INTERVAL).as_secs_f64();
    format!(
        "fullest second {:.2} × the mean; at most {} ms from its turn",
        fullest as f64 / mean,
        off.as_millis()
    )
}
