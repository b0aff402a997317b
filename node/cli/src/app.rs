//! From the words of a command line to an exit code.

use std::error::Error;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, FromArgMatches};
use waymark_core::model::{Violation, nearest, quote};

use crate::failure::{Exit, Failure};
use crate::flags::field_of;
use crate::grammar::{self, Cli, DEADLINE_VALUE, Globals, Noun};
use crate::output::{Format, error};
use crate::session::Session;
use crate::{
    agent, audit, cluster, endpoint, events, explain, geo, identity, latency, pki, profile, record, region,
    service, simulate, status, version, zone,
};

/// Carries out one command line; what it found goes to stdout, what went wrong to stderr.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let format = asked_format(&arguments);
    let done = grammar::command()
        .try_get_matches_from(arguments)
        .map_err(Stop::from)
        .and_then(|matches| perform(&matches).map_err(Stop::Failed));
    match done {
        Ok(text) => print(&text),
        Err(Stop::Told(text)) => print(&text),
        Err(Stop::Failed(failure)) => {
            let _ = std::io::stderr().write_all(error::shown(&failure, format).as_bytes());
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Why parsing did not lead to a command.
enum Stop {
    /// Help or version was asked for.
    Told(String),
    /// Anything else.
    Failed(Failure),
}

impl From<clap::Error> for Stop {
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        if let Some(violation) = value_fault(&error) {
            let message = format!("{}: {}", violation.field, violation.description);
            return Self::Failed(Failure {
                violations: vec![violation],
                ..Failure::new(Exit::Refused, message)
            });
        }
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Self::Told(text),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Self::Failed(Failure::usage(format!("the command is not complete\n\n{}", text.trim_end())))
            }
            _ => {
                let text = text.strip_prefix("error: ").unwrap_or(&text);
                let text = text.trim_end().trim_end_matches("For more information, try '--help'.");
                Self::Failed(Failure::usage(text.trim_end()))
            }
        }
    }
}

/// What is wrong with the value of a flag that sets a field: it is refused as the cluster refuses one (CLI-2).
fn value_fault(error: &clap::Error) -> Option<Violation> {
    if !matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue) {
        return None;
    }
    let said = |kind| error.get(kind).map(ToString::to_string);
    let flag = said(ContextKind::InvalidArg).filter(|flag| !flag.contains(DEADLINE_VALUE))?;
    let field = field_of(flag.split_whitespace().next()?)?;
    let value = said(ContextKind::InvalidValue)?;
    if value.is_empty() && error.source().is_none() {
        // The value is missing: the command line is wrong.
        return None;
    }
    let known = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(known)) => known.as_slice(),
        _ => &[],
    };
    let rule = match (error.source(), nearest(&value, known.iter().map(String::as_str))) {
        (Some(reason), _) => reason.to_string(),
        (None, Some(hint)) => format!("is unknown; did you mean '{hint}'?"),
        (None, None) => format!("is unknown; known are {}", known.join(", ")),
    };
    Some(Violation::new(field, format!("{} {rule}", quote(&value))))
}

/// The format, as far as it can be known before the command line is understood: faults are told in it too.
fn asked_format(arguments: &[OsString]) -> Format {
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let is = |format: &str| {
        let separate =
            words.windows(2).any(|pair| (pair[0] == "-o" || pair[0] == "--output") && pair[1] == format);
        let joined = [format!("-o{format}"), format!("-o={format}"), format!("--output={format}")];
        separate || words.iter().any(|word| joined.iter().any(|joined| joined == word))
    };
    let structured = [("json", Format::Json), ("yaml", Format::Yaml)];
    structured.into_iter().find(|(word, _)| is(word)).map_or(Format::Table, |(_, format)| format)
}

fn perform(matches: &ArgMatches) -> Result<String, Failure> {
    let cli = Cli::from_arg_matches(matches).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    if let Noun::Completion { shell } = &cli.noun {
        return Ok(completion(*shell));
    }
    // They need nobody, and make what the flags may name already.
    let is_local = match &cli.noun {
        Noun::Audit(verb) => verb.is_local(),
        Noun::Pki(verb) => verb.is_local(),
        noun => matches!(noun, Noun::Version { .. }),
    };
    let globals = if is_local { Globals { endpoint: Vec::new(), ..cli.globals } } else { cli.globals };
    let credentials = if is_local { None } else { identity::credentials(&globals)? };
    let session = Session::new(&globals, grammar::deadline(matches), credentials)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Refused, format!("the runtime can't be started: {error}")))?;
    runtime.block_on(dispatch(cli.noun, &session))
}

async fn dispatch(noun: Noun, session: &Session) -> Result<String, Failure> {
    match noun {
        Noun::Zone(verb) => zone::run(verb, session).await,
        Noun::Record(verb) => record::run(verb, session).await,
        Noun::Profile(verb) => profile::run(*verb, session).await,
        Noun::Endpoint(verb) => endpoint::run(verb, session).await,
        Noun::Region(verb) => region::run(verb, session).await,
        Noun::Service(verb) => service::run(verb, session).await,
        Noun::Latency(verb) => latency::run(verb, session).await,
        Noun::Geo(verb) => geo::run(verb, session).await,
        Noun::Agent(verb) => agent::run(verb, session).await,
        Noun::Cluster(verb) => cluster::run(verb, session).await,
        Noun::Pki(verb) => pki::run(verb, session).await,
        Noun::Status(wanted) => status::run(wanted, session).await,
        Noun::Events(wanted) => events::run(wanted, session).await,
        Noun::Audit(verb) => audit::run(verb, session).await,
        Noun::Explain(question) => explain::run(question, session).await,
        Noun::Simulate(supposition) => simulate::run(supposition, session).await,
        Noun::Version { licenses } => Ok(session.show(&version::Version::new(licenses))),
        Noun::Completion { shell } => Ok(completion(shell)),
    }
}

fn completion(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut grammar::command(), "waymark", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

fn print(text: &str) -> ExitCode {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has read enough, as `head` does.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let failure = Failure::new(Exit::Refused, format!("the output can't be written: {error}"));
            let _ = std::io::stderr().write_all(error::shown(&failure, Format::Table).as_bytes());
            ExitCode::from(failure.exit as u8)
        }
    }
}
