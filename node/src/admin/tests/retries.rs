//! Writes that are retried (CLI-4), and writes that wait for every member (CLI-3).

use tonic::Code;
use waymark_core::model::MemberId;
use waymark_proto::admin::v1::{
    CreateEndpointRequest, CreateProfileRequest, DeleteRequest, Profile, WriteOptions,
};

use super::double::Trouble;
use super::fixture::{Fixture, endpoint, faults, marked, web};

#[tokio::test]
async fn cli_4_a_retry_with_the_same_mark_is_carried_out_once() {
    let fixture = Fixture::founded().await;
    fixture.create_zone("tm.example.com").await;
    fixture.trouble(Trouble { lose_outcome: true, ..Trouble::default() });
    let request = CreateProfileRequest { profile: Some(web()), write: marked(7) };
    let unknown = fixture.profiles().create_profile(request.clone()).await.unwrap_err();
    assert_eq!(unknown.code(), Code::DeadlineExceeded);
    assert!(unknown.message().contains("unknown"), "{unknown}");
    assert!(unknown.message().contains("same request_id"), "{unknown}");
    assert!(unknown.message().contains(&"07".repeat(16)), "it names the mark: {unknown}");

    // F-CLU-18: the lost write was carried out; its retry is told so and changes nothing.
    let counter = fixture.double.state().counter;
    let first = fixture.profiles().create_profile(request.clone()).await.unwrap().into_inner();
    let second = fixture.profiles().create_profile(request).await.unwrap().into_inner();
    assert_eq!(fixture.double.state().counter, counter);
    assert_eq!(first.revision, second.revision);
    assert_eq!(first.revision, counter.0);

    let request = CreateProfileRequest { profile: Some(web()), write: marked(8) };
    let other = fixture.profiles().create_profile(request).await.unwrap_err();
    assert_eq!(other.code(), Code::AlreadyExists, "another mark is another wish");
}

#[tokio::test]
async fn cli_4_a_refusal_is_remembered_too() {
    let fixture = Fixture::furnished().await;
    let request = CreateEndpointRequest {
        profile: "web".into(),
        endpoint: Some(endpoint("one", "192.0.2.9")),
        write: marked(9),
    };
    let first = fixture.endpoints().create_endpoint(request.clone()).await.unwrap_err();
    let delete = waymark_proto::admin::v1::DeleteEndpointRequest {
        profile: "web".into(),
        name: "one".into(),
        write: None,
    };
    fixture.endpoints().delete_endpoint(delete).await.unwrap();
    let second = fixture.endpoints().create_endpoint(request).await.unwrap_err();
    assert_eq!((first.code(), first.message()), (second.code(), second.message()));
}

#[tokio::test]
async fn a_write_without_a_mark_gets_one() {
    let fixture = Fixture::furnished().await;
    let profile = |name: &str| Profile { name: name.into(), relative_name: name.into(), ..web() };
    fixture.create_profile(profile("a")).await.unwrap();
    fixture.create_profile(profile("b")).await.unwrap();
    let marks = fixture.double.state().remembered.len();
    assert!(marks >= 2, "{marks} marks are remembered");
}

#[tokio::test]
async fn a_mark_of_another_length_is_refused() {
    let fixture = Fixture::furnished().await;
    for length in [1, 15, 17] {
        let request_id = vec![1; length].into();
        let write = Some(WriteOptions { request_id, ..WriteOptions::default() });
        let request = DeleteRequest { name: "web".into(), write };
        let refused = fixture.profiles().delete_profile(request).await.unwrap_err();
        let faults = faults(&refused);
        assert!(faults.len() == 1 && faults[0].starts_with("write.request_id: "), "{faults:?}");
    }
}

#[tokio::test]
async fn cli_3_wait_all_names_the_members_that_could_not_be_reached() {
    let fixture = Fixture::furnished().await;
    let profile = |name: &str| Profile { name: name.into(), relative_name: name.into(), ..web() };
    let write = Some(WriteOptions { wait_all: true, ..WriteOptions::default() });
    let request = CreateProfileRequest { profile: Some(profile("a")), write: write.clone() };
    let written = fixture.profiles().create_profile(request).await.unwrap().into_inner();
    assert!(written.unreached.is_empty());

    fixture.trouble(Trouble { unreachable: vec![MemberId(1), MemberId(3)], ..Trouble::default() });
    let request = CreateProfileRequest { profile: Some(profile("b")), write };
    let written = fixture.profiles().create_profile(request).await.unwrap().into_inner();
    assert_eq!(written.unreached, ["m3"], "the member itself has applied it");
    let request = CreateProfileRequest { profile: Some(profile("c")), write: None };
    let written = fixture.profiles().create_profile(request).await.unwrap().into_inner();
    assert!(written.unreached.is_empty(), "nobody asked");
}
