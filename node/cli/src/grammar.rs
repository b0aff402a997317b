//! The words of the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgMatches, Args, Command, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::flags::duration;
use crate::output::Format;
use crate::{
    agent, audit, cluster, endpoint, events, explain, geo, latency, pki, profile, record, region, service,
    simulate, status, zone,
};

/// The operator's command line for a Waymark cluster.
#[derive(Debug, Parser)]
#[command(
    name = "waymark",
    version,
    max_term_width = 110,
    after_help = "Examples:\n  waymark status --watch\n  waymark explain web.tm.example.com --type A\n\n\
Exit codes:\n  0   done\n  1   failed or refused\n  3   not found\n  4   not allowed\n  5   needs --yes\n  \
6   changed meanwhile (--if-revision)\n  7   no member or no leader reachable\n  \
9   timed out, and the outcome of a change is unknown\n  64  wrong command line"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) noun: Noun,
}

/// Flags that stand anywhere.
#[derive(Args, Debug)]
#[command(next_display_order = 900)]
pub(crate) struct Globals {
    /// Members to talk to, tried in this order [default: https://127.0.0.1:7400, or http:// without a certificate].
    #[arg(long, global = true, value_name = "URL", value_delimiter = ',', env = "WAYMARK_ENDPOINT")]
    pub(crate) endpoint: Vec<String>,
    /// The certificate that says who you are, in PEM.
    #[arg(long, global = true, value_name = "FILE", env = "WAYMARK_CERTIFICATE")]
    pub(crate) certificate: Option<PathBuf>,
    /// Its private key, in PEM.
    #[arg(long, global = true, value_name = "FILE", env = "WAYMARK_KEY")]
    pub(crate) key: Option<PathBuf>,
    /// The certificates of the authorities that are trusted, in PEM.
    #[arg(long, global = true, value_name = "FILE", env = "WAYMARK_AUTHORITY")]
    pub(crate) authority: Option<PathBuf>,
    /// What the output looks like.
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
    /// Read from the member's own state, without asking the leader how far it is.
    #[arg(long, global = true)]
    pub(crate) stale: bool,
    /// With a change: return only when every reachable member has it.
    #[arg(long, global = true, value_enum)]
    pub(crate) wait: Option<Wait>,
    /// Don't ask before something that answers DNS is removed.
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// No colours, as with NO_COLOR in the environment.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
}

/// Whom a change waits for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Wait {
    /// Every reachable member.
    All,
}

/// What the command is about.
#[derive(Debug, Subcommand)]
pub(crate) enum Noun {
    /// DNS zones that the cluster answers for.
    #[command(subcommand)]
    Zone(zone::Verb),
    /// Static records beside profiles in a zone.
    #[command(subcommand)]
    Record(record::Verb),
    /// Names that are answered with one of several endpoints.
    #[command(subcommand)]
    Profile(Box<profile::Verb>),
    /// The places that a profile can answer with.
    #[command(subcommand)]
    Endpoint(endpoint::Verb),
    /// Places where agents run and endpoints live.
    #[command(subcommand)]
    Region(region::Verb),
    /// Registered services, for which endpoints can stand.
    #[command(subcommand)]
    Service(service::Verb),
    /// How far clients are from regions, for the routing 'performance'.
    #[command(subcommand)]
    Latency(latency::Verb),
    /// Where clients are.
    #[command(subcommand)]
    Geo(geo::Verb),
    /// Agents, which probe endpoints.
    #[command(subcommand)]
    Agent(agent::Verb),
    /// The members of the cluster.
    #[command(subcommand)]
    Cluster(cluster::Verb),
    /// The authority of the cluster's certificates: works on files, but for what is installed in a cluster.
    #[command(subcommand)]
    Pki(pki::Verb),
    /// How the endpoints are: one line each, with the regions' verdicts.
    Status(status::Wanted),
    /// Changes of status, oldest first.
    Events(events::Wanted),
    /// Who changed what, kept so that later changes of it show.
    #[command(subcommand)]
    Audit(audit::Verb),
    /// What a query would be answered, and why.
    Explain(explain::Question),
    /// Who would answer, if endpoints were down.
    Simulate(simulate::Supposition),
    /// Which version this is.
    #[command(
        after_help = "Examples:\n  waymark version\n  waymark version -o json\n  waymark version --licenses"
    )]
    Version {
        /// Name the data that is carried along, whom it comes from and on what terms.
        #[arg(long)]
        licenses: bool,
    },
    /// A script that completes words for a shell.
    #[command(after_help = "Examples:\n  waymark completion bash\n  waymark completion zsh")]
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// `--timeout` bounds the command, except where a monitor has a flag of that name.
const DEADLINE: &str = "deadline";

