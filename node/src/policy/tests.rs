//! SEC-2: every method with every role, over TLS, at a member that serves all that members serve.

use std::path::Path;
use std::time::Duration;

use http::uri::PathAndQuery;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request};
use tonic_prost::ProstCodec;
use waymark_process::pki::{AUTHORITY, Authority, LIFETIME};
use waymark_process::tls::{Connector, CredentialFiles, Credentials, Trust};

use super::*;
use crate::acceptor;
use crate::geo::GeoTables;
use crate::measurements::Measurements;
use crate::raft::{Compaction, Member, MemberConfig, Stopper, TimerProfile};

/// How long a stream that nobody ends may go on: it was let in.
const OPEN: Duration = Duration::from_secs(3);

/// A member and an authority.
struct Stage {
    address: String,
    authority: Authority,
    dir: TempDir,
    stop: CancellationToken,
    _stopper: Stopper,
}

fn credentials(authority: &Authority, dir: &Path, role: &Role) -> Arc<Credentials> {
    let issued = authority.issue(role.clone(), LIFETIME, dir).unwrap();
    let keys = ["tls_certificate", "tls_key", "tls_authority"];
    let files = CredentialFiles {
        keys,
        certificate: issued.certificate,
        key: issued.key,
        authority: dir.join(AUTHORITY),
    };
    Credentials::open(files).unwrap()
}

impl Stage {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::create(dir.path(), "waymark.test").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        let own = credentials(&authority, dir.path(), &Role::new("member", None, "m1").unwrap());
        let config = MemberConfig {
            name: "m1".into(),
            data_dir: dir.path().join("data"),
            grpc_advertise: address.clone(),
            dns_advertise: "127.0.0.1:53".into(),
            http_advertise: "http://127.0.0.1:7401".into(),
            timers: TimerProfile::Local,
            compaction: Compaction::default(),
            apply_level_max: waymark_core::state::ApplyLevel::HIGHEST,
            credentials: Some(own.clone()),
        };
        let started = Member::open(config, crate::publication::no_tables()).await.unwrap();
        started.membership.init().await.unwrap();
        let stop = CancellationToken::new();
        let newcomers = Box::new(|| true);
        let connections = acceptor::incoming_with(listener, Some(own.clone()), newcomers, stop.clone());
        let beside = (Arc::new(GeoTables::default()), Measurements::default(), Arc::default(), Some(own));
        crate::serve_grpc(connections, &started, beside, TimerProfile::Local, &stop).await;
        Self { address, authority, dir, stop, _stopper: started.stopper }
    }

    fn channel(&self, role: &Role) -> Channel {
        let connector = Connector::new(Some(credentials(&self.authority, self.dir.path(), role)));
        Endpoint::from_shared(self.address.clone()).unwrap().connect_with_connector_lazy(connector)
    }
}

/// What comes of an empty message to `path`.
async fn call(channel: &Channel, path: &'static str) -> Result<(), tonic::Status> {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let codec: ProstCodec<(), ()> = ProstCodec::default();
    let called = grpc.unary(Request::new(()), PathAndQuery::from_static(path), codec);
    // One that goes on was let in.
    timeout(OPEN, called).await.map_or(Ok(()), |answered| answered.map(drop))
}

/// The rule in words of its own: by the package and by how a method's name begins.
fn may(role: &Role, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap();
    let reads =
        ["Get", "List", "Watch", "Explain", "Simulate", "LookUp"].iter().any(|verb| name.starts_with(verb));
    match role {
        Role::Member { .. } => path.starts_with("/waymark.peer.v1."),
        Role::Agent { .. } => path.starts_with("/waymark.agent.v1.") && name != "Enrol",
        Role::Operator { .. } => path.starts_with("/waymark.admin.v1."),
        Role::Viewer { .. } => path.starts_with("/waymark.admin.v1.") && reads && !path.contains(".Audit/"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sec_2_every_method_is_for_those_whose_role_allows_it() {
    let stage = Stage::start().await;
    let roles = [("member", None), ("agent", Some("eu")), ("operator", None), ("viewer", None)];
    let mut cells = 0;
    for (word, region) in roles {
        let role = Role::new(word, region, "someone").unwrap();
        let channel = stage.channel(&role);
        for method in Method::ALL {
            let path = method.path();
            let refused =
                call(&channel, path).await.is_err_and(|status| status.code() == Code::PermissionDenied);
            assert_eq!(!refused, may(&role, path), "{role} at {path}");
            cells += 1;
        }
        let code = async |path| call(&channel, path).await.map_or_else(|status| status.code(), |()| Code::Ok);
        assert_eq!(code("/grpc.health.v1.Health/Check").await, Code::Ok, "{role}");
        let reflection = code("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo").await;
        assert_eq!(reflection != Code::PermissionDenied, ["operator", "viewer"].contains(&word), "{role}");
        for unknown in ["/", "/waymark.admin.v1.Zones/Nope", "/waymark.admin.v1.Zones/CreateZone/", "/x.Y/Z"]
        {
            assert_eq!(code(unknown).await, Code::PermissionDenied, "{role} at {unknown}");
        }
    }
    assert!(cells >= 200, "{cells}");
    stage.stop.cancel();
}

/// SEC-1: without a certificate there is one method, and no way around it.
#[tokio::test(flavor = "multi_thread")]
async fn sec_1_whoever_has_no_certificate_may_redeem_a_token_and_nothing_else() {
    let stage = Stage::start().await;
    let trust = Trust::open("tls_authority", &stage.dir.path().join(AUTHORITY), "waymark.test").unwrap();
    let endpoint = Endpoint::from_shared(stage.address.clone()).unwrap();
    let mut let_in = Vec::new();
    for path in Method::ALL.map(Method::path).into_iter().chain([
        "/grpc.health.v1.Health/Check",
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/",
        "/waymark.agent.v1.Enrolment/enrol",
    ]) {
        let channel = endpoint.connect_with_connector_lazy(Connector::of_nobody(trust.clone()));
        match call(&channel, path).await.map_err(|status| status.code()) {
            Err(Code::Unauthenticated) => {}
            // An empty message has no request for a certificate in it.
            Err(Code::InvalidArgument) => let_in.push(path),
            other => panic!("{path}: {other:?}"),
        }
    }
    assert_eq!(let_in, ["/waymark.agent.v1.Enrolment/Enrol"]);
    stage.stop.cancel();
}

/// SEC-6: who has too many connections is told so.
#[test]
fn sec_6_a_crowded_identity_is_told_of_the_limit() {
    let identity = waymark_process::identity::Identity::parse("spiffe://x/operator/alice").unwrap();
    let (path, address) = (Method::ClusterGetCluster.path(), ([127, 0, 0, 1], 1).into());
    assert!(judge(Some(&Peer::known(identity.clone(), address, false)), path).is_ok());
    let status = judge(Some(&Peer::known(identity, address, true)), path).unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(status.message().contains("operator/alice has 256 connections"), "{}", status.message());
    assert_eq!(judge(None, path).unwrap_err().code(), Code::Unauthenticated);
}
