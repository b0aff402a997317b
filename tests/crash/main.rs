//! `make crash-loops` and `make power-loss`: members that are killed, damaged and cut off from their power, again and again under writes, and an account of
//! what that cost (CLU-2, CLU-3). Prints its seed; fails if anything acknowledged is lost, a store neither opens nor says why, or a term goes
//! back.

#![expect(clippy::print_stdout, reason = "this program prints a table for people")]

mod damage;
mod kills;
mod power;
mod writers;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use harness::chance::Chance;

/// Crashes members again and again, and counts what gets lost.
#[derive(Parser)]
#[command(name = "waymark-crash", version)]
struct Arguments {
    /// What chance is made of; another one in each run if not given
    #[arg(long)]
    seed: Option<u64>,
    /// How often a single member, and then all of three, are killed
    #[arg(long, default_value_t = 200)]
    kills: u32,
    /// How often a file of one of three members is damaged
    #[arg(long, default_value_t = 100)]
    damages: u32,
    /// Instead of both: power is lost on such a file system; takes root
    #[arg(long, value_enum)]
    power: Vec<power::Kind>,
    /// How often power is lost on each
    #[arg(long, default_value_t = 40, requires = "power")]
    cycles: u32,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(|| std::process::id().into());
    println!(
        "seed {seed}\n\n| what | how often | writes acknowledged | violations | until it tells again: median, longest | remarks |\n|---|---|---|---|---|---|"
    );
    let mut chance = Chance::from_seed(seed);
    let mut is_clean = true;
    let mut show = |outcome: Outcome| {
        outcome.print();
        is_clean &= outcome.violations.is_empty();
    };
    if arguments.power.is_empty() {
        if arguments.kills > 0 {
            show(kills::run(1, arguments.kills, &mut chance));
            show(kills::run(3, arguments.kills, &mut chance));
        }
        if arguments.damages > 0 {
            show(damage::run(arguments.damages, &mut chance));
        }
    }
    for kind in arguments.power {
        show(power::alone(kind, arguments.cycles, &mut chance));
        show(power::of_the_leader(kind, arguments.cycles, &mut chance));
    }
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What came of one kind of crash.
struct Outcome {
    what: String,
    rounds: u32,
    acknowledged: u64,
    recoveries: Vec<Duration>,
    counts: BTreeMap<&'static str, u32>,
    violations: Vec<String>,
}

impl Outcome {
    fn new(what: String) -> Self {
        let (recoveries, counts, violations) = (Vec::new(), BTreeMap::new(), Vec::new());
        Self { what, rounds: 0, acknowledged: 0, recoveries, counts, violations }
    }

    /// It took so long to come back.
    fn recovered(&mut self, took: Duration) {
        self.recoveries.push(took);
    }

    /// One more of that kind.
    fn count(&mut self, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
    }

    /// What was found in that round.
    fn note(&mut self, round: u32, found: Result<(), String>) {
        if let Err(wrong) = found {
            println!("VIOLATION in round {round} of {}: {wrong}", self.what);
            self.violations.push(wrong);
        }
    }

    fn ended(&mut self, rounds: u32, acknowledged: u64) {
        (self.rounds, self.acknowledged) = (rounds, acknowledged);
        if acknowledged == 0 {
            self.note(rounds, Err("nothing was acknowledged, so nothing could be lost".to_owned()));
        }
    }

    fn print(&self) {
        let mut recoveries = self.recoveries.clone();
        recoveries.sort();
        let at = |place: usize| recoveries.get(place).map_or(0.0, Duration::as_secs_f64);
        let counts: Vec<_> = self.counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        println!(
            "| {} | {} | {} | {} | {:.2} s, {:.2} s | {} |",
            self.what,
            self.rounds,
            self.acknowledged,
            self.violations.len(),
            at(recoveries.len() / 2),
            at(recoveries.len().saturating_sub(1)),
            counts.join(", ")
        );
    }
}
