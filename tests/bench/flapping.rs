//! What stays on disk of endpoints that go up and down all the time (CLU-6).

use std::path::Path;
use std::time::Instant;

use harness::Cluster;
use waymark_proto::admin::v1::OutcomeClass;

use crate::reporter::Reporter;
use crate::{bulk, row};

const PROFILES: u32 = 100;
const ENDPOINTS: u32 = 10;

/// Has each of a thousand endpoints turn so many times: 360 is an hour at an interval of 10 s.
pub(crate) fn measure(turns: u32) {
    let cluster = Cluster::start(1);
    let cli = cluster.cli();
    cli.ok(&format!("zone create {zone} --ns ns1.{zone}=127.0.0.1", zone = bulk::ZONE));
    cli.ok("region set r1 --at 1,1");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let member = cluster.members[0].caller();
    let create = bulk::create(&member, PROFILES, |nth| vec![bulk::probed(nth, ENDPOINTS)]);
    runtime.block_on(create);
    let (caller, data) = (Reporter::caller(&cluster, 0, "r1"), cluster.members[0].data());
    let (mut most, started) = (0, Instant::now());
    runtime.block_on(async {
        let mut reporter = Reporter::open(caller, "r1").await;
        for turn in 0..turns {
            let class = if turn % 2 == 0 { OutcomeClass::Refused } else { OutcomeClass::Ok };
            reporter.send(class).await;
            reporter.settled().await;
            most = most.max(bytes_in(&data));
        }
    });
    let took = started.elapsed().as_secs_f64();
    let backup = cluster.directory().join("backup");
    cli.ok(&format!("cluster backup {}", backup.display()));
    let live = std::fs::metadata(&backup).expect("the backup is there").len();
    let transitions = turns * PROFILES * ENDPOINTS;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    row(
        &format!(
            "disk of a member, at most, in {transitions} transitions of {} endpoints",
            PROFILES * ENDPOINTS
        ),
        &format!("{:.0} MiB", mib(most)),
        &format!(
            "{:.1} × the state, which takes {:.1} MiB; bound 20 × (CLU-6); {:.0} transitions/s",
            most as f64 / live as f64,
            mib(live),
            f64::from(transitions) / took
        ),
    );
}

/// What all files below `directory` hold on disk.
fn bytes_in(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
        Ok(metadata) => metadata.blocks() * 512,
        // It went meanwhile.
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
