//! A member's settings: flag over environment over file over default (OPS-2).

mod answers;
mod encrypted;
mod sample;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use waymark_core::model::{MemberUrl, quote};
use waymark_core::state::ApplyLevel;
use waymark_process::logging::{LogFormat, LogLevel};
use waymark_process::settings::{self, Faults, Reader, machine_name};
use waymark_process::tls::CredentialFiles;

pub use answers::{AnswerFlags, AnswerSettings, RateLimit};
pub use encrypted::{EncryptedDns, EncryptedFlags};
pub use sample::SAMPLE;

/// How patient Raft's timers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Timers {
    /// One room: heartbeat 100 ms, election 400–800 ms.
    #[default]
    Local,
    /// One continent: heartbeat 100 ms, election 1–2 s.
    Regional,
    /// The world: heartbeat 300 ms, election 3–6 s.
    Global,
}

/// A member's settings, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The member's name, unique in the cluster.
    pub name: String,
    /// The region that it is in, for which it measures how far clients are (RTE-7); without one it measures nothing.
    pub region: Option<String>,
    /// Where log, snapshots and identity are kept.
    pub data_dir: PathBuf,
    /// Where gRPC is served.
    pub grpc_listen: SocketAddr,
    /// How other members and agents reach it.
    pub grpc_advertise: MemberUrl,
    /// Who this member is to others, and whom it believes; none with `dev` only (SEC-1).
    pub credentials: Option<CredentialFiles>,
    /// The file with the keys that secret headers are encrypted with; without one there are no secrets (SEC-4).
    pub secret_key_file: Option<PathBuf>,
    /// Where DNS is served, over UDP and TCP.
    pub dns_listen: Vec<SocketAddr>,
    /// How DNS is answered.
    pub answers: AnswerSettings,
    /// How resolvers reach it, as `cluster status` shows it.
    pub dns_advertise: String,
    /// Where DNS is served encrypted (DNS-15).
    pub encrypted_dns: EncryptedDns,
    /// Where health is served over HTTP.
    pub http_listen: SocketAddr,
    /// How patient Raft's timers are.
    pub timers: Timers,
    /// How long a start waits for a leader before DNS is answered from the member's own last state (DNS-20).
    pub start_grace: Duration,
    /// The highest level of `apply` that it supports: the program's own, unless an upgrade is to be held back (CLU-9).
    pub apply_level_max: ApplyLevel,
    /// The entries of the log after which a snapshot is made and the log is cut (CLU-6).
    pub snapshot_after: u64,
    /// The resolver that finds the addresses of flattened profiles' names; the system's if none (DNS-16).
    pub resolver: Option<SocketAddr>,
    /// A database in MaxMind's format that locates clients; without one the embedded table does (RTE-8).
    pub geo_database: Option<PathBuf>,
    /// What is logged.
    pub log_level: LogLevel,
    /// How log lines look.
    pub log_format: LogFormat,
    /// A cluster of one that founds itself (OPS-3).
    pub dev: bool,
}

