//! The gRPC service that agents' streams come in by.

use std::fmt;
use std::sync::{Arc, Mutex};

use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::{Extensions, Request, Response, Status, Streaming};
use waymark_core::model::MemberId;
use waymark_process::secrets::Keys;
use waymark_proto::agent::v1::mesh_server::{Mesh, MeshServer};
use waymark_proto::agent::v1::{AgentMessage, MemberMessage};

use super::allowance::Allowance;
use super::consensus::{Consensus, Handles};
use super::counts::{Counters, Counts};
use super::ending::Ending;
use super::leadership::watch_leader;
use super::limits::{MESSAGE_BYTES_MAX, OUTGOING_MAX, STREAMS_MAX, Waits};
use super::opening::open;
use super::recent::Recent;
use super::stream::{Outgoing, Stream, tell_ending};
use crate::measurements::Measurements;
use crate::publication::Reader;
use crate::raft::{Leases, Proposer, TimerProfile};

/// Who this member is.
pub struct Identity {
    /// Its number, once it belongs to a cluster.
    pub id: Box<dyn Fn() -> Option<MemberId> + Send + Sync>,
    /// Its name.
    pub name: String,
}

/// Is the caller behind these request extensions the agent of this name and region? The error is for people.
pub type Admission = Box<dyn Fn(&Extensions, &str, &str) -> Result<(), String> + Send + Sync>;

/// The agents' door. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Ingest {
    shared: Arc<Shared>,
}

/// What all streams of a member share.
pub(super) struct Shared {
    pub(super) reader: Reader,
    pub(super) consensus: Arc<dyn Consensus>,
    pub(super) identity: Identity,
    pub(super) admission: Admission,
    pub(super) waits: Waits,
    pub(super) is_leader_reachable: watch::Receiver<bool>,
    pub(super) recent: Recent,
    pub(super) counters: Arc<Counters>,
    pub(super) openings: Mutex<Allowance>,
    pub(super) started: Instant,
    pub(super) shutdown: CancellationToken,
    pub(super) measurements: Measurements,
    pub(super) keys: Arc<Keys>,
    streams: Arc<Semaphore>,
    tasks: TaskTracker,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ingest").field("member", &self.identity.name).finish_non_exhaustive()
    }
}

impl Ingest {
    /// The door of the member `identity`, whose consensus has these `timers`. `admission` decides whether a caller may be the agent it says it is.
    ///
    /// Streams end, with what they brought committed if that is possible, once `shutdown` is cancelled. Must be called
    /// within a tokio runtime.
    pub fn new(
        reader: Reader,
        proposer: Proposer,
        leases: Leases,
        identity: Identity,
        admission: Admission,
        timers: TimerProfile,
        shutdown: CancellationToken,
    ) -> Self {
        let consensus = Arc::new(Handles { proposer, leases });
        Self::with(reader, consensus, identity, admission, Waits::with(timers), shutdown)
    }

    /// The same with consensus and waits of any kind.
    pub(super) fn with(
        reader: Reader,
        consensus: Arc<dyn Consensus>,
        identity: Identity,
        admission: Admission,
        waits: Waits,
        shutdown: CancellationToken,
    ) -> Self {
        let is_leader_reachable = watch_leader(consensus.clone(), waits, shutdown.clone());
        let shared = Shared {
            reader,
            consensus,
            identity,
            admission,
            waits,
            is_leader_reachable,
            recent: Recent::default(),
            counters: Arc::default(),
            openings: Mutex::new(Allowance::new(waits.openings_per_second, 0)),
            started: Instant::now(),
            shutdown,
            measurements: Measurements::default(),
            keys: Arc::default(),
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            tasks: TaskTracker::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Has `measurements` told how far resolvers are from agents.
    ///
    /// # Panics
    /// When it is cloned or serves already.
    pub fn measuring(mut self, measurements: Measurements) -> Self {
        Arc::get_mut(&mut self.shared).expect("nobody serves yet").measurements = measurements;
        self
    }

    /// Has secret headers decrypted with `keys` for the agents that must send them (SEC-4).
    ///
    /// # Panics
    /// When it is cloned or serves already.
    pub fn unsealing(mut self, keys: Arc<Keys>) -> Self {
        Arc::get_mut(&mut self.shared).expect("nobody serves yet").keys = keys;
        self
    }

    /// The service, to be added to a gRPC server.
    pub fn service(&self) -> MeshServer<Self> {
        MeshServer::new(self.clone()).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// The last outcomes that this member has heard.
    pub fn recent(&self) -> Recent {
        self.shared.recent.clone()
    }

    /// What became of the outcomes that this member was brought.
    pub fn counts(&self) -> Counts {
        self.shared.counters.read()
    }

    /// The streams that are open now.
    pub fn streams(&self) -> usize {
        STREAMS_MAX - self.shared.streams.available_permits()
    }

    /// Returns once no stream is left, after `shutdown` was cancelled.
    pub async fn ended(&self) {
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }
}

#[tonic::async_trait]
impl Mesh for Ingest {
    type SessionStream = ReceiverStream<Result<MemberMessage, Status>>;

    async fn session(
        &self,
        request: Request<Streaming<AgentMessage>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let shared = self.shared.clone();
        let Ok(permit) = shared.streams.clone().try_acquire_owned() else {
            let full = Ending::Limit {
                what: "the number of agents' streams on one member",
                most: STREAMS_MAX as u64,
                advice: "; go on with another member",
            };
            return Err(full.status());
        };
        let (_, extensions, incoming) = request.into_parts();
        let (outgoing, messages) = mpsc::channel(OUTGOING_MAX);
        // Answered at once: the agent's Hello need not have come for the stream to stand.
        self.shared.tasks.spawn(async move {
            let ending = converse(shared, &extensions, incoming, outgoing.clone()).await;
            tell_ending(&outgoing, &ending).await;
            drop(permit);
        });
        Ok(Response::new(ReceiverStream::new(messages)))
    }
}

/// One stream from its Hello to its end.
async fn converse(
    shared: Arc<Shared>,
    extensions: &Extensions,
    mut incoming: Streaming<AgentMessage>,
    outgoing: Outgoing,
) -> Ending {
    let (session, opened) = match open(&shared, extensions, &mut incoming).await {
        Ok(opened) => opened,
        Err(ending) => {
            tracing::info!(reason = %ending, "an agent's stream was refused");
            return ending;
        }
    };
    let agent = session.agent().clone();
    tracing::info!(%agent, session = %session.held.session, "an agent's session is open");
    let mut stream = Stream::new(shared.clone(), session, opened, incoming, outgoing);
    let ending = stream.serve().await;
    let session = stream.session();
    shared.consensus.release(&session.held);
    shared.recent.close(&agent);
    tracing::info!(%agent, session = %session.held.session, reason = %ending, "an agent's stream has ended");
    ending
}
