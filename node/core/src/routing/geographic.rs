//! The method `geographic` (RTE-8): the endpoint that the client's place belongs to, whatever its health.
//!
//! | subnet override (RTE-11) | the client's place | asked |
//! |---|---|---|
//! | an endpoint's | – | that endpoint |
//! | none | known | the first endpoint that has the state, else the country, else the grouping, else WORLD |
//! | none | unknown | the endpoint that has WORLD |
//!
//! | endpoint asked | answer |
//! |---|---|
//! | none | nobody |
//! | Stopped, or unable to answer the type | nobody: A and AAAA must not lead to different places |
//! | any other | that endpoint |
//!
//! Disabled and drained endpoints have no places and no subnets: [`crate::state::Plan`] leaves them out.

use super::elsewhere::elsewhere;
use super::question::{Question, Ruling};
use super::{Absence, Chosen, Standing};
use crate::model::{Place, PlaceSet};

/// The endpoint that the client's place belongs to.
pub(super) fn choose(question: &Question<'_>) -> Ruling {
    let client = question.client;
    let (reach, owner) = question.plan.subnets.get(client.address);
    if let Some(owner) = owner {
        return Ruling { chosen: settle(question, *owner), reach };
    }
    let mapped = |place: Option<Place>| question.plan.mapped(place.unwrap_or(Place::WORLD));
    let asked = mapped(question.view.locator.locate(client.address).map(|location| location.place));
    let reach = if client.wants_reach {
        let alike: PlaceSet = Place::all().filter(|place| mapped(Some(*place)) == asked).collect();
        let around = question.view.locator.span(client.address, &alike, mapped(None) == asked);
        reach.intersect(&around).unwrap_or(reach)
    } else {
        reach
    };
    Ruling { chosen: asked.ok_or(Absence::Unmapped).and_then(|asked| settle(question, asked)), reach }
}

/// Health is ignored; what is Stopped or cannot answer the type answers nobody.
fn settle(question: &Question<'_>, asked: usize) -> Result<Chosen, Absence> {
    match question.pool.standing(asked) {
        Standing::In | Standing::BestEffort | Standing::Degraded => Ok(Chosen::one(asked)),
        Standing::Disabled
        | Standing::Inactive
        | Standing::Drained
        | Standing::Stopped
        | Standing::Type
        | Standing::Passed => Err(Absence::Asked(asked)),
    }
}

/// Why that endpoint was asked, in one line.
pub(super) fn rule(question: &Question<'_>) -> String {
    let (plan, address) = (question.plan, question.client.address);
    if let (span, Some(owner)) = plan.subnets.get(address) {
        return format!(
            "geographic: the subnet {span} is set for '{}'",
            plan.endpoints[*owner].endpoint.name
        );
    }
    let place = question.view.locator.locate(address).map(|location| location.place);
    let whereabouts = place.map_or("the client's place is unknown".to_owned(), |place| {
        format!("the client is in {} ({place})", place.name())
    });
    match plan.mapped(place.unwrap_or(Place::WORLD)) {
        Some(asked) => {
            let endpoint = &plan.endpoints[asked].endpoint;
            let of = |place: &Place| endpoint.geo.contains(place);
            let code = place.unwrap_or(Place::WORLD).ancestors().find(of).unwrap_or(Place::WORLD);
            format!(
                "geographic: {whereabouts}, and '{}' has {code}; its health does not matter",
                endpoint.name
            )
        }
        None => format!("geographic: {whereabouts}, which no endpoint has"),
    }
}

/// Why the endpoint at `position`, which could serve, was asked or not, in one line. The first row that applies:
///
/// | the endpoint that was asked | this endpoint | reason |
/// |---|---|---|
/// | this one | – | asked |
/// | owns the client's subnet | – | not asked: the other has the subnet |
/// | – | has a place around the client's, WORLD included | not asked: the other has one that is nearer |
/// | – | else | not asked: the client is elsewhere |
pub(super) fn reason(question: &Question<'_>, position: usize) -> String {
    let (plan, address) = (question.plan, question.client.address);
    let place = question.view.locator.locate(address).map_or(Place::WORLD, |location| location.place);
    let (span, owner) = plan.subnets.get(address);
    let planned = &plan.endpoints[position];
    let around = place.ancestors().find(|around| planned.endpoint.geo.contains(around));
    match (owner.copied().or_else(|| plan.mapped(place)), around) {
        (Some(asked), _) if asked == position => {
            format!(
                "asked: it has the client, whatever its health ({})",
                question.pool.status(position).as_str()
            )
        }
        (Some(asked), _) if owner.is_some() => {
            format!("not asked: the subnet {span} is set for '{}'", plan.endpoints[asked].endpoint.name)
        }
        (Some(asked), Some(around)) => format!(
            "not asked: it has {around}, but '{}' has a place that is closer to the client's",
            plan.endpoints[asked].endpoint.name
        ),
        (_, _) => elsewhere(&planned.endpoint.geo),
    }
}
