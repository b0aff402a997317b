//! The enums: one word on the wire for each of core's.

use waymark_core::health::{EndpointStatus, Judgement, OutcomeClass, ProfileStatus, Verdict};
use waymark_core::model::{OverrideKind, Protocol, Routing};
use waymark_core::state::{AuditOutcome, OverrideAct};

use super::Malformed;
use crate::admin::v1 as wire;

/// Both directions between an enum of core and its words on the wire. Words that this enum has not are [`Malformed`].
macro_rules! words {
    ($core:ident, $wire:ident, $field:literal, { $($variant:ident = $word:ident),+ $(,)? }) => {
        impl From<$core> for wire::$wire {
            fn from(value: $core) -> Self {
                match value {
                    $($core::$variant => Self::$word),+
                }
            }
        }

        impl TryFrom<wire::$wire> for $core {
            type Error = Malformed;

            fn try_from(word: wire::$wire) -> Result<Self, Malformed> {
                match word {
                    $(wire::$wire::$word => Ok(Self::$variant),)+
                    #[allow(unreachable_patterns, reason = "some enums share their words with others")]
                    other => Err(Malformed::new($field, format!("{} is not possible here", other.as_str_name()))),
                }
            }
        }
    };
}

words!(Routing, Routing, "routing", {
    Priority = Priority,
    Weighted = Weighted,
    Performance = Performance,
    Geographic = Geographic,
    Multivalue = Multivalue,
    Subnet = Subnet,
});
words!(AuditOutcome, AuditOutcome, "audit.outcome", {
    Done = Done,
    Unchanged = Unchanged,
    Refused = Refused,
    Begun = Begun,
    Unknown = Unknown,
});
words!(Protocol, Protocol, "protocol", { Http = Http, Https = Https, Tcp = Tcp });
words!(Verdict, Verdict, "verdict", { Up = Up, Down = Down });
words!(Judgement, Status, "judgement", { Online = Online, Degraded = Degraded });
words!(OutcomeClass, OutcomeClass, "outcome.class", {
    Ok = Ok,
    Status = Status,
    Timeout = Timeout,
    Refused = Refused,
    Reset = Reset,
    Unreachable = Unreachable,
    Dns = Dns,
    Tls = Tls,
    Protocol = Protocol,
    Agent = Agent,
});
words!(EndpointStatus, Status, "status", {
    Online = Online,
    Degraded = Degraded,
    CheckingEndpoint = Checking,
    Disabled = Disabled,
    Inactive = Inactive,
    Stopped = Stopped,
    Unmonitored = Unmonitored,
});
words!(OverrideKind, OverrideKind, "override.kind", {
    Drain = Drain,
    ForceUp = ForceUp,
    ForceDown = ForceDown,
});
words!(OverrideAct, OverrideAct, "override.act", { Made = Made, Lifted = Lifted, Ended = Ended });
words!(ProfileStatus, Status, "status", {
    Online = Online,
    Degraded = Degraded,
    CheckingEndpoints = Checking,
    Disabled = Disabled,
    Inactive = Inactive,
});

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value of core has a word of its own, which leads back to it.
    fn holds<C, W>(all: impl IntoIterator<Item = C>)
    where
        C: Copy + PartialEq + std::fmt::Debug + TryFrom<W, Error = Malformed>,
        W: From<C> + Copy + PartialEq + std::fmt::Debug + Default,
    {
        for value in all {
            let word = W::from(value);
            assert_ne!(word, W::default(), "{value:?} must not look like nothing at all");
            assert_eq!(C::try_from(word), Ok(value));
        }
        assert!(C::try_from(W::default()).is_err());
    }

    #[test]
    fn every_word_leads_back() {
        holds::<Routing, wire::Routing>(Routing::ALL);
        holds::<Protocol, wire::Protocol>(Protocol::ALL);
        holds::<OutcomeClass, wire::OutcomeClass>(OutcomeClass::ALL);
        holds::<EndpointStatus, wire::Status>(EndpointStatus::ALL);
        holds::<ProfileStatus, wire::Status>(ProfileStatus::ALL);
        holds::<Verdict, wire::Verdict>([Verdict::Up, Verdict::Down]);
        holds::<Judgement, wire::Status>([Judgement::Online, Judgement::Degraded]);
    }
}
