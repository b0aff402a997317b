//! The settings file: TOML, unknown keys refused with their place and the nearest key that exists (VAL-3).

use std::net::SocketAddr;
use std::path::Path;

use ipnet::IpNet;
use serde::Deserialize;
use waymark_core::model::unknown_key_hint;

use super::LogFormat;

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
    pub(super) region: Option<String>,
    pub(super) members: Option<Vec<String>>,
    pub(super) allow_loopback: Option<bool>,
    pub(super) resolver: Option<SocketAddr>,
    pub(super) log_level: Option<String>,
    pub(super) log_format: Option<LogFormat>,
    pub(super) guard: Option<Guard>,
}

/// The keys below `[guard]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Guard {
    pub(super) allow: Option<Vec<IpNet>>,
    pub(super) deny: Option<Vec<IpNet>>,
}

/// Every key, for the test that holds the sample complete.
#[cfg(test)]
pub(super) const KEYS: [&str; 9] =
    ["name", "region", "members", "allow_loopback", "resolver", "log_level", "log_format", "allow", "deny"];

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
