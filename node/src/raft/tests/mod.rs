//! The raft module against real disks and real connections.

mod cluster;
mod crash;
mod figures;
mod leases;
mod levels;
mod recovery;
mod running;
mod snapshots;
mod store;
mod suite;