/// The settings as flags and environment variables; each one has a key of the same name in the file. They are kept as
/// they were written, so that all of them are judged at once, with those of the file.
#[derive(Args, Clone, Debug, Default)]
pub struct Flags {
    /// Read settings from this TOML file
    #[arg(long, value_name = "FILE", env = "WAYMARK_NODE_CONFIG")]
    pub config: Option<PathBuf>,
    /// The member's name, unique in the cluster [default: the machine's name]
    #[arg(long, value_name = "NAME", env = "WAYMARK_NODE_NAME")]
    pub name: Option<String>,
    /// The region that it is in, for which it measures how far clients are [default: none; it measures nothing]
    #[arg(long, value_name = "REGION", env = "WAYMARK_NODE_REGION")]
    pub region: Option<String>,
    /// Where log, snapshots and identity are kept [default: waymark-data]
    #[arg(long, value_name = "DIR", env = "WAYMARK_NODE_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Where gRPC is served [default: 127.0.0.1:7400]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_GRPC_LISTEN")]
    pub grpc_listen: Option<String>,
    /// How other members and agents reach this one [default: https:// and the address it listens on]
    #[arg(long, value_name = "URL", env = "WAYMARK_NODE_GRPC_ADVERTISE")]
    pub grpc_advertise: Option<String>,
    /// The certificate that says who this member is, in PEM
    #[arg(long, value_name = "FILE", env = "WAYMARK_NODE_TLS_CERTIFICATE")]
    pub tls_certificate: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", env = "WAYMARK_NODE_TLS_KEY")]
    pub tls_key: Option<PathBuf>,
    /// The certificates of the authorities that are trusted, and what they have revoked, in PEM
    #[arg(long, value_name = "FILE", env = "WAYMARK_NODE_TLS_AUTHORITY")]
    pub tls_authority: Option<PathBuf>,
    /// The file with the keys that secret headers are encrypted with, the same on all members [default: none; no secrets]
    #[arg(long, value_name = "FILE", env = "WAYMARK_NODE_SECRET_KEY_FILE")]
    pub secret_key_file: Option<PathBuf>,
    /// Where DNS is served over UDP and TCP, once for each address [default: 127.0.0.1:5300]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_DNS_LISTEN", value_delimiter = ',')]
    pub dns_listen: Vec<String>,
    /// How DNS is answered.
    #[command(flatten)]
    pub answers: AnswerFlags,
    /// How resolvers reach it, for `cluster status` [default: the first address that DNS listens on]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_DNS_ADVERTISE")]
    pub dns_advertise: Option<String>,
    /// Where DNS is served encrypted, and with what certificate
    #[command(flatten)]
    pub encrypted_dns: EncryptedFlags,
    /// Where health is served over HTTP [default: 127.0.0.1:7401]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_HTTP_LISTEN")]
    pub http_listen: Option<String>,
    /// How patient Raft's timers are: local, regional or global [default: local]
    #[arg(long, value_name = "WORD", env = "WAYMARK_NODE_TIMERS")]
    pub timers: Option<String>,
    /// How long a start waits for a leader before DNS is answered from the last state [default: 10s]
    #[arg(long, value_name = "DURATION", env = "WAYMARK_NODE_START_GRACE")]
    pub start_grace: Option<String>,
    /// The highest apply level that it supports, lower than the program's own to hold an upgrade back [default: the program's]
    #[arg(long, value_name = "LEVEL", env = "WAYMARK_NODE_APPLY_LEVEL_MAX")]
    pub apply_level_max: Option<String>,
    /// Log entries after which a snapshot is made and the log is cut, but for a tenth of that [default: 10000]
    #[arg(long, value_name = "NUMBER", env = "WAYMARK_NODE_SNAPSHOT_AFTER")]
    pub snapshot_after: Option<String>,
    /// The resolver that finds the addresses of flattened profiles' names [default: the system's]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_NODE_RESOLVER")]
    pub resolver: Option<String>,
    /// A database in MaxMind's format (MMDB) that locates clients [default: the embedded table of countries]
    #[arg(long, value_name = "FILE", env = "WAYMARK_NODE_GEO_DATABASE")]
    pub geo_database: Option<PathBuf>,
    /// What is logged, in RUST_LOG's language; RUST_LOG itself goes first [default: info]
    #[arg(long, value_name = "FILTER", env = "WAYMARK_NODE_LOG_LEVEL")]
    pub log_level: Option<String>,
    /// How log lines look: text, json, or auto, which is text on a terminal and json elsewhere [default: auto]
    #[arg(long, value_name = "WORD", env = "WAYMARK_NODE_LOG_FORMAT")]
    pub log_format: Option<String>,
    /// A cluster of one that founds itself, with the zone waymark.test, on loopback
    #[arg(
        long, value_name = "BOOL", env = "WAYMARK_NODE_DEV",
        num_args = 0..=1, require_equals = true, default_missing_value = "true"
    )]
    pub dev: Option<String>,
}

/// A level of `apply` that this program supports; nothing stands for the highest.
fn apply_level(text: &str) -> Result<ApplyLevel, String> {
    let (lowest, highest) = (ApplyLevel::LOWEST, ApplyLevel::HIGHEST);
    if text.is_empty() {
        return Ok(highest);
    }
    let level = text.parse().map(ApplyLevel).ok().filter(|level| (lowest..=highest).contains(level));
    level.ok_or_else(|| {
        format!("{} is not one of the levels {lowest} to {highest} that this version supports", quote(text))
    })
}

