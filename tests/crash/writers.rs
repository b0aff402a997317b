//! Who writes while members crash, and what they were told. Each has a record of its own whose number only rises: what is read later must
//! lie between the last number that was acknowledged and the last that was asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use harness::chance::Chance;
use harness::{Caller, Cluster};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tonic::Request;
use waymark_proto::admin::v1::records_client::RecordsClient;
use waymark_proto::admin::v1::{
    GetRecordSetRequest, ReadOptions, RecordSet, SetRecordSetRequest, WriteOptions,
};

/// Writers at the same time, on members in turn.
const WRITERS: usize = 6;

const ZONE: &str = "crash.test";

/// The longest text of one record; a set is made of several.
const STRING_MAX: usize = 250;

/// The largest set in such strings: near the bound of 16 KiB for the data of a set.
const STRINGS_MAX: u64 = 60;

/// Writers, whether they write just now or not.
pub(crate) struct Writers {
    runtime: Runtime,
    books: Vec<Arc<Book>>,
    chance: Chance,
    stop: Arc<AtomicBool>,
    under_way: Vec<JoinHandle<()>>,
}

/// What one writer has asked for, and what it was told.
#[derive(Default)]
struct Book {
    asked: AtomicU64,
    acknowledged: AtomicU64,
}

impl Writers {
    /// None of whom has written yet, in a zone that is made for them.
    pub(crate) fn new(cluster: &Cluster, chance: Chance) -> Self {
        cluster.cli().ok(&format!("zone create {ZONE} --ns ns1.{ZONE}=127.0.0.1"));
        let runtime = Runtime::new().expect("a runtime can be made");
        let books = (0..WRITERS).map(|_| Arc::default()).collect();
        Self { runtime, books, chance, stop: Arc::default(), under_way: Vec::new() }
    }

    /// Has them write to `members` until they are stopped or fail.
    pub(crate) fn start(&mut self, members: &[Caller]) {
        self.stop = Arc::default();
        for (nth, book) in self.books.iter().enumerate() {
            let (caller, book, stop) =
                (members[nth % members.len()].clone(), book.clone(), self.stop.clone());
            let chance = Chance::from_seed(self.chance.draw());
            self.under_way.push(self.runtime.spawn(write(caller, nth, book, stop, chance)));
        }
    }

    /// Has them end.
    pub(crate) fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for writer in self.under_way.drain(..) {
            self.runtime.block_on(writer).expect("a writer ends well");
        }
    }

    /// How many writes were acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.books.iter().map(|book| book.acknowledged.load(Ordering::Relaxed)).sum()
    }

    /// Does the cluster, or with `stale` that member by itself, tell what it must? Outer: no answer yet. Inner: what is wrong.
    pub(crate) fn check(&self, member: &Caller, stale: bool) -> Result<Result<(), String>, String> {
        for (nth, book) in self.books.iter().enumerate() {
            let (acknowledged, asked) =
                (book.acknowledged.load(Ordering::Relaxed), book.asked.load(Ordering::Relaxed));
            let told = self.runtime.block_on(read(member, nth, stale))?;
            if !(acknowledged..=asked).contains(&told) {
                return Ok(Err(format!(
                    "writer {nth} reads {told}: it was told of {acknowledged}, and asked for no more than {asked}"
                )));
            }
        }
        Ok(Ok(()))
    }
}

fn name(nth: usize) -> String {
    format!("writer-{nth}")
}

async fn write(caller: Caller, nth: usize, book: Arc<Book>, stop: Arc<AtomicBool>, mut chance: Chance) {
    let Ok(channel) = caller.connect().await else { return };
    let mut records = RecordsClient::new(channel);
    while !stop.load(Ordering::Relaxed) {
        let number = book.asked.fetch_add(1, Ordering::Relaxed) + 1;
        // Small ones are the most, as they are in life.
        let strings = if chance.one_in(4) { chance.below(STRINGS_MAX) } else { 0 };
        let filler = format!(" \"{}\"", "x".repeat(STRING_MAX)).repeat(strings as usize);
        let record_set = RecordSet {
            zone: ZONE.to_owned(),
            relative_name: name(nth),
            r#type: "TXT".to_owned(),
            data: vec![format!("\"{number}\"{filler}")],
            ..RecordSet::default()
        };
        let write = Some(WriteOptions::default());
        let mut request = Request::new(SetRecordSetRequest { record_set: Some(record_set), write });
        request.set_timeout(Duration::from_secs(5));
        if records.set_record_set(request).await.is_err() {
            return;
        }
        book.acknowledged.store(number, Ordering::Relaxed);
    }
}

/// The number in a writer's record; 0 if there is no record.
async fn read(caller: &Caller, nth: usize, stale: bool) -> Result<u64, String> {
    let mut records = RecordsClient::new(caller.connect().await?);
    let mut request = Request::new(GetRecordSetRequest {
        zone: ZONE.to_owned(),
        relative_name: name(nth),
        r#type: "TXT".to_owned(),
        read: Some(ReadOptions { stale }),
    });
    request.set_timeout(Duration::from_secs(2));
    let record_set = match records.get_record_set(request).await {
        Ok(found) => found.into_inner(),
        Err(status) if status.code() == tonic::Code::NotFound => return Ok(0),
        Err(status) => return Err(status.to_string()),
    };
    let text = record_set.data.first().map_or("", String::as_str);
    let number = text.trim_start_matches('"').split('"').next().unwrap_or_default();
    number.parse().map_err(|_| format!("{text:?} begins with no number"))
}
