//! An agent's settings: flag over environment over file over default (OPS-2).

mod sample;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use http::Uri;
use ipnet::IpNet;
use waymark_process::logging::{LogFormat, LogLevel};
use waymark_process::settings::{self, Faults, Reader, machine_name};
use waymark_process::tls::CredentialFiles;

use crate::canary::{CANARIES_MAX, Canary};
use crate::survey::Allowance;
use crate::uplink;

pub use sample::SAMPLE;

/// An agent's settings, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The agent's name, unique in the cluster.
    pub name: String,
    /// The region that it probes from.
    pub region: String,
    /// Where to find members: a ring, at one place of which the agent begins.
    pub members: Vec<Uri>,
    /// Who it is to members; none where it speaks plain text to members on its own machine (SEC-1).
    pub credentials: Option<CredentialFiles>,
    /// What it joins by while it has no certificate; given, it also renews the one it has (SEC-1).
    pub join_token_file: Option<PathBuf>,
    /// May loopback addresses be probed (PRB-13)?
    pub allow_loopback: bool,
    /// Networks that may be probed although the guard's own list refuses them.
    pub guard_allow: Vec<IpNet>,
    /// Networks that are never probed.
    pub guard_deny: Vec<IpNet>,
    /// Which resolver finds the addresses of targets; the system's if none.
    pub resolver: Option<SocketAddr>,
    /// What it looks at to know whether it sees (PRB-14).
    pub canaries: Vec<Canary>,
    /// How many queries in a minute it may send to resolvers, to measure for members how far those are (RTE-7).
    pub measure_per_minute: u32,
    /// What is logged.
    pub log_level: LogLevel,
    /// How log lines look.
    pub log_format: LogFormat,
}

/// The settings as flags and environment variables; each one has a key of the same name in the file. They are kept as
/// they were written, so that all of them are judged at once, with those of the file.
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
    /// Where to find members; agents spread over them by their names [default: https://127.0.0.1:7400, or
    /// http:// without a certificate]
    #[arg(long, value_name = "URL[,URL…]", env = "WAYMARK_AGENT_MEMBERS", value_delimiter = ',')]
    pub members: Vec<String>,
    /// The certificate that says who this agent is, in PEM
    #[arg(long, value_name = "FILE", env = "WAYMARK_AGENT_TLS_CERTIFICATE")]
    pub tls_certificate: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE", env = "WAYMARK_AGENT_TLS_KEY")]
    pub tls_key: Option<PathBuf>,
    /// The certificates of the authorities that are trusted, and what they have revoked, in PEM
    #[arg(long, value_name = "FILE", env = "WAYMARK_AGENT_TLS_AUTHORITY")]
    pub tls_authority: Option<PathBuf>,
    /// The join token by which this agent comes to a certificate while it has none; it then keeps it up by itself
    #[arg(long, value_name = "FILE", env = "WAYMARK_AGENT_JOIN_TOKEN_FILE")]
    pub join_token_file: Option<PathBuf>,
    /// Probe loopback addresses too
    #[arg(
        long, value_name = "BOOL", env = "WAYMARK_AGENT_ALLOW_LOOPBACK",
        num_args = 0..=1, require_equals = true, default_missing_value = "true"
    )]
    pub allow_loopback: Option<String>,
    /// Networks to probe although the built-in guard refuses them
    #[arg(long, value_name = "CIDR[,CIDR…]", env = "WAYMARK_AGENT_GUARD_ALLOW", value_delimiter = ',')]
    pub guard_allow: Vec<String>,
    /// Networks never to probe
    #[arg(long, value_name = "CIDR[,CIDR…]", env = "WAYMARK_AGENT_GUARD_DENY", value_delimiter = ',')]
    pub guard_deny: Vec<String>,
    /// The resolver that finds the addresses of targets [default: the system's]
    #[arg(long, value_name = "ADDR:PORT", env = "WAYMARK_AGENT_RESOLVER")]
    pub resolver: Option<String>,
    /// Targets that tell whether this agent sees at all: while none of them is there, it abstains [default: none]
    #[arg(long, value_name = "HOST:PORT|URL[,…]", env = "WAYMARK_AGENT_CANARY", value_delimiter = ',')]
    pub canary: Vec<String>,
    /// Queries in a minute to the resolvers that ask the members most, to measure how far they are [default: 0; none]
    #[arg(long, value_name = "NUMBER", env = "WAYMARK_AGENT_MEASURE_PER_MINUTE")]
    pub measure_per_minute: Option<String>,
    /// What is logged, in RUST_LOG's language; RUST_LOG itself goes first [default: info]
    #[arg(long, value_name = "FILTER", env = "WAYMARK_AGENT_LOG_LEVEL")]
    pub log_level: Option<String>,
    /// How log lines look: text, json, or auto, which is text on a terminal and json elsewhere [default: auto]
    #[arg(long, value_name = "WORD", env = "WAYMARK_AGENT_LOG_FORMAT")]
    pub log_format: Option<String>,
}

