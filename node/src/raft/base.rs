//! What the parts of a member share, and the seat that it takes in a cluster: once, now or later.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use openraft::error::{Fatal, InitializeError, RaftError};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::Status;
use waymark_proto::storage::v1::MemberHeader;

use super::acknowledged::Acknowledged;
use super::backup::{Beginning, lay_out};
use super::connections::Connections;
use super::data_dir::{DataDir, DataDirError, REJOIN};
use super::log_kind::LogKind;
use super::log_opening::{self, OpenLogError};
use super::log_store::LogStore;
use super::narrator::{Reach, Refusals, narrate};
use super::newcomers::Newcomers;
use super::peer_client::Network;
use super::seat::{Ending, Seat};
use super::snapshot::Snapshots;
use super::state_machine::{Limits, Reached, StateMachine};
use super::types::Raft;
use super::{MemberConfig, OpenError, ProposeError, compaction, timers};
use crate::publication::{Publisher, Reader};

/// Why a member that was taken out takes no part.
const REMOVED: &str = "this member was taken out of its cluster: stop it, and move its data directory away before it joins another";

/// What the parts of a member share.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) config: MemberConfig,
    pub(super) reader: Reader,
    pub(super) connections: Connections,
    pub(super) refusals: Refusals,
    pub(super) newcomers: Newcomers,
    /// Asked to stop.
    pub(super) stop: CancellationToken,
    /// Everything that runs in the background.
    pub(super) tasks: TaskTracker,
    seat: watch::Sender<Option<Arc<Seat>>>,
    data_dir: Arc<DataDir>,
    /// Held by the one who seats the member; empty once it has been tried.
    chair: Mutex<Option<Publisher>>,
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
    /// An empty member.
    pub(super) fn new(config: MemberConfig, data_dir: DataDir, publisher: Publisher, reader: Reader) -> Self {
        Self {
            connections: Connections::new(config.credentials.clone()),
            config,
            reader,
            refusals: Refusals::default(),
            newcomers: Newcomers::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            seat: watch::Sender::new(None),
            data_dir: Arc::new(data_dir),
            chair: Mutex::new(Some(publisher)),
        }
    }

    /// Goes on where the data directory says this member was: in its cluster, or nowhere yet.
    pub(super) async fn take_up(self: &Arc<Self>) -> Result<(), OpenError> {
        let data_dir = self.data_dir.clone();
        match blocking(move || data_dir.header()).await? {
            Some(header) => self.reopen(header).await,
            None => {
                tracing::info!("{}", ProposeError::NotMember);
                self.refuse_orphaned_log().await
            }
        }
    }

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
        self.sit_down(cluster, member, |data_dir, owner| {
            log_opening::create(data_dir.path(), LogKind::OWN, owner)
                .map_err(|error| log_refused(data_dir, &error))
        })
        .await
    }

    /// Makes this the first member of `cluster`, which has `begun` elsewhere, durably, and starts consensus.
    pub(super) async fn take_restored_seat(
        self: &Arc<Self>,
        cluster: &str,
        member: u64,
        begun: Beginning,
    ) -> Result<Arc<Seat>, SeatError> {
        let node = self.config.node();
        self.sit_down(cluster, member, move |data_dir, owner| lay_out(data_dir, owner, &node, &begun)).await
    }

    /// Has `work` run to its end, even if whoever waits for it goes away, as one whose connection is cut does: what it begins must
    /// not be left half done.
    pub(super) async fn to_its_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        match self.tasks.spawn(work).await {
            Ok(done) => done,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => panic!("the runtime is going down: {error}"),
        }
    }

    async fn sit_down(
        self: &Arc<Self>,
        cluster: &str,
        member: u64,
        prepare: impl FnOnce(&DataDir, &MemberHeader) -> Result<(), OpenError> + Send + 'static,
    ) -> Result<Arc<Seat>, SeatError> {
        let (this, cluster) = (self.clone(), cluster.to_owned());
        self.to_its_end(async move { this.sit_down_here(&cluster, member, prepare).await }).await
    }

    /// Has `prepare` lay out the data directory for its new owner, says whose it is, and starts consensus.
    async fn sit_down_here(
        self: &Arc<Self>,
        cluster: &str,
        member: u64,
        prepare: impl FnOnce(&DataDir, &MemberHeader) -> Result<(), OpenError> + Send + 'static,
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
        let header = DataDir::new_header(cluster, member, &self.config.name);
        let (data_dir, owner) = (self.data_dir.clone(), header.clone());
        let prepared = blocking(move || {
            prepare(&data_dir, &owner)?;
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

    async fn reopen(self: &Arc<Self>, mut header: MemberHeader) -> Result<(), OpenError> {
        if header.name != self.config.name {
            // Two processes that are one member would vote twice (CLU-4).
            let (dir, name) = (self.config.data_dir.clone(), self.config.name.clone());
            return Err(OpenError::OtherMember { dir, owner: header.name, name });
        }
        let publisher = self.chair.lock().await.take().expect("nobody else is here yet");
        // The log knows its owner by the rest.
        let was_removed = std::mem::take(&mut header.removed);
        let seat = self.start_consensus(header, publisher).await?;
        if was_removed {
            self.end_part(&seat, REMOVED.to_owned()).await;
        }
        Ok(())
    }

    async fn start_consensus(
        self: &Arc<Self>,
        header: MemberHeader,
        publisher: Publisher,
    ) -> Result<Arc<Seat>, OpenError> {
        let MemberHeader { cluster_id: cluster, member_id: member, .. } = header.clone();
        let backlog = Arc::new(AtomicU64::new(0));
        let (data_dir, counted) = (self.data_dir.clone(), backlog.clone());
        let (ending, supported) = (Ending::default(), self.config.apply_level_max);
        let limits = Limits { ending: ending.clone(), supported };
        let (log, snapshots, machine) =
            blocking(move || open_storage(&data_dir, &header, publisher, counted, limits)).await?;
        let network = Network {
            connections: self.connections.clone(),
            cluster: cluster.clone(),
            member,
            pause: self.config.timers.heartbeat(),
            reach: Reach::default(),
            acknowledged: Acknowledged::default(),
        };
        let config = timers::checked(self.config.timers.config(member, self.config.compaction));
        let opened_at = log.last_index();
        let stale_after = self.config.timers.leader_is_stale_after();
        let raft = Raft::new(member, config, network, log.clone(), machine).await;
        let raft = raft.map_err(|error| not_started(&self.config, &ending, &error))?;
        let stop = self.stop.clone();
        let silence = Arc::<AtomicBool>::default();
        let beat = timers::beat(raft.clone(), self.config.timers.heartbeat(), silence.clone(), stop.clone());
        self.tasks.spawn(beat);
        self.tasks.spawn(compaction::watch(raft.clone(), snapshots.clone(), backlog, stop.clone()));
        self.tasks.spawn(narrate(raft.clone(), stop));
        let seat =
            Arc::new(Seat { cluster, member, raft, snapshots, opened_at, log, ending, stale_after, silence });
        self.seat.send_replace(Some(seat.clone()));
        Ok(seat)
    }

    /// Ends this member's part in consensus if its log does not hold the committed entry `acknowledged`, which it had
    /// acknowledged to the one who asks: it must not vote, now or after a restart (CLU-2).
    pub(super) async fn refuse_loss(&self, seat: &Seat, acknowledged: Option<u64>) -> Result<(), Status> {
        let found = seat.log.last_index().max(self.reader.view().applied.0);
        let Some(expected) = acknowledged.filter(|expected| *expected > found) else { return Ok(()) };
        let text = format!(
            "its data directory was put back to an older copy: its log goes up to entry {found}, and it had \
             acknowledged up to {expected}; {REJOIN}"
        );
        let failure = self.end_part(seat, text).await;
        if let Err(error) = seat.log.note_acknowledged(expected).await {
            tracing::error!(%error, "the loss could not be noted in the data directory: do not start this member again");
        }
        Err(Status::unavailable(failure.to_string()))
    }

    /// Ends this member's part in consensus for good, for it was taken out: after a restart as well.
    pub(super) async fn leave(&self, seat: &Seat) {
        let header = DataDir::new_header(&seat.cluster, seat.member, &self.config.name);
        let (data_dir, header) = (self.data_dir.clone(), MemberHeader { removed: true, ..header });
        if let Err(error) = blocking(move || data_dir.write_header(&header)).await {
            tracing::error!(%error, "that this member was taken out could not be noted: do not start it again");
        }
        self.end_part(seat, REMOVED.to_owned()).await;
    }

    /// Ends this member's part in consensus for `reason`; it goes on answering from what it knows.
    pub(super) async fn end_part<'s>(&self, seat: &'s Seat, reason: String) -> &'s ProposeError {
        let failure = seat.ending.get_or_init(|| {
            tracing::error!("this member takes no part in consensus any more: {reason}");
            ProposeError::Failed(reason)
        });
        timers::end(&seat.raft).await;
        failure
    }

    /// A log without the file that says whose it is may be all that is left of a member (CLU-1).
    async fn refuse_orphaned_log(&self) -> Result<(), OpenError> {
        let data_dir = self.data_dir.clone();
        blocking(move || {
            log_opening::refuse_orphan(data_dir.path(), LogKind::OWN)
                .map_err(|error| log_refused(&data_dir, &error))
        })
        .await
    }

    /// Makes this member the only voter of a cluster, unless the cluster has begun.
    pub(super) async fn begin_cluster(&self, seat: &Seat) -> Result<(), Fatal<u64>> {
        let members = BTreeMap::from([(seat.member, self.config.node())]);
        if seat.raft.is_initialized().await? {
            return Ok(());
        }
        match seat.raft.initialize(members).await {
            Ok(()) | Err(RaftError::APIError(InitializeError::NotAllowed(_))) => Ok(()),
            Err(RaftError::APIError(InitializeError::NotInMembers(error))) => {
                unreachable!("the member is in its own membership: {error}")
            }
            Err(RaftError::Fatal(fatal)) => Err(fatal),
        }
    }

    /// Ends everything that runs, and lets the data directory go.
    pub(super) async fn end(&self) {
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
    limits: Limits,
) -> Result<(LogStore, Arc<Snapshots>, StateMachine), OpenError> {
    let log = log_opening::open(data_dir.path(), LogKind::OWN, header)
        .map_err(|error| log_refused(data_dir, &error))?;
    let opened = Snapshots::open(data_dir.path(), limits.supported);
    let (snapshots, content) = opened.map_err(|error| error.refusal(data_dir.path()))?;
    let (purged, covered) = (log.bounds().purged, content.as_ref().and_then(|(meta, _)| meta.last_log_id));
    if purged > covered {
        let reason = "the snapshot that replaces its beginning is missing".to_owned();
        return Err(OpenError::Log { dir: data_dir.path().to_owned(), reason });
    }
    let snapshots = Arc::new(snapshots);
    let beginning = caught_up(&log, Reached::of(content), &backlog, &limits);
    let beginning = beginning.map_err(|error| log_refused(data_dir, &error.into()))?;
    let machine = StateMachine::new(publisher, snapshots.clone(), beginning, backlog, limits);
    Ok((log, snapshots, machine))
}

/// `reached` and what `log` knows to be committed beyond it, up to the first entry that is not to be applied here. openraft would do the
/// same in small steps and have a view made after each, which costs several times as much (CLU-3); it goes on from here.
fn caught_up(
    log: &LogStore,
    mut reached: Reached,
    backlog: &AtomicU64,
    limits: &Limits,
) -> io::Result<Reached> {
    let from = reached.applied.map_or(0, |id| id.index + 1);
    let to = log.bounds().committed.map_or(0, |id| id.index + 1);
    log.visit(from, to, &mut |entry| {
        let Some(bytes) = reached.go_on(entry, limits) else { return Ok(ControlFlow::Break(())) };
        backlog.fetch_add(bytes, Ordering::Relaxed);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(reached)
}

/// Why consensus could not start, given the reason of its state machine, if that has one.
fn not_started(config: &MemberConfig, ending: &Ending, error: &Fatal<u64>) -> OpenError {
    match ending.get() {
        Some(ProposeError::Failed(reason)) => {
            OpenError::Later { dir: config.data_dir.clone(), reason: reason.clone() }
        }
        _ => OpenError::Raft(error.to_string()),
    }
}

pub(super) fn log_refused(data_dir: &DataDir, error: &OpenLogError) -> OpenError {
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
