//! The words for what stands as a number on the wire.

use waymark_core::health::{EndpointStatus, OutcomeClass, ProfileStatus, Verdict};
use waymark_core::model::{OverrideKind, Protocol, Routing};
use waymark_proto::admin::v1 as wire;

/// The word that core has for a number, or the number itself if this version does not know it.
fn word<W: TryFrom<i32>, C: TryFrom<W>>(number: i32, as_str: impl Fn(C) -> &'static str) -> String {
    let known = W::try_from(number).ok().and_then(|word| C::try_from(word).ok());
    known.map_or_else(|| format!("unknown ({number})"), |known| as_str(known).to_owned())
}

/// An endpoint's status.
pub(crate) fn endpoint_status(number: i32) -> String {
    word::<wire::Status, EndpointStatus>(number, EndpointStatus::as_str)
}

/// A profile's status.
pub(crate) fn profile_status(number: i32) -> String {
    word::<wire::Status, ProfileStatus>(number, ProfileStatus::as_str)
}

/// What an override does.
pub(crate) fn override_kind(number: i32) -> String {
    word::<wire::OverrideKind, OverrideKind>(number, OverrideKind::as_str)
}

/// A routing method.
pub(crate) fn routing(number: i32) -> String {
    word::<wire::Routing, Routing>(number, Routing::as_str)
}

/// A protocol.
pub(crate) fn protocol(number: i32) -> String {
    word::<wire::Protocol, Protocol>(number, Protocol::as_str)
}

/// An outcome's class.
pub(crate) fn outcome_class(number: i32) -> String {
    word::<wire::OutcomeClass, OutcomeClass>(number, OutcomeClass::as_str)
}

/// A verdict; `unknown` if there is none.
pub(crate) fn verdict(number: i32) -> String {
    let none = || Verdict::as_str(None).to_owned();
    if number == 0 {
        none()
    } else {
        word::<wire::Verdict, Verdict>(number, |verdict| Verdict::as_str(Some(verdict)))
    }
}

/// What a member does.
pub(crate) fn role(number: i32) -> String {
    match wire::Role::try_from(number) {
        Ok(wire::Role::Leader) => "leader".to_owned(),
        Ok(wire::Role::Follower) => "follower".to_owned(),
        Ok(wire::Role::Learner) => "learner".to_owned(),
        Ok(wire::Role::Unspecified) | Err(_) => format!("unknown ({number})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_word() {
        assert_eq!(endpoint_status(wire::Status::Checking.into()), "CheckingEndpoint");
        assert_eq!(profile_status(wire::Status::Checking.into()), "CheckingEndpoints");
        assert_eq!(verdict(0), "unknown");
        assert_eq!(verdict(wire::Verdict::Down.into()), "down");
        assert_eq!(routing(wire::Routing::Weighted.into()), "weighted");
        assert_eq!(role(wire::Role::Learner.into()), "learner");
        assert_eq!(outcome_class(99), "unknown (99)");
    }
}
