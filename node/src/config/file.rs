//! The settings file: TOML, unknown keys refused with their place and the nearest key that exists (VAL-3).

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use waymark_core::model::unknown_key_hint;

use super::{LogFormat, Timers, parse_duration};

/// Why settings cannot be used: one line that says what, where and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {reason}; give another file with --config, or leave it out")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The file's text is wrong.
    #[error("{path}:{line}:{column}: {reason}")]
    Text {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A value that cannot work.
    #[error("{key}: {reason}")]
    Value {
        /// The setting.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// The file's keys.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    pub(super) name: Option<String>,
    pub(super) data_dir: Option<PathBuf>,
    pub(super) grpc_listen: Option<SocketAddr>,
    pub(super) grpc_advertise: Option<String>,
    pub(super) dns_listen: Option<Vec<SocketAddr>>,
    pub(super) dns_advertise: Option<String>,
    pub(super) http_listen: Option<SocketAddr>,
    pub(super) timers: Option<Timers>,
    #[serde(default, deserialize_with = "duration")]
    pub(super) start_grace: Option<Duration>,
    pub(super) log_level: Option<String>,
    pub(super) log_format: Option<LogFormat>,
    pub(super) dev: Option<bool>,
}

/// Every key, for the test that holds the sample complete.
#[cfg(test)]
pub(super) const KEYS: [&str; 12] = [
    "name",
    "data_dir",
    "grpc_listen",
    "grpc_advertise",
    "dns_listen",
    "dns_advertise",
    "http_listen",
    "timers",
    "start_grace",
    "log_level",
    "log_format",
    "dev",
];

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map(Some).map_err(serde::de::Error::custom)
}

/// Reads the file at `path`.
pub(super) fn read(path: &Path) -> Result<Settings, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Unreadable {
        path: path.display().to_string(),
        reason: error.to_string(),
    })?;
    toml::from_str(&text).map_err(|error| {
        let before = &text[..error.span().map_or(0, |span| span.start.min(text.len()))];
        let message = error.message().lines().next().unwrap_or_default();
        ConfigError::Text {
            path: path.display().to_string(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
            reason: unknown_key_hint(message).unwrap_or_else(|| message.to_owned()),
        }
    })
}
