//! Who is calling, and for how long: the one place that turns a connection into a name.

use std::time::Duration;

use tonic::Request;
use tonic::metadata::MetadataMap;
use waymark_core::state::{Action, AuditNote, Command, CommandId};
use waymark_process::identity::Role;
use waymark_proto::admin::v1::{Endpoint, Header, Profile};

use super::audit::Words;
use crate::acceptor::Peer;
use crate::raft::Proposer;

/// Whoever made a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    author: String,
    /// The address that they call from; empty if that is not known.
    from: String,
    /// How long a change of theirs may take to be committed.
    pub(super) patience: Duration,
}

impl Caller {
    /// The caller of `request`. In plain text, on loopback, with `--dev`, whoever reaches the port may do everything.
    pub(super) fn of<T>(request: &Request<T>) -> Self {
        let author = role_of(request).map_or_else(|| "dev".to_owned(), ToString::to_string);
        let peer = request.extensions().get::<Peer>();
        let from = peer.map(|peer| peer.address().to_string()).unwrap_or_default();
        Self { author, from, patience: patience(request.metadata()) }
    }

    /// Their wish for `action`, of which the audit trail will say `words` (SEC-5).
    pub(super) fn command(&self, id: Option<CommandId>, words: Option<&Words>, action: Action) -> Command {
        let note = words.map(|Words { act, object, detail }| AuditNote::new(&self.from, act, object, detail));
        Command { id, author: self.author.clone(), note, action }
    }
}

fn role_of<T>(request: &Request<T>) -> Option<&Role> {
    request.extensions().get::<Peer>().and_then(Peer::identity).map(|identity| &identity.role)
}

/// What stands in the place of what a reader may not see.
pub(super) const HIDDEN: &str = "***";

/// What whoever made a request may see: nobody sees secret headers (SEC-4), and viewers no header's value, as it may be one (SEC-2).
#[derive(Clone, Copy, Debug)]
pub(super) struct Eyes {
    sees_values: bool,
}

impl Eyes {
    /// Those of the caller of `request`.
    pub(super) fn of<T>(request: &Request<T>) -> Self {
        Self { sees_values: role_of(request).is_none_or(|role| matches!(role, Role::Operator { .. })) }
    }

    /// The profile as they see it.
    pub(super) fn profile(self, mut profile: Profile) -> Profile {
        profile.endpoints = profile.endpoints.into_iter().map(|endpoint| self.endpoint(endpoint)).collect();
        self.hide(profile.monitor.iter_mut().flat_map(|monitor| &mut monitor.headers));
        profile
    }

    /// The endpoint as they see it.
    pub(super) fn endpoint(self, mut endpoint: Endpoint) -> Endpoint {
        self.hide(endpoint.headers.iter_mut());
        endpoint
    }

    fn hide<'a>(self, headers: impl Iterator<Item = &'a mut Header>) {
        for header in headers.filter(|header| header.secret || !self.sees_values) {
            (header.value, header.sealed) = (HIDDEN.to_owned(), Default::default());
        }
    }
}

/// Two thirds of the time that the caller waits, so that "there is no leader" arrives while somebody listens; a caller who
/// is left without an answer can only say that the outcome is unknown (CLI-4).
fn patience(metadata: &MetadataMap) -> Duration {
    let given = metadata.get("grpc-timeout").and_then(|value| timeout(value.to_str().ok()?));
    given.map_or(Proposer::DEADLINE, |given| Proposer::DEADLINE.min(given * 2 / 3))
}

/// Reads gRPC's notation: up to eight digits and a unit.
fn timeout(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u32 = number.parse().ok()?;
    let unit = match unit {
        "H" => Duration::from_secs(3_600),
        "M" => Duration::from_secs(60),
        "S" => Duration::from_secs(1),
        "m" => Duration::from_millis(1),
        "u" => Duration::from_micros(1),
        "n" => Duration::from_nanos(1),
        _ => return None,
    };
    unit.checked_mul(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_4_a_caller_is_answered_before_they_give_up() {
        for (text, wanted) in [
            ("3S", Duration::from_secs(2)),
            ("300m", Duration::from_millis(200)),
            ("30000u", Duration::from_millis(20)),
            ("99999999H", Proposer::DEADLINE),
            ("", Proposer::DEADLINE),
            ("S", Proposer::DEADLINE),
            ("\u{fc}", Proposer::DEADLINE),
            ("3x", Proposer::DEADLINE),
        ] {
            let mut metadata = MetadataMap::new();
            if let Ok(value) = text.parse() {
                metadata.insert("grpc-timeout", value);
            }
            assert_eq!(patience(&metadata), wanted, "{text}");
        }
        let mut request = Request::new(());
        request.set_timeout(Duration::from_millis(1_500));
        assert_eq!(Caller::of(&request).patience, Duration::from_secs(1));
        assert_eq!(Caller::of(&Request::new(())).patience, Proposer::DEADLINE);
    }
}
