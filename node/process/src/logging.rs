//! Log lines: text on a terminal, JSON elsewhere (OPS-5), their level changed by HUP without a restart (OPS-4).

use std::io::IsTerminal;

use clap::ValueEnum;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    #[default]
    Auto,
    /// Text.
    Text,
    /// JSON, one object a line.
    Json,
}

/// What is logged, in `RUST_LOG`'s language, and known to be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLevel(String);

impl Default for LogLevel {
    fn default() -> Self {
        Self("info".to_owned())
    }
}

/// Changes what is logged.
#[derive(Clone, Debug)]
pub struct Log(reload::Handle<EnvFilter, Registry>);

/// Libraries that log every step, or what is reported elsewhere, are held back unless they are named. What openraft and
/// sled have to say, the member says once; a probe's failure is an outcome, not a line.
const QUIET: [(&str, &str); 8] = [
    ("openraft", "off"),
    ("sled", "off"),
    ("h2", "warn"),
    ("hyper", "warn"),
    ("tower", "warn"),
    ("hickory_resolver", "warn"),
    ("hickory_net", "error"),
    ("hickory_proto", "error"),
];

impl LogLevel {
    /// Reads a level. `RUST_LOG` goes before it, so that is read in its place where it is set.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (given, name) = match std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty()) {
            Some(environment) => (environment, "RUST_LOG, which goes first, "),
            None => (text.to_owned(), ""),
        };
        filter(&given).map_err(|error| format!("{name}'{given}' is no filter: {error}"))?;
        Ok(Self(given))
    }

    fn filter(&self) -> EnvFilter {
        filter(&self.0).expect("it was read before")
    }
}

/// Starts logging to standard error.
pub fn start(level: &LogLevel, format: LogFormat) -> Result<Log, String> {
    let (filter, handle) = reload::Layer::new(level.filter());
    let json = match format {
        LogFormat::Auto => !std::io::stderr().is_terminal(),
        LogFormat::Text => false,
        LogFormat::Json => true,
    };
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = if json { layer.json().boxed() } else { layer.with_target(false).boxed() };
    Registry::default().with(filter).with(layer).try_init().map_err(|error| error.to_string())?;
    Ok(Log(handle))
}

impl Log {
    /// Asks `level` again at each HUP (OPS-4); settings that have become wrong change nothing, and whatever else has
    /// changed waits for a restart.
    pub fn reread_on_hangup<E: std::fmt::Display>(
        self,
        level: impl Fn() -> Result<LogLevel, E> + Send + 'static,
    ) -> std::io::Result<()> {
        let mut hangups = signal(SignalKind::hangup())?;
        tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                match level().map_err(|error| error.to_string()).and_then(|level| self.set(level)) {
                    Ok(LogLevel(level)) => tracing::info!(log_level = level, "the log level was read again"),
                    Err(error) => tracing::error!(error, "the log level stays as it is"),
                }
            }
        });
        Ok(())
    }

    fn set(&self, level: LogLevel) -> Result<LogLevel, String> {
        self.0.reload(level.filter()).map_err(|error| error.to_string())?;
        Ok(level)
    }
}

fn filter(given: &str) -> Result<EnvFilter, tracing_subscriber::filter::ParseError> {
    let quiet = QUIET.iter().filter(|(library, _)| !given.contains(library));
    let quiet = quiet.map(|(library, level)| format!("{library}={level}"));
    EnvFilter::try_new(quiet.chain([given.to_owned()]).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_5_a_library_is_held_back_unless_it_is_named() {
        let told = |given: &str| filter(given).unwrap().to_string();
        assert!(told("info").contains("openraft=off") && told("info").contains("h2=warn"));
        assert!(!told("info,openraft=debug").contains("openraft=off"));
        assert!(filter("a=b=c").is_err());
    }
}
