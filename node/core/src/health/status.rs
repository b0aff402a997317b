//! The cluster's conclusion on an endpoint (STA-8) and on a profile (STA-9).

use std::sync::Arc;

use super::{ByFamily, Tallies};
use crate::model::{Flattened, LogIndex, OverrideKind, ProfileId, Timestamp};

/// An endpoint's monitor status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndpointStatus {
    /// At least half of the regions say up.
    Online,
    /// Less than half do.
    Degraded,
    /// Nobody has said anything yet.
    CheckingEndpoint,
    /// Switched off.
    Disabled,
    /// Its profile is switched off.
    Inactive,
    /// Stopped by what it stands for.
    Stopped,
    /// Always served, never probed.
    Unmonitored,
}

impl EndpointStatus {
    /// Every status, in the order of the manual.
    pub const ALL: [Self; 7] = [
        Self::Online,
        Self::Degraded,
        Self::CheckingEndpoint,
        Self::Disabled,
        Self::Inactive,
        Self::Stopped,
        Self::Unmonitored,
    ];

    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Online => "Online",
            Self::Degraded => "Degraded",
            Self::CheckingEndpoint => "CheckingEndpoint",
            Self::Disabled => "Disabled",
            Self::Inactive => "Inactive",
            Self::Stopped => "Stopped",
            Self::Unmonitored => "Unmonitored",
        }
    }
}

impl EndpointStatus {
    /// Is it out whatever probes find, by a switch or by what it stands for?
    pub fn is_out(self) -> bool {
        matches!(self, Self::Disabled | Self::Inactive | Self::Stopped)
    }

    /// What the probes' last conclusion says, `None` before any (STA-3).
    pub fn by(judgement: Option<Judgement>) -> Self {
        match judgement {
            Some(Judgement::Online) => Self::Online,
            Some(Judgement::Degraded) => Self::Degraded,
            None => Self::CheckingEndpoint,
        }
    }
}

/// A profile's monitor status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProfileStatus {
    /// Something works and nothing is Degraded.
    Online,
    /// An endpoint is Degraded.
    Degraded,
    /// Nothing is known yet.
    CheckingEndpoints,
    /// Switched off.
    Disabled,
    /// Nothing in it can answer.
    Inactive,
}

impl ProfileStatus {
    /// Every status, in the order of the manual.
    pub const ALL: [Self; 5] =
        [Self::Online, Self::Degraded, Self::CheckingEndpoints, Self::Disabled, Self::Inactive];

    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Online => "Online",
            Self::Degraded => "Degraded",
            Self::CheckingEndpoints => "CheckingEndpoints",
            Self::Disabled => "Disabled",
            Self::Inactive => "Inactive",
        }
    }
}

/// What the regions together concluded last, kept while nobody says anything new (STA-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// At least half of the regions with a verdict said up.
    Online,
    /// Less than half did.
    Degraded,
}

impl Judgement {
    /// What is in force in place of what probes find, if an override of that kind puts anything there (STA-13).
    pub fn forced_by(kind: OverrideKind) -> Option<Self> {
        match kind {
            OverrideKind::Drain => None,
            OverrideKind::ForceUp => Some(Self::Online),
            OverrideKind::ForceDown => Some(Self::Degraded),
        }
    }
}

/// Everything that is replicated about one endpoint beside its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointHealth {
    /// The profile that the endpoint belongs to.
    pub profile: ProfileId,
    /// The count of each agent that has one.
    pub tallies: Tallies,
    /// The last conclusion; `None` while none was ever reached.
    pub judgement: Option<Judgement>,
    /// Since when no region has a verdict, although there once was a conclusion (STA-4).
    pub stale_since: Option<Timestamp>,
    /// The status that is in force.
    pub status: EndpointStatus,
    /// A nested endpoint's standing in each address family (STA-10); `None` for the others.
    pub by_family: Option<ByFamily>,
    /// When it came into force.
    pub since: Timestamp,
    /// With which log entry.
    pub since_index: LogIndex,
    /// What its target's name was resolved to, if its profile is flattened (DNS-16) and it was.
    pub flattened: Option<Arc<Flattened>>,
}

/// A profile's status, the first row that applies (STA-9).
///
/// | profile | endpoints | status |
/// |---|---|---|
/// | disabled | – | Disabled |
/// | enabled | any Degraded | Degraded |
/// | enabled | any Online or Unmonitored | Online |
/// | enabled | any CheckingEndpoint | CheckingEndpoints |
/// | enabled | all Disabled or Stopped, or none | Inactive |
pub fn profile_status(enabled: bool, endpoints: impl IntoIterator<Item = EndpointStatus>) -> ProfileStatus {
    if !enabled {
        return ProfileStatus::Disabled;
    }
    // The rows in order: the earliest row that any endpoint asks for wins.
    endpoints
        .into_iter()
        .map(|status| match status {
            EndpointStatus::Degraded => ProfileStatus::Degraded,
            EndpointStatus::Online | EndpointStatus::Unmonitored => ProfileStatus::Online,
            EndpointStatus::CheckingEndpoint => ProfileStatus::CheckingEndpoints,
            EndpointStatus::Disabled | EndpointStatus::Stopped | EndpointStatus::Inactive => {
                ProfileStatus::Inactive
            }
        })
        .min_by_key(|status| match status {
            ProfileStatus::Degraded => 0,
            ProfileStatus::Online => 1,
            ProfileStatus::CheckingEndpoints => 2,
            ProfileStatus::Inactive | ProfileStatus::Disabled => 3,
        })
        .unwrap_or(ProfileStatus::Inactive)
}

