//! A member's settings: flag over environment over file over default (OPS-2).

mod file;
mod sample;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;

pub use file::ConfigError;
pub use sample::SAMPLE;

/// How patient Raft's timers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timers {
    /// One room: heartbeat 100 ms, election 400–800 ms.
    #[default]
    Local,
    /// One continent: heartbeat 100 ms, election 1–2 s.
    Regional,
    /// The world: heartbeat 300 ms, election 3–6 s.
    Global,
}

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

/// A member's settings, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The member's name, unique in the cluster.
    pub name: String,
    /// Where log, snapshots and identity are kept.
    pub data_dir: PathBuf,
    /// Where gRPC is served.
    pub grpc_listen: SocketAddr,
    /// How other members and agents reach it.
    pub grpc_advertise: String,
    /// Where DNS is served, over UDP and TCP.
    pub dns_listen: Vec<SocketAddr>,
    /// How resolvers reach it, as `cluster status` shows it.
    pub dns_advertise: String,
    /// Where health is served over HTTP.
    pub http_listen: SocketAddr,
    /// How patient Raft's timers are.
    pub timers: Timers,
    /// How long a start waits for a leader before DNS is answered from the member's own last state (DNS-20).
    pub start_grace: Duration,
    /// What is logged, in `RUST_LOG`'s language.
    pub log_level: String,
    /// How log lines look.
    pub log_format: LogFormat,
    /// A cluster of one that founds itself (OPS-3).
    pub dev: bool,
}

/// The settings as flags and environment variables; each one has a key of the same name in the file.
#[derive(Args, Clone, Debug, Default)]
pub struct Flags {
    /// Read settings from this TOML file
    #[arg(long, value_name = "FILE", env = "WAYMARK_NODE_CONFIG")]
    pub config: Option<PathBuf>,
    /// The member's name, unique in the cluster [default: the machine's name]
    #[arg(long, value_name = "NAME", env = "WAYMARK_NODE_NAME")]
    pub name: Option<String>,
    /// Where log, snapshots and identity are kept [default: waymark-data]
    #[arg(long, value_name = "DIR", env = "WAYMARK_NODE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Where gRPC is served [default: 127.0.0.1:7400]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_GRPC_LISTEN")]
    pub grpc_listen: Option<SocketAddr>,
    /// How other members and agents reach this one [default: http:// and the address it listens on]
    #[arg(long, value_name = "URL", env = "WAYMARK_NODE_GRPC_ADVERTISE")]
    pub grpc_advertise: Option<String>,
    /// Where DNS is served over UDP and TCP, once for each address [default: 127.0.0.1:5300]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_DNS_LISTEN", value_delimiter = ',')]
    pub dns_listen: Vec<SocketAddr>,
    /// How resolvers reach it, for `cluster status` [default: the first address that DNS listens on]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_DNS_ADVERTISE")]
    pub dns_advertise: Option<String>,
    /// Where health is served over HTTP [default: 127.0.0.1:7401]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_HTTP_LISTEN")]
    pub http_listen: Option<SocketAddr>,
    /// How patient Raft's timers are [default: local]
    #[arg(long, value_enum, env = "WAYMARK_NODE_TIMERS")]
    pub timers: Option<Timers>,
    /// How long a start waits for a leader before DNS is answered from the last state [default: 10s]
    #[arg(long, value_name = "DURATION", env = "WAYMARK_NODE_START_GRACE", value_parser = parse_duration)]
    pub start_grace: Option<Duration>,
    /// What is logged, in RUST_LOG's language; RUST_LOG itself goes first [default: info]
    #[arg(long, value_name = "FILTER", env = "WAYMARK_NODE_LOG_LEVEL")]
    pub log_level: Option<String>,
    /// How log lines look [default: auto]
    #[arg(long, value_enum, env = "WAYMARK_NODE_LOG_FORMAT")]
    pub log_format: Option<LogFormat>,
    /// A cluster of one that founds itself, with the zone waymark.test, on loopback
    #[arg(long, env = "WAYMARK_NODE_DEV")]
    pub dev: bool,
}

impl Config {
    /// Puts flags, environment and file together and checks the whole.
    pub fn load(flags: &Flags) -> Result<Self, ConfigError> {
        let file = match &flags.config {
            Some(path) => file::read(path)?,
            None => file::Settings::default(),
        };
        merge(flags, file).checked()
    }

    fn checked(self) -> Result<Self, ConfigError> {
        let refuse = |key, reason: String| Err(ConfigError::Value { key, reason });
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if !(1..=63).contains(&self.name.len()) || !self.name.chars().all(allowed) {
            return refuse("name", format!("'{}' is not 1–63 of letters, digits, '-', '.', '_'", self.name));
        }
        let listens = [("grpc_listen", self.grpc_listen), ("http_listen", self.http_listen)];
        let all = listens.into_iter().chain(self.dns_listen.iter().map(|address| ("dns_listen", *address)));
        if let Some((key, address)) = all.into_iter().find(|(_, address)| address.port() == 0) {
            return refuse(key, format!("{address} has port 0, which would be another one at each start"));
        }
        if !self.grpc_advertise.starts_with("http://") {
            return refuse(
                "grpc_advertise",
                format!("'{}' is not of the form http://HOST:PORT", self.grpc_advertise),
            );
        }
        if self.grpc_listen == self.http_listen {
            return refuse(
                "http_listen",
                format!("{} is grpc_listen as well: each needs its own", self.http_listen),
            );
        }
        if self.dev && listens.iter().any(|(_, address)| !address.ip().is_loopback()) {
            return refuse("dev", "goes with loopback addresses only".into());
        }
        Ok(self)
    }
}

