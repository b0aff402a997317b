//! The method `subnet` (RTE-10): the endpoint whose range holds the client.
//!
//! The owner is the endpoint that has the client's range, the fallback the one without ranges. Disabled and drained
//! endpoints are neither: [`crate::state::Plan`] leaves their ranges out.
//!
//! | owner | fallback | answer |
//! |---|---|---|
//! | in the pool | – | the owner |
//! | unable to answer the type | – | nobody |
//! | Degraded | in the pool | the fallback |
//! | Degraded | not in it, or none | the owner (best effort) |
//! | Stopped, or none | in the pool or Degraded (best effort) | the fallback |
//! | Stopped, or none | Stopped, or unable to answer the type | nobody, and the trace says why of both |
//! | Stopped, or none | none | nobody |

use super::elsewhere::elsewhere;
use super::question::{Question, Ruling};
use super::{Absence, Chosen, Standing};
use crate::health::EndpointStatus;

/// The owner of the client's range, or who stands in for it.
pub(super) fn choose(question: &Question<'_>) -> Ruling {
    let settle = |owner: Option<&usize>| settle(question, owner.copied());
    let (reach, owner) = question.plan.subnets.get(question.client.address);
    let chosen = settle(owner);
    let reach = if question.client.wants_reach {
        question.plan.subnets.reach(question.client.address, |owner| settle(owner) == chosen)
    } else {
        reach
    };
    Ruling { chosen, reach }
}

fn settle(question: &Question<'_>, owner: Option<usize>) -> Result<Chosen, Absence> {
    let (pool, one) = (question.pool, |position| Ok(Chosen::one(position)));
    let fallback = fallback(question);
    let stands_by = |best_effort: bool| {
        fallback.filter(|fallback| match pool.standing(*fallback) {
            Standing::In | Standing::BestEffort => true,
            Standing::Degraded => best_effort,
            _ => false,
        })
    };
    // Why nobody answers, where the fallback should have.
    let nobody = |otherwise: Absence| {
        Err(fallback.map_or(otherwise, |fallback| Absence::Fallback { owner, fallback }))
    };
    let Some(owner) = owner else {
        return stands_by(true).map_or_else(|| nobody(Absence::Unmapped), one);
    };
    match pool.standing(owner) {
        Standing::In | Standing::BestEffort => one(owner),
        Standing::Degraded => one(stands_by(false).unwrap_or(owner)),
        Standing::Stopped | Standing::Inactive | Standing::Disabled | Standing::Drained => {
            stands_by(true).map_or_else(|| nobody(Absence::Asked(owner)), one)
        }
        Standing::Type | Standing::Passed => Err(Absence::Asked(owner)),
    }
}

/// The enabled endpoint without ranges that is not drained; there is at most one (SET-16).
fn fallback(question: &Question<'_>) -> Option<usize> {
    let is_fallback = |position: &usize| {
        let planned = &question.plan.endpoints[*position];
        planned.endpoint.subnets.is_empty()
            && !planned.is_drained()
            && question.pool.status(*position) != EndpointStatus::Disabled
    };
    (0..question.plan.endpoints.len()).find(is_fallback)
}

/// Why that endpoint was chosen, in one line.
pub(super) fn rule(question: &Question<'_>, chosen: &Chosen) -> String {
    let plan = question.plan;
    let name = |position: usize| &plan.endpoints[position].endpoint.name;
    let (span, owner) = plan.subnets.get(question.client.address);
    let chosen = chosen.positions().next();
    match (owner, chosen) {
        (Some(owner), Some(chosen)) if *owner == chosen => {
            format!("subnet: the client is in {span}, a range of '{}'", name(chosen))
        }
        (Some(owner), Some(chosen)) => format!(
            "subnet: the client is in {span}, a range of '{}', which is {}; so '{}', the fallback",
            name(*owner),
            question.pool.status(*owner).as_str(),
            name(chosen)
        ),
        (None, Some(chosen)) => {
            format!("subnet: the client is in no range, so '{}', the fallback", name(chosen))
        }
        (_, None) => "subnet: nobody".to_owned(),
    }
}

/// Why the endpoint at `position`, which could serve, was asked or not, in one line. The first row that applies:
///
/// | this endpoint | chosen | reason |
/// |---|---|---|
/// | owns the client's range | yes | asked |
/// | owns the client's range | no | out: the fallback stands in |
/// | is the fallback | yes | asked |
/// | is the fallback | no | not asked: the client has an owner |
/// | any other | – | not asked: the client is elsewhere |
pub(super) fn reason(question: &Question<'_>, ruling: &Ruling, position: usize) -> String {
    let plan = question.plan;
    let planned = &plan.endpoints[position];
    let status = question.pool.status(position).as_str();
    let is_chosen = ruling.chosen.iter().flat_map(Chosen::positions).any(|chosen| chosen == position);
    let owner = plan.subnets.get(question.client.address).1.copied();
    let is_fallback = fallback(question) == Some(position);
    match (owner, is_chosen) {
        (Some(owner), true) if owner == position => format!("in: it has the client's range; {status}"),
        (Some(owner), false) if owner == position => {
            format!("out: it has the client's range, but is {status}, and the fallback stands in")
        }
        (_, true) => format!("in: the fallback; {status}"),
        (Some(owner), false) if is_fallback => {
            format!(
                "not asked: the fallback, and the client is in a range of '{}'",
                plan.endpoints[owner].endpoint.name
            )
        }
        (_, false) => elsewhere(&planned.endpoint.subnets),
    }
}