/// An endpoint's status, the first row that applies (STA-8). `forced` is what an operator's override makes of it
/// (STA-13), and `found` what its kind comes to by itself: by its last
/// conclusion ([`EndpointStatus::by`]), of a service that does not run Stopped, of a nested endpoint what
/// [`super::nested_status`] says.
///
/// | endpoint | profile | found | forced | | status |
/// |---|---|---|---|---|---|
/// | disabled | – | – | – | – | Disabled |
/// | enabled | disabled | – | – | – | Inactive |
/// | enabled | enabled | Stopped | – | – | Stopped |
/// | enabled | enabled | any other | Online, Degraded | – | what was forced |
/// | enabled | enabled | any other | – | always serve | Unmonitored |
/// | enabled | enabled | Online, Degraded, CheckingEndpoint | – | – | what was found |
pub fn endpoint_status(
    endpoint_enabled: bool,
    profile_enabled: bool,
    always_serve: bool,
    forced: Option<Judgement>,
    found: EndpointStatus,
) -> EndpointStatus {
    match (endpoint_enabled, profile_enabled, found, forced, always_serve) {
        (false, ..) => EndpointStatus::Disabled,
        (_, false, ..) => EndpointStatus::Inactive,
        (_, _, EndpointStatus::Stopped, ..) => EndpointStatus::Stopped,
        (_, _, _, Some(forced), _) => EndpointStatus::by(Some(forced)),
        (.., true) => EndpointStatus::Unmonitored,
        (_, _, found, None, false) => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sta_8_the_first_row_that_applies() {
        use EndpointStatus::{CheckingEndpoint, Degraded, Disabled, Inactive, Online, Stopped, Unmonitored};
        for found in [Online, Degraded, CheckingEndpoint, Stopped] {
            for flag in [false, true] {
                for forced in [None, Some(Judgement::Online), Some(Judgement::Degraded)] {
                    for other in [false, true] {
                        assert_eq!(endpoint_status(false, flag, other, forced, found), Disabled);
                    }
                    assert_eq!(endpoint_status(true, false, flag, forced, found), Inactive);
                }
            }
            let always_served = endpoint_status(true, true, true, None, found);
            assert_eq!(always_served, if found == Stopped { Stopped } else { Unmonitored });
            assert_eq!(endpoint_status(true, true, false, None, found), found);
        }
        let conclusions = [None, Some(Judgement::Online), Some(Judgement::Degraded)];
        assert_eq!(conclusions.map(EndpointStatus::by), [CheckingEndpoint, Online, Degraded]);
    }

    #[test]
    fn sta_13_what_is_forced_stands_over_what_was_found_but_what_is_out_stays_out() {
        use EndpointStatus::{CheckingEndpoint, Degraded, Online, Stopped};
        for (kind, expected) in [(OverrideKind::ForceUp, Online), (OverrideKind::ForceDown, Degraded)] {
            let status =
                |always, found| endpoint_status(true, true, always, Judgement::forced_by(kind), found);
            for always in [false, true] {
                for found in [Online, Degraded, CheckingEndpoint] {
                    assert_eq!(status(always, found), expected, "{kind:?} over {found:?}");
                }
                assert_eq!(status(always, Stopped), Stopped);
            }
        }
        assert_eq!(Judgement::forced_by(OverrideKind::Drain), None, "a drain leaves the status alone");
    }

    /// The rows of STA-9 as they stand in the specification, one after the other.
    fn by_the_book(statuses: &[EndpointStatus]) -> ProfileStatus {
        let any = |wanted: &[EndpointStatus]| statuses.iter().any(|status| wanted.contains(status));
        if any(&[EndpointStatus::Degraded]) {
            ProfileStatus::Degraded
        } else if any(&[EndpointStatus::Online, EndpointStatus::Unmonitored]) {
            ProfileStatus::Online
        } else if any(&[EndpointStatus::CheckingEndpoint]) {
            ProfileStatus::CheckingEndpoints
        } else {
            ProfileStatus::Inactive
        }
    }

    #[test]
    fn sta_9_every_mixture_of_up_to_three_endpoints() {
        assert_eq!(profile_status(true, []), ProfileStatus::Inactive);
        for first in EndpointStatus::ALL {
            for second in EndpointStatus::ALL {
                for third in EndpointStatus::ALL {
                    for statuses in [&[first][..], &[first, second], &[first, second, third]] {
                        let status = profile_status(true, statuses.iter().copied());
                        assert_eq!(status, by_the_book(statuses), "{statuses:?}");
                        assert_eq!(profile_status(false, statuses.iter().copied()), ProfileStatus::Disabled);
                    }
                }
            }
        }
    }
}
