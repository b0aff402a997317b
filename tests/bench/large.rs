//! A large state: what it takes of a member's memory (PERF-7), and how long a member takes to come back with it (CLU-3).

use std::time::Instant;

use harness::{Cluster, eventually};
use waymark_proto::admin::v1::OutcomeClass;

use crate::reporter::Reporter;
use crate::{bulk, row};

const REGIONS: [&str; 3] = ["r1", "r2", "r3"];
const ENDPOINTS: u32 = 3;

pub(crate) fn measure(profiles: u32) {
    let mut cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(&format!("zone create {zone} --ns ns1.{zone}=127.0.0.1", zone = bulk::ZONE));
    REGIONS.iter().for_each(|region| drop(cli.ok(&format!("region set {region} --at 1,1"))));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let member = cluster.members[0].caller();
    let create = bulk::create(&member, profiles, |nth| vec![bulk::probed(nth, ENDPOINTS)]);
    runtime.block_on(create);
    for region in REGIONS {
        let caller = Reporter::caller(&cluster, 0, region);
        runtime.block_on(async {
            let mut reporter = Reporter::open(caller, region).await;
            assert_eq!(reporter.endpoints(), (profiles * ENDPOINTS) as usize, "all of them are probed");
            reporter.send(OutcomeClass::Ok).await;
            reporter.settled().await;
        });
    }
    let what =
        format!("{profiles} profiles, {ENDPOINTS} endpoints each, seen from {} regions", REGIONS.len());
    let memory = |cluster: &Cluster| format!("{} MiB", resident_mib(cluster.members[0].pid()));
    row(&format!("memory of a member: {what}"), &memory(&cluster), "bound 600 MiB (PERF-7)");
    cluster.members[0].kill();
    let started = Instant::now();
    cluster.members[0].start();
    let (dns, last) = (cluster.members[0].dns, bulk::name(profiles - 1));
    eventually("the last name is answered", || {
        match harness::dns::short(dns, &last, "A") == bulk::address(profiles - 1, 0) {
            true => Ok(()),
            false => Err("it is not".to_owned()),
        }
    });
    let answered = started.elapsed();
    cluster.members[0].ready();
    row(
        &format!("from the start after kill -9 to the first answer: {what}"),
        &format!("{:.2} s", answered.as_secs_f64()),
        &format!("ready after {:.2} s; bound 5 s (CLU-3)", started.elapsed().as_secs_f64()),
    );
    row("memory of that member then", &memory(&cluster), "");
}

/// What the system holds in memory for the process `pid`.
fn resident_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the system says it");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib / 1024
}
