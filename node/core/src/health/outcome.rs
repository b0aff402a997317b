//! What one probe found (PRB-9).

/// The class of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeClass {
    /// A success.
    Ok,
    /// A status that is not expected.
    Status,
    /// The deadline passed.
    Timeout,
    /// The connection was refused.
    Refused,
    /// The connection was reset or closed before a whole response head.
    Reset,
    /// No way to the target.
    Unreachable,
    /// The target's name has no address.
    Dns,
    /// The TLS handshake failed.
    Tls,
    /// What came back is not HTTP, or is beyond its bounds.
    Protocol,
    /// Trouble of the agent's own: shown, never counted.
    Agent,
}

impl OutcomeClass {
    /// Every class, in the order of the manual.
    pub const ALL: [Self; 10] = [
        Self::Ok,
        Self::Status,
        Self::Timeout,
        Self::Refused,
        Self::Reset,
        Self::Unreachable,
        Self::Dns,
        Self::Tls,
        Self::Protocol,
        Self::Agent,
    ];

    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Status => "status",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Unreachable => "unreachable",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::Protocol => "protocol",
            Self::Agent => "agent",
        }
    }

    /// Does it count as a success, as a failure, or (trouble of the agent's own) as neither?
    pub fn success(self) -> Option<bool> {
        match self {
            Self::Ok => Some(true),
            Self::Agent => None,
            _ => Some(false),
        }
    }
}

/// What the replicated state keeps of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its class.
    pub class: OutcomeClass,
    /// The HTTP status code, where there was one.
    pub status: Option<u16>,
}
