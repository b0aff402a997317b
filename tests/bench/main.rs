//! `make bench`: what the main job costs, measured on real processes on loopback and printed as a table.
//!
//! Every figure that has one stands beside a floor that was measured in the same run. docs/benchmarks.md explains each.

#![expect(clippy::print_stdout, reason = "this program prints a table for people")]

mod answers;
mod bulk;
mod burst;
mod change;
mod cpu;
mod dns;
mod echo;
mod exporter;
mod farm;
mod flapping;
mod ingest;
mod large;
mod probes;
mod quantiles;
mod recovery;
mod reporter;
mod scale;
mod writes;

use clap::{Parser, ValueEnum};

/// Measures Waymark on this machine.
#[derive(Parser)]
#[command(name = "waymark-bench", version)]
struct Arguments {
    /// Measure only this
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// A tenth of the work: to see that it runs, not to quote
    #[arg(long)]
    quick: bool,
    /// Echo datagrams on this address until killed: the floor that answers are compared with
    #[arg(long, hide = true, value_name = "ADDR:PORT")]
    echo: Option<std::net::SocketAddr>,
    /// The same, by the batch
    #[arg(long, hide = true, value_name = "ADDR:PORT")]
    floor: Option<std::net::SocketAddr>,
    /// What the limit on replies costs, within a network namespace made for it
    #[arg(long, hide = true)]
    limit_within: bool,
    #[command(flatten)]
    dns: dns::Plan,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// From the deciding outcome at an agent to the changed answer on all members
    Change,
    /// CPU time of a DNS answer, beside a bare echo
    Answers,
    /// CPU time of a probe, beside a bare loop and blackbox_exporter
    Probes,
    /// What outcomes that say nothing new cost a member
    Ingest,
    /// Latency and throughput of durable writes, beside etcd
    Writes,
    /// How long there are no writes after a crash
    Recovery,
    /// A changed status among few profiles and among many
    Scale,
    /// Ten thousand endpoints that go down at once
    Burst,
    /// What stays on disk of endpoints that go up and down for an hour
    Flapping,
    /// Memory and restart with 100,000 profiles
    Large,
    /// A DNS answer beside gdnsd, Knot and a batched echo; not measured unless it is asked for
    Dns,
}

fn main() {
    let arguments = Arguments::parse();
    if let Some(address) = arguments.echo {
        return echo::serve(address);
    }
    if let Some(address) = arguments.floor {
        return dns::serve_floor(address);
    }
    if arguments.limit_within {
        return dns::measure_limit_within(arguments.quick);
    }
    let wanted = |part| arguments.only.is_empty() || arguments.only.contains(&part);
    let scale = if arguments.quick { 1 } else { 10 };
    println!("| what | value | remarks |\n|---|---|---|");
    if wanted(Part::Change) {
        change::measure(20 * scale);
    }
    if wanted(Part::Answers) {
        answers::measure(u64::from(20_000 * scale));
    }
    if wanted(Part::Probes) {
        probes::measure(scale);
    }
    if wanted(Part::Ingest) {
        ingest::measure(8 * scale);
    }
    if wanted(Part::Writes) {
        writes::measure(100 * scale);
    }
    if wanted(Part::Recovery) {
        recovery::measure(3 * scale);
    }
    if wanted(Part::Scale) {
        scale::measure(2_000 * scale);
    }
    if wanted(Part::Burst) {
        burst::measure(1_000 * scale);
    }
    if wanted(Part::Flapping) {
        flapping::measure(36 * scale);
    }
    if wanted(Part::Large) {
        large::measure(10_000 * scale);
    }
    if arguments.only.contains(&Part::Dns) {
        dns::measure(&arguments.dns, arguments.quick);
    }
}

/// Prints one row.
fn row(what: &str, value: &str, remarks: &str) {
    println!("| {what} | {value} | {remarks} |");
}