/// A resolver's address; nothing stands for the system's.
fn resolver(text: &str) -> Result<Option<SocketAddr>, String> {
    if text.is_empty() { Ok(None) } else { settings::resolver(text).map(Some) }
}

/// A member's URL; nothing stands for the one that follows from where it listens.
fn advertised(text: &str) -> Result<Option<MemberUrl>, String> {
    if text.is_empty() { Ok(None) } else { settings::member_url(text).map(Some) }
}

/// A place's name; empty for none.
fn region(text: &str) -> Result<String, String> {
    if text.is_empty() { Ok(String::new()) } else { settings::place_name(text) }
}

impl Config {
    /// More often, and members would do little else.
    const SNAPSHOT_AFTER_MIN: u64 = 100;
    /// Some hundreds of megabytes of small entries, which take seconds to replay.
    const SNAPSHOT_AFTER_MAX: u64 = 1_000_000;

    /// Puts flags, environment and file together and checks the whole.
    ///
    /// # Errors
    /// Every fault of the settings.
    pub fn load(flags: &Flags) -> Result<Self, Faults> {
        let mut given = Reader::new("WAYMARK_NODE", flags.config.as_deref())?;
        let config = Self::read(&mut given, flags);
        config.check(&mut given);
        given.finish(config)
    }

    fn read(given: &mut Reader, flags: &Flags) -> Self {
        let grpc_listen = given
            .value("grpc_listen", flags.grpc_listen.as_deref(), settings::listen)
            .unwrap_or(([127, 0, 0, 1], 7400).into());
        let dns_listen = given
            .list("dns_listen", &flags.dns_listen, settings::listen)
            .unwrap_or_else(|| vec![([127, 0, 0, 1], 5300).into()]);
        let first = dns_listen.first().map(SocketAddr::to_string).unwrap_or_default();
        // A path need not be text, so a flag's is taken as it is.
        let data_dir = given.value("data_dir", None, settings::text).map(PathBuf::from);
        let geo_database = given.value("geo_database", None, settings::text).map(PathBuf::from);
        let secret_key_file = given.value("secret_key_file", None, settings::text).map(PathBuf::from);
        let given_file = |flag: &Option<PathBuf>, in_file: Option<PathBuf>| {
            flag.clone().or(in_file).filter(|path| !path.as_os_str().is_empty())
        };
        let name = given
            .value("name", flags.name.as_deref(), settings::place_name)
            .unwrap_or_else(|| machine_name("member"));
        let credentials =
            settings::credentials(given, [&flags.tls_certificate, &flags.tls_key, &flags.tls_authority]);
        let dev = given.switch("dev", flags.dev.as_deref()).unwrap_or(false);
        let is_encrypted = credentials.is_some() || !dev;
        Self {
            answers: answers::read(given, &flags.answers, &name),
            name,
            region: given.value("region", flags.region.as_deref(), region).filter(|name| !name.is_empty()),
            data_dir: flags.data_dir.clone().or(data_dir).unwrap_or_else(|| "waymark-data".into()),
            grpc_listen,
            grpc_advertise: given
                .value("grpc_advertise", flags.grpc_advertise.as_deref(), advertised)
                .flatten()
                .unwrap_or_else(|| MemberUrl::of(grpc_listen, is_encrypted)),
            credentials,
            secret_key_file: given_file(&flags.secret_key_file, secret_key_file),
            dns_listen,
            dns_advertise: given
                .value("dns_advertise", flags.dns_advertise.as_deref(), settings::host_and_port)
                .unwrap_or(first),
            encrypted_dns: EncryptedDns::read(given, &flags.encrypted_dns),
            http_listen: given
                .value("http_listen", flags.http_listen.as_deref(), settings::listen)
                .unwrap_or(([127, 0, 0, 1], 7401).into()),
            timers: given.value("timers", flags.timers.as_deref(), settings::word).unwrap_or_default(),
            start_grace: given
                .value("start_grace", flags.start_grace.as_deref(), settings::duration)
                .unwrap_or(Duration::from_secs(10)),
            apply_level_max: given
                .value("apply_level_max", flags.apply_level_max.as_deref(), apply_level)
                .unwrap_or(ApplyLevel::HIGHEST),
            snapshot_after: given
                .number("snapshot_after", flags.snapshot_after.as_deref(), Self::SNAPSHOT_AFTER_MAX)
                .unwrap_or(10_000),
            resolver: given.value("resolver", flags.resolver.as_deref(), resolver).flatten(),
            geo_database: given_file(&flags.geo_database, geo_database),
            log_level: settings::log_level(given, flags.log_level.as_deref()),
            log_format: given
                .value("log_format", flags.log_format.as_deref(), settings::word)
                .unwrap_or_default(),
            dev,
        }
    }

