//! `make soak`: three members under queries, changes and everything that may befall them, and an account of what it cost.
//! Not one query may be lost, told SERVFAIL or held up (DNS-20, CLU-8).
//!
//! Queries go to members that are up and neither killed nor being restarted, as resolvers send them once they know.

#![expect(clippy::print_stdout, reason = "this program prints a table for people")]

mod account;
mod changes;
mod scene;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use harness::eventually::let_pass;

use account::Account;
use scene::Scene;

/// Kills, restarts and changes three members under load, and counts what gets lost.
#[derive(Parser)]
#[command(name = "waymark-soak", version)]
struct Arguments {
    /// How long
    #[arg(long, default_value_t = 5)]
    minutes: u64,
    /// Each disturbance but the snapshot once, one right behind the other: to see that it runs, not to quote
    #[arg(long)]
    short: bool,
}

/// The leader is killed this often.
const ROUND: Duration = Duration::from_secs(10);

/// Nothing happens in the beginning, so that there is something to compare with.
const QUIET: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let limit = Duration::from_secs(arguments.minutes * 60);
    let mut scene = Scene::start(limit * 2);
    let started = Instant::now();
    let_pass(QUIET, "nothing happens, so that there is something to compare with");
    if arguments.short {
        for disturb in &DISTURBANCES[..3] {
            scene.kill_leader();
            disturb(&mut scene);
        }
    } else {
        soak(&mut scene, started, limit);
    }
    let account = Account::of(scene.end(), QUIET);
    account.print(started.elapsed());
    if account.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The leader is killed in each round, and one other thing happens while it is back. The last takes longer than a round.
const DISTURBANCES: [fn(&mut Scene); 7] = [
    Scene::exchange_certificate,
    Scene::exchange_geo_table,
    Scene::restart_each,
    Scene::exchange_certificate,
    Scene::exchange_geo_table,
    Scene::restart_each,
    Scene::install_snapshot,
];

fn soak(scene: &mut Scene, started: Instant, limit: Duration) {
    for disturb in DISTURBANCES.iter().cycle() {
        let round = Instant::now();
        scene.kill_leader();
        disturb(scene);
        let_pass(ROUND.saturating_sub(round.elapsed()), "the leader is killed every ten seconds");
        if started.elapsed() > limit {
            return;
        }
    }
}
