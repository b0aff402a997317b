//! `waymark-node`: reads its settings, runs a member, and says in one line why it could not.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks to whoever started it")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};
use waymark_node::config::{Config, Flags, SAMPLE};
use waymark_node::{logging, shutdown};

/// Exit code for words on the command line that are not understood (CLI-2).
const USAGE: u8 = 64;

/// A member of a Waymark cluster.
#[derive(Parser)]
#[command(name = "waymark-node", version, about, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
    #[command(flatten)]
    flags: Flags,
    /// Read all settings, say what is wrong with them, and end
    #[arg(long)]
    check: bool,
    /// End when standard input closes, as it does when the program that started this one dies
    #[arg(long)]
    exit_when_stdin_closes: bool,
}

#[derive(Subcommand)]
enum Task {
    /// Print settings
    Config {
        #[command(subcommand)]
        which: Printed,
    },
}

#[derive(Subcommand)]
enum Printed {
    /// The complete, commented settings file with every default
    Default,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    if let Some(Task::Config { which: Printed::Default }) = arguments.task {
        print!("{SAMPLE}");
        return ExitCode::SUCCESS;
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("waymark-node: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let config = Config::load(&arguments.flags)?;
    logging::check(&config.log_level).map_err(anyhow::Error::msg)?;
    if arguments.check {
        return Ok(());
    }
    let log = logging::start(&config.log_level, config.log_format).map_err(anyhow::Error::msg)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let token = shutdown::on_signals()?;
        if arguments.exit_when_stdin_closes {
            shutdown::on_closed_input(token.clone());
        }
        tokio::spawn(reload_on_hangup(arguments.flags.clone(), log));
        Ok(waymark_node::run(config, token).await?)
    })
}

/// Reads the log level again at each HUP (OPS-4); settings that have become wrong change nothing.
async fn reload_on_hangup(flags: Flags, log: logging::LogLevel) {
    let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
    while hangups.recv().await.is_some() {
        let reloaded = Config::load(&flags).map_err(|error| error.to_string());
        match reloaded.and_then(|config| log.set(&config.log_level)) {
            Ok(()) => tracing::info!("settings were read again"),
            Err(error) => tracing::error!(error, "settings stay as they were"),
        }
    }
}
