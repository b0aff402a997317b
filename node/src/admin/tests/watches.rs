//! How watches end: with the member, with their reader, or because the reader is too slow.

use std::time::Duration;

use tonic::Code;
use waymark_core::health::OutcomeClass;
use waymark_proto::admin::v1::{
    CreateEndpointRequest, Endpoint, GetRequest, Header, ListEventsRequest, ListStatusesRequest, Profile,
};

use super::super::limits::{WATCH_BUFFER, Watching};
use super::fixture::{Fixture, endpoint, in_time, web};

fn statuses() -> ListStatusesRequest {
    ListStatusesRequest::default()
}

#[tokio::test]
async fn watches_end_when_the_member_stops() {
    let fixture = Fixture::furnished().await;
    let mut statuses = fixture.statuses().watch_statuses(statuses()).await.unwrap().into_inner();
    let mut events = fixture.events().watch_events(ListEventsRequest::default()).await.unwrap().into_inner();
    in_time(statuses.message()).await.unwrap().unwrap();
    fixture.stopping.cancel();
    let ended = in_time(async {
        while statuses.message().await?.is_some() {}
        Ok(())
    })
    .await;
    assert_eq!(ended.map_err(|status: tonic::Status| status.code()), Err(Code::Unavailable));
    let ended = in_time(async {
        while events.message().await?.is_some() {}
        Ok(())
    })
    .await;
    assert_eq!(ended.map_err(|status: tonic::Status| status.code()), Err(Code::Unavailable));
}

#[tokio::test]
async fn sec_6_watches_are_counted_and_given_back() {
    let watching = Watching { streams_max: 2, ..Watching::default() };
    let fixture = Fixture::furnished_within(watching).await;
    let first = fixture.statuses().watch_statuses(statuses()).await.unwrap();
    let _second = fixture.events().watch_events(ListEventsRequest::default()).await.unwrap();
    let third = fixture.statuses().watch_statuses(statuses()).await.unwrap_err();
    assert_eq!(third.code(), Code::ResourceExhausted);
    assert!(third.message().contains("2 watches"), "{third}");
    drop(first);
    in_time(async {
        while fixture.statuses().watch_statuses(statuses()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// Many endpoints with long names, so that a few messages fill what the connection buffers.
async fn fatten(fixture: &Fixture) {
    for i in 0..8 {
        let long = |j: u32| endpoint(&format!("{j:0250}"), &format!("192.0.2.{j}"));
        let profile = Profile {
            name: format!("fat{i}"),
            relative_name: format!("fat{i}"),
            endpoints: (1..200).map(long).collect(),
            ..web()
        };
        fixture.create_profile(profile).await.unwrap();
    }
}

#[tokio::test]
async fn sec_6_a_reader_that_does_not_read_is_cut_off() {
    let watching = Watching { streams_max: 1, patience: Duration::from_millis(100) };
    let fixture = Fixture::furnished_within(watching).await;
    fatten(&fixture).await;
    let mut watch = fixture.statuses().watch_statuses(statuses()).await.unwrap().into_inner();
    // Changes, each with its own message, until the connection and the buffer are full: then the place is free again.
    let mut sequence = 0;
    in_time(async {
        while fixture.statuses().watch_statuses(statuses()).await.is_err() {
            sequence += 1;
            let class = if sequence % 2 == 0 { OutcomeClass::Ok } else { OutcomeClass::Refused };
            fixture.report("a1", "one", sequence, class);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let mut received = 0;
    let ended = in_time(async {
        while watch.message().await?.is_some() {
            received += 1;
        }
        Ok(())
    });
    assert_eq!(ended.await.map_err(|status: tonic::Status| status.code()), Err(Code::ResourceExhausted));
    assert!(received >= WATCH_BUFFER, "what was buffered is read first: {received}");
}

#[tokio::test]
async fn what_could_be_stored_can_be_read() {
    let fixture = Fixture::furnished().await;
    let header = |i: u32| Header { name: format!("x-{i}"), value: "v".repeat(4_096), ..Header::default() };
    let headers: Vec<Header> = (0..8).map(header).collect();
    let long = |i: u32| Endpoint {
        headers: headers.clone(),
        ..endpoint(&format!("e{i}"), &format!("198.51.100.{i}"))
    };
    let profile = Profile {
        name: "long".into(),
        relative_name: "long".into(),
        endpoints: (1..=120).map(long).collect(),
        ..web()
    };
    fixture.create_profile(profile).await.unwrap();
    for i in 121..=130 {
        let endpoint = Some(long(i));
        let request = CreateEndpointRequest { profile: "long".into(), endpoint, write: None };
        fixture.endpoints().create_endpoint(request).await.unwrap();
    }
    let request = GetRequest { name: "long".into(), read: None };
    let shown = fixture.profiles().get_profile(request).await.unwrap().into_inner();
    assert_eq!(shown.endpoints.len(), 130);
    let encoded = prost::Message::encoded_len(&shown);
    assert!(encoded > super::super::limits::REQUEST_BYTES_MAX, "{encoded} bytes");
}
