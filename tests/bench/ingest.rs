//! What outcomes cost a member that say nothing new (PERF-5): agents report, as fast as they may, that everything is as it was.

use std::time::{Duration, Instant};

use harness::Cluster;
use waymark_proto::admin::v1::OutcomeClass;

use crate::reporter::Reporter;
use crate::{bulk, cpu, row};

const REGIONS: [&str; 3] = ["r1", "r2", "r3"];
const PROFILES: u32 = 2_000;
const ENDPOINTS: u32 = 10;

/// Below what one agent may send in a second, so that no limit is measured.
const SPAN_OF_ALL: Duration = Duration::from_millis(250);

/// Has each agent report each of twenty thousand endpoints so many times.
pub(crate) fn measure(rounds: u32) {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(&format!("zone create {zone} --ns ns1.{zone}=127.0.0.1", zone = bulk::ZONE));
    REGIONS.iter().for_each(|region| drop(cli.ok(&format!("region set {region} --at 1,1"))));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let member = cluster.members[0].caller();
    runtime.block_on(bulk::create(&member, PROFILES, |nth| vec![bulk::probed(nth, ENDPOINTS)]));
    let applied = || {
        let status = cluster.status();
        status["members"][0]["applied"].as_u64().expect("a member says how far it is")
    };
    let mut reporters = runtime.block_on(async {
        let mut reporters = Vec::new();
        for region in REGIONS {
            let mut reporter = Reporter::open(Reporter::caller(&cluster, 0, region), region).await;
            reporter.send(OutcomeClass::Ok).await;
            reporter.settled().await;
            reporters.push(reporter);
        }
        reporters
    });
    let pid = cluster.members[0].pid();
    let (used, entries, started) = (cpu::exact(pid).all, applied(), Instant::now());
    runtime.block_on(async {
        for _ in 0..rounds {
            let due = tokio::time::Instant::now() + SPAN_OF_ALL;
            for reporter in &mut reporters {
                reporter.send(OutcomeClass::Ok).await;
            }
            for reporter in &mut reporters {
                reporter.settled().await;
            }
            tokio::time::sleep_until(due).await;
        }
    });
    let (used, took) = (cpu::exact(pid).all - used, started.elapsed());
    let outcomes =
        u64::from(rounds) * reporters.iter().map(|reporter| reporter.endpoints() as u64).sum::<u64>();
    let entries = applied() - entries;
    row(
        "outcomes that say nothing new, for a CPU second of a member",
        &format!("{:.0}", outcomes as f64 / used.as_secs_f64()),
        &format!(
            "{outcomes} outcomes from {} agents, {:.0} a second; {entries} log entries meanwhile; bound 500000 and 0 (PERF-5)",
            REGIONS.len(),
            outcomes as f64 / took.as_secs_f64()
        ),
    );
}
