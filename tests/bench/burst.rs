//! Ten thousand endpoints that go down at once: until the last answer has changed on all members.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use harness::Cluster;
use waymark_proto::admin::v1::OutcomeClass;

use crate::reporter::Reporter;
use crate::{bulk, row};

/// Of so many names one is asked for: asking takes the members' cores.
const ASKED_OF: u32 = 10;

/// How long a member may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn measure(endpoints: u32) {
    let cluster = Cluster::start(3);
    let cli = cluster.cli();
    cli.ok(&format!("zone create {zone} --ns ns1.{zone}=127.0.0.1", zone = bulk::ZONE));
    cli.ok("region set r1 --at 1,1");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let profile = |nth| {
        let mut profile = bulk::probed(nth, 2);
        profile.endpoints[1].always_serve = Some(true);
        vec![profile]
    };
    runtime.block_on(bulk::create(&cluster.members[0].caller(), endpoints, profile));
    let caller = Reporter::caller(&cluster, 1, "r1");
    let dns: Vec<SocketAddr> = cluster.members.iter().map(|member| member.dns).collect();
    let log_before = last_log(&cluster);
    let (settled, changed) = runtime.block_on(async {
        let mut reporter = Reporter::open(caller, "r1").await;
        reporter.send(OutcomeClass::Ok).await;
        reporter.settled().await;
        let started = Instant::now();
        let watch = |member| tokio::task::spawn_blocking(move || all_changed(member, endpoints, started));
        reporter.send(OutcomeClass::Refused).await;
        reporter.settled().await;
        let settled = started.elapsed();
        let mut changed = Duration::ZERO;
        for watcher in dns.into_iter().map(watch).collect::<Vec<_>>() {
            changed = changed.max(watcher.await.expect("a watcher ends well"));
        }
        (settled, changed)
    });
    row(
        &format!("{endpoints} endpoints go down at once, 3 members: until the last changed answer"),
        &format!("{:.2} s", changed.as_secs_f64()),
        &format!(
            "committed after {:.2} s; bound 5 s; {} log entries for {} transitions",
            settled.as_secs_f64(),
            last_log(&cluster) - log_before,
            2 * endpoints
        ),
    );
}

/// How long after `started` a member answers one in so many names by its second endpoint.
fn all_changed(member: SocketAddr, endpoints: u32, started: Instant) -> Duration {
    for nth in (0..endpoints).step_by(ASKED_OF as usize) {
        while harness::dns::short(member, &bulk::name(nth), "A") != bulk::address(nth, 1) {
            assert!(
                started.elapsed() < PATIENCE,
                "{member} does not change its answer for {}",
                bulk::name(nth)
            );
        }
    }
    started.elapsed()
}

fn last_log(cluster: &Cluster) -> u64 {
    let status = cluster.status();
    status["lastLog"].as_u64().unwrap_or_else(|| panic!("no index in {status}"))
}
