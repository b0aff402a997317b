//! The main job on real input: members, agents and endpoints as processes and sockets, asked by DNS and by the CLI.

mod blind;
mod brake;
mod cookies;
mod crash;
mod encrypted;
mod enrolment;
mod failover;
mod flatten;
mod latency;
mod leader;
mod life;
mod overrides;
mod quiet_log;
mod scene;
mod secrets;
mod security;
mod soak;
mod stale;
mod upgrade;
mod weights;
