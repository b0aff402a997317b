//! `waymark`, the operator's command line.

mod agent;
mod app;
mod audit;
mod client;
mod cluster;
mod confirm;
mod endpoint;
mod events;
mod explain;
mod failure;
mod flags;
mod geo;
mod grammar;
mod identity;
mod latency;
mod monitor;
mod output;
mod pki;
mod profile;
mod record;
mod region;
mod service;
mod session;
mod simulate;
mod status;
mod version;
mod zone;

fn main() -> std::process::ExitCode {
    app::run(std::env::args_os().collect())
}
