//! One profile, ready to be decided on: all that decisions depend on but what probes find.

use std::ops::Deref;
use std::sync::Arc;

use super::{Serves, View};
use crate::geo::RangeMap;
use crate::health::EndpointStatus;
use crate::model::{
    Caseless, Distances, Endpoint, EndpointId, Flattened, Override, Place, Profile, ProfileId, RecordType,
    Routing, Target,
};

/// As many endpoints of a plan are fetched at once: more are seldom looked at.
const FETCHED_MAX: usize = 4;

/// A profile with what its endpoints stand for. Stays the same when probes turn a status, unless that is or was one that is
/// out ([`EndpointStatus::is_out`]): the others are looked up in [`View::statuses`].
///
/// Among many profiles, nothing that a query needs is in the processor's cache, and each line of memory costs a query as much as
/// all its arithmetic. So a plan, its profile and each of its endpoints begin with what decisions look at, at a line's start.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Plan {
    /// The profile.
    pub profile: Arc<Profile>,
    /// Its endpoints in order, each with what the pool depends on beside its status.
    pub endpoints: Vec<PlannedEndpoint>,
    serves: Serves,
    exists: bool,
    /// Whose the clients' networks are, by the endpoints' positions; without Disabled and drained ones, and empty under methods that do
    /// not look at networks (RTE-10, RTE-11).
    pub subnets: RangeMap<usize>,
    /// Whose each place is, by its index; empty but under `geographic` (RTE-8).
    places: Box<[Option<u8>]>,
}

/// An endpoint and what its names stand for.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct PlannedEndpoint {
    /// The endpoint's number, as decisions look it up first.
    pub id: EndpointId,
    /// Its priority.
    pub priority: u32,
    /// Its weight, as it counts.
    pub weight: u32,
    /// Which types it can answer.
    pub serves: Serves,
    /// Is it answered by the addresses of its target, a name (DNS-16)?
    pub is_flattened: bool,
    /// What an operator put over what probes find of it (STA-13).
    pub overridden: Option<Arc<Override>>,
    /// What it stands for, its own target or its service's; `None` if it is nested.
    pub target: Option<Target>,
    /// The endpoint.
    pub endpoint: OneOf,
    /// The target's addresses, once they are known.
    pub flattened: Option<Arc<Flattened>>,
    /// The profile that is asked in its place; `None` unless it is nested.
    pub child: Option<ProfileId>,
    /// The region in which it lives, its own or its service's.
    pub location: Option<Caseless>,
    /// How far that region is from every place, shared by all who live there; `None` but under `performance` (RTE-7).
    pub distances: Option<Arc<Distances>>,
}

/// One endpoint of a profile, where it stands: a copy of each of 300,000 would take 55 MiB (PERF-7).
#[derive(Clone, Debug)]
pub struct OneOf {
    profile: Arc<Profile>,
    position: usize,
}

#[cfg(test)]
impl OneOf {
    /// Changes the endpoint, here and nowhere else.
    pub(crate) fn edit(&mut self, edit: impl FnOnce(&mut Endpoint)) {
        edit(&mut Arc::make_mut(&mut self.profile).endpoints[self.position]);
    }
}

impl Deref for OneOf {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        &self.profile.endpoints[self.position]
    }
}

impl PartialEq for OneOf {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PlannedEndpoint {
    /// Is it kept out of every pool (STA-13)?
    pub fn is_drained(&self) -> bool {
        self.overridden.as_ref().is_some_and(|overridden| overridden.is_drain())
    }

