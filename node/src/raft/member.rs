//! One member from its start to its end: opened empty or with its data, seated in a cluster now or later, without a
//! restart in between.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use waymark_core::state::{ApplyLevel, View};
use waymark_process::tls::Credentials;
use waymark_proto::peer::v1::peers_server::PeersServer;
use waymark_proto::peer::v1::raft_server::RaftServer;

use super::base::{Base, blocking};
use super::connections::MESSAGE_MAX;
use super::data_dir::{DataDir, DataDirError, REJOIN};
use super::peer_service::PeerService;
use super::raft_service::RaftService;
use super::timers::{Compaction, TimerProfile};
use super::types::Node;
use super::{
    HeldTables, LastOutcomes, Leases, Membership, Proposer, brakes, change, contact, endings, leases,
    proposer, upkeep,
};
use crate::publication::{Reader, TableSource, publication};

/// How long the end of consensus may take before the process goes on without it.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// What a member needs to know of itself.
#[derive(Clone, Debug)]
pub struct MemberConfig {
    /// Its name, unique in the cluster.
    pub name: String,
    /// Where its data lies; created if need be.
    pub data_dir: PathBuf,
    /// Where other members reach it, as in `https://192.0.2.1:7400`.
    pub grpc_advertise: String,
    /// Where it answers DNS, as in `192.0.2.1:53`; only shown.
    pub dns_advertise: String,
    /// Where it serves HTTP, as in `http://192.0.2.1:7401`; only shown.
    pub http_advertise: String,
    /// How patient consensus is; the same on all members.
    pub timers: TimerProfile,
    /// When the log is cut.
    pub compaction: Compaction,
    /// The highest level of `apply` that it supports; what it cannot do it stops before (CLU-9).
    pub apply_level_max: ApplyLevel,
    /// Who this member is to others; in plain text if there is nothing to tell by.
    pub credentials: Option<Arc<Credentials>>,
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
    /// The data directory is another member's (CLU-4).
    #[error(
        "the data directory {dir} is that of the member '{owner}', and this one is called '{name}': give each member a directory of its own"
    )]
    OtherMember {
        /// The data directory.
        dir: PathBuf,
        /// The member that it belongs to.
        owner: String,
        /// This member.
        name: String,
    },
    /// The snapshot is damaged (CLU-3).
    #[error("{reason}; {REJOIN}")]
    Snapshot {
        /// Which one, and what is wrong with it.
        reason: String,
    },
    /// The data is of a level of `apply` that this member does not support (CLU-9).
    #[error("the data directory {dir} is of a later version: {reason}")]
    Later {
        /// The data directory.
        dir: PathBuf,
        /// What of it.
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
    /// What agents found last, here and on other members.
    pub outcomes: LastOutcomes,
    /// Which geo tables there are, here and on other members.
    pub tables: HeldTables,
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
    pub async fn stop(&self) {
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
    /// waits to found a cluster or to be added to one. Clients are located by what `tables` has. Refuses data that is damaged or
    /// in use.
    pub async fn open(config: MemberConfig, tables: TableSource) -> Result<Started, OpenError> {
        for address in [&config.grpc_advertise, &config.dns_advertise, &config.http_advertise] {
            if super::address::is_unspecified(address) {
                return Err(OpenError::Unspecified(address.clone()));
            }
        }
        let path = config.data_dir.clone();
        let data_dir = blocking(move || DataDir::take(&path)).await?;
        let (publisher, reader) = publication(View::default(), tables);
        let base = Arc::new(Base::new(config, data_dir, publisher, reader.clone()));
        base.take_up().await?;
        Ok(Started::new(base, reader))
    }
}

impl Started {
    fn new(base: Arc<Base>, reader: Reader) -> Self {
        let proposer = proposer::start(&base);
        let membership = Membership::new(base.clone(), proposer.clone());
        let leases = leases::start(&base, &proposer);
        upkeep::start(&base, &proposer);
        endings::start(&base, &proposer);
        brakes::start(&base, &proposer);
        contact::start(&base, &proposer);
        let raft_service = RaftServer::new(RaftService::new(base.clone()))
            .max_decoding_message_size(MESSAGE_MAX)
            .max_encoding_message_size(MESSAGE_MAX);
        let outcomes = LastOutcomes::new(base.clone());
        let tables = HeldTables::new(base.clone());
        let service = PeerService {
            base: base.clone(),
            proposer: proposer.clone(),
            membership: membership.clone(),
            leases: leases.clone(),
            outcomes: outcomes.clone(),
            tables: tables.clone(),
        };
        let peer_service = PeersServer::new(service)
            .max_decoding_message_size(MESSAGE_MAX)
            .max_encoding_message_size(MESSAGE_MAX);
        membership.found_again();
        change::complete_always(&membership);
        let stopper = Stopper { base };
        Self { proposer, membership, leases, outcomes, tables, reader, raft_service, peer_service, stopper }
    }
}
