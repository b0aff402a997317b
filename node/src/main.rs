//! `waymark-node`: reads its settings, runs a member, and says in one line why it could not.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks to whoever started it")]

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use waymark_node::config::{Config, Flags, SAMPLE};
use waymark_node::geo::GeoTables;
use waymark_process::{logging, shutdown};

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
            // Settings may have several faults: each is a line.
            error.to_string().lines().for_each(|line| eprintln!("waymark-node: {line}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let config = Config::load(&arguments.flags)?;
    if arguments.check {
        if let Some(path) = &config.geo_database {
            GeoTables::default().load(path, Vec::new)?;
        }
        waymark_node::encrypted_dns(&config)?;
        waymark_node::credentials(&config)?;
        waymark_node::keys(&config)?;
        return Ok(());
    }
    let log = logging::start(&config.log_level, config.log_format).map_err(anyhow::Error::msg)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(async {
        let token = shutdown::on_signals()?;
        if arguments.exit_when_stdin_closes {
            shutdown::on_closed_input(token.clone())?;
        }
        let flags = arguments.flags.clone();
        log.reread_on_hangup(move || Config::load(&flags).map(|config| config.log_level))?;
        let geo = Arc::new(GeoTables::open(&config.data_dir));
        Ok(waymark_node::run(config, geo, token).await?)
    });
    // A thread that waits for a disk that hangs is not waited for: all that matters is on the disk by now.
    runtime.shutdown_background();
    ended
}