    /// What it answers `record_type` with, in this order: its target, or the addresses of that; nothing if it is nested.
    pub fn answers(&self, record_type: RecordType) -> impl Iterator<Item = &Target> {
        let own = self.target.as_ref().filter(|_| !self.is_flattened);
        own.into_iter().chain(self.flattened.iter().flat_map(move |known| known.answers(record_type)))
    }
}

impl Plan {
    /// The plan of `profile`, a profile of the state of `view`, which has the plans of its children, the statuses of its
    /// endpoints and the distances of their regions already.
    pub(super) fn of(view: &View, profile: &Arc<Profile>) -> Self {
        let state = &view.state;
        let is_near_and_far = profile.routing == Routing::Performance;
        let planned = |(position, endpoint): (usize, &Endpoint)| {
            let resolved = state.resolve(endpoint);
            let child = endpoint.child().and_then(|child| state.profile_ids.get(&child.profile)).copied();
            let child_plan = child.and_then(|child| view.plan_by_id(child));
            let location = resolved.location;
            let is_flattened = state.name_to_flatten(profile, endpoint).is_some();
            let health = state.health.get(&endpoint.id).filter(|_| is_flattened);
            let flattened = health.and_then(|health| health.flattened.clone());
            PlannedEndpoint {
                id: endpoint.id,
                priority: endpoint.priority,
                weight: endpoint.effective_weight(),
                target: resolved.target.cloned(),
                child,
                overridden: state.overrides.get(&endpoint.id).cloned(),
                serves: match resolved.target {
                    Some(_) if is_flattened => Serves::flattened(flattened.as_deref()),
                    Some(target) => Serves::of(target),
                    None => child_plan.map(|plan| plan.serves()).unwrap_or_default(),
                },
                is_flattened,
                flattened,
                location: location.cloned(),
                distances: location
                    .filter(|_| is_near_and_far)
                    .and_then(|region| view.distances(region))
                    .cloned(),
                endpoint: OneOf { profile: profile.clone(), position },
            }
        };
        let endpoints: Vec<PlannedEndpoint> = profile.endpoints.iter().enumerate().map(planned).collect();
        let status = |planned: &PlannedEndpoint| view.statuses.get(planned.id);
        let is_enabled = |planned: &PlannedEndpoint| status(planned) != EndpointStatus::Disabled;
        let matched: Vec<(usize, &PlannedEndpoint)> = endpoints
            .iter()
            .enumerate()
            .filter(|(_, planned)| is_enabled(planned) && !planned.is_drained())
            .collect();
        let subnets = match profile.routing {
            Routing::Performance | Routing::Geographic | Routing::Subnet => subnets(&matched),
            Routing::Priority | Routing::Weighted | Routing::Multivalue => RangeMap::default(),
        };
        let places = if profile.routing == Routing::Geographic { places(&matched) } else { Box::default() };
        let may_serve = endpoints.iter().filter(|planned| !status(planned).is_out() && !planned.is_drained());
        let serves = may_serve.fold(Serves::default(), |all, planned| all.or(planned.serves));
        let exists = profile.enabled && endpoints.iter().any(is_enabled);
        Self { profile: profile.clone(), subnets, places, serves, exists, endpoints }
    }

    /// The position of the endpoint that `place` belongs to under `geographic`: the first that has the place itself, or
    /// else what it lies in, on upward to WORLD.
    pub fn mapped(&self, place: Place) -> Option<usize> {
        self.places.get(place.index()).copied().flatten().map(usize::from)
    }

    /// Has the memory come in that a decision looks at first. Among many profiles that is a wait for each line; done for several
    /// plans in a row before any of them is decided on, their waits overlap.
    pub fn fetch(&self) {
        std::hint::black_box(self.profile.routing);
        for planned in self.endpoints.iter().take(FETCHED_MAX) {
            std::hint::black_box(planned.serves);
        }
    }

    /// What the endpoints can answer together that are neither out nor drained.
    pub fn serves(&self) -> Serves {
        self.serves
    }

    /// Does the profile make its name exist (RTE-4)? A disabled one does not, nor one without an enabled endpoint.
    pub fn exists(&self) -> bool {
        self.exists
    }
}

fn subnets(matched: &[(usize, &PlannedEndpoint)]) -> RangeMap<usize> {
    RangeMap::new(matched.iter().flat_map(|(position, planned)| {
        planned.endpoint.subnets.iter().map(move |subnet| (*subnet, *position))
    }))
}

fn places(matched: &[(usize, &PlannedEndpoint)]) -> Box<[Option<u8>]> {
    let mut own = vec![None; Place::COUNT];
    for (position, planned) in matched {
        for place in &planned.endpoint.geo {
            own[place.index()] = u8::try_from(*position).ok();
        }
    }
    Place::all().map(|place| place.ancestors().find_map(|place| own[place.index()])).collect()
}
