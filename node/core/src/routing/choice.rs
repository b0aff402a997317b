//! One profile's choice for one query: its pool, its method, and what it means when nobody is left (RTE-4).

use std::sync::Arc;

use super::{ChoiceDetails, EndpointStanding, Pool, Trace, mix, priority, weighted};
use crate::health::EndpointStatus;
use crate::model::{RecordType, Routing};
use crate::state::Plan;

/// The place of the endpoint that `plan` chooses for `record_type`, or why there is none. `level` is how many names
/// came before this one in the chain, `draw` the query's.
pub fn choose(
    plan: &Arc<Plan>,
    record_type: RecordType,
    level: u32,
    draw: u64,
    trace: &mut impl Trace,
) -> Result<usize, Absence> {
    let draw = mix(draw, level, plan.profile.id, 0);
    let pool = Pool::of(plan, record_type);
    let chosen = match plan.profile.routing {
        Routing::Priority => priority::choose(pool.members()),
        Routing::Weighted => weighted::choose(pool.members(), draw),
        // As if nothing were known of the client.
        Routing::Performance | Routing::Geographic | Routing::Multivalue | Routing::Subnet => {
            let count = pool.members().count() as u128;
            pool.members().map(|(place, _)| place).nth(((u128::from(draw) * count) >> 64) as usize)
        }
    };
    trace.choice(plan, || details(plan, pool, record_type, chosen, draw));
    chosen.ok_or_else(|| Absence::of(plan))
}

fn details(
    plan: &Plan,
    pool: Pool<'_>,
    record_type: RecordType,
    chosen: Option<usize>,
    draw: u64,
) -> ChoiceDetails {
    let standings = plan
        .endpoints
        .iter()
        .map(|planned| EndpointStanding { standing: pool.standing(planned), reason: pool.reason(planned) });
    let rule = match (chosen.map(|place| &plan.endpoints[place]), plan.profile.routing) {
        (None, _) => format!("nobody: {}", Absence::of(plan).reason(plan, record_type)),
        (Some(chosen), Routing::Priority) => priority::rule(chosen),
        (Some(chosen), Routing::Weighted) => weighted::rule(pool.members(), chosen),
        (Some(chosen), routing) => {
            format!("{}: '{}' by an even draw", routing.as_str(), chosen.endpoint.name)
        }
    };
    ChoiceDetails { pool: pool.kind(), standings: standings.collect(), chosen, rule, draw }
}

/// Why a profile has nobody to answer with; the first row that applies (RTE-4).
///
/// | profile | endpoints | absence | the profile's name |
/// |---|---|---|---|
/// | disabled | – | ProfileDisabled | does not exist by it |
/// | enabled | none | NoEndpoint | does not exist by it |
/// | enabled | all Disabled | AllDisabled | does not exist by it |
/// | enabled | all Disabled or Stopped | OnlyStopped | exists, without data |
/// | enabled | others, but none that can answer the type | Type | exists, without data of that type |
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
    /// None of the endpoints that could serve can answer the type.
    Type,
}

impl Absence {
    /// Why nobody of `plan` can be chosen, given that nobody can.
    pub fn of(plan: &Plan) -> Self {
        let all = |expected: &[EndpointStatus]| {
            plan.endpoints.iter().all(|planned| expected.contains(&planned.status))
        };
        if !plan.profile.enabled {
            Self::ProfileDisabled
        } else if plan.endpoints.is_empty() {
            Self::NoEndpoint
        } else if all(&[EndpointStatus::Disabled]) {
            Self::AllDisabled
        } else if all(&[EndpointStatus::Disabled, EndpointStatus::Stopped]) {
            Self::OnlyStopped
        } else {
            Self::Type
        }
    }

    /// The reason in words.
    pub fn reason(self, plan: &Plan, record_type: RecordType) -> String {
        let profile = &plan.profile.name;
        match self {
            Self::ProfileDisabled => format!("profile '{profile}' is disabled"),
            Self::NoEndpoint => format!("profile '{profile}' has no endpoint"),
            Self::AllDisabled => format!("every endpoint of profile '{profile}' is disabled"),
            Self::OnlyStopped => format!("every enabled endpoint of profile '{profile}' is stopped"),
            Self::Type => format!("no available endpoint of profile '{profile}' can answer {record_type}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::plan;
    use crate::health::EndpointStatus::{Disabled, Online, Stopped};
    use crate::routing::NoTrace;

    fn absence(plan: Plan, record_type: RecordType) -> Absence {
        choose(&Arc::new(plan), record_type, 0, 0, &mut NoTrace).expect_err("nobody to choose")
    }

    #[test]
    fn rte_4_every_row_of_the_table() {
        let disabled = plan(&[("192.0.2.1", Disabled), ("192.0.2.2", Disabled)]);
        assert_eq!(absence(disabled, RecordType::A), Absence::AllDisabled);
        assert_eq!(absence(plan(&[]), RecordType::A), Absence::NoEndpoint);
        let stopped = plan(&[("192.0.2.1", Disabled), ("192.0.2.2", Stopped)]);
        assert_eq!(absence(stopped, RecordType::A), Absence::OnlyStopped);
        assert_eq!(absence(plan(&[("192.0.2.1", Online)]), RecordType::AAAA), Absence::Type);
        let mut off = plan(&[("192.0.2.1", EndpointStatus::Inactive)]);
        off.profile = Arc::new(crate::model::Profile { enabled: false, ..(*off.profile).clone() });
        assert_eq!(absence(off, RecordType::A), Absence::ProfileDisabled);
    }
}