/// What stands for its value in help and errors: no other flag's does, so that it is told from the monitor's.
pub(crate) const DEADLINE_VALUE: &str = "LIMIT";

/// The whole grammar. `--timeout` is put in here: the monitor's flag of the same name keeps it from being a global one.
pub(crate) fn command() -> Command {
    with_negative_numbers(with_deadline(Cli::command()))
}

/// A number below zero is a value that is refused for what it is, not a flag that nobody knows.
fn with_negative_numbers(command: Command) -> Command {
    command
        .mut_args(|argument| {
            let takes_value = argument.get_action().takes_values();
            argument.allow_negative_numbers(takes_value)
        })
        .mut_subcommands(with_negative_numbers)
}

fn with_deadline(command: Command) -> Command {
    let command = command.mut_subcommands(with_deadline);
    if command.get_arguments().any(|argument| argument.get_long() == Some("timeout")) {
        return command;
    }
    command.arg(
        Arg::new(DEADLINE)
            .long("timeout")
            .value_name(DEADLINE_VALUE)
            .value_parser(duration::positive)
            .display_order(950)
            .help("How long the command may take, tries at other members included [default: 10s]"),
    )
}

/// What `--timeout` says, wherever it stands; the innermost counts.
pub(crate) fn deadline(matches: &ArgMatches) -> Option<Duration> {
    let here = matches.try_get_one::<Duration>(DEADLINE).ok().flatten().copied();
    matches.subcommand().and_then(|(_, inner)| deadline(inner)).or(here)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command that does something, with the words that lead to it.
    fn leaves(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name());
            if sub.has_subcommands() { leaves(sub, &path, found) } else { found.push((path, sub.clone())) }
        }
    }

    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (at, part) in line.split('\'').enumerate() {
            match at % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    }

    #[test]
    fn the_grammar_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_two_examples_that_work() {
        let mut found = Vec::new();
        leaves(&command(), "waymark", &mut found);
        assert!(found.len() > 30, "{}", found.len());
        for (path, leaf) in found {
            let help = leaf.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help
                .lines()
                .filter_map(|line| line.strip_prefix("  "))
                .filter(|line| line.starts_with("waymark"))
                .collect();
            assert!(examples.len() >= 2, "{path}: {help}");
            for example in examples {
                assert!(example.starts_with(&path), "{path}: {example}");
                command()
                    .try_get_matches_from(words(example))
                    .unwrap_or_else(|error| panic!("{example}: {error}"));
            }
        }
    }

    #[test]
    fn timeout_bounds_the_command_unless_it_is_the_monitors() {
        let of = |line: &str| deadline(&command().try_get_matches_from(words(line)).unwrap());
        assert_eq!(of("waymark status --timeout 2s"), Some(Duration::from_secs(2)));
        assert_eq!(of("waymark --timeout 3s status"), Some(Duration::from_secs(3)));
        assert_eq!(of("waymark --timeout 3s status --timeout 2s"), Some(Duration::from_secs(2)));
        assert_eq!(of("waymark profile update web --timeout 500ms"), None);
        assert_eq!(
            of("waymark --timeout 3s profile update web --timeout 500ms"),
            Some(Duration::from_secs(3))
        );
    }

    #[test]
    fn val_3_a_wrong_word_is_answered_with_the_nearest_one() {
        let line = "waymark profile create x --zone z --relative-name x --routing wieghted";
        let error = command().try_get_matches_from(words(line)).unwrap_err().to_string();
        assert!(error.contains("wieghted") && error.contains("'weighted'"), "{error}");
    }
}
