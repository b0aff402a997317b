//! `make nemesis`: members, agents and endpoints as processes on hosts of their own, joined by links that lose, double, reorder and
//! cut, while clients write and read, names are asked for and endpoints break; then all that they saw is checked (CLU-2, CLU-5 …
//! CLU-9, DNS-20, STA-7).
//!
//! It needs what [`net::NEEDS`] says and a C compiler, and does without all other rights and machines.

#![expect(clippy::print_stdout, reason = "this program prints a table for people")]

mod account;
mod beside;
mod clients;
mod counter;
mod excuse;
mod faults;
mod history;
mod inside;
mod meddle;
mod outages;
mod register;
mod scene;
mod watch;
mod writers;

use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use harness::chance::Chance;
use harness::etcd::Etcd;
use harness::eventually::{claim, let_pass};
use harness::{net, within};

use account::{Account, Befallen};
use clients::{CLIENTS, Clients};
use counter::Counter;
use faults::{APART, Fault, USUAL};
use outages::Outages;
use scene::{Plan, Scene};
use watch::Watch;

/// Has everything befall a cluster that a cluster must bear, and checks what clients and resolvers saw.
#[derive(Parser)]
#[command(name = "waymark-nemesis", version)]
struct Arguments {
    /// What chance is made of; another one in each run if not given
    #[arg(long)]
    seed: Option<u64>,
    /// How long faults go on
    #[arg(long, default_value_t = 5)]
    minutes: u64,
    /// Members
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(3..=5))]
    members: u8,
    /// Entries after which members make a snapshot; their own default is 10000
    #[arg(long, value_name = "ENTRIES", default_value_t = scene::SNAPSHOT_AFTER)]
    snapshot_after: u64,
    /// Each fault once
    #[arg(long)]
    short: bool,
    /// Members a world apart, and nothing else: the lead may not change
    #[arg(long, conflicts_with = "short")]
    apart: bool,
    /// Nothing is checked: for how long nothing was written is measured, here and with etcd's members under the same faults, for half
    /// of the time each
    #[arg(long, conflicts_with_all = ["short", "apart", "only"])]
    beside_etcd: bool,
    /// Only faults whose name has one of these in it, with commas between them
    #[arg(long, value_delimiter = ',', default_value = "")]
    only: Vec<String>,
    /// Set by this program when it starts itself in namespaces
    #[arg(long, hide = true)]
    within: bool,
}

/// Between one fault and the next.
const PAUSE: Duration = Duration::from_millis(1_000);

/// How long writes may take to be acknowledged again once everything was healed.
const RESUMED: Duration = Duration::from_secs(180);

