//! The cluster's own methods, and what every gRPC client expects to find: reflection and health.

use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, server_reflection_client::ServerReflectionClient};
use waymark_proto::admin::v1::{AddMemberRequest, GetClusterRequest, InitClusterRequest, Role};

use super::double::{CLUSTER, Trouble};
use super::fixture::{Fixture, faults, in_time};
use crate::raft::{MembershipError, ProposeError};

#[tokio::test]
async fn clu_1_a_cluster_is_founded_once() {
    let fixture = Fixture::empty(Default::default()).await;
    let before = fixture.cluster().get_cluster(GetClusterRequest {}).await.unwrap().into_inner();
    assert_eq!((before.cluster_id.as_str(), before.leader_id, before.answered_by.as_str()), ("", 0, "m1"));
    let founded = fixture.cluster().init_cluster(InitClusterRequest {}).await.unwrap().into_inner();
    assert_eq!(founded.cluster_id, CLUSTER);
    assert_eq!(founded.member.map(|member| member.name).as_deref(), Some("m1"));
    let again = fixture.cluster().init_cluster(InitClusterRequest {}).await.unwrap_err();
    assert_eq!(again.code(), Code::FailedPrecondition, "F-CLU-06");
    assert!(again.message().contains("already"), "{again}");
}

#[tokio::test]
async fn the_cluster_is_shown_with_its_members() {
    let fixture = Fixture::furnished().await;
    let shown = fixture.cluster().get_cluster(GetClusterRequest {}).await.unwrap().into_inner();
    assert_eq!((shown.cluster_id.as_str(), shown.leader_id, shown.term), (CLUSTER, 1, 3));
    assert_eq!(shown.counter, fixture.double.state().counter.0);
    assert_eq!((shown.last_log, shown.quorum_age_ms), (shown.applied + 1, Some(12)));
    let roles: Vec<Role> = shown.members.iter().map(|member| member.role()).collect();
    assert_eq!(roles, [Role::Leader, Role::Follower, Role::Learner]);
    let second = &shown.members[1];
    assert_eq!((second.id, second.name.as_str(), second.applied), (2, "m2", Some(7)));
    assert_eq!(
        (second.grpc.as_str(), second.dns.as_str(), second.http.as_str()),
        ("http://192.0.2.2:7400", "192.0.2.2:53", "http://192.0.2.2:7401")
    );
}

#[tokio::test]
async fn clu_1_a_member_is_taken_in_by_its_address() {
    let fixture = Fixture::furnished().await;
    let add = |address: &str| AddMemberRequest { address: address.into(), learner: false };
    let added = fixture.cluster().add_member(add("http://192.0.2.4:7400")).await.unwrap().into_inner();
    assert_eq!((added.name.as_str(), added.grpc.as_str()), ("m4", "http://192.0.2.4:7400"));
    let refused = fixture.cluster().add_member(add("192.0.2.4")).await.unwrap_err();
    assert!(faults(&refused)[0].starts_with("address: '192.0.2.4'"), "{refused}");
}

#[tokio::test]
async fn clu_9_a_change_that_fails_says_how() {
    let fixture = Fixture::furnished().await;
    for (error, code, words) in [
        (MembershipError::Refused("it has data".into()), Code::FailedPrecondition, "it has data"),
        (MembershipError::Unreachable("no answer".into()), Code::FailedPrecondition, "no answer"),
        (MembershipError::OutcomeUnknown("add it again".into()), Code::DeadlineExceeded, "add it again"),
        (ProposeError::NoLeader.into(), Code::Unavailable, "no leader"),
        (ProposeError::OutcomeUnknown.into(), Code::DeadlineExceeded, "cluster status"),
    ] {
        fixture.trouble(Trouble { membership: Some(error), ..Trouble::default() });
        let request = AddMemberRequest { address: "http://192.0.2.4:7400".into(), learner: false };
        let failed = fixture.cluster().add_member(request).await.unwrap_err();
        assert_eq!(failed.code(), code, "{failed}");
        assert!(failed.message().contains(words), "{failed}");
    }
}

#[tokio::test]
async fn reflection_lists_every_service() {
    let fixture = Fixture::founded().await;
    let mut client = ServerReflectionClient::new(fixture.channel.clone());
    let ask = |message| ServerReflectionRequest { host: String::new(), message_request: Some(message) };
    let requests = tokio_stream::iter([
        ask(MessageRequest::ListServices(String::new())),
        ask(MessageRequest::FileContainingSymbol("waymark.admin.v1.Profiles".into())),
    ]);
    let mut answers = client.server_reflection_info(requests).await.unwrap().into_inner();
    let listed = in_time(answers.message()).await.unwrap().unwrap().message_response;
    let Some(MessageResponse::ListServicesResponse(listed)) = listed else { panic!("{listed:?}") };
    let names: Vec<String> = listed.service.into_iter().map(|service| service.name).collect();
    for noun in [
        "Zones",
        "Profiles",
        "Endpoints",
        "Regions",
        "Agents",
        "Statuses",
        "Events",
        "Answers",
        "Audit",
        "Cluster",
    ] {
        assert!(names.contains(&format!("waymark.admin.v1.{noun}")), "{noun} in {names:?}");
    }
    assert!(names.iter().any(|name| name == "grpc.health.v1.Health"), "{names:?}");
    let described = in_time(answers.message()).await.unwrap().unwrap().message_response;
    assert!(matches!(described, Some(MessageResponse::FileDescriptorResponse(_))), "{described:?}");
}

#[tokio::test]
async fn health_serves_until_the_member_stops() {
    let fixture = Fixture::founded().await;
    let mut client = HealthClient::new(fixture.channel.clone());
    for service in ["", "waymark.admin.v1.Zones", "waymark.admin.v1.Cluster"] {
        let request = HealthCheckRequest { service: service.into() };
        let health = client.check(request).await.unwrap().into_inner();
        assert_eq!(health.status(), ServingStatus::Serving, "{service}");
    }
    let mut watch = client.watch(HealthCheckRequest::default()).await.unwrap().into_inner();
    assert_eq!(in_time(watch.message()).await.unwrap().unwrap().status(), ServingStatus::Serving);
    fixture.stopping.cancel();
    assert_eq!(in_time(watch.message()).await.unwrap().unwrap().status(), ServingStatus::NotServing);
}
