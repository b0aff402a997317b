//! The settings of how DNS is answered.

use std::time::Duration;

use clap::Args;
use ipnet::IpNet;
use waymark_process::settings::{self, Reader};

/// How a member answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerSettings {
    /// The member's name, told to those who ask for it (DNS-12).
    pub member: String,
    /// What `version.bind` and `version.server` are told; nothing: they are refused (DNS-12).
    pub version_text: Option<String>,
    /// How many replies over UDP one network is sent (DNS-19).
    pub rate_limit: RateLimit,
    /// For how long a member that is cut off from the cluster goes on answering; without limit if nothing (DNS-21).
    pub max_stale: Option<Duration>,
}

/// How many replies over UDP one network is sent (DNS-19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Replies of one kind in a second to a /24 or a /56; 0: without limit.
    pub per_second: u32,
    /// Every so-and-so-many-th reply beyond the limit is cut to a header with TC instead of held back; 0: none.
    pub slip: u8,
    /// Networks without a limit, beside loopback.
    pub exempt: Vec<IpNet>,
}

impl RateLimit {
    /// The highest limit: a tick of the limiter's clock for each reply.
    pub const PER_SECOND_MAX: u32 = 16_000;
    /// The highest slip.
    pub const SLIP_MAX: u8 = 15;
}

/// What resolvers for a large network ask for, and forged floods don't gain from.
impl Default for RateLimit {
    fn default() -> Self {
        Self { per_second: 200, slip: 2, exempt: Vec::new() }
    }
}

/// Flags and environment variables.
#[derive(Args, Clone, Debug, Default)]
pub struct AnswerFlags {
    /// What `version.bind` and `version.server` are told in class CH [default: nothing; they are refused]
    #[arg(long, value_name = "TEXT", env = "WAYMARK_NODE_DNS_VERSION_TEXT")]
    pub dns_version_text: Option<String>,
    /// Replies over UDP to one network (/24 or /56) in a second; 0: without limit [default: 200]
    #[arg(long, value_name = "NUMBER", env = "WAYMARK_NODE_DNS_RATE_LIMIT")]
    pub dns_rate_limit: Option<String>,
    /// Every so-and-so-many-th reply beyond the limit is cut instead of held back; 0: none [default: 2]
    #[arg(long, value_name = "NUMBER", env = "WAYMARK_NODE_DNS_RATE_LIMIT_SLIP")]
    pub dns_rate_limit_slip: Option<String>,
    /// Networks without that limit, beside loopback
    #[arg(long, value_name = "NETWORK", env = "WAYMARK_NODE_DNS_RATE_LIMIT_EXEMPT", value_delimiter = ',')]
    pub dns_rate_limit_exempt: Vec<String>,
    /// How long a member that is cut off from the cluster goes on answering; 0s: without limit [default: 0s]
    #[arg(long, value_name = "DURATION", env = "WAYMARK_NODE_MAX_STALE")]
    pub max_stale: Option<String>,
}

/// Reads them for the member of that name.
pub(super) fn read(given: &mut Reader, flags: &AnswerFlags, member: &str) -> AnswerSettings {
    let usual = RateLimit::default();
    let rate_limit = RateLimit {
        per_second: given
            .number("dns_rate_limit", flags.dns_rate_limit.as_deref(), RateLimit::PER_SECOND_MAX)
            .unwrap_or(usual.per_second),
        slip: given
            .number("dns_rate_limit_slip", flags.dns_rate_limit_slip.as_deref(), RateLimit::SLIP_MAX)
            .unwrap_or(usual.slip),
        exempt: given
            .list("dns_rate_limit_exempt", &flags.dns_rate_limit_exempt, settings::network)
            .unwrap_or(usual.exempt),
    };
    let version_text = given
        .value("dns_version_text", flags.dns_version_text.as_deref(), version_text)
        .filter(|text| !text.is_empty());
    let max_stale = given
        .value("max_stale", flags.max_stale.as_deref(), settings::duration)
        .filter(|max_stale| !max_stale.is_zero());
    AnswerSettings { member: member.to_owned(), version_text, rate_limit, max_stale }
}

/// One character-string (RFC 1035 §3.3).
fn version_text(text: &str) -> Result<String, String> {
    const BYTES_MAX: usize = 255;
    match text.len() {
        0..=BYTES_MAX => Ok(text.to_owned()),
        length => Err(format!("is {length} bytes long; at most {BYTES_MAX} are allowed")),
    }
}
