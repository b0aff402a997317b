//! An agent's settings: flag over environment over file over default (OPS-2).

mod file;
mod sample;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use http::Uri;
use ipnet::IpNet;
use serde::Deserialize;

pub use file::ConfigError;
pub use sample::SAMPLE;

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    #[default]
    Auto,
    /// Text.
    Text,
    /// JSON, one object a line.
    Json,
}

/// An agent's settings, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The agent's name, unique in the cluster.
    pub name: String,
    /// The region that it probes from.
    pub region: String,
    /// Where to find members: a ring, at one place of which the agent begins.
    pub members: Vec<Uri>,
    /// May loopback addresses be probed (PRB-13)?
    pub allow_loopback: bool,
    /// Networks that may be probed although the guard's own list refuses them.
    pub guard_allow: Vec<IpNet>,
    /// Networks that are never probed.
    pub guard_deny: Vec<IpNet>,
    /// Which resolver finds the addresses of targets; the system's if none.
    pub resolver: Option<SocketAddr>,
    /// What is logged, in `RUST_LOG`'s language.
    pub log_level: String,
    /// How log lines look.
    pub log_format: LogFormat,
}

/// The settings as flags and environment variables; each one has a key of the same name in the file.
#[derive(Args, Clone, Debug, Default)]
pub struct Flags {
    /// Read settings from this TOML file
    #[arg(long, value_name = "FILE", env = "WAYMARK_AGENT_CONFIG")]
    pub config: Option<PathBuf>,
    /// The agent's name, unique in the cluster [default: the machine's name]
    #[arg(long, value_name = "NAME", env = "WAYMARK_AGENT_NAME")]
    pub name: Option<String>,
    /// The region that it probes from; the cluster must know it
    #[arg(long, value_name = "REGION", env = "WAYMARK_AGENT_REGION")]
    pub region: Option<String>,
    /// Where to find members; agents spread over them by their names [default: http://127.0.0.1:7400]
    #[arg(long, value_name = "URL[,URL…]", env = "WAYMARK_AGENT_MEMBERS", value_delimiter = ',')]
    pub members: Vec<String>,
    /// Probe loopback addresses too
    #[arg(
        long, value_name = "BOOL", env = "WAYMARK_AGENT_ALLOW_LOOPBACK",
        num_args = 0..=1, require_equals = true, default_missing_value = "true"
    )]
    pub allow_loopback: Option<bool>,
    /// Networks to probe although the built-in guard refuses them
    #[arg(long, value_name = "CIDR[,CIDR…]", env = "WAYMARK_AGENT_GUARD_ALLOW", value_delimiter = ',')]
    pub guard_allow: Vec<IpNet>,
    /// Networks never to probe
    #[arg(long, value_name = "CIDR[,CIDR…]", env = "WAYMARK_AGENT_GUARD_DENY", value_delimiter = ',')]
    pub guard_deny: Vec<IpNet>,
    /// The resolver that finds the addresses of targets [default: the system's]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_AGENT_RESOLVER")]
    pub resolver: Option<SocketAddr>,
    /// What is logged, in RUST_LOG's language; RUST_LOG itself goes first [default: info]
    #[arg(long, value_name = "FILTER", env = "WAYMARK_AGENT_LOG_LEVEL")]
    pub log_level: Option<String>,
    /// How log lines look [default: auto]
    #[arg(long, value_enum, env = "WAYMARK_AGENT_LOG_FORMAT")]
    pub log_format: Option<LogFormat>,
}

impl Config {
    /// Puts flags, environment and file together and checks the whole.
    pub fn load(flags: &Flags) -> Result<Self, ConfigError> {
        let file = match &flags.config {
            Some(path) => file::read(path)?,
            None => file::Settings::default(),
        };
        merge(flags.clone(), file)
    }
}

fn merge(flags: Flags, file: file::Settings) -> Result<Config, ConfigError> {
    let guard = file.guard.unwrap_or_default();
    let region = flags.region.or(file.region).ok_or_else(|| {
        refusal(
            "region",
            "is missing; name the region that this agent probes from, as in --region eu-central",
        )
    })?;
    let members = given(flags.members).or(file.members).unwrap_or_else(|| vec![DEFAULT_MEMBER.to_owned()]);
    if members.is_empty() {
        return Err(refusal("members", "is empty; name at least one, as in http://127.0.0.1:7400"));
    }
    Ok(Config {
        name: object_name("name", flags.name.or(file.name).unwrap_or_else(machine_name))?,
        region: object_name("region", region)?,
        members: members.iter().map(|url| member(url)).collect::<Result<_, _>>()?,
        allow_loopback: flags.allow_loopback.or(file.allow_loopback).unwrap_or(false),
        guard_allow: given(flags.guard_allow).or(guard.allow).unwrap_or_default(),
        guard_deny: given(flags.guard_deny).or(guard.deny).unwrap_or_default(),
        resolver: flags.resolver.or(file.resolver),
        log_level: flags.log_level.or(file.log_level).unwrap_or_else(|| "info".to_owned()),
        log_format: flags.log_format.or(file.log_format).unwrap_or_default(),
    })
}

/// Where a lone member on this machine serves gRPC.
const DEFAULT_MEMBER: &str = "http://127.0.0.1:7400";

/// A list that was given at all: an absent flag is an empty list to clap.
fn given<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

fn refusal(key: &'static str, reason: impl Into<String>) -> ConfigError {
    ConfigError::Value { key, reason: reason.into() }
}

/// OBJ-9: 1–63 of letters, digits, `-`, `.`, `_`, and one `:` after a provider prefix.
fn object_name(key: &'static str, name: String) -> Result<String, ConfigError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let is_plain = |part: &str| !part.is_empty() && part.chars().all(allowed);
    let is_name = match name.split_once(':') {
        Some((provider, rest)) => is_plain(provider) && is_plain(rest),
        None => is_plain(&name),
    };
    if is_name && name.len() <= 63 {
        return Ok(name);
    }
    let rule = "is not 1–63 of letters, digits, '-', '.', '_', with one ':' after a provider at most";
    Err(refusal(key, format!("'{name}' {rule}")))
}

fn member(url: &str) -> Result<Uri, ConfigError> {
    let advice = "write http://HOST:PORT";
    let uri: Uri = url.parse().map_err(|error| refusal("members", format!("'{url}': {error}; {advice}")))?;
    match uri.scheme_str() {
        Some("http") => {}
        Some("https") => return Err(refusal("members", format!("'{url}': TLS is not there yet; {advice}"))),
        Some(scheme) => {
            let reason = format!("'{url}' has the scheme '{scheme}', which no member speaks; {advice}");
            return Err(refusal("members", reason));
        }
        None => return Err(refusal("members", format!("'{url}' has no scheme; {advice}"))),
    }
    let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
    if !is_bare || uri.host().is_none_or(str::is_empty) || uri.port_u16().is_none_or(|port| port == 0) {
        return Err(refusal("members", format!("'{url}' is not a host and a port alone; {advice}")));
    }
    Ok(uri)
}

fn machine_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "agent".to_owned() } else { name }
}

#[cfg(test)]
mod tests;
