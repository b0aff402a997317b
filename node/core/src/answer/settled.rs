//! What a profile's name is answered with for one type where only chance has a say, and who asks does not. Such an answer can
//! be encoded once and kept while the view is of one [`crate::state::Edition`].

use super::RecordType;
use super::direct::{is_simple, nothing};
use crate::model::{ProfileId, Routing, Target, Zone};
use crate::routing::{Passed, Pool, PoolKind, mix, place_among};
use crate::state::{Plan, PlannedEndpoint, View};

/// What everybody is answered with.
#[derive(Clone, Debug)]
pub struct Settled<'a> {
    /// One of these endpoints each time, as likely as its weight.
    pub endpoints: Vec<(u32, &'a PlannedEndpoint)>,
    /// Where there are none: the zone whose start of authority says that there is nothing.
    pub authority: Option<&'a Zone>,
    /// Time to live of the records in seconds.
    pub ttl: u32,
    /// Does the zone take client subnets? Then they are told that the answer holds for all (DNS-10).
    pub takes_subnets: bool,
}

/// What the name with the lower-cased wire form `name`, whose plan in `view` is `plan`, answers everybody with:
/// [`super::decide_directly()`] does so, too. `None` where that is not simple, or not the same for all.
///
/// | method | pool | settled |
/// |---|---|---|
/// | any | empty | that there is nothing |
/// | `priority` | an endpoint that is not nested, in front | it |
/// | `weighted` | endpoints, none of them nested | all of them |
/// | others | | no |
pub fn settled<'a>(
    view: &'a View,
    plan: &'a Plan,
    name: &[u8],
    record_type: RecordType,
) -> Option<Settled<'a>> {
    if !is_simple(record_type) {
        return None;
    }
    let takes_subnets = view.zone(&plan.profile.zone).is_some_and(|zone| zone.ecs);
    let pool = Pool::of(plan, &view.statuses, record_type, Passed::default());
    if pool.kind() == PoolKind::Empty {
        let (zone, ttl) = nothing(view, name, plan)?;
        return Some(Settled { endpoints: Vec::new(), authority: Some(zone), ttl, takes_subnets });
    }
    let members = pool.members().map(|(_, planned)| planned);
    let endpoints: Vec<(u32, &PlannedEndpoint)> = match plan.profile.routing {
        Routing::Priority => members
            .min_by_key(|planned| planned.endpoint.priority)
            .map(|only| (1, only))
            .into_iter()
            .collect(),
        Routing::Weighted => members.map(|planned| (planned.endpoint.effective_weight(), planned)).collect(),
        Routing::Performance | Routing::Geographic | Routing::Multivalue | Routing::Subnet => return None,
    };
    let is_simple = |planned: &PlannedEndpoint| match planned.answers(record_type).next() {
        // Of a nested one; or a chain that goes on in our own zones.
        None => false,
        Some(Target::Name(target)) => !view.is_ours(target),
        Some(_) => true,
    };
    let are_simple = endpoints.iter().all(|(_, planned)| planned.child.is_none() && is_simple(planned));
    are_simple.then(|| Settled {
        endpoints,
        authority: None,
        ttl: plan.profile.effective_ttl(),
        takes_subnets,
    })
}

/// Where `draw`, a query's, falls among weights of that sum: the endpoint answers whose weight it is within when those in
/// front are taken off.
pub fn settled_by(draw: u64, profile: ProfileId, sum: u32) -> u32 {
    place_among(sum.into(), mix(draw, 0, profile, 0)) as u32
}
