//! One member from its start to its end: opened empty or with its data, seated in a cluster now or later, without a
//! restart in between.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use openraft::error::{Fatal, InitializeError, RaftError};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use waymark_core::state::View;
use waymark_proto::peer::v1::peers_server::PeersServer;
use waymark_proto::peer::v1::raft_server::RaftServer;
use waymark_proto::storage::v1::MemberHeader;

use super::connections::{Connections, MESSAGE_MAX};
use super::data_dir::{DataDir, DataDirError, REJOIN};
use super::log_opening::{self, OpenLogError};
use super::log_store::LogStore;
use super::peer_client::Network;
use super::peer_service::PeerService;
use super::raft_service::RaftService;
use super::snapshot::{SnapshotError, Snapshots};
use super::state_machine::StateMachine;
use super::timers::{self, Compaction, TimerProfile};
use super::types::{Metrics, Node, Raft};
use super::{Leases, Membership, Proposer, compaction, leases, proposer};
use crate::publication::{Publisher, Reader, publication};

/// How long the end of consensus may take before the process goes on without it.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// What a member needs to know of itself.
#[derive(Clone, Debug)]
pub struct MemberConfig {
    /// Its name, unique in the cluster.
    pub name: String,
    /// Where its data lies; created if need be.
    pub data_dir: PathBuf,
    /// Where other members reach it, as in `http://192.0.2.1:7400`.
    pub grpc_advertise: String,
    /// Where it answers DNS, as in `192.0.2.1:53`; only shown.
    pub dns_advertise: String,
    /// Where it serves HTTP, as in `http://192.0.2.1:7401`; only shown.
    pub http_advertise: String,
    /// How patient consensus is; the same on all members.
    pub timers: TimerProfile,
    /// When the log is cut.
    pub compaction: Compaction,
}

impl MemberConfig {
    pub(super) fn node(&self) -> Node {
        Node {
            name: self.name.clone(),
            grpc: self.grpc_advertise.clone(),
            dns: self.dns_advertise.clone(),
            http: self.http_advertise.clone(),
        }
    }
}

/// Why a member did not start. One line each; nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The data directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The log is damaged, incomplete or another's (CLU-3, CLU-4).
    #[error("the log in {dir} is refused: {reason}; {REJOIN}")]
    Log {
        /// The data directory.
        dir: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The snapshot is damaged (CLU-3).
    #[error("{reason}; {REJOIN}")]
    Snapshot {
        /// Which one, and what is wrong with it.
        reason: String,
    },
    /// The address would not be reachable by others.
    #[error("the advertised address {0} is unspecified: set one at which the other members reach this one")]
    Unspecified(String),
    /// Consensus could not start.
    #[error("consensus did not start: {0}")]
    Raft(String),
}

/// What a started member offers to those above it.
pub struct Started {
    /// The way in.
    pub proposer: Proposer,
    /// Who is in the cluster.
    pub membership: Membership,
    /// The sessions of agents that are held here.
    pub leases: Leases,
    /// The way out.
    pub reader: Reader,
    /// To be served to other members.
    pub raft_service: RaftServer<RaftService>,
    /// To be served to other members.
    pub peer_service: PeersServer<PeerService>,
    /// To end it.
    pub stopper: Stopper,
}

/// Ends a member.
#[derive(Debug)]
pub struct Stopper {
    base: Arc<Base>,
}

impl Stopper {
    /// Ends consensus, writes what is left to be written, and lets the data directory go.
    pub async fn stop(self) {
        let ended = tokio::time::timeout(STOP_TIMEOUT, self.base.end()).await;
        if ended.is_err() {
            tracing::warn!("consensus did not end within {STOP_TIMEOUT:?}");
        }
    }
}

/// A member.
#[derive(Debug)]
pub struct Member;

