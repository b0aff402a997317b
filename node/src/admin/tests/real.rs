//! The same API over Raft's own handles: members with disks and connections, each serving all that a member serves.

use std::path::Path;

use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::Code;
use tonic::service::Routes;
use tonic::transport::{Channel, Endpoint, Server};
use waymark_proto::admin::v1::{
    AddMemberRequest, ClusterStatus, CreateZoneRequest, GetClusterRequest, GetRequest, InitClusterRequest,
    Role, WriteOptions, cluster_client::ClusterClient, zones_client::ZonesClient,
};

use super::super::services::services;
use super::fixture::{in_time, zone};
use crate::acceptor;
use crate::raft::{Compaction, Member, MemberConfig, Started, Stopper, TimerProfile};

/// A member that serves its peers and its operators.
struct Real {
    address: String,
    channel: Channel,
    stopping: CancellationToken,
    stopper: Stopper,
}

impl Real {
    async fn start(name: &str, dir: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let config = MemberConfig {
            name: name.into(),
            data_dir: dir.join(name),
            grpc_advertise: address.clone(),
            dns_advertise: "127.0.0.1:53".into(),
            http_advertise: "http://127.0.0.1:7401".into(),
            timers: TimerProfile::Local,
            compaction: Compaction::default(),
            apply_level_max: waymark_core::state::ApplyLevel::HIGHEST,
            credentials: None,
        };
        let Started {
            proposer,
            membership,
            outcomes,
            tables,
            reader,
            raft_service,
            peer_service,
            stopper,
            ..
        } = Member::open(config, crate::publication::no_tables()).await.unwrap();
        let stopping = CancellationToken::new();
        let operators: Routes = services(
            reader,
            proposer,
            membership,
            outcomes,
            tables,
            (Default::default(), None),
            stopping.clone(),
        )
        .await;
        let router =
            Server::builder().add_routes(operators).add_service(raft_service).add_service(peer_service);
        let stop = stopping.clone().cancelled_owned();
        tokio::spawn(router.serve_with_incoming_shutdown(
            acceptor::incoming(listener, None, CancellationToken::new()),
            stop,
        ));
        let channel = Endpoint::from_shared(address.clone()).unwrap().connect().await.unwrap();
        Self { address, channel, stopping, stopper }
    }

    fn cluster(&self) -> ClusterClient<Channel> {
        ClusterClient::new(self.channel.clone())
    }

    fn zones(&self) -> ZonesClient<Channel> {
        ZonesClient::new(self.channel.clone())
    }

    async fn status(&self) -> ClusterStatus {
        self.cluster().get_cluster(GetClusterRequest {}).await.unwrap().into_inner()
    }

    async fn stop(self) {
        self.stopping.cancel();
        self.stopper.stop().await;
    }
}

/// Two members, the second taken in through the API of the first.
async fn two() -> (TempDir, Real, Real) {
    let dir = tempfile::tempdir().unwrap();
    let first = Real::start("m1", dir.path()).await;
    let second = Real::start("m2", dir.path()).await;
    let founded = first.cluster().init_cluster(InitClusterRequest {}).await.unwrap().into_inner();
    assert_eq!(founded.member.map(|member| member.name).as_deref(), Some("m1"));
    let request = AddMemberRequest { address: second.address.clone(), learner: false };
    let added = in_time(first.cluster().add_member(request)).await.unwrap().into_inner();
    assert_eq!((added.name.as_str(), added.grpc.as_str()), ("m2", second.address.as_str()));
    (dir, first, second)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cli_4_any_member_takes_a_write_and_any_member_reads_it() {
    let (_dir, first, second) = two().await;
    let write = Some(WriteOptions { wait_all: true, ..WriteOptions::default() });
    let request = CreateZoneRequest { zone: Some(zone("tm.example.com")), write };
    // The second member follows: it forwards.
    let written = in_time(second.zones().create_zone(request)).await.unwrap().into_inner();
    assert!(written.unreached.is_empty() && written.log_index > 0);
    for member in [&first, &second] {
        let request = GetRequest { name: "tm.example.com".into(), read: None };
        let shown = in_time(member.zones().get_zone(request)).await.unwrap().into_inner();
        assert_eq!(shown.revision, written.revision);
        let status = member.status().await;
        let roles: Vec<Role> = status.members.iter().map(|member| member.role()).collect();
        assert_eq!(roles, [Role::Leader, Role::Follower]);
        assert!(status.applied >= written.log_index, "CLI-3: {status:?}");
    }
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f_clu_06_a_cluster_is_founded_once_and_nothing_works_before() {
    let dir = tempfile::tempdir().unwrap();
    let member = Real::start("m1", dir.path()).await;
    let request = CreateZoneRequest { zone: Some(zone("tm.example.com")), write: None };
    let early = member.zones().create_zone(request).await.unwrap_err();
    assert_eq!(early.code(), Code::FailedPrecondition, "{early}");
    assert_eq!(member.status().await.cluster_id, "");
    member.stop().await;

    let (_dir, first, second) = two().await;
    let before = first.status().await.cluster_id;
    for member in [&first, &second] {
        let again = member.cluster().init_cluster(InitClusterRequest {}).await.unwrap_err();
        assert_eq!(again.code(), Code::FailedPrecondition, "{again}");
        assert_eq!(member.status().await.cluster_id, before, "CLU-1");
    }
    let request = AddMemberRequest { address: second.address.clone(), learner: false };
    // Whoever adds again, not knowing what became of the first time, gets the member that there is.
    let again = in_time(first.cluster().add_member(request)).await.unwrap().into_inner();
    assert_eq!((again.id, again.name.as_str()), (2, "m2"));
    assert_eq!(first.status().await.members.len(), 2);
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cli_4_without_a_majority_writes_fail_and_stale_reads_answer() {
    let (_dir, first, second) = two().await;
    let request = CreateZoneRequest { zone: Some(zone("tm.example.com")), write: None };
    in_time(first.zones().create_zone(request)).await.unwrap();
    second.stop().await;
    let request = CreateZoneRequest { zone: Some(zone("other.example")), write: None };
    let failed = in_time(first.zones().create_zone(request)).await.unwrap_err();
    assert!(matches!(failed.code(), Code::Unavailable | Code::DeadlineExceeded), "{failed}");
    let get = |stale| GetRequest {
        name: "tm.example.com".into(),
        read: Some(waymark_proto::admin::v1::ReadOptions { stale }),
    };
    let refused = in_time(first.zones().get_zone(get(false))).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    in_time(first.zones().get_zone(get(true))).await.unwrap();
    first.stop().await;
}
