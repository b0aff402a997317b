//! How, how often and how patiently the endpoints of a profile are probed (SET-3 … SET-11).

use std::fmt;
use std::sync::Arc;

use super::Edit;

/// Limits and defaults of spec §1.2.
pub mod limits {
    /// Highest TCP port (SET-4); the lowest is 1.
    pub const PORT_MAX: u32 = 65_535;
    /// Most failures that may be tolerated (SET-8).
    pub const TOLERATED_FAILURES_MAX: u32 = 9;
    /// Tolerated failures when none are given (SET-8).
    pub const TOLERATED_FAILURES_DEFAULT: u32 = 3;
    /// Most successes that a recovery may ask for (SET-11).
    pub const RECOVERY_SUCCESSES_MAX: u32 = 10;
    /// Successes that a recovery asks for when none are given (SET-11).
    pub const RECOVERY_SUCCESSES_DEFAULT: u32 = 1;
    /// Most ranges of expected status codes (SET-9).
    pub const EXPECT_MAX: usize = 8;
    /// Lowest status code (SET-9).
    pub const STATUS_MIN: u32 = 100;
    /// Highest status code (SET-9).
    pub const STATUS_MAX: u32 = 599;
    /// Most custom headers on a profile, and again on an endpoint (SET-10).
    pub const HEADERS_MAX: usize = 8;
    /// Longest header name, in bytes.
    pub const HEADER_NAME_MAX: usize = 256;
    /// Longest header value, in bytes.
    pub const HEADER_VALUE_MAX: usize = 4_096;
    /// Longest secret value when it is encrypted, in bytes: the longest value with key number, nonce and tag.
    pub const HEADER_SEALED_MAX: usize = HEADER_VALUE_MAX + 64;
    /// Longest path, in bytes.
    pub const PATH_MAX: usize = 2_048;
    /// What no path or query holds unescaped, beside blanks, controls, `#` and what is not ASCII (SET-5, RFC 3986
    /// 2.2): the probe's request could not be written. Braces, bars and brackets are sent as they are.
    pub const PATH_UNSENDABLE: [char; 4] = ['"', '<', '>', '`'];
    /// Interval when none is given, in milliseconds (SET-6).
    pub const INTERVAL_DEFAULT_MS: u64 = 30_000;
}

/// What a probe speaks (SET-3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// HTTP/1.1 in clear.
    #[default]
    Http,
    /// HTTP/1.1 over TLS.
    Https,
    /// A connection, nothing more.
    Tcp,
}

impl Protocol {
    /// Every protocol, in the order of the manual.
    pub const ALL: [Self; 3] = [Self::Http, Self::Https, Self::Tcp];

    /// The word for it in files, flags and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Tcp => "tcp",
        }
    }

    /// Does a probe send a request?
    pub fn is_http(self) -> bool {
        !matches!(self, Self::Tcp)
    }

    /// The port when none is given; tcp has none (SET-4).
    pub fn default_port(self) -> Option<u16> {
        match self {
            Self::Http => Some(80),
            Self::Https => Some(443),
            Self::Tcp => None,
        }
    }
}

/// One of the four probing intervals (SET-6) with the timeouts that go with it (SET-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Time from one probe's start to the next, in milliseconds.
    pub interval_ms: u64,
    /// Shortest timeout, in milliseconds.
    pub timeout_ms_min: u64,
    /// Longest timeout, which is also the default, in milliseconds.
    pub timeout_ms_max: u64,
}

impl Interval {
    /// The intervals that exist.
    pub const ALL: [Self; 4] = [
        Self { interval_ms: 30_000, timeout_ms_min: 5_000, timeout_ms_max: 10_000 },
        Self { interval_ms: 10_000, timeout_ms_min: 5_000, timeout_ms_max: 9_000 },
        Self { interval_ms: 5_000, timeout_ms_min: 1_000, timeout_ms_max: 4_000 },
        Self { interval_ms: 1_000, timeout_ms_min: 200, timeout_ms_max: 1_000 },
    ];

    /// The row for an interval, if it is one of the four.
    pub fn of(interval_ms: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|row| row.interval_ms == interval_ms)
    }
}

/// An inclusive range of status codes that count as success (SET-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusRange {
    /// Lowest code.
    pub min: u32,
    /// Highest code.
    pub max: u32,
}

/// One custom header of the probe's request (SET-10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Name, shown as given, compared without case.
    pub name: String,
    /// Value.
    pub value: HeaderValue,
}

/// What a header says.
#[derive(Clone, PartialEq, Eq)]
pub enum HeaderValue {
    /// In plain text.
    Plain(String),
    /// A secret on its way in: neither the log nor the state ever has it in this form (SEC-4).
    Secret(String),
    /// The same, encrypted by the member that was asked.
    Sealed(Arc<[u8]>),
}

impl HeaderValue {
    /// The value, unless it is a secret.
    pub fn plain(&self) -> Option<&str> {
        match self {
            Self::Plain(text) => Some(text),
            Self::Secret(_) | Self::Sealed(_) => None,
        }
    }