impl Member {
    /// Opens the data directory and starts what is in it: a member of a cluster goes on where it was, an empty one
    /// waits to found a cluster or to be added to one. Refuses data that is damaged or in use.
    pub async fn open(config: MemberConfig) -> Result<Started, OpenError> {
        for address in [&config.grpc_advertise, &config.dns_advertise, &config.http_advertise] {
            if super::address::is_unspecified(address) {
                return Err(OpenError::Unspecified(address.clone()));
            }
        }
        let path = config.data_dir.clone();
        let data_dir = blocking(move || DataDir::take(&path)).await?;
        let (publisher, reader) = publication(View::default());
        let base = Arc::new(Base {
            config,
            reader: reader.clone(),
            connections: Connections::default(),
            seat: watch::Sender::new(None),
            data_dir: Arc::new(data_dir),
            chair: Mutex::new(Some(publisher)),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        let header = {
            let data_dir = base.data_dir.clone();
            blocking(move || data_dir.header()).await?
        };
        match header {
            Some(header) => base.reopen(header).await?,
            None => base.refuse_orphaned_log().await?,
        }
        Ok(Started::new(base, reader))
    }
}

impl Started {
    fn new(base: Arc<Base>, reader: Reader) -> Self {
        let proposer = proposer::start(&base);
        let membership = Membership::new(base.clone(), proposer.clone());
        let leases = leases::start(&base, &proposer);
        let raft_service = RaftServer::new(RaftService::new(base.clone()))
            .max_decoding_message_size(MESSAGE_MAX)
            .max_encoding_message_size(MESSAGE_MAX);
        let service = PeerService::new(base.clone(), proposer.clone(), membership.clone(), leases.clone());
        let peer_service = PeersServer::new(service)
            .max_decoding_message_size(MESSAGE_MAX)
            .max_encoding_message_size(MESSAGE_MAX);
        membership.found_again();
        Self { proposer, membership, leases, reader, raft_service, peer_service, stopper: Stopper { base } }
    }
}

/// What the parts of a member share.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) config: MemberConfig,
    pub(super) reader: Reader,
    pub(super) connections: Connections,
    /// Asked to stop.
    pub(super) stop: CancellationToken,
    /// Everything that runs in the background.
    pub(super) tasks: TaskTracker,
    seat: watch::Sender<Option<Arc<Seat>>>,
    data_dir: Arc<DataDir>,
    /// Held by the one who seats the member; empty once it has been tried.
    chair: Mutex<Option<Publisher>>,
}

/// A member's place in a cluster.
pub(super) struct Seat {
    /// The cluster.
    pub(super) cluster: String,
    /// Its number there.
    pub(super) member: u64,
    /// Its consensus.
    pub(super) raft: Raft,
    /// Its snapshots.
    pub(super) snapshots: Arc<Snapshots>,
    log: LogStore,
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "member {} of cluster {}", self.member, self.cluster)
    }
}

impl Seat {
    /// What consensus says of itself now.
    pub(super) fn metrics(&self) -> Metrics {
        self.raft.metrics().borrow().clone()
    }
}

/// Why a member did not take a seat.
#[derive(Debug, thiserror::Error)]
pub(super) enum SeatError {
    /// It has one.
    #[error("this member is number {member} of cluster {cluster} already")]
    Taken {
        /// The cluster.
        cluster: String,
        /// Its number there.
        member: u64,
    },
    /// It failed before; only a restart helps.
    #[error("this member could not start consensus before: see its log, then restart it")]
    Broken,
    /// It failed now.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl Base {
    /// The member's place, once it has one.
    pub(super) fn seat(&self) -> Option<Arc<Seat>> {
        self.seat.borrow().clone()
    }

    /// Waits until the member has a place.
    pub(super) async fn seated(&self) -> Arc<Seat> {
        let mut seats = self.seat.subscribe();
        let seat = seats.wait_for(Option::is_some).await.expect("the base holds the sender").clone();
        seat.expect("it was waited for")
    }

    /// Makes this the member `member` of `cluster`, durably, and starts consensus. Idempotent.
    pub(super) async fn take_seat(
        self: &Arc<Self>,
        cluster: &str,
        member: u64,
    ) -> Result<Arc<Seat>, SeatError> {
        let mut chair = self.chair.lock().await;
        if let Some(seat) = self.seat() {
            return if seat.cluster == cluster && seat.member == member {
                Ok(seat)
            } else {
                Err(SeatError::Taken { cluster: seat.cluster.clone(), member: seat.member })
            };
        }
        let publisher = chair.take().ok_or(SeatError::Broken)?;
        let header = DataDir::new_header(cluster, member);
        let (data_dir, owner) = (self.data_dir.clone(), header.clone());
        let prepared = blocking(move || {
            log_opening::create(data_dir.path(), &owner).map_err(|error| log_refused(&data_dir, &error))?;
            let failed = |error| DataDirError::Io { dir: data_dir.path().to_owned(), error };
            Ok(data_dir.write_header(&owner).map_err(failed)?)
        });
        match prepared.await {
            Ok(()) => Ok(self.start_consensus(header, publisher).await?),
            Err(error) => {
                *chair = Some(publisher);
                Err(SeatError::Open(error))
            }
        }
    }

