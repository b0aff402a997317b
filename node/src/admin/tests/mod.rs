//! The operators' API as its clients see it: over gRPC on loopback, with a cluster of one that lives in memory.

mod answers;
mod audit;
mod authority;
mod cluster;
mod double;
mod endpoints;
mod events;
mod faults;
mod fixture;
mod members;
mod profiles;
mod reads;
mod real;
mod records;
mod regions;
mod retries;
mod secrets;
mod statuses;
mod watches;
mod zones;
