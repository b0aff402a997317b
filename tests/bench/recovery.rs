//! How long a cluster takes no writes: after its leader's kill -9, and after the kill -9 of all its members.

use std::time::{Duration, Instant};

use harness::{Caller, Cluster, Member, eventually};
use tokio::runtime::Runtime;
use tonic::Request;
use waymark_proto::admin::v1::regions_client::RegionsClient;
use waymark_proto::admin::v1::{Region, SetRegionRequest, WriteOptions};

use crate::quantiles::Durations;
use crate::row;

/// Writes before each kill, so that there is a log to come back with.
const WRITES_BEFORE: u32 = 50;

pub(crate) fn measure(rounds: u32) {
    let mut cluster = Cluster::start(3);
    let runtime = Runtime::new().expect("a runtime can be made");
    let (mut leader, mut all) = (Durations::new(), Durations::new());
    for round in 0..rounds {
        leader.add(without_leader(&mut cluster, &runtime, round));
        all.add(without_members(&mut cluster, &runtime, round));
    }
    let remarks = |bound: &str| format!("{rounds} kills, 3 members, bound {bound}");
    row("writes resume after kill -9 of the leader", &leader.summary(), &remarks("3 s (CLU-8)"));
    row("leads again after kill -9 of all", &all.summary(), &remarks("5 s, starting the processes included"));
}

/// From the leader's kill to the first write that a survivor acknowledges.
fn without_leader(cluster: &mut Cluster, runtime: &Runtime, round: u32) -> Duration {
    let leader = cluster.leader();
    let survivor = cluster.members[(leader + 1) % cluster.members.len()].caller();
    for number in 0..WRITES_BEFORE {
        runtime.block_on(write(&survivor, number)).expect("a healthy cluster takes writes");
    }
    cluster.members[leader].kill();
    let resumed = until_written(runtime, &survivor, round);
    cluster.members[leader].start();
    cluster.members.iter_mut().for_each(Member::ready);
    resumed
}

/// From the kill of all members, each started again at once, to the first acknowledged write.
fn without_members(cluster: &mut Cluster, runtime: &Runtime, round: u32) -> Duration {
    let caller = cluster.members[0].caller();
    for number in 0..WRITES_BEFORE {
        runtime.block_on(write(&caller, number)).expect("a healthy cluster takes writes");
    }
    cluster.members.iter_mut().for_each(Member::kill);
    let killed = Instant::now();
    cluster.members.iter_mut().for_each(Member::start);
    until_written(runtime, &caller, round);
    let led = killed.elapsed();
    cluster.members.iter_mut().for_each(Member::ready);
    led
}

fn until_written(runtime: &Runtime, caller: &Caller, round: u32) -> Duration {
    let started = Instant::now();
    eventually("a write is acknowledged", || runtime.block_on(write(caller, round)));
    started.elapsed()
}

async fn write(caller: &Caller, number: u32) -> Result<(), String> {
    let mut regions = RegionsClient::new(caller.connect().await?);
    let region =
        Region { name: "spare".to_owned(), latitude: f64::from(number % 90), longitude: 0.0, revision: 0 };
    let mut request =
        Request::new(SetRegionRequest { region: Some(region), write: Some(WriteOptions::default()) });
    request.set_timeout(Duration::from_millis(500));
    regions.set_region(request).await.map(drop).map_err(|status| status.to_string())
}
