//! kill -9 of every member at once, again and again, under writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use harness::eventually::let_pass;
use harness::{Caller, Cluster, eventually};
use tonic::Request;
use waymark_proto::admin::v1::records_client::RecordsClient;
use waymark_proto::admin::v1::{ListRecordSetsRequest, RecordSet, SetRecordSetRequest, WriteOptions};

const ZONE: &str = "crash.test";

const ROUNDS: u32 = 20;

/// Writers at the same time, each on a member of its own.
const WRITERS: usize = 3;

/// CLU-2, CLU-3, F-CLU-09: every acknowledged write is there after each crash, and the cluster leads again.
#[test]
fn no_acknowledged_write_is_lost_when_all_members_are_killed() {
    let mut cluster = Cluster::start(3);
    cluster.cli().ok(&format!("zone create {ZONE} --ns ns1.example.net"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let given = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u32 = given.unwrap_or_else(std::process::id);
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..ROUNDS {
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                runtime.spawn(write(
                    cluster.members[writer].caller(),
                    format!("r{round}-{writer}"),
                    stop.clone(),
                ))
            })
            .collect();
        // A moment between 300 ms and 1.3 s that differs from round to round and from run to run.
        let moment =
            Duration::from_millis(300 + u64::from((seed + round).wrapping_mul(2_654_435_761) % 1_000));
        let_pass(moment, "the crash comes at a moment of its own");
        cluster.members.iter_mut().for_each(harness::Member::kill);
        stop.store(true, Ordering::Relaxed);
        for writer in writers {
            acknowledged.extend(runtime.block_on(writer).expect("a writer ends well"));
        }
        let killed = Instant::now();
        cluster.members.iter_mut().for_each(harness::Member::start);
        cluster.members.iter_mut().for_each(harness::Member::listens);
        let names =
            eventually("the cluster leads again", || runtime.block_on(list(cluster.members[0].caller())));
        assert!(
            killed.elapsed() < Duration::from_secs(15),
            "round {round}: led after {:?}",
            killed.elapsed()
        );
        let missing: Vec<_> = acknowledged.iter().filter(|name| !names.contains(name)).collect();
        assert!(missing.is_empty(), "round {round} (seed {seed}): acknowledged and lost: {missing:?}{}", {
            // What each member has on its own tells whether a write is lost or a read was too early.
            let all =
                eventually("the cluster answers", || runtime.block_on(list(cluster.members[1].caller())));
            let still: Vec<_> = missing.iter().filter(|name| !all.contains(name)).collect();
            format!("; another member misses {still:?}")
        });
    }
    assert!(acknowledged.len() > 100, "only {} writes were acknowledged", acknowledged.len());
}

/// Writes one record after another until told to stop or refused; returns the acknowledged ones.
async fn write(caller: Caller, prefix: String, stop: Arc<AtomicBool>) -> Vec<String> {
    let mut acknowledged = Vec::new();
    let Ok(channel) = caller.connect().await else { return acknowledged };
    let mut client = RecordsClient::new(channel);
    for number in 0..5_000_u32 {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let name = format!("{prefix}-{number}");
        let record_set = RecordSet {
            zone: ZONE.to_owned(),
            relative_name: name.clone(),
            r#type: "TXT".to_owned(),
            data: vec!["\"written\"".to_owned()],
            ..RecordSet::default()
        };
        let request_id = u128::from(number).wrapping_add(fingerprint(&prefix)).to_be_bytes().to_vec().into();
        let write = WriteOptions { request_id, if_revision: None, wait_all: false };
        let mut request =
            Request::new(SetRecordSetRequest { record_set: Some(record_set), write: Some(write) });
        request.set_timeout(Duration::from_secs(5));
        if client.set_record_set(request).await.is_ok() {
            acknowledged.push(name);
        }
    }
    acknowledged
}

/// A different starting point for the ids of each writer and round.
fn fingerprint(prefix: &str) -> u128 {
    prefix.bytes().fold(1, |sum, byte| sum * 257 + u128::from(byte)) << 32
}

/// The names of all records, read with the leader's consent.
async fn list(caller: Caller) -> Result<Vec<String>, String> {
    let mut client = RecordsClient::new(caller.connect().await?);
    let (mut names, mut token) = (Vec::new(), String::new());
    loop {
        let page = waymark_proto::admin::v1::Page { size: 1_000, token };
        let mut request =
            Request::new(ListRecordSetsRequest { zone: ZONE.to_owned(), page: Some(page), read: None });
        request.set_timeout(Duration::from_secs(2));
        let response =
            client.list_record_sets(request).await.map_err(|status| status.to_string())?.into_inner();
        names.extend(response.record_sets.into_iter().map(|set| set.relative_name));
        if response.next_page_token.is_empty() {
            return Ok(names);
        }
        token = response.next_page_token;
    }
}
