//! Durable writes (PERF-6): three members on one machine and disk, each write acknowledged by a majority's flush; in turns with etcd,
//! where it is installed.

use std::time::{Duration, Instant};

use harness::etcd::{self, Etcd};
use harness::{Caller, Cluster};
use tokio::runtime::Runtime;
use tonic::Request;
use waymark_proto::admin::v1::records_client::RecordsClient;
use waymark_proto::admin::v1::{RecordSet, SetRecordSetRequest, WriteOptions};

use crate::quantiles::Durations;
use crate::row;

/// What each write brings.
const BYTES: usize = 256;
const ZONE: &str = "bench.test";
/// Rounds in which both take turns; the median counts.
const ROUNDS: usize = 5;

pub(crate) fn measure(writes_each: u32) {
    let mut cluster = Cluster::start(3);
    cluster.cli().ok(&format!("zone create {ZONE} --ns ns1.{ZONE}=127.0.0.1"));
    let leader = cluster.leader();
    let caller = cluster.members[leader].caller();
    let runtime = Runtime::new().expect("a runtime can be made");
    let etcd = Etcd::start().map(|etcd| (etcd.leader().expect("one leads"), etcd));
    for clients in [1_u32, 64] {
        let writes = if clients == 1 { writes_each } else { writes_each / 4 } / ROUNDS as u32;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(load(&runtime, clients, writes, |nth| write_ours(caller.clone(), nth, writes)));
            if let Some((leader, etcd)) = &etcd {
                let client = || etcd.client(*leader);
                theirs.push(load(&runtime, clients, writes, |nth| write_theirs(client(), nth, writes)));
            }
        }
        let what = format!(
            "durable write of {BYTES} bytes, {clients} client{}",
            if clients == 1 { "" } else { "s" }
        );
        show(&format!("{what}: Waymark"), ours, "TLS, the audit trail");
        match theirs.is_empty() {
            true => row(&format!("{what}: etcd"), "not measured", "not installed (Debian: etcd-server)"),
            false => show(&format!("{what}: etcd"), theirs, "no TLS"),
        }
    }
}

/// What one round came to.
struct Load {
    durations: Durations,
    per_second: f64,
}

fn show(what: &str, mut rounds: Vec<Load>, remarks: &str) {
    rounds.sort_by(|one, other| one.per_second.total_cmp(&other.per_second));
    let (least, most) = (rounds[0].per_second, rounds[rounds.len() - 1].per_second);
    let median = &rounds[rounds.len() / 2];
    let rate = format!("{:.0} writes/s ({least:.0} to {most:.0})", median.per_second);
    row(what, &median.durations.summary(), &format!("{rate}, 3 members, on the leader; {remarks}"));
}

fn load<W>(runtime: &Runtime, clients: u32, writes: u32, client: impl Fn(u32) -> W) -> Load
where
    W: Future<Output = Durations> + Send + 'static,
{
    let _within = runtime.enter();
    let started = Instant::now();
    let tasks: Vec<_> = (0..clients).map(|nth| runtime.spawn(client(nth))).collect();
    let mut durations = Durations::new();
    for task in tasks {
        durations.join(&runtime.block_on(task).expect("a client ends well"));
    }
    Load { durations, per_second: f64::from(clients * writes) / started.elapsed().as_secs_f64() }
}

async fn write_ours(caller: Caller, client: u32, writes: u32) -> Durations {
    let mut records = RecordsClient::new(caller.connect().await.expect("the leader takes connections"));
    let mut durations = Durations::new();
    for number in 0..writes {
        let text = format!("\"{number:0>224}\"");
        let record_set = RecordSet {
            zone: ZONE.to_owned(),
            relative_name: format!("client-{client}"),
            r#type: "TXT".to_owned(),
            // Zone, name, type and number make up the rest.
            data: vec![text],
            ..RecordSet::default()
        };
        // No request id: the member draws one.
        let write = WriteOptions::default();
        let mut request =
            Request::new(SetRecordSetRequest { record_set: Some(record_set), write: Some(write) });
        request.set_timeout(Duration::from_secs(10));
        let started = Instant::now();
        records.set_record_set(request).await.expect("the write is taken");
        durations.add(started.elapsed());
    }
    durations
}

async fn write_theirs(mut client: etcd::Client, nth: u32, writes: u32) -> Durations {
    let mut durations = Durations::new();
    for _ in 0..writes {
        let started = Instant::now();
        client.put(&format!("client-{nth}"), vec![b'x'; BYTES]).await.expect("the key is put");
        durations.add(started.elapsed());
    }
    durations
}
