//! The method `performance` (RTE-7): the nearest region that has an endpoint in the pool.
//!
//! | subnet override (RTE-11) | latency row | the client's place | chosen among |
//! |---|---|---|---|
//! | an endpoint's that is in the pool | – | – | that endpoint |
//! | else | there is one | – | the region with the fewest milliseconds; those that the row lacks last, by distance |
//! | else | none | known | the region with the least distance |
//! | else | none | unknown | the whole pool, as if it were one region |
//!
//! | endpoints in the pool in that region | chosen |
//! |---|---|
//! | one | it |
//! | several | one of them, by rendezvous hash of the latency row, or of the client's neighbourhood if there is none |
//!
//! Equal regions are told apart by name. Nothing is drawn: one client keeps its endpoint, and all members agree.

use std::sync::Arc;

use super::mixer::hash;
use super::question::{Question, Ruling};
use super::{Absence, Chosen};
use crate::model::{Caseless, Network, Place, PlaceSet, Point, Span};
use crate::state::{LatencyRow, PlannedEndpoint, View};

/// The endpoint in the nearest region.
pub(super) fn choose(question: &Question<'_>) -> Ruling {
    let Question { plan, pool, client, .. } = *question;
    let served = |owner: Option<&usize>| owner.copied().filter(|owner| pool.standing(*owner).is_in());
    let owner = served(plan.subnets.get(client.address).1);
    let mut reach = client.everybody();
    if client.wants_reach {
        reach = plan.subnets.reach(client.address, |other| served(other) == owner);
    }
    if let Some(owner) = owner {
        return Ruling { chosen: Ok(Chosen::one(owner)), reach };
    }
    let basis = Basis::of(question);
    let Some(nearest) = basis.nearest(question) else {
        return Ruling { chosen: Err(Absence::of(plan)), reach };
    };
    if client.wants_reach {
        let around = basis.reach(question, &nearest);
        reach = reach.intersect(&around).unwrap_or(reach);
    }
    let sharing = || pool.members().filter(|(_, planned)| basis.rank(question.view, planned) == nearest);
    let mut chosen = sharing().map(|(position, _)| position).next();
    if sharing().nth(1).is_some() {
        let key = basis.key(question);
        reach = reach.intersect(&basis.key_reach(question)).unwrap_or(reach);
        chosen = sharing().max_by_key(|(_, planned)| score(key, planned)).map(|(position, _)| position);
    }
    Ruling { chosen: chosen.map(Chosen::one).ok_or_else(|| Absence::of(plan)), reach }
}

/// Why that endpoint was chosen, in one line.
pub(super) fn rule(question: &Question<'_>, chosen: &Chosen) -> String {
    let Question { plan, pool, client, .. } = *question;
    let Some(planned) = chosen.positions().next().map(|position| &plan.endpoints[position]) else {
        return "performance: nobody".to_owned();
    };
    let name = &planned.endpoint.name;
    let (span, owner) = plan.subnets.get(client.address);
    if owner.is_some_and(|owner| pool.standing(*owner).is_in()) {
        return format!("performance: the subnet {span} is set for '{name}'");
    }
    let basis = Basis::of(question);
    let rank = basis.rank(question.view, planned);
    let sharing = pool.members().filter(|(_, other)| basis.rank(question.view, other) == rank).count();
    let region = planned.location.as_ref().map_or("no region", Caseless::as_str);
    let share = if sharing > 1 {
        format!("; {sharing} endpoints share it, '{name}' has {}", basis.key(question))
    } else {
        format!(", with '{name}'")
    };
    match (&basis, rank) {
        (Basis::Row { row, .. }, Rank { latency_ms: Some(ms), .. }) => {
            format!("performance: by the latency row {}, '{region}' is nearest, {ms} ms{share}", row.network)
        }
        (Basis::Row { row, .. }, _) => {
            format!(
                "performance: the latency row {} has no region of the pool; '{region}' is next{share}",
                row.network
            )
        }
        (Basis::Place(place), Rank { distance_km: Some(km), .. }) => {
            format!("performance: no latency row; from {place}, '{region}' is nearest, {km} km{share}")
        }
        (Basis::Place(place), _) => {
            format!("performance: no latency row; from {place} to '{region}' no distance is known{share}")
        }
        (Basis::Nothing, _) => format!(
            "performance: no latency row, and the client's place is unknown, so all endpoints count as one region{share}"
        ),
    }
}

