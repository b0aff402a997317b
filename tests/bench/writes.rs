//! Durable writes: three members on one machine and disk, each write acknowledged by a majority's flush.

use std::time::{Duration, Instant};

use harness::{Caller, Cluster};
use tonic::Request;
use waymark_proto::admin::v1::regions_client::RegionsClient;
use waymark_proto::admin::v1::{Region, SetRegionRequest, WriteOptions};

use crate::quantiles::Durations;
use crate::row;

pub(crate) fn measure(writes_each: u32) {
    let mut cluster = Cluster::start(3);
    let leader = cluster.leader();
    let caller = cluster.members[leader].caller();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    for clients in [1_u32, 64] {
        let writes = if clients == 1 { writes_each } else { writes_each / 4 };
        let started = Instant::now();
        let durations = runtime.block_on(write(&caller, clients, writes));
        let rate = f64::from(clients * writes) / started.elapsed().as_secs_f64();
        let what = format!("durable write, {clients} client{}", if clients == 1 { "" } else { "s" });
        row(&what, &durations.summary(), &format!("{rate:.0} writes/s, 3 members, on the leader"));
    }
}

async fn write(caller: &Caller, clients: u32, writes: u32) -> Durations {
    let tasks: Vec<_> =
        (0..clients).map(|client| tokio::spawn(write_one_by_one(caller.clone(), client, writes))).collect();
    let mut all = Durations::new();
    for task in tasks {
        all.join(&task.await.expect("a client ends well"));
    }
    all
}

async fn write_one_by_one(caller: Caller, client: u32, writes: u32) -> Durations {
    let mut regions = RegionsClient::new(caller.connect().await.expect("the leader takes connections"));
    let mut durations = Durations::new();
    for number in 0..writes {
        let region = Region {
            name: format!("client-{client}"),
            latitude: f64::from(number % 90),
            longitude: f64::from(number % 180),
            revision: 0,
        };
        // No request id: the member draws one.
        let write = WriteOptions::default();
        let mut request = Request::new(SetRegionRequest { region: Some(region), write: Some(write) });
        request.set_timeout(Duration::from_secs(10));
        let started = Instant::now();
        regions.set_region(request).await.expect("the write is taken");
        durations.add(started.elapsed());
    }
    durations
}