impl Config {
    /// Puts flags, environment and file together and checks the whole.
    ///
    /// # Errors
    /// Every fault of the settings.
    pub fn load(flags: &Flags) -> Result<Self, Faults> {
        let mut given = Reader::new("WAYMARK_AGENT", flags.config.as_deref())?;
        let config = Self::read(&mut given, flags);
        given.finish(config)
    }

    /// The members that are called over TLS, in the order in which this agent tries them: those that can give it a certificate.
    pub fn encrypted_members(&self) -> Vec<Uri> {
        let members = self.members.iter().filter(|member| member.scheme_str() == Some("https"));
        uplink::in_turn(members.cloned().collect(), &self.name)
    }

    fn read(given: &mut Reader, flags: &Flags) -> Self {
        let credentials =
            settings::credentials(given, [&flags.tls_certificate, &flags.tls_key, &flags.tls_authority]);
        let lone = if credentials.is_some() { LONE_MEMBER } else { LONE_PLAIN_MEMBER };
        let members =
            given.list("members", &flags.members, member).unwrap_or_else(|| vec![Uri::from_static(lone)]);
        let in_file = given.value("join_token_file", None, settings::text).map(PathBuf::from);
        let token = flags.join_token_file.clone().or(in_file).filter(|path| !path.as_os_str().is_empty());
        let region = given.value("region", flags.region.as_deref(), settings::place_name);
        let config = Self {
            name: given
                .value("name", flags.name.as_deref(), settings::place_name)
                .unwrap_or_else(|| machine_name("agent")),
            region: region.unwrap_or_default(),
            members,
            credentials,
            join_token_file: token,
            allow_loopback: given.switch("allow_loopback", flags.allow_loopback.as_deref()).unwrap_or(false),
            guard_allow: given.list("guard.allow", &flags.guard_allow, settings::network).unwrap_or_default(),
            guard_deny: given.list("guard.deny", &flags.guard_deny, settings::network).unwrap_or_default(),
            resolver: given.value("resolver", flags.resolver.as_deref(), settings::resolver),
            canaries: given.list("canary", &flags.canary, Canary::parse).unwrap_or_default(),
            measure_per_minute: given
                .number(
                    "measure_per_minute",
                    flags.measure_per_minute.as_deref(),
                    Allowance::QUERIES_PER_MINUTE_MAX,
                )
                .unwrap_or_default(),
            log_level: settings::log_level(given, flags.log_level.as_deref()),
            log_format: given
                .value("log_format", flags.log_format.as_deref(), settings::word)
                .unwrap_or_default(),
        };
        config.check(given);
        config
    }

    /// What is wrong between settings.
    fn check(&self, given: &mut Reader) {
        if !given.is_given("region") {
            let advice = "name the region that this agent probes from, as in --region eu-central";
            given.refuse("region", format!("is missing; {advice}"));
        }
        if self.canaries.len() > CANARIES_MAX {
            let count = self.canaries.len();
            given.refuse("canary", format!("names {count} targets; at most {CANARIES_MAX} are allowed"));
        }
        if self.members.is_empty() {
            given.refuse("members", "[] names nobody; name at least one, as in https://127.0.0.1:7400");
        }
        if self.join_token_file.is_some() && self.credentials.is_none() {
            let advice = "the first two name where it puts what it is given, the third whom it believes";
            given.refuse(
                "join_token_file",
                format!("needs tls_certificate, tls_key and tls_authority: {advice}"),
            );
        } else if self.join_token_file.is_some() && self.encrypted_members().is_empty() {
            given.refuse("join_token_file", "needs a member at https://; in plain text nobody joins");
        }
        let is_encrypted = |member: &&Uri| member.scheme_str() == Some("https");
        if let Some(member) = self.members.iter().find(is_encrypted).filter(|_| self.credentials.is_none()) {
            let advice = "'waymark pki issue DIR agent NAME --region REGION' makes them";
            let reason = format!(
                "'{}' asks for TLS, which needs tls_certificate, tls_key and tls_authority: {advice}",
                member.to_string().trim_end_matches('/')
            );
            given.refuse("members", reason);
        }
    }
}

/// Where a lone member on this machine serves gRPC.
const LONE_MEMBER: &str = "https://127.0.0.1:7400";
/// The same with `--dev`.
const LONE_PLAIN_MEMBER: &str = "http://127.0.0.1:7400";

fn member(text: &str) -> Result<Uri, String> {
    let url = settings::member_url(text)?;
    url.as_str().parse().map_err(|error| format!("'{text}': {error}"))
}
