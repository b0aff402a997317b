//! The raft module against real disks and real connections.

mod cluster;
mod crash;
mod leases;
mod recovery;
mod running;
mod snapshots;
mod store;
mod suite;
