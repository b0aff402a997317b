//! `waymark-agent`: reads its settings, and runs the agent until it is told to stop.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::{Parser, Subcommand};
use futures_util::FutureExt;
use waymark_agent::agent::{self, Probe, Settings};
use waymark_agent::config::{Config, Flags, SAMPLE};
use waymark_agent::descriptors;
use waymark_agent::guard::Guard;
use waymark_agent::identity::{self, Joining};
use waymark_agent::probe::{self, Tools};
use waymark_agent::resolve::Resolver;
use waymark_agent::survey::Allowance;
use waymark_agent::uplink::{self, Identity};
use waymark_process::logging::{self, Log};
use waymark_process::pki::Kept;
use waymark_process::tls::Credentials;
use waymark_process::{chance, shutdown};

/// The exit code for flags that can't be read (CLI-2).
const EXIT_USAGE: u8 = 64;

/// Probes endpoints from one region and reports what it finds to a Waymark cluster.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(flatten)]
    flags: Flags,
    /// Check the settings and exit
    #[arg(long)]
    check: bool,
    /// End when standard input is closed, as a supervisor's death does
    #[arg(long, env = "WAYMARK_AGENT_EXIT_WHEN_STDIN_CLOSES")]
    exit_when_stdin_closes: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// About the settings file
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print the complete, commented file
    Default,
}

fn main() -> ExitCode {
    // TLS needs it, and nothing that speaks TLS may start before.
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.install_default().expect("nobody has installed a provider before");
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let is_usage = error.use_stderr();
            // Nobody is left to tell if that fails.
            let _ = error.print();
            return if is_usage { ExitCode::from(EXIT_USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match start(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn start(cli: &Cli) -> anyhow::Result<()> {
    if let Some(Command::Config { command: ConfigCommand::Default }) = &cli.command {
        return say(SAMPLE);
    }
    let config = Config::load(&cli.flags)?;
    if let (Some(files), false) = (&config.credentials, config.join_token_file.is_none() || cli.check) {
        Kept::new(&files.certificate, &files.key).mend()?;
    }
    let joining = Joining::of(&config)?;
    let credentials = if joining.is_some() { None } else { credentials(&config)? };
    if cli.check {
        return say("the settings are in order\n");
    }
    let log = logging::start(&config.log_level, config.log_format).map_err(anyhow::Error::msg)?;
    // One thread: a probe is so little work that handing it to another costs more (PERF-4).
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime")?;
    let known = match joining {
        Some(joining) => Known::Not(Box::new(joining)),
        None => Known::By(credentials),
    };
    runtime.block_on(run(cli, config, known, log))
}

/// Is this agent known to members?
enum Known {
    /// In plain text by its own word, else by its certificate.
    By(Option<Arc<Credentials>>),
    /// It has to join first.
    Not(Box<Joining>),
}

/// Who this agent is to members, if it is told.
fn credentials(config: &Config) -> anyhow::Result<Option<Arc<Credentials>>> {
    let Some(files) = &config.credentials else { return Ok(None) };
    let credentials = Credentials::open(files.clone())?;
    let (name, region) = (&config.name, &config.region);
    let wanted = format!("the agent '{name}' in '{region}'");
    credentials.expect(&wanted, |own| own.role.is_agent(region, name))?;
    Ok(Some(credentials))
}

async fn run(cli: &Cli, config: Config, known: Known, log: Log) -> anyhow::Result<()> {
    let stop = shutdown::on_signals().context("signals cannot be waited for")?;
    if cli.exit_when_stdin_closes {
        shutdown::on_closed_input(stop.clone()).context("standard input cannot be watched")?;
    }
    let flags = cli.flags.clone();
    log.reread_on_hangup(move || Config::load(&flags).map(|config| config.log_level))
        .context("signals cannot be waited for")?;
    let credentials = match known {
        Known::By(credentials) => credentials,
        Known::Not(joining) => match stop.run_until_cancelled(joining.run()).await {
            Some(joined) => joined.map_err(anyhow::Error::new).and_then(|()| credentials(&config))?,
            None => return Ok(()),
        },
    };
    if let Some(credentials) = &credentials {
        credentials.follow().context("signals cannot be waited for")?;
    }
    if let (Some(own), Some(_), Some(files)) = (&credentials, &config.join_token_file, &config.credentials) {
        let kept = Kept::new(&files.certificate, &files.key);
        tokio::spawn(identity::keep_up(own.clone(), kept, config.encrypted_members()));
    }
    let probes_max = descriptors::make_room();
    let resolver = Resolver::new(config.resolver);
    if let Some(trouble) = resolver.trouble() {
        tracing::warn!(trouble, "no resolver: targets that are names cannot be probed");
    }
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        name = config.name,
        region = config.region,
        probes_max,
        "waymark-agent starts"
    );
    let guard = Guard::new(config.allow_loopback, config.guard_allow, config.guard_deny);
    let survey = Allowance {
        queries_per_minute: config.measure_per_minute,
        guard: guard.clone(),
        port: Allowance::PORT,
    };
    let tools = Tools::new(guard, resolver);
    let probe: Probe = Arc::new(move |check| {
        let tools = tools.clone();
        async move { probe::run(&tools, &check).await }.boxed()
    });
    let identity = Identity { agent: config.name, region: config.region, run: chance::draw() };
    let members = uplink::in_turn(config.members, &identity.agent);
    let canaries = config.canaries;
    let settings = Settings { identity, members, credentials, probes_max, survey, canaries };
    agent::run(settings, probe, stop).await?;
    tracing::info!("waymark-agent ends");
    Ok(())
}

fn say(text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader that has seen enough is no fault.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).context("standard output"),
        _ => Ok(()),
    }
}

fn complain(text: &str) {
    use std::io::Write;
    // Settings may have several faults: each is a line. Nobody is left to tell if that fails.
    for line in text.lines() {
        let _ = writeln!(std::io::stderr(), "waymark-agent: {line}");
    }
}
