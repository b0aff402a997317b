//! The raft module against real disks and real connections.

mod cluster;
mod leases;
mod running;
mod store;
mod suite;
