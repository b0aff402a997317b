//! A member as a test wants it: every session of an agent is handed over to the test.

use std::pin::Pin;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use waymark_core::health::Check;
use waymark_core::model::EndpointId;
use waymark_proto::agent::v1::agent_message::Kind as FromAgent;
use waymark_proto::agent::v1::member_message::Kind as FromMember;
use waymark_proto::agent::v1::mesh_server::{Mesh, MeshServer};
use waymark_proto::agent::v1::{
    Acknowledgement, AgentMessage, Assignment, Hello, MemberMessage, ProbeOutcome, Sight, Welcome,
};

/// How long anything may take to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A member that serves until it is dropped.
pub(crate) struct Member {
    pub(crate) url: http::Uri,
    sessions: mpsc::Receiver<Session>,
    serving: CancellationToken,
}

impl Drop for Member {
    fn drop(&mut self) {
        self.serving.cancel();
    }
}

impl Member {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let (sender, sessions) = mpsc::channel(16);
        let serving = CancellationToken::new();
        let stop = serving.clone();
        tokio::spawn(async move {
            let server = tonic::transport::Server::builder()
                .add_service(MeshServer::new(Doorkeeper(sender)))
                .serve_with_incoming(TcpListenerStream::new(listener));
            tokio::select! { served = server => served.unwrap(), () = stop.cancelled() => {} }
        });
        Self { url, sessions, serving }
    }

    /// Puts a relay in front: agents reach it by `url` from now on. Once the token is cancelled, it keeps its connections
    /// and takes new ones, but nothing goes through it any more.
    pub(crate) async fn freeze_behind_a_relay(&mut self) -> CancellationToken {
        let target = self.url.authority().unwrap().to_string();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let frozen = CancellationToken::new();
        let freeze = frozen.clone();
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let (freeze, target) = (freeze.clone(), target.clone());
                tokio::spawn(async move {
                    let mut far = TcpStream::connect(target).await.unwrap();
                    let relay = tokio::io::copy_bidirectional(&mut near, &mut far);
                    tokio::select! { _ = relay => {}, () = freeze.cancelled() => std::future::pending().await }
                });
            }
        });
        frozen
    }

    /// The next session that an agent opens, not welcomed yet.
    pub(crate) async fn session(&mut self) -> Session {
        timeout(PATIENCE, self.sessions.recv()).await.expect("an agent comes").expect("the member serves")
    }

    /// The next session, welcomed and told to probe `checks`.
    pub(crate) async fn serve(&mut self, checks: &[(u64, Check)]) -> Session {
        let session = self.session().await;
        session.welcome().await;
        session.assign(true, checks, &[]).await;
        session
    }

    /// Does no agent come for that long?
    pub(crate) async fn is_left_alone(&mut self, time: Duration) -> bool {
        timeout(time, self.sessions.recv()).await.is_err()
    }
}

struct Doorkeeper(mpsc::Sender<Session>);

type Outbound = Pin<Box<dyn tokio_stream::Stream<Item = Result<MemberMessage, Status>> + Send>>;

#[tonic::async_trait]
impl Mesh for Doorkeeper {
    type SessionStream = Outbound;

    async fn session(&self, request: Request<Streaming<AgentMessage>>) -> Result<Response<Outbound>, Status> {
        let (outbound, queue) = mpsc::channel(16);
        let mut inbound = request.into_inner();
        let Some(AgentMessage { kind: Some(FromAgent::Hello(hello)) }) = inbound.message().await? else {
            return Err(Status::invalid_argument("no hello"));
        };
        let _ = self
            .0
            .send(Session {
                hello,
                inbound,
                outbound,
                waiting: Vec::new(),
                heartbeats: 0,
                sights: Vec::new(),
            })
            .await;
        Ok(Response::new(Box::pin(ReceiverStream::new(queue))))
    }
}

/// One stream, from the member's side. Dropping it ends the stream.
pub(crate) struct Session {
    pub(crate) hello: Hello,
    inbound: Streaming<AgentMessage>,
    outbound: mpsc::Sender<Result<MemberMessage, Status>>,
    waiting: Vec<ProbeOutcome>,
    pub(crate) heartbeats: usize,
    /// What the agent said of its sight and nobody has asked for yet.
    sights: Vec<Sight>,
}

impl Session {
    async fn send(&self, kind: FromMember) {
        self.outbound.send(Ok(MemberMessage { kind: Some(kind) })).await.unwrap();
    }

    pub(crate) async fn welcome(&self) {
        self.send(FromMember::Welcome(Welcome { session: 1, member: "m1".to_owned() })).await;
    }

    pub(crate) async fn assign(&self, full: bool, checks: &[(u64, Check)], removed: &[u64]) {
        let checks = checks.iter().map(|(id, check)| (EndpointId(*id), check).into()).collect();
        self.send(FromMember::Assignment(Assignment {
            revision: 1,
            full,
            checks,
            removed: removed.to_vec(),
            more: false,
        }))
        .await;
    }

    pub(crate) async fn acknowledge(&self, sequence: u64) {
        self.send(FromMember::Acknowledgement(Acknowledgement { sequence })).await;
    }

    /// Ends the stream with a refusal.
    pub(crate) async fn refuse(self, status: Status) {
        self.outbound.send(Err(status)).await.unwrap();
    }

    /// The next outcomes that come in one report; heartbeats are counted. Nothing once the stream has ended.
    pub(crate) async fn report(&mut self) -> Option<Vec<ProbeOutcome>> {
        loop {
            let message = timeout(PATIENCE, self.inbound.message()).await.expect("the agent speaks");
            match message.ok().flatten()?.kind.expect("a message says something") {
                FromAgent::Report(report) => return Some(report.outcomes),
                FromAgent::Heartbeat(_) => self.heartbeats += 1,
                FromAgent::Sighted(sighted) => self.sights.push(sighted.sight()),
                FromAgent::Measured(found) => panic!("nobody asked for {found:?}"),
                FromAgent::Hello(hello) => panic!("a second hello: {hello:?}"),
            }
        }
    }

    /// The next outcome.
    pub(crate) async fn outcome(&mut self) -> ProbeOutcome {
        while self.waiting.is_empty() {
            self.waiting = self.report().await.expect("the stream lasts");
        }
        self.waiting.remove(0)
    }

    /// What the agent says next of its sight; outcomes before it are passed over.
    pub(crate) async fn sighted(&mut self) -> Sight {
        while self.sights.is_empty() {
            let message = timeout(PATIENCE, self.inbound.message()).await.expect("the agent speaks");
            let message = message.expect("the stream lasts").expect("the stream lasts");
            if let Some(FromAgent::Sighted(sighted)) = message.kind {
                self.sights.push(sighted.sight());
            }
        }
        self.waiting.clear();
        self.sights.remove(0)
    }

    /// Does no outcome come for that long?
    pub(crate) async fn reports_nothing(&mut self, time: Duration) -> bool {
        timeout(time, self.report()).await.is_err()
    }

    /// Waits for a heartbeat; outcomes are passed over.
    pub(crate) async fn heartbeat(&mut self) {
        let before = self.heartbeats;
        while self.heartbeats == before {
            let message = timeout(PATIENCE, self.inbound.message()).await.expect("the agent speaks");
            let message = message.expect("the stream lasts").expect("the stream lasts");
            if matches!(message.kind, Some(FromAgent::Heartbeat(_))) {
                self.heartbeats += 1;
            }
        }
    }

    /// Waits until the agent has gone.
    pub(crate) async fn wait_for_end(&mut self) {
        while self.report().await.is_some() {}
    }
}
