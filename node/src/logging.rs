//! Log lines: text on a terminal, JSON elsewhere (OPS-5), their level changed by HUP without a restart (OPS-4).

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

use crate::config::LogFormat;

/// Changes what is logged.
#[derive(Clone, Debug)]
pub struct LogLevel(reload::Handle<EnvFilter, Registry>);

/// Starts logging to standard error. `RUST_LOG` goes before `level`.
pub fn start(level: &str, format: LogFormat) -> Result<LogLevel, String> {
    let (filter, handle) = reload::Layer::new(filter(level)?);
    let json = match format {
        LogFormat::Auto => !std::io::stderr().is_terminal(),
        LogFormat::Text => false,
        LogFormat::Json => true,
    };
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = if json { layer.json().boxed() } else { layer.with_target(false).boxed() };
    Registry::default().with(filter).with(layer).try_init().map_err(|error| error.to_string())?;
    Ok(LogLevel(handle))
}

/// Says what is wrong with `level`, or with `RUST_LOG`, which goes before it.
pub fn check(level: &str) -> Result<(), String> {
    filter(level).map(drop)
}

impl LogLevel {
    /// From now on logs what `level` says.
    pub fn set(&self, level: &str) -> Result<(), String> {
        let filter = filter(level)?;
        self.0.reload(filter).map_err(|error| error.to_string())
    }
}

/// Libraries that log every step at `info` are held back unless they are named.
fn filter(level: &str) -> Result<EnvFilter, String> {
    let given =
        std::env::var("RUST_LOG").ok().filter(|text| !text.is_empty()).unwrap_or_else(|| level.to_owned());
    // What openraft has to say, `raft::narrator` says once; openraft repeats it with every message.
    let quiet = [("openraft", "off"), ("h2", "warn"), ("hyper", "warn"), ("tower", "warn"), ("sled", "off")];
    let quiet = quiet.into_iter().filter(|(library, _)| !given.contains(library));
    let directives =
        quiet.map(|(library, level)| format!("{library}={level}")).chain([given.clone()]).collect::<Vec<_>>();
    EnvFilter::try_new(directives.join(","))
        .map_err(|error| format!("log_level: '{given}' is no filter: {error}"))
}
