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

/// What the name with the lower-cased wire form `name`, whose plan in `view` is `plan`, answers everybody with, by one of at most
/// `most` endpoints: [`super::decide_directly()`] does so, too. `None` where that is not simple, or not the same for all; that is
/// found out without an allocation, for it may be asked at each query.
///
/// | method | pool | settled |
/// |---|---|---|
/// | any | no endpoint can ever answer the type | that there is nothing |
/// | `priority`, `weighted` | empty | that there is nothing |
/// | `priority` | an endpoint that is not nested, in front | it |
/// | `weighted` | at most `most` endpoints, none of them nested | all of them |
/// | others | | no |
pub fn settled<'a>(
    view: &'a View,
    plan: &'a Plan,
    name: &[u8],
    record_type: RecordType,
    most: usize,
) -> Option<Settled<'a>> {
    if !is_simple(record_type) {
        return None;
    }
    let takes_subnets = || view.zone(&plan.profile.zone).is_some_and(|zone| zone.ecs);
    let is_nothing = || {
        let (zone, ttl) = nothing(view, name, plan)?;
        Some(Settled { endpoints: Vec::new(), authority: Some(zone), ttl, takes_subnets: takes_subnets() })
    };
    if !plan.serves().fits(record_type) {
        return is_nothing();
    }
    let is_drawn = match plan.profile.routing {
        Routing::Priority => false,
        Routing::Weighted => true,
        Routing::Performance | Routing::Geographic | Routing::Multivalue | Routing::Subnet => return None,
    };
    let pool = Pool::of(plan, &view.statuses, record_type, Passed::default());
    if pool.kind() == PoolKind::Empty {
        return is_nothing();
    }
    let members = || pool.members().map(|(_, planned)| planned);
    let settled = |endpoints| {
        let ttl = plan.profile.effective_ttl();
        Settled { endpoints, authority: None, ttl, takes_subnets: takes_subnets() }
    };
    let is_alone = |planned: &PlannedEndpoint| answers_alone(view, planned, record_type);
    if is_drawn {
        let fits = members().count() <= most && members().all(is_alone);
        let weights = || members().map(|planned| (planned.weight, planned)).collect();
        fits.then(|| settled(weights()))
    } else {
        let only = members().min_by_key(|planned| planned.priority).filter(|only| is_alone(only));
        only.map(|only| settled(vec![(1, only)]))
    }
}

/// Does that endpoint answer by its own targets, and no chain that goes on in our zones?
fn answers_alone(view: &View, planned: &PlannedEndpoint, record_type: RecordType) -> bool {
    let goes_on = |target: &Target| matches!(target, Target::Name(name) if view.is_ours(name));
    planned.child.is_none() && planned.answers(record_type).next().is_some_and(|target| !goes_on(target))
}

/// Where `draw`, a query's, falls among weights of that sum: the endpoint answers whose weight it is within when those in
/// front are taken off.
pub fn settled_by(draw: u64, profile: ProfileId, sum: u32) -> u32 {
    place_among(sum.into(), mix(draw, 0, profile, 0)) as u32
}
