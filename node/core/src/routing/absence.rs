//! What it means when nobody of a profile is left to answer with (RTE-4).

use crate::health::EndpointStatus;
use crate::model::RecordType;
use crate::state::{Plan, PlannedEndpoint, Statuses};

/// Why a profile has nobody to answer with; of the first six the first row that applies (RTE-4).
///
/// | profile | endpoints | absence | the profile's name |
/// |---|---|---|---|
/// | disabled | – | ProfileDisabled | does not exist by it |
/// | enabled | none | NoEndpoint | does not exist by it |
/// | enabled | all Disabled | AllDisabled | does not exist by it |
/// | enabled | all Disabled or Stopped | OnlyStopped | exists, without data |
/// | enabled | all Disabled, Stopped or drained | Drained | exists, without data |
/// | enabled | others, but none that can answer the type | Type | exists, without data of that type |
/// | enabled | none that this client belongs to | Unmapped | exists, without data for this client |
/// | enabled | the one that this client belongs to cannot answer | Asked | exists, without data for this client |
/// | enabled | none that this client belongs to, or a stopped one, and a fallback that cannot answer | Fallback | exists, without data for this client |
/// | enabled | nested ones alone, none with anybody for this client | Children | exists, without data for this client |
/// | enabled | so many nested ones that asking ended | Effort | exists, without data |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The profile is switched off.
    ProfileDisabled,
    /// The profile has no endpoint.
    NoEndpoint,
    /// Every endpoint is switched off.
    AllDisabled,
    /// Only Stopped endpoints are left beside the Disabled ones.
    OnlyStopped,
    /// Whoever is left beside the Disabled and Stopped ones is drained (STA-13).
    Drained,
    /// None of the endpoints that could serve can answer the type.
    Type,
    /// No endpoint has the client's place or subnet, and none stands for all the others.
    Unmapped,
    /// The endpoint at this position has the client's place or subnet, but is stopped or cannot answer the type; or its
    /// profile has nobody.
    Asked(usize),
    /// The fallback, which should have answered, is stopped or cannot answer the type.
    Fallback {
        /// The position of the endpoint that has the client's subnet, which is stopped, if there is one.
        owner: Option<usize>,
        /// The position of the fallback.
        fallback: usize,
    },
    /// Each endpoint that is left is nested, and its profile has nobody.
    Children,
    /// More profiles would have had to be asked than one query may ask.
    Effort,
}

impl Absence {
    /// Why nobody of `plan` is in the pool, given that nobody is.
    pub fn of(plan: &Plan, statuses: &Statuses) -> Self {
        let all = |expected: &[EndpointStatus]| {
            plan.endpoints.iter().all(|planned| expected.contains(&statuses.get(planned.id)))
        };
        let is_out = |planned: &PlannedEndpoint| statuses.get(planned.id).is_out();
        if !plan.profile.enabled {
            Self::ProfileDisabled
        } else if plan.endpoints.is_empty() {
            Self::NoEndpoint
        } else if all(&[EndpointStatus::Disabled]) {
            Self::AllDisabled
        } else if all(&[EndpointStatus::Disabled, EndpointStatus::Stopped]) {
            Self::OnlyStopped
        } else if plan.endpoints.iter().all(|planned| is_out(planned) || planned.is_drained()) {
            Self::Drained
        } else {
            Self::Type
        }
    }

    /// The reason in words.
    pub fn reason(self, plan: &Plan, statuses: &Statuses, record_type: RecordType) -> String {
        let profile = &plan.profile.name;
        let unable = |planned: &PlannedEndpoint| match statuses.get(planned.id) {
            EndpointStatus::Stopped => "is stopped".to_owned(),
            _ if !planned.serves.fits(record_type) => format!("cannot answer {record_type}"),
            _ => "has nobody for it".to_owned(),
        };
        match self {
            Self::ProfileDisabled => format!("profile '{profile}' is disabled"),
            Self::NoEndpoint => format!("profile '{profile}' has no endpoint"),
            Self::AllDisabled => format!("every endpoint of profile '{profile}' is disabled"),
            Self::OnlyStopped => format!("every enabled endpoint of profile '{profile}' is stopped"),
            Self::Drained => {
                format!("every endpoint of profile '{profile}' that is enabled is drained or stopped")
            }
            Self::Type => format!("no available endpoint of profile '{profile}' can answer {record_type}"),
            Self::Unmapped => format!("no endpoint of profile '{profile}' is meant for this client"),
            Self::Asked(position) => {
                let planned = &plan.endpoints[position];
                let (name, why) = (&planned.endpoint.name, unable(planned));
                format!("'{name}' of profile '{profile}', which is meant for this client, {why}")
            }
            Self::Fallback { owner, fallback } => {
                let meant = match owner {
                    Some(owner) => Self::Asked(owner).reason(plan, statuses, record_type),
                    None => Self::Unmapped.reason(plan, statuses, record_type),
                };
                let planned = &plan.endpoints[fallback];
                let (name, why) = (&planned.endpoint.name, unable(planned));
                format!("{meant}, and '{name}', the fallback, {why}")
            }
            Self::Children => {
                format!("no nested endpoint of profile '{profile}' has anybody for this client")
            }
            Self::Effort => format!("profile '{profile}' leads through more profiles than one query may ask"),
        }
    }
}