fn merge(flags: &Flags, file: file::Settings) -> Config {
    let flags = flags.clone();
    let grpc_listen = flags.grpc_listen.or(file.grpc_listen).unwrap_or(([127, 0, 0, 1], 7400).into());
    let dns_listen = Some(flags.dns_listen)
        .filter(|given| !given.is_empty())
        .or(file.dns_listen.filter(|given| !given.is_empty()))
        .unwrap_or_else(|| vec![([127, 0, 0, 1], 5300).into()]);
    Config {
        name: flags.name.or(file.name).unwrap_or_else(machine_name),
        data_dir: flags.data_dir.or(file.data_dir).unwrap_or_else(|| "waymark-data".into()),
        grpc_listen,
        grpc_advertise: flags
            .grpc_advertise
            .or(file.grpc_advertise)
            .unwrap_or(format!("http://{grpc_listen}")),
        dns_advertise: flags.dns_advertise.or(file.dns_advertise).unwrap_or(dns_listen[0].to_string()),
        dns_listen,
        http_listen: flags.http_listen.or(file.http_listen).unwrap_or(([127, 0, 0, 1], 7401).into()),
        timers: flags.timers.or(file.timers).unwrap_or_default(),
        start_grace: flags.start_grace.or(file.start_grace).unwrap_or(Duration::from_secs(10)),
        log_level: flags.log_level.or(file.log_level).unwrap_or_else(|| "info".into()),
        log_format: flags.log_format.or(file.log_format).unwrap_or_default(),
        dev: flags.dev || file.dev.unwrap_or(false),
    }
}

fn machine_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_str()
        .ok()
        .filter(|name| !name.is_empty())
        .unwrap_or("member")
        .to_owned()
}

/// Reads a duration with its unit: `200ms`, `10s`, `5m`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let unit_at = text
        .find(|c: char| !c.is_ascii_digit())
        .ok_or(format!("'{text}' has no unit: write 10s or 500ms"))?;
    let (number, unit) = text.split_at(unit_at);
    let number: u64 = number.parse().map_err(|_| format!("'{text}' does not begin with a number"))?;
    let millis = match unit {
        "ms" => Some(number),
        "s" => number.checked_mul(1_000),
        "m" => number.checked_mul(60_000),
        _ => return Err(format!("'{unit}' is no unit: use ms, s or m")),
    };
    millis.map(Duration::from_millis).ok_or(format!("'{text}' is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(file: &str, flags: Flags) -> Result<Config, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("node.toml");
        std::fs::write(&path, file).unwrap();
        Config::load(&Flags { config: Some(path), ..flags })
    }

    #[test]
    fn ops_2_flag_beats_file_beats_default() {
        let flags = Flags { name: Some("m2".into()), ..Flags::default() };
        let config = load("name = \"m1\"\ntimers = \"global\"\nstart_grace = \"2s\"\n", flags).unwrap();
        assert_eq!(config.name, "m2");
        assert_eq!(config.timers, Timers::Global);
        assert_eq!(config.start_grace, Duration::from_secs(2));
        assert_eq!(config.grpc_advertise, "http://127.0.0.1:7400");
        assert_eq!(config.dns_advertise, "127.0.0.1:5300");
    }

    #[test]
    fn ops_2_the_printed_sample_is_the_defaults() {
        let name = Some("m1".to_owned());
        let sample = load(SAMPLE, Flags::default()).unwrap();
        assert_eq!(sample, load("", Flags { name, ..Flags::default() }).unwrap());
        for key in file::KEYS {
            assert!(SAMPLE.contains(&format!("{key} = ")), "{key} is missing in the sample");
        }
    }

    #[test]
    fn ops_2_faults_name_file_line_and_nearest_key() {
        let error =
            load("name = \"m1\"\ngrpc_lisen = \"127.0.0.1:1\"\n", Flags::default()).unwrap_err().to_string();
        assert!(error.contains("node.toml:2:"), "{error}");
        assert!(error.contains("grpc_lisen") && error.contains("did you mean 'grpc_listen'"), "{error}");
        let error = load("grpc_listen = \"here\"\n", Flags::default()).unwrap_err().to_string();
        assert!(error.contains("node.toml:1:"), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        for (file, key) in [
            ("name = \"a b\"", "name"),
            ("grpc_listen = \"127.0.0.1:0\"", "grpc_listen"),
            ("grpc_advertise = \"m1:7400\"", "grpc_advertise"),
            ("dev = true\ngrpc_listen = \"192.0.2.1:7400\"", "dev"),
        ] {
            let error = load(file, Flags::default()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{key}: ")), "{error}");
        }
    }

    #[test]
    fn durations_want_a_unit() {
        assert_eq!(parse_duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        assert!(parse_duration("10").is_err());
        assert!(parse_duration("s").is_err());
        assert!(parse_duration("10h").is_err());
    }
}
