//! The client against members that answer, refuse, hang or are not there.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use waymark_core::model::Violation;
use waymark_proto::admin::v1::regions_client::RegionsClient;
use waymark_proto::admin::v1::regions_server::{Regions, RegionsServer};
use waymark_proto::admin::v1::{
    DeleteRequest, ListRegionsResponse, ListRequest, SetRegionRequest, WriteOptions, WriteResponse,
};

use super::{Attempt, Client};
use crate::failure::{Exit, Failure};

/// What a member does with a change.
#[derive(Clone)]
enum Manner {
    Accepts,
    HasNoLeader,
    LosesItsLeader,
    NeverAnswers,
    Refuses(Vec<Violation>),
}

/// A member that keeps the marks of the wishes it was sent.
#[derive(Clone)]
struct Member {
    manner: Manner,
    marks: Arc<Mutex<Vec<Vec<u8>>>>,
}

#[tonic::async_trait]
impl Regions for Member {
    async fn set_region(
        &self,
        request: Request<SetRegionRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let write = request.into_inner().write.unwrap();
        self.marks.lock().unwrap().push(write.request_id.to_vec());
        match &self.manner {
            Manner::Accepts => Ok(Response::new(WriteResponse { revision: 7, ..Default::default() })),
            Manner::HasNoLeader => Err(Status::unavailable("no leader is known")),
            Manner::LosesItsLeader => Err(Status::deadline_exceeded("the leader was lost")),
            Manner::NeverAnswers => std::future::pending().await,
            Manner::Refuses(violations) => Err(waymark_proto::status::invalid(violations)),
        }
    }

    async fn list_regions(&self, _: Request<ListRequest>) -> Result<Response<ListRegionsResponse>, Status> {
        Err(Status::unimplemented("not asked here"))
    }

    async fn delete_region(&self, _: Request<DeleteRequest>) -> Result<Response<WriteResponse>, Status> {
        Err(Status::unimplemented("not asked here"))
    }
}

async fn member(manner: Manner) -> (String, Member) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let member = Member { manner, marks: Arc::default() };
    let service = RegionsServer::new(member.clone());
    tokio::spawn(
        Server::builder().add_service(service).serve_with_incoming(TcpListenerStream::new(listener)),
    );
    (format!("http://{address}"), member)
}

/// An address at which nobody listens.
async fn nobody() -> String {
    let address: SocketAddr = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    format!("http://{address}")
}

async fn set_region(urls: &[&str], timeout: Duration) -> Result<u64, Failure> {
    let urls: Vec<String> = urls.iter().map(ToString::to_string).collect();
    let write = WriteOptions { request_id: vec![5; 16].into(), ..Default::default() };
    let request = SetRegionRequest { region: None, write: Some(write) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        RegionsClient::new(at.channel).set_region(request).await
    };
    Client::new(&urls, None, timeout)?.write(call).await.map(|response| response.revision)
}

#[tokio::test]
async fn cli_4_the_next_member_is_tried_with_the_same_mark() {
    let (gone, (leaderless, first), (lost, second), (well, third)) = (
        nobody().await,
        member(Manner::HasNoLeader).await,
        member(Manner::LosesItsLeader).await,
        member(Manner::Accepts).await,
    );
    let revision = set_region(&[&gone, &leaderless, &lost, &well], Duration::from_secs(20)).await;
    assert_eq!(revision, Ok(7));
    for member in [first, second, third] {
        assert_eq!(*member.marks.lock().unwrap(), [vec![5; 16]]);
    }
}

#[tokio::test]
async fn cli_4_a_change_that_was_sent_and_not_answered_is_unknown() {
    for manner in [Manner::NeverAnswers, Manner::LosesItsLeader] {
        let (url, member) = member(manner).await;
        let failure = set_region(&[&url], Duration::from_millis(700)).await.unwrap_err();
        assert_eq!(failure.exit, Exit::TimedOut, "{}", failure.message);
        assert!(failure.message.contains("outcome is unknown"), "{}", failure.message);
        assert!(!member.marks.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn cli_2_no_leader_and_nobody_end_in_time() {
    let (gone, (leaderless, _)) = (nobody().await, member(Manner::HasNoLeader).await);
    let failure = set_region(&[&gone], Duration::from_millis(500)).await.unwrap_err();
    assert_eq!(failure.exit, Exit::Unreachable);
    assert!(failure.message.contains(&gone) && failure.message.contains("refused"), "{}", failure.message);
    let failure = set_region(&[&gone, &leaderless], Duration::from_millis(500)).await.unwrap_err();
    assert_eq!(failure.exit, Exit::Unreachable);
    assert!(failure.message.contains("no leader is known"), "{}", failure.message);
}

#[tokio::test]
async fn val_1_every_violation_arrives() {
    let sent: Vec<Violation> = (0..60)
        .map(|place| Violation::new(format!("endpoints[{place}].weight"), "1001 is outside 1–1000"))
        .collect();
    let (url, member) = member(Manner::Refuses(sent.clone())).await;
    let failure = set_region(&[&url], Duration::from_secs(20)).await.unwrap_err();
    assert_eq!((failure.exit, failure.violations), (Exit::Refused, sent));
    assert_eq!(member.marks.lock().unwrap().len(), 1, "a refusal is not asked for again");
}

#[tokio::test]
async fn what_speaks_no_grpc_is_no_member() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut streams = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await;
            // Kept open: a connection that is closed at once says nothing of what listens there.
            streams.push(stream);
        }
    });
    let failure = set_region(&[&url], Duration::from_secs(1)).await.unwrap_err();
    assert_eq!(failure.exit, Exit::Unreachable, "{}", failure.message);
    assert!(failure.message.contains("no gRPC port of a member"), "{}", failure.message);
}