/// What regions are ranked by.
enum Basis<'a> {
    /// Milliseconds; and distance for the regions that the row lacks.
    Row { row: &'a Arc<LatencyRow>, place: Option<Place> },
    /// Distance.
    Place(Place),
    /// Nothing is known.
    Nothing,
}

/// How near a region is; the nearest is the least. What is unknown ranks behind all that is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank<'a> {
    is_without_latency: bool,
    latency_ms: Option<u32>,
    is_without_distance: bool,
    distance_km: Option<u32>,
    region: Option<&'a Caseless>,
}

impl<'a> Basis<'a> {
    fn of(question: &Question<'a>) -> Self {
        let place = || question.view.locator.locate(question.client.address).map(|location| location.place);
        let place = || place().filter(|place| place.point().is_some());
        match (question.view.latency.get(question.client.address).1, place) {
            (Some(row), place) => Self::Row { row, place: place() },
            (None, place) => place().map_or(Self::Nothing, Self::Place),
        }
    }

    fn place(&self) -> Option<Place> {
        match self {
            Self::Row { place, .. } => *place,
            Self::Place(place) => Some(*place),
            Self::Nothing => None,
        }
    }

    fn rank<'r>(&self, view: &View, planned: &'r PlannedEndpoint) -> Rank<'r> {
        let region = planned.location.as_ref();
        if matches!(self, Self::Nothing) {
            return Rank::new(None, None, None);
        }
        let latency_ms = match self {
            Self::Row { row, .. } => region.and_then(|region| row.latency_ms(region)),
            Self::Place(_) | Self::Nothing => None,
        };
        if latency_ms.is_some() {
            return Rank::new(latency_ms, None, region);
        }
        let to = region.and_then(|region| Some(view.state.region(region)?.point));
        Rank::new(None, distance(self.place(), to), region)
    }

    /// The rank of the nearest region in the pool.
    fn nearest(&self, question: &Question<'a>) -> Option<Rank<'a>> {
        question.pool.members().map(|(_, planned)| self.rank(question.view, planned)).min()
    }

    /// Clients around this one for whom `nearest` is the nearest region too, by the same latency row or by none.
    fn reach(&self, question: &Question<'_>, nearest: &Rank<'_>) -> Span {
        let Question { view, client, .. } = *question;
        let (row_reach, _) = view.latency.get(client.address);
        if nearest.latency_ms.is_some() {
            return row_reach;
        }
        // Distance decided: the same for every place from which the same region is the nearest.
        let region = nearest.region;
        let alike = |place: Option<Place>| {
            let other = match (self, place.filter(|place| place.point().is_some())) {
                (Self::Row { row, .. }, place) => Basis::Row { row, place },
                (_, Some(place)) => Basis::Place(place),
                (_, None) => Basis::Nothing,
            };
            other.nearest(question).is_some_and(|rank| {
                rank.region == region && matches!(other, Basis::Nothing) == matches!(self, Basis::Nothing)
            })
        };
        let places: PlaceSet = Place::all().filter(|place| alike(Some(*place))).collect();
        let around = view.locator.span(client.address, &places, alike(None));
        row_reach.intersect(&around).unwrap_or(row_reach)
    }

    /// What endpoints that share a region are told apart by.
    fn key(&self, question: &Question<'_>) -> Network {
        match self {
            Self::Row { row, .. } => row.network,
            Self::Place(_) | Self::Nothing => question.client.neighbourhood(),
        }
    }

    /// Clients around this one that have the same key.
    fn key_reach(&self, question: &Question<'_>) -> Span {
        match self {
            Self::Row { .. } => question.view.latency.get(question.client.address).0,
            Self::Place(_) | Self::Nothing => question.client.neighbourhood().into(),
        }
    }
}

impl<'a> Rank<'a> {
    fn new(latency_ms: Option<u32>, distance_km: Option<u32>, region: Option<&'a Caseless>) -> Self {
        Self {
            is_without_latency: latency_ms.is_none(),
            latency_ms,
            is_without_distance: distance_km.is_none(),
            distance_km,
            region,
        }
    }
}

fn distance(from: Option<Place>, to: Option<Point>) -> Option<u32> {
    Some(from?.point()?.distance_km(to?))
}

/// The weight of an endpoint in the rendezvous for `key`: whoever has the greatest serves it. An endpoint that comes or
/// goes moves only the clients that it serves.
fn score(key: Network, planned: &PlannedEndpoint) -> (u64, u64) {
    let id = planned.endpoint.id.0;
    (hash(key, id), id)
}