    /// How much room it takes, in bytes.
    pub fn weight(&self) -> usize {
        match self {
            Self::Plain(text) | Self::Secret(text) => text.len(),
            Self::Sealed(bytes) => bytes.len(),
        }
    }
}

/// In plain text.
impl<T: Into<String>> From<T> for HeaderValue {
    fn from(text: T) -> Self {
        Self::Plain(text.into())
    }
}

/// Nothing of it: what is plain may be a secret all the same.
impl fmt::Debug for HeaderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The monitor of a profile. What is `None` or empty takes its default when it is read, not when it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Monitor {
    /// What a probe speaks.
    pub protocol: Protocol,
    /// Port; see [`Protocol::default_port`].
    pub port: Option<u32>,
    /// Path of the request, `/` if not given.
    pub path: Option<String>,
    /// Milliseconds from probe to probe; [`limits::INTERVAL_DEFAULT_MS`] if not given.
    pub interval_ms: Option<u64>,
    /// Milliseconds for one probe as a whole; the interval's longest if not given.
    pub timeout_ms: Option<u64>,
    /// Failures in a row that are still tolerated.
    pub tolerated_failures: Option<u32>,
    /// Successes in a row that bring a verdict from down to up.
    pub recovery_successes: Option<u32>,
    /// Expected status codes; 200 alone if empty.
    pub expect: Vec<StatusRange>,
    /// Headers of every endpoint's probe.
    pub headers: Vec<Header>,
}

impl Monitor {
    /// The port that is probed; `None` only for a tcp monitor that validation has not seen.
    pub fn effective_port(&self) -> Option<u16> {
        self.port.map_or(self.protocol.default_port(), |port| u16::try_from(port).ok())
    }

    /// The path that is asked for.
    pub fn effective_path(&self) -> &str {
        self.path.as_deref().unwrap_or("/")
    }

    /// Milliseconds from probe to probe.
    pub fn effective_interval_ms(&self) -> u64 {
        self.interval_ms.unwrap_or(limits::INTERVAL_DEFAULT_MS)
    }

    /// Milliseconds that one probe may take.
    pub fn effective_timeout_ms(&self) -> u64 {
        let interval_ms = self.effective_interval_ms();
        self.timeout_ms
            .unwrap_or_else(|| Interval::of(interval_ms).map_or(interval_ms, |row| row.timeout_ms_max))
    }

    /// Failures in a row that are still tolerated.
    pub fn effective_tolerated_failures(&self) -> u32 {
        self.tolerated_failures.unwrap_or(limits::TOLERATED_FAILURES_DEFAULT)
    }

    /// Successes in a row that bring a verdict from down to up.
    pub fn effective_recovery_successes(&self) -> u32 {
        self.recovery_successes.unwrap_or(limits::RECOVERY_SUCCESSES_DEFAULT)
    }

    /// The status codes that count as success.
    pub fn effective_expect(&self) -> Vec<StatusRange> {
        if self.expect.is_empty() { vec![StatusRange { min: 200, max: 200 }] } else { self.expect.clone() }
    }

    /// How long a verdict lives without a new outcome: three intervals and a timeout (STA-5).
    pub fn verdict_expiry_ms(&self) -> u64 {
        3 * self.effective_interval_ms() + self.effective_timeout_ms()
    }
}

/// What an update says of a monitor (VAL-2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorPatch {
    /// See [`Monitor::protocol`].
    pub protocol: Edit<Protocol>,
    /// See [`Monitor::port`].
    pub port: Edit<u32>,
    /// See [`Monitor::path`].
    pub path: Edit<String>,
    /// See [`Monitor::interval_ms`].
    pub interval_ms: Edit<u64>,
    /// See [`Monitor::timeout_ms`].
    pub timeout_ms: Edit<u64>,
    /// See [`Monitor::tolerated_failures`].
    pub tolerated_failures: Edit<u32>,
    /// See [`Monitor::recovery_successes`].
    pub recovery_successes: Edit<u32>,
    /// See [`Monitor::expect`].
    pub expect: Edit<Vec<StatusRange>>,
    /// See [`Monitor::headers`].
    pub headers: Edit<Vec<Header>>,
}

impl MonitorPatch {
    /// Carries the wish out. A switch to tcp drops path, headers and expected codes that the same change does not name.
    pub fn apply(&self, monitor: &mut Monitor) {
        self.protocol.apply_or(&mut monitor.protocol, Protocol::default());
        if self.protocol.is_named() && !monitor.protocol.is_http() {
            monitor.path = None;
            monitor.headers.clear();
            monitor.expect.clear();
        }
        self.port.apply(&mut monitor.port);
        self.path.apply(&mut monitor.path);
        self.interval_ms.apply(&mut monitor.interval_ms);
        self.timeout_ms.apply(&mut monitor.timeout_ms);
        self.tolerated_failures.apply(&mut monitor.tolerated_failures);
        self.recovery_successes.apply(&mut monitor.recovery_successes);
        self.expect.apply_or(&mut monitor.expect, Vec::new());
        self.headers.apply_or(&mut monitor.headers, Vec::new());
    }
}
