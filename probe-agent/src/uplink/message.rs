//! The agent's messages, and what a member's messages say.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use waymark_core::model::EndpointId;
use waymark_proto::agent::v1 as wire;

use super::Identity;
use crate::assignment::{CHECKS_MAX, Update};
use crate::backlog::Entry;
use crate::probe::ProbeReport;
use crate::sight::Sight;

/// The first message on every stream.
pub(super) fn hello(identity: &Identity, queries_per_minute: u32, sight: Sight) -> wire::AgentMessage {
    let Identity { agent, region, run } = identity.clone();
    agent_message(wire::agent_message::Kind::Hello(wire::Hello {
        agent,
        region,
        run,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        queries_per_minute,
        sight: sight_word(sight).into(),
    }))
}

/// How well the agent sees now (PRB-14).
pub(crate) fn sighted(sight: Sight) -> wire::AgentMessage {
    agent_message(wire::agent_message::Kind::Sighted(wire::Sighted { sight: sight_word(sight).into() }))
}

fn sight_word(sight: Sight) -> wire::Sight {
    match sight {
        Sight::Clear => wire::Sight::Clear,
        Sight::Doubtful => wire::Sight::Doubtful,
        Sight::Blind => wire::Sight::Blind,
    }
}

/// The sign of life that is sent whatever else is (STA-5).
pub(super) fn heartbeat() -> wire::AgentMessage {
    agent_message(wire::agent_message::Kind::Heartbeat(wire::Heartbeat {}))
}

/// How far a resolver is (RTE-7).
pub(crate) fn measured(resolver: IpAddr, shortest: Duration, samples: u32) -> wire::AgentMessage {
    agent_message(wire::agent_message::Kind::Measured(wire::Measured {
        resolver: resolver.to_string(),
        microseconds: u32::try_from(shortest.as_micros()).unwrap_or(u32::MAX),
        samples,
    }))
}

/// The outcomes of `entries`, with their age at `now` (STA-6).
pub(crate) fn report<'a>(entries: impl Iterator<Item = &'a Entry>, now: Instant) -> wire::AgentMessage {
    let outcomes = entries.map(|entry| outcome(entry, now)).collect();
    agent_message(wire::agent_message::Kind::Report(wire::Report { outcomes }))
}

fn agent_message(kind: wire::agent_message::Kind) -> wire::AgentMessage {
    wire::AgentMessage { kind: Some(kind) }
}

fn outcome(entry: &Entry, now: Instant) -> wire::ProbeOutcome {
    let Entry { sequence, endpoint, check, ended, report } = entry;
    let ProbeReport { outcome, address, resolve, connect, tls, first_byte, certificate, detail } = report;
    let micros = |duration: &Option<Duration>| {
        duration.map(|duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    };
    let age = now.saturating_duration_since(*ended);
    wire::ProbeOutcome {
        endpoint: endpoint.0,
        sequence: *sequence,
        age_ms: u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
        outcome: Some((*outcome).into()),
        address: address.map(|address| address.to_string()).unwrap_or_default(),
        resolve_us: micros(resolve),
        connect_us: micros(connect),
        tls_us: micros(tls),
        first_byte_us: micros(first_byte),
        certificate_expiry: certificate.and_then(|certificate| certificate.expiry),
        certificate_valid: certificate.map(|certificate| certificate.is_valid),
        detail: detail.clone(),
        check_revision: check.0,
    }
}

/// Puts the parts of an assignment together; returns it once `part` was the last (PRB-11: a check that is only in a later
/// part is not gone meanwhile, nor is what it found).
pub(super) fn gather(parts: &mut wire::Assignment, part: wire::Assignment) -> Option<wire::Assignment> {
    let wire::Assignment { revision, full, checks, removed, more } = part;
    parts.revision = revision;
    parts.full |= full;
    // What is beyond the checks that an agent takes on is refused later; it need not be kept until then.
    parts.checks.extend(checks.into_iter().take((CHECKS_MAX + 1).saturating_sub(parts.checks.len())));
    parts.removed.extend(removed);
    (!more).then(|| std::mem::take(parts))
}

/// What a member says must be probed. A check that this agent cannot read is left out and logged: the others go on.
pub(super) fn update(message: wire::Assignment) -> Update {
    let wire::Assignment { revision, full, checks, removed, more: _ } = message;
    tracing::debug!(revision, full, checks = checks.len(), removed = removed.len(), "assignment");
    let mut removed: Vec<EndpointId> = removed.into_iter().map(EndpointId).collect();
    let mut readable = Vec::with_capacity(checks.len());
    for check in checks {
        let endpoint = EndpointId(check.endpoint);
        match check.try_into() {
            Ok(check) => readable.push(check),
            Err(fault) => {
                tracing::error!(endpoint = endpoint.0, %fault, "cannot probe this: is the member newer than the agent?");
                removed.push(endpoint);
            }
        }
    }
    Update { full, checks: readable, removed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prb_11_an_assignment_in_parts_is_put_in_force_as_one() {
        let check = |endpoint| wire::Check { endpoint, ..Default::default() };
        let part =
            |full, checks, removed, more| wire::Assignment { revision: 9, full, checks, removed, more };
        let mut parts = wire::Assignment::default();
        assert_eq!(gather(&mut parts, part(true, vec![check(1)], vec![], true)), None);
        assert_eq!(gather(&mut parts, part(false, vec![], vec![5], true)), None);
        let whole = gather(&mut parts, part(false, vec![check(2)], vec![], false));
        assert_eq!(whole, Some(part(true, vec![check(1), check(2)], vec![5], false)));
        let next = part(false, vec![check(3)], vec![], false);
        assert_eq!(gather(&mut parts, next.clone()), Some(next));
    }
}
