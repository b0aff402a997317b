//! Fifty configuration changes a second, on whichever member takes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use harness::Caller;
use tonic::transport::Channel;
use tonic::{Request, Status};
use waymark_proto::admin::v1::endpoints_client::EndpointsClient;
use waymark_proto::admin::v1::records_client::RecordsClient;
use waymark_proto::admin::v1::regions_client::RegionsClient;
use waymark_proto::admin::v1::{
    Endpoint, RecordSet, Region, SetRecordSetRequest, SetRegionRequest, UpdateEndpointRequest, WriteOptions,
};

use crate::scene::ZONE;

/// Who changes steadily, so that one change need not wait for another.
pub(crate) const CHANGERS: u32 = 4;

/// Each changes something as often as this, all together 50 times a second; what an election holds up is made up for.
const PACE: Duration = Duration::from_millis(80);

/// How soon another member is tried.
const REST: Duration = Duration::from_millis(20);

/// How long a member may take for one before another member is tried.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes until it is stopped.
pub(crate) struct Changes {
    stop: Arc<AtomicBool>,
    acknowledged: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Changes {
    pub(crate) fn start(callers: &[Caller]) -> Self {
        let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (callers, told, counted) = (callers.to_owned(), stop.clone(), acknowledged.clone());
        let thread = std::thread::spawn(move || {
            runtime().block_on(async {
                let changer = |first| {
                    tokio::spawn(change_steadily(callers.clone(), first, told.clone(), counted.clone()))
                };
                for changer in (0..CHANGERS).map(changer).collect::<Vec<_>>() {
                    changer.await.expect("a writer ends well");
                }
            });
        });
        Self { stop, acknowledged, thread }
    }

    /// How many were acknowledged so far.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// Ends. Returns how many were acknowledged.
    pub(crate) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a writer ends well");
        self.acknowledged.load(Ordering::Relaxed)
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made")
}

async fn change_steadily(
    callers: Vec<Caller>,
    first: u32,
    stop: Arc<AtomicBool>,
    acknowledged: Arc<AtomicU64>,
) {
    let channels: Vec<Channel> = callers.iter().map(Caller::channel).collect();
    let mut ticks = tokio::time::interval(PACE);
    let (mut number, mut at) = (first, 0);
    while !stop.load(Ordering::Relaxed) {
        match change(channels[at].clone(), number).await {
            Ok(()) => {
                number += CHANGERS;
                acknowledged.fetch_add(1, Ordering::Relaxed);
                ticks.tick().await;
            }
            Err(_) => {
                // It is down, or knows no leader: somebody else may.
                at = (at + 1) % channels.len();
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// A record's text, an endpoint's weight and a region's place in turn: the first two are asked for.
async fn change(channel: Channel, number: u32) -> Result<(), Status> {
    match number % 3 {
        0 => {
            let set = RecordSet {
                zone: ZONE.to_owned(),
                relative_name: "text".to_owned(),
                r#type: "TXT".to_owned(),
                ttl_seconds: Some(5),
                data: vec![format!("\"change {number}\"")],
                ..RecordSet::default()
            };
            let write = Some(WriteOptions::default());
            let request = limited(SetRecordSetRequest { record_set: Some(set), write });
            RecordsClient::new(channel).set_record_set(request).await.map(drop)
        }
        1 => {
            let weight = Some(1 + number % 1_000);
            let endpoint = Endpoint { name: "a".to_owned(), weight, ..Endpoint::default() };
            let mut request = UpdateEndpointRequest {
                profile: "share".to_owned(),
                endpoint: Some(endpoint),
                write: Some(WriteOptions::default()),
                ..UpdateEndpointRequest::default()
            };
            request.update_mask.get_or_insert_default().paths.push("weight".to_owned());
            EndpointsClient::new(channel).update_endpoint(limited(request)).await.map(drop)
        }
        _ => move_region(channel, "spare", number).await,
    }
}

async fn move_region(channel: Channel, name: &str, number: u32) -> Result<(), Status> {
    let (latitude, longitude) = (f64::from(number % 90), f64::from(number % 180));
    let region = Region { name: name.to_owned(), latitude, longitude, revision: 0 };
    let request = limited(SetRegionRequest { region: Some(region), write: Some(WriteOptions::default()) });
    RegionsClient::new(channel).set_region(request).await.map(drop)
}

fn limited<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(PATIENCE);
    request
}

/// Writes `count` log entries by way of these members, each of which takes one at a time: several that wait become one.
pub(crate) fn burst(callers: [Caller; 2], count: u32) {
    runtime().block_on(async {
        let each = count / 2;
        let write = |(which, caller): (usize, Caller)| {
            tokio::spawn(async move {
                let (channel, mut written, mut number) = (caller.channel(), 0, 0);
                while written < each {
                    number += 1;
                    // A refused one is written again, with another number.
                    let name = format!("burst-{which}");
                    written += u32::from(move_region(channel.clone(), &name, number).await.is_ok());
                }
            })
        };
        for writer in callers.into_iter().enumerate().map(write).collect::<Vec<_>>() {
            writer.await.expect("a writer ends well");
        }
    });
}