/// Told when it cannot be had.
const NEEDS: &str = "the nemesis needs a C compiler, and";

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if !arguments.within {
        return Err(enter_namespaces());
    }
    anyhow::ensure!(
        !arguments.beside_etcd || Etcd::is_installed(),
        "etcd is not installed (Debian: etcd-server)"
    );
    let seed = arguments.seed.unwrap_or_else(|| std::process::id().into());
    let mut chance = Chance::from_seed(seed);
    let faults = faults_of(&arguments);
    anyhow::ensure!(!faults.is_empty(), "no fault has {:?} in its name", arguments.only);
    let limit = (!arguments.short).then(|| Duration::from_secs(arguments.minutes * 60));
    let timers = if arguments.apart { "global" } else { "regional" };
    let Arguments { members, snapshot_after, beside_etcd, .. } = arguments;
    let plan = Plan { members, timers, limit, snapshot_after, small_disk: !beside_etcd };
    let names: Vec<_> = faults.iter().map(|(name, _)| *name).collect();
    println!(
        "seed {seed}: {plan:?}, {CLIENTS} clients, 3 agents, links {:?}, faults {names:?}",
        scene::USUAL
    );
    let scene = Scene::start(plan, Chance::from_seed(chance.draw()))
        .with_context(|| format!("{NEEDS} {}", net::NEEDS))?;
    println!("logs and data are in {}", scene.cluster.directory().display());
    if arguments.beside_etcd {
        let time = Duration::from_secs(arguments.minutes * 60);
        beside::measure(scene, seed, time).map_err(anyhow::Error::msg)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (account, scene) = run(scene, &faults, chance);
    account.print();
    let is_clean = account.wrong().is_empty();
    if !is_clean {
        println!("repeat it with --seed {seed}; logs, data and pictures are kept");
    }
    scene.end(!is_clean);
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Becomes `unshare`, which starts this program again with a network and mounts of its own: as root by right, as anybody else as root
/// of a user namespace.
fn enter_namespaces() -> anyhow::Error {
    let mut unshare = match net::unshare() {
        Ok(unshare) => unshare,
        Err(error) => return error.context(NEEDS),
    };
    let own = std::env::current_exe().expect("the system knows this executable");
    let error = unshare.arg(own).args(std::env::args_os().skip(1)).arg("--within").exec();
    anyhow::Error::new(error).context("'unshare' (util-linux) cannot be started")
}

fn faults_of(arguments: &Arguments) -> Vec<(&'static str, Fault)> {
    let all = if arguments.apart { &APART[..] } else { &USUAL[..] };
    let all = all.iter().copied();
    all.filter(|(name, _)| arguments.only.iter().any(|word| name.contains(word))).collect()
}

/// Has the faults befall the scene, each once in a round, in an order that is drawn; then sums up.
fn run(mut scene: Scene, faults: &[(&'static str, Fault)], mut chance: Chance) -> (Account, Scene) {
    let (started, limit) = (Instant::now(), scene.plan.limit);
    let counter = Counter::start(&scene.runtime, &scene.callers);
    let names: Vec<_> = scene.cluster.members.iter().map(|member| member.dns).collect();
    harness::eventually("every member has the first value", || {
        let known = names.iter().all(|member| watch::glance(*member).is_some());
        claim(known, "it is not everywhere")
    });
    let watch = Watch::start(&names, &scene.excuses, &counter.count);
    let outages = Outages::start(&mut scene);
    let clients = Clients::start(&scene.runtime, &scene.callers, started, &mut chance);
    let mut befallen = Vec::new();
    let begun = Instant::now();
    let mut left = Vec::new();
    // Each of them once at least; one that had no effect ends the run, as what follows it would prove little.
    while befallen.len() < faults.len() || limit.is_some_and(|limit| begun.elapsed() < limit) {
        if left.is_empty() {
            left = chance.shuffled(faults);
        }
        let Some((fault, bring_about)) = left.pop() else { break };
        befallen.push(befall(&mut scene, &clients, fault, bring_about, started));
        if befallen.last().is_some_and(|last: &Befallen| last.effect.is_err()) {
            break;
        }
    }
    let took = started.elapsed();
    let outages = outages.end();
    let last = counter.end(&scene.runtime, &scene.callers);
    let converged = within(RESUMED, || {
        let seen: Vec<_> = names.iter().map(|member| watch::glance(*member)).collect();
        claim(seen.iter().all(|value| *value == Some(last)), format!("members answer {seen:?}, not {last}"))
    });
    let seen = watch.end();
    let clients = clients.end(&scene.runtime, &scene.callers);
    let checked = history::check(&clients.history, scene.cluster.directory());
    (Account { befallen, took, clients, checked, seen, last, converged, outages }, scene)
}

fn befall(
    scene: &mut Scene,
    clients: &Clients,
    fault: &'static str,
    bring_about: Fault,
    started: Instant,
) -> Befallen {
    let from = started.elapsed();
    let effect = bring_about(scene);
    let effect = effect.and(scene.heal());
    let before = clients.acknowledged();
    let resumed = within(RESUMED, || {
        let now = clients.acknowledged();
        // Some may have been under way.
        claim(now > before + u64::from(CLIENTS), format!("{now} writes after {before}"))
    });
    let to = started.elapsed();
    let effect = effect.and(resumed.map_err(|seen| format!("writes did not resume: {seen}")));
    println!(
        "{:6.1} s  {fault}, whole again after {:.1} s {}",
        from.as_secs_f64(),
        (to - from).as_secs_f64(),
        { effect.as_ref().err().map(String::as_str).unwrap_or_default() }
    );
    let_pass(PAUSE, "the cluster has a moment's rest");
    Befallen { fault, from, to, effect }
}
