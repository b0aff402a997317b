//! A register for each key: a text record whose text is the value, read and written by the operators' API.

use std::error::Error;
use std::time::Duration;

use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use waymark_proto::admin::v1::records_client::RecordsClient;
use waymark_proto::admin::v1::{GetRecordSetRequest, RecordSet, SetRecordSetRequest, WriteOptions};

use crate::scene::ZONE;

/// What a member is told beyond the time that the client waits, so that it is the client that ends the call.
const GRACE: Duration = Duration::from_millis(200);

/// The type of the records.
const TYPE: &str = "TXT";

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The value and its revision; 0 and 0 before the first write.
    Read { value: u64, revision: u64 },
    /// It is written, with this revision.
    Written(u64),
    /// The revision is not the expected one.
    Refused,
    /// It was not carried out and will not be.
    NotDone,
    /// Nobody knows.
    Unknown,
    /// What no call here may be told.
    Strange(String),
}

/// The text of the record.
pub(crate) fn name(key: u64) -> String {
    format!("k{key}")
}

/// Reads with the leader's consent.
pub(crate) async fn read(channel: Channel, key: u64, patience: Duration) -> Answer {
    let wish = GetRecordSetRequest {
        zone: ZONE.to_owned(),
        relative_name: name(key),
        r#type: TYPE.to_owned(),
        read: None,
    };
    match RecordsClient::new(channel).get_record_set(limited(wish, patience)).await {
        Ok(set) => {
            let RecordSet { data, revision, .. } = set.into_inner();
            let value = data.first().and_then(|text| text.trim_matches('"').parse().ok());
            value.map_or(Answer::Strange(format!("{data:?}")), |value| Answer::Read { value, revision })
        }
        Err(status) if status.code() == Code::NotFound => Answer::Read { value: 0, revision: 0 },
        Err(status) => trouble(&status),
    }
}

/// Writes, if the revision is still `expected` or does not matter.
pub(crate) async fn write(
    channel: Channel,
    key: u64,
    value: u64,
    expected: Option<u64>,
    patience: Duration,
) -> Answer {
    let data = vec![format!("\"{value}\"")];
    set(channel, name(key), data, expected, patience).await
}

/// Writes as much as one record set holds, so that stores need room.
pub(crate) async fn fill(channel: Channel, number: u64, patience: Duration) -> Answer {
    /// Records of 200 letters: close to the 16 KiB that there may be.
    const RECORDS: usize = 70;
    let data = (0..RECORDS).map(|record| format!("\"{number:0100}{record:0100}\"")).collect();
    set(channel, "full".to_owned(), data, None, patience).await
}

async fn set(
    channel: Channel,
    relative_name: String,
    data: Vec<String>,
    expected: Option<u64>,
    patience: Duration,
) -> Answer {
    let (zone, r#type) = (ZONE.to_owned(), TYPE.to_owned());
    let record_set =
        RecordSet { zone, relative_name, r#type, ttl_seconds: Some(1), data, ..RecordSet::default() };
    // Nothing is sent twice, so each wish is one of its own.
    let options = WriteOptions { if_revision: expected, ..WriteOptions::default() };
    let wish = SetRecordSetRequest { record_set: Some(record_set), write: Some(options) };
    match RecordsClient::new(channel).set_record_set(limited(wish, patience)).await {
        Ok(written) => Answer::Written(written.into_inner().revision),
        Err(status) if status.code() == Code::Aborted && expected.is_some() => Answer::Refused,
        Err(status) => trouble(&status),
    }
}

/// What the API promises of a call that failed:
///
/// | status | made by | |
/// |---|---|---|
/// | any | this side: the connection broke | nobody knows |
/// | UNAVAILABLE, RESOURCE_EXHAUSTED | the member | it was not and will not be carried out |
/// | DEADLINE_EXCEEDED, CANCELLED | the member | nobody knows |
/// | any other | the member | has no place here |
fn trouble(status: &Status) -> Answer {
    if status.source().is_some() {
        return Answer::Unknown;
    }
    match status.code() {
        Code::Unavailable | Code::ResourceExhausted => Answer::NotDone,
        Code::DeadlineExceeded | Code::Cancelled => Answer::Unknown,
        _ => Answer::Strange(status.to_string()),
    }
}

fn limited<T>(message: T, patience: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(patience + GRACE);
    request
}
