//! Members in this process: real disks, real connections on loopback, each with a server of its own.

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;
use waymark_core::model::{Caseless, MemberId, Region, Revision};
use waymark_core::state::{Action, ApplyLevel, Command, CommandId};

use crate::publication::Reader;
use crate::raft::{
    Compaction, Leases, Member, MemberConfig, Membership, OpenError, Proposer, Started, Stopper, TimerProfile,
};

/// Everything here takes milliseconds to a few seconds; a test that waits longer has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A running member.
pub(super) struct Running {
    pub(super) proposer: Proposer,
    pub(super) membership: Membership,
    pub(super) leases: Leases,
    pub(super) reader: Reader,
    pub(super) address: String,
    pub(super) config: MemberConfig,
    stopper: Stopper,
    stop_server: CancellationToken,
    server: JoinHandle<()>,
}

/// A member that is not running, and where it was.
pub(super) struct Stopped {
    pub(super) config: MemberConfig,
    address: SocketAddr,
}

impl Running {
    /// Starts an empty member with its data in `dir`.
    pub(super) async fn start(name: &str, dir: &Path) -> Self {
        Self::start_with(name, dir, Compaction::default()).await
    }

    pub(super) async fn start_with(name: &str, dir: &Path, compaction: Compaction) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let config = MemberConfig {
            name: name.into(),
            data_dir: dir.join(name),
            grpc_advertise: format!("http://{}", listener.local_addr().unwrap()),
            dns_advertise: "127.0.0.1:53".into(),
            http_advertise: "http://127.0.0.1:7401".into(),
            timers: TimerProfile::Local,
            compaction,
            apply_level_max: ApplyLevel::HIGHEST,
            credentials: None,
        };
        Self::serve(config, listener).await.unwrap()
    }

    async fn serve(config: MemberConfig, listener: TcpListener) -> Result<Self, OpenError> {
        let Started { proposer, membership, leases, reader, raft_service, peer_service, stopper, .. } =
            Member::open(config.clone(), crate::publication::no_tables()).await?;
        let stop_server = CancellationToken::new();
        let stop = stop_server.clone();
        let server = tokio::spawn(async move {
            let router = Server::builder().add_service(raft_service).add_service(peer_service);
            let incoming = TcpListenerStream::new(listener);
            router.serve_with_incoming_shutdown(incoming, stop.cancelled_owned()).await.unwrap();
        });
        let address = config.grpc_advertise.clone();
        Ok(Self { proposer, membership, leases, reader, address, config, stopper, stop_server, server })
    }

    /// Ends the member and its connections.
    pub(super) async fn stop(self) -> Stopped {
        self.stop_server.cancel();
        self.server.await.unwrap();
        self.stopper.stop().await;
        let address = self.address.trim_start_matches("http://").parse().unwrap();
        Stopped { config: self.config, address }
    }

    pub(super) fn id(&self) -> MemberId {
        self.membership.id().unwrap()
    }

    /// Sets a region and returns the entry's number.
    pub(super) async fn set_region(&self, name: &str) -> u64 {
        let proposed = self.proposer.propose(vec![region(name)]).await.unwrap();
        proposed.replies[0].as_ref().unwrap();
        proposed.index.0
    }

    pub(super) fn has_region(&self, name: &str) -> bool {
        self.reader.view().state.regions.contains_key(&Caseless::new(name))
    }
}

impl Stopped {
    /// Starts the member again at the same address.
    pub(super) async fn start(self) -> Running {
        self.try_start().await.unwrap()
    }

    /// Starts the member again at another address.
    pub(super) async fn start_elsewhere(mut self) -> Running {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.config.grpc_advertise = format!("http://{}", listener.local_addr().unwrap());
        Running::serve(self.config, listener).await.unwrap()
    }

    pub(super) async fn try_start(self) -> Result<Running, OpenError> {
        let listener = eventually("the address is free again", || TcpListener::bind(self.address)).await;
        Running::serve(self.config, listener).await
    }
}

/// Tries until it works, with a deadline.
pub(super) async fn eventually<T, E, F: Future<Output = Result<T, E>>>(
    what: &str,
    mut attempt: impl FnMut() -> F,
) -> T {
    let tries = async {
        loop {
            if let Ok(done) = attempt().await {
                return done;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, tries).await.unwrap_or_else(|_| panic!("not in time: {what}"))
}

/// Waits until `holds`, with a deadline.
pub(super) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    eventually(what, || std::future::ready(if holds() { Ok(()) } else { Err(()) })).await;
}

/// A cluster of `count` members, founded by the first, and the folder of their data.
pub(super) async fn cluster(count: usize) -> (TempDir, Vec<Running>) {
    cluster_with(count, Compaction::default()).await
}

/// The same, whose logs are cut as `compaction` says.
pub(super) async fn cluster_with(count: usize, compaction: Compaction) -> (TempDir, Vec<Running>) {
    let dir = tempfile::tempdir().unwrap();
    let mut members = vec![Running::start_with("m1", dir.path(), compaction).await];
    members[0].membership.init().await.unwrap();
    for number in 2..=count {
        let member = Running::start_with(&format!("m{number}"), dir.path(), compaction).await;
        members[0].membership.add(&member.address, false).await.unwrap();
        members.push(member);
    }
    (dir, members)
}

/// The place of the leader among `members`.
pub(super) async fn leader(members: &[Running]) -> usize {
    eventually("somebody leads", || async {
        for (place, member) in members.iter().enumerate() {
            let status = member.membership.status().await;
            if status.leader == member.membership.id() && status.leader.is_some() {
                return Ok(place);
            }
        }
        Err(())
    })
    .await
}

pub(super) fn region(name: &str) -> Command {
    let region =
        Region { name: Caseless::new(name), latitude_e6: 0, longitude_e6: 0, revision: Revision::default() };
    Command { id: None, author: "operator".into(), note: None, action: Action::SetRegion(region) }
}

pub(super) fn marked(id: u128, command: Command) -> Command {
    Command { id: Some(CommandId(id)), ..command }
}
