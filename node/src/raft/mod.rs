//! Consensus: everything that knows openraft, sled and redb is below here. The doors see five handles: [`Proposer`],
//! [`Membership`], [`Leases`], [`LastOutcomes`] and the publication's reader.

mod acknowledged;
mod address;
mod admission;
mod backup;
mod base;
mod brakes;
mod caller;
mod change;
mod compaction;
mod connections;
mod contact;
mod convert;
mod data_dir;
mod endings;
mod file_lock;
mod forward;
mod gather;
mod held_tables;
mod key_space;
mod leader;
mod leases;
mod lessor;
mod log_disk;
mod log_kind;
mod log_opening;
mod log_store;
mod log_writer;
mod member;
mod membership;
mod narrator;
mod newcomers;
mod opener;
mod outcomes;
mod peer_client;
mod peer_service;
mod proposer;
mod raft_service;
mod recent;
#[cfg(feature = "redb")]
mod redb_disk;
mod seat;
mod sled_disk;
mod snapshot;
mod snapshot_file;
mod standing;
mod state_machine;
#[cfg(test)]
mod tests;
mod timers;
mod types;
mod upgrade;
mod upkeep;
mod watermark;

pub use backup::{BackUp, BackUpSource, Upload};
pub use data_dir::DataDirError;
pub use held_tables::{Held, HeldSource, HeldTables};
pub use leases::{HeldSession, Leases};
pub use member::{Member, MemberConfig, OpenError, Started, Stopper};
pub use membership::{ClusterStatus, MemberStatus, Membership, MembershipError, Role};
pub use outcomes::{Gathered, LastOutcome, LastOutcomes, OutcomeSource};
pub use peer_service::PeerService;
pub use proposer::{ProposeError, Proposed, Proposer};
pub use raft_service::RaftService;
pub use timers::{Compaction, TimerProfile};