    /// The rules that need more than one setting, or the one that counts in the end.
    fn check(&self, given: &mut Reader) {
        self.check_listens(given);
        let advice = "is an address that is only good to listen on; name one that others can reach";
        if self.grpc_advertise.is_unspecified() {
            let reason = format!("'{}' {advice}", self.grpc_advertise);
            given.refuse_derived("grpc_advertise", "grpc_listen", reason);
        }
        let is_encrypted = self.credentials.is_some() || !self.dev;
        if self.grpc_advertise.is_encrypted() != is_encrypted {
            let (speaks, scheme) = if is_encrypted { ("TLS", "https") } else { ("plain text", "http") };
            let reason =
                format!("'{}': this member speaks {speaks}; write {scheme}://HOST:PORT", self.grpc_advertise);
            given.refuse("grpc_advertise", reason);
        }
        if MemberUrl::parse(&format!("http://{}", self.dns_advertise)).is_ok_and(|url| url.is_unspecified()) {
            let reason = format!("'{}' {advice}", self.dns_advertise);
            given.refuse_derived("dns_advertise", "dns_listen", reason);
        }
        // It has no setting of its own to be advertised by.
        if self.http_listen.ip().to_canonical().is_unspecified() {
            given.refuse("http_listen", format!("{} {advice}", self.http_listen));
        }
        self.check_max_stale(given);
        if self.snapshot_after < Self::SNAPSHOT_AFTER_MIN {
            let reason = format!("{} is below {}", self.snapshot_after, Self::SNAPSHOT_AFTER_MIN);
            given.refuse("snapshot_after", reason);
        }
        let listens = [self.grpc_listen, self.http_listen].into_iter();
        let mut listens =
            listens.chain(self.dns_listen.iter().copied()).chain(self.encrypted_dns.addresses());
        if self.dev && listens.any(|address| !address.ip().is_loopback()) {
            given.refuse("dev", "true goes with loopback addresses only");
        }
    }

    /// An election may take several rounds, and must not look like being cut off (DNS-20).
    fn check_max_stale(&self, given: &mut Reader) {
        let least = match self.timers {
            Timers::Local => Duration::from_secs(4),
            Timers::Regional => Duration::from_secs(10),
            Timers::Global => Duration::from_secs(30),
        };
        if let Some(max_stale) = self.answers.max_stale.filter(|max_stale| *max_stale < least) {
            let reason =
                format!("{max_stale:?} is below {least:?}, which an election may take with these timers");
            given.refuse_derived("max_stale", "timers", reason);
        }
    }

    fn check_listens(&self, given: &mut Reader) {
        if self.grpc_listen == self.http_listen {
            let reason = format!("{} is grpc_listen as well: each needs its own", self.http_listen);
            given.refuse_derived("http_listen", "grpc_listen", reason);
        }
        if self.dns_listen.is_empty() {
            given.refuse("dns_listen", "[] names no address; name at least one, as in 127.0.0.1:5300");
        }
        self.encrypted_dns.check(given, self);
        let earlier = |at: usize| &self.dns_listen[..at];
        for (at, address) in self.dns_listen.iter().enumerate() {
            if earlier(at).contains(address) {
                given.refuse("dns_listen", format!("{address} is named twice"));
            }
            // DNS is on TCP as well.
            let holder = [("grpc_listen", self.grpc_listen), ("http_listen", self.http_listen)];
            if let Some((key, _)) = holder.iter().find(|(_, other)| other == address) {
                given.refuse("dns_listen", format!("{address} is {key} as well: each needs its own"));
            }
        }
    }
}
