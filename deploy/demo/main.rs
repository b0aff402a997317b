//! `make demo`: three members, three agents and five endpoints on loopback, to look at, to break and to heal (OPS-1).

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this program talks to a person at a terminal"
)]

mod keeper;
mod screen;
mod stage;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use tokio::signal::unix::{Signal, SignalKind, signal};

use stage::Stage;

/// A Waymark cluster on this machine, to try out: three members, three agents, five endpoints.
#[derive(Parser)]
#[command(name = "waymark-demo", version)]
struct Arguments {
    /// No live table and no keys: run until told to stop
    #[arg(long)]
    headless: bool,
    /// End by itself after this time, as in 30s or 5m
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    limit: Option<Duration>,
    /// Once everything serves, write where all of it is to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Stay beside a demo and clean up after it, however it ends
    #[arg(long, hide = true, value_name = "DIR")]
    keep: Option<PathBuf>,
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a duration such as 30s or 5m");
    let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let number: u64 = text[..split].parse().map_err(|_| wrong())?;
    match &text[split..] {
        "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        _ => Err(wrong()),
    }
}

fn main() {
    let arguments = Arguments::parse();
    if let Some(directory) = &arguments.keep {
        return keeper::keep(directory);
    }
    // What goes wrong while the stage is set is one line for a person, not a report for us.
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("unknown trouble");
        eprintln!("waymark-demo: {message}");
    }));
    if std::panic::catch_unwind(|| run(&arguments)).is_err() {
        std::process::exit(1);
    }
}

fn run(arguments: &Arguments) {
    // From here on a signal ends the demo in order, however early it comes.
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let signals = runtime.block_on(async {
        let listen = |kind| signal(kind).expect("signals can be listened for");
        (listen(SignalKind::terminate()), listen(SignalKind::interrupt()))
    });
    println!("Starting three members, three agents and five endpoints …");
    let stage = Stage::set();
    stage.introduce();
    if let Some(path) = &arguments.json {
        let written = std::fs::write(path, format!("{}\n", stage.describe()));
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let deadline = arguments.limit.map(|limit| Instant::now() + limit);
    if arguments.headless || !screen::is_possible() {
        runtime.block_on(until_told(signals, deadline));
        drop(stage);
    } else {
        screen::show(stage, &runtime, deadline);
    }
    println!("The demo has ended; everything it started is gone.");
}

/// Waits for TERM, INT or the deadline.
async fn until_told((mut term, mut int): (Signal, Signal), deadline: Option<Instant>) {
    let limit = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! { _ = term.recv() => {}, _ = int.recv() => {}, () = limit => {} }
}
