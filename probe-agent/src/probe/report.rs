//! What a probe brings back (PRB-9).

use std::net::IpAddr;
use std::time::Duration;

use waymark_core::health::{Outcome, OutcomeClass};

/// What one probe found, and how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeReport {
    /// What counts.
    pub outcome: Outcome,
    /// The address that was probed, or would have been had the guard admitted it.
    pub address: Option<IpAddr>,
    /// How long finding the address took; none for a target that is an address.
    pub resolve: Option<Duration>,
    /// How long the connection took.
    pub connect: Option<Duration>,
    /// How long the TLS handshake took.
    pub tls: Option<Duration>,
    /// From the request to the whole response head.
    pub first_byte: Option<Duration>,
    /// The certificate that was presented, also when the probe failed later on.
    pub certificate: Option<Certificate>,
    /// One line for people; empty for a success.
    pub detail: String,
}

/// What is reported of a certificate; the outcome does not depend on it (PRB-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// When it ends, in seconds since 1970 UTC; none if it can't be read.
    pub expiry: Option<i64>,
    /// Would a browser accept it: chain to a public root, name, date?
    pub is_valid: bool,
}

impl ProbeReport {
    /// A report of nothing but an outcome.
    pub fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            address: None,
            resolve: None,
            connect: None,
            tls: None,
            first_byte: None,
            certificate: None,
            detail: String::new(),
        }
    }

    /// A report of trouble of the agent's own.
    pub fn agent_trouble(detail: impl Into<String>) -> Self {
        let mut report = Self::of(Outcome { class: OutcomeClass::Agent, status: None });
        report.conclude(Err(Fault::new(OutcomeClass::Agent, detail)));
        report
    }

    pub(super) fn conclude(&mut self, end: Result<Outcome, Fault>) {
        match end {
            Ok(outcome) => self.outcome = outcome,
            Err(Fault { class, status, detail }) => {
                self.outcome = Outcome { class, status };
                self.detail = one_line(&detail);
            }
        }
    }
}

/// Why a probe is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) class: OutcomeClass,
    pub(crate) status: Option<u16>,
    pub(crate) detail: String,
}

impl Fault {
    pub(crate) fn new(class: OutcomeClass, detail: impl Into<String>) -> Self {
        Self { class, status: None, detail: detail.into() }
    }

    /// Trouble of the agent's own: shown, never counted.
    pub(crate) fn agent(detail: impl Into<String>) -> Self {
        Self::new(OutcomeClass::Agent, detail)
    }
}

/// Longest detail in bytes: parts of it come from servers, and it is stored and shown.
const DETAIL_BYTES_MAX: usize = 200;

fn one_line(text: &str) -> String {
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.len() > DETAIL_BYTES_MAX {
        let end = (0..=DETAIL_BYTES_MAX).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prb_12_details_are_short_single_lines() {
        let report = ProbeReport::agent_trouble(format!("a\r\nb{}", "é".repeat(300)));
        assert_eq!(report.outcome, Outcome { class: OutcomeClass::Agent, status: None });
        assert!(report.detail.starts_with("a  bé"));
        assert!(report.detail.ends_with('…') && report.detail.len() <= DETAIL_BYTES_MAX + 3);
    }
}
