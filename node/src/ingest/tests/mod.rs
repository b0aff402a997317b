//! The door as an agent sees it: real streams over loopback, on a cluster of one that is the real `apply` and fails on
//! cue.

mod agent;
mod equivalence;
mod failure;
mod freshness;
mod limits;
mod member;
mod secrets;
mod sessions;
mod sight;
mod stage;
mod stream;
mod survey;