    async fn reopen(self: &Arc<Self>, header: MemberHeader) -> Result<(), OpenError> {
        let publisher = self.chair.lock().await.take().expect("nobody else is here yet");
        self.start_consensus(header, publisher).await.map(drop)
    }

    async fn start_consensus(
        self: &Arc<Self>,
        header: MemberHeader,
        publisher: Publisher,
    ) -> Result<Arc<Seat>, OpenError> {
        let MemberHeader { cluster_id: cluster, member_id: member, .. } = header.clone();
        let backlog = Arc::new(AtomicU64::new(0));
        let (data_dir, counted) = (self.data_dir.clone(), backlog.clone());
        let (log, snapshots, machine) =
            blocking(move || open_storage(&data_dir, &header, publisher, counted)).await?;
        let network = Network {
            connections: self.connections.clone(),
            cluster: cluster.clone(),
            member,
            pause: self.config.timers.heartbeat(),
        };
        let config = timers::checked(self.config.timers.config(member, self.config.compaction));
        let raft = Raft::new(member, config, network, log.clone(), machine).await;
        let raft = raft.map_err(|error| OpenError::Raft(error.to_string()))?;
        let stop = self.stop.clone();
        self.tasks.spawn(timers::beat(raft.clone(), self.config.timers.heartbeat(), stop.clone()));
        self.tasks.spawn(compaction::watch(raft.clone(), backlog, stop));
        let seat = Arc::new(Seat { cluster, member, raft, snapshots, log });
        self.seat.send_replace(Some(seat.clone()));
        Ok(seat)
    }

    /// A log without the file that says whose it is may be all that is left of a member (CLU-1).
    async fn refuse_orphaned_log(&self) -> Result<(), OpenError> {
        let data_dir = self.data_dir.clone();
        blocking(move || {
            log_opening::refuse_orphan(data_dir.path()).map_err(|error| log_refused(&data_dir, &error))
        })
        .await
    }

    /// Makes this member the only voter of a cluster, unless the cluster has begun.
    pub(super) async fn begin_cluster(&self, seat: &Seat) -> Result<(), Fatal<u64>> {
        let members = BTreeMap::from([(seat.member, self.config.node())]);
        match seat.raft.initialize(members).await {
            Ok(()) | Err(RaftError::APIError(InitializeError::NotAllowed(_))) => Ok(()),
            Err(RaftError::APIError(InitializeError::NotInMembers(error))) => {
                unreachable!("the member is in its own membership: {error}")
            }
            Err(RaftError::Fatal(fatal)) => Err(fatal),
        }
    }

    async fn end(&self) {
        self.stop.cancel();
        self.tasks.close();
        let seat = self.seat();
        if let Some(seat) = &seat {
            timers::end(&seat.raft).await;
        }
        self.tasks.wait().await;
        if let Some(seat) = seat {
            let log = seat.log.clone();
            blocking(move || log.close()).await;
        }
        self.data_dir.release();
    }
}

fn open_storage(
    data_dir: &DataDir,
    header: &MemberHeader,
    publisher: Publisher,
    backlog: Arc<AtomicU64>,
) -> Result<(LogStore, Arc<Snapshots>, StateMachine), OpenError> {
    let log = log_opening::open(data_dir.path(), header).map_err(|error| log_refused(data_dir, &error))?;
    let damaged = |error: SnapshotError| OpenError::Snapshot { reason: error.to_string() };
    let (snapshots, content) = Snapshots::open(data_dir.path()).map_err(damaged)?;
    let (purged, covered) = (log.bounds().purged, content.as_ref().and_then(|(meta, _)| meta.last_log_id));
    if purged > covered {
        let reason = "the snapshot that replaces its beginning is missing".to_owned();
        return Err(OpenError::Log { dir: data_dir.path().to_owned(), reason });
    }
    let snapshots = Arc::new(snapshots);
    let machine = StateMachine::new(publisher, snapshots.clone(), content, backlog);
    Ok((log, snapshots, machine))
}

fn log_refused(data_dir: &DataDir, error: &OpenLogError) -> OpenError {
    OpenError::Log { dir: data_dir.path().to_owned(), reason: error.to_string() }
}

/// Runs `work`, which waits for a disk, where no other task has to wait for it.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(error) => panic!("the runtime is going down: {error}"),
    }
}
