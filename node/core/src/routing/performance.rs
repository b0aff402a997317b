//! The method `performance` (RTE-7): the nearest region that has an endpoint in the pool.
//!
//! | subnet override (RTE-11) | latency row | the client's place | chosen among |
//! |---|---|---|---|
//! | an endpoint's that is in the pool | – | – | that endpoint |
//! | else | the operator's, has regions of the pool | – | the one of them with the fewest milliseconds |
//! | else | learned, has all regions of the pool | – | the one of them with the fewest milliseconds |
//! | else | none, or another | known | the region with the least distance |
//! | else | none, or another | unknown | the whole pool, as if it were one region |
//!
//! A learned row has what happened to be measured: to prefer a far region because the near one was not is no choice.
//!
//! | endpoints in the pool in that region | chosen |
//! |---|---|
//! | one | it |
//! | several | one of them, by rendezvous hash of the operator's latency row, or of the client's neighbourhood if there is none |
//!
//! Equal regions are told apart by name. Nothing is drawn: one client keeps its endpoint, and all members agree.
//!
//! A query ranks the pool's endpoints by what is prepared: the row's milliseconds, found by binary search, or the kilometres
//! from the client's place, which the view reckons once for each region and the plan's endpoints share. For the scope, the
//! places from which another region of the pool is nearer are taken out of a set of bits, one comparison of two arrays for
//! each endpoint. Neither allocates.

use super::mixer::hash;
use super::question::{Question, Ruling};
use super::{Absence, Chosen};
use crate::model::{Caseless, Network, Place, PlaceSet, Span};
use crate::state::{ClientRow, PlannedEndpoint};

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
    let Some(nearest) = pool.members().map(|(_, planned)| basis.rank(planned)).min() else {
        return Ruling { chosen: Err(Absence::of(plan, &question.view.statuses)), reach };
    };
    let sharing = || pool.members().filter(|(_, planned)| basis.rank(planned) == nearest);
    let mut chosen = sharing().next();
    if client.wants_reach
        && let Some((_, first)) = chosen
    {
        let around = basis.reach(question, nearest, first);
        reach = reach.intersect(&around).unwrap_or(reach);
    }
    if sharing().nth(1).is_some() {
        let key = basis.key(question);
        reach = reach.intersect(&basis.key_reach(question)).unwrap_or(reach);
        chosen = sharing().max_by_key(|(_, planned)| score(key, planned));
    }
    Ruling {
        chosen: chosen
            .map(|(chosen, _)| Chosen::one(chosen))
            .ok_or_else(|| Absence::of(plan, &question.view.statuses)),
        reach,
    }
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
    let rank = basis.rank(planned);
    let sharing = pool.members().filter(|(_, other)| basis.rank(other) == rank).count();
    let share = if sharing > 1 {
        format!("; {sharing} endpoints share it, '{name}' has {}", basis.key(question))
    } else {
        format!(", with '{name}'")
    };
    let row = basis.why_no_row();
    let why = match (rank, basis.place) {
        (Rank::Latency(ms, region), _) => {
            format!("by {}, '{region}' is nearest, {ms} ms", basis.row_named())
        }
        (Rank::Distance(km, region), Some(place)) => {
            format!("{row}; from {place}, '{region}' is nearest, {km} km")
        }
        (Rank::Distance(..) | Rank::Unknown, _) => {
            format!("{row}, and the client's place is unknown, so all endpoints count as one region")
        }
    };
    format!("performance: {why}{share}")
}

/// What regions are ranked by for one client.
struct Basis<'a> {
    row: Option<ClientRow<'a>>,
    /// A region of the pool that a learned row lacks, so that it does not count.
    lacks: Option<&'a Caseless>,
    /// Clients around this one that have the same row, or none.
    alike: Network,
    /// Where the client is, if that place has a point.
    place: Option<Place>,
}

/// How near a region is; the nearest is the least. What nothing is known of is one region, behind all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank<'a> {
    /// Milliseconds, by the row.
    Latency(u32, &'a Caseless),
    /// Kilometres from the client's place.
    Distance(u16, &'a Caseless),
    Unknown,
}

impl<'a> Basis<'a> {
    fn of(question: &Question<'a>) -> Self {
        let Question { view, client, .. } = *question;
        let (alike, row) = view.state.latency_row_of(client.address);
        let lacks = match row {
            Some(ClientRow::Learned(learned)) => {
                let regions = question.pool.members().filter_map(|(_, planned)| planned.location.as_ref());
                regions.filter(|region| learned.latency_ms(region).is_none()).min()
            }
            Some(ClientRow::Imported(_)) | None => None,
        };
        let place = view.locator.locate(client.address).map(|location| location.place);
        Self { row, lacks, alike, place: place.filter(|place| place.point().is_some()) }
    }

    /// The row in words.
    fn row_named(&self) -> String {
        match self.row {
            Some(ClientRow::Imported(row)) => format!("the latency row {}", row.network),
            Some(ClientRow::Learned(learned)) => format!("the learned latency row {}", learned.network),
            None => "no latency row".to_owned(),
        }
    }

    /// Why no row ranks the regions, in words.
    fn why_no_row(&self) -> String {
        let row = self.row_named();
        match (self.row, self.lacks) {
            (Some(_), Some(region)) => format!("{row} lacks '{region}', a region of the pool"),
            (Some(_), None) => format!("{row} has no region of the pool"),
            (None, _) => row,
        }
    }

    fn rank<'p>(&self, planned: &'p PlannedEndpoint) -> Rank<'p> {
        let Some(region) = &planned.location else { return Rank::Unknown };
        let distance = || planned.distances.as_ref()?.from(self.place?);
        let row = self.row.filter(|_| self.lacks.is_none());
        match row.and_then(|row| row.row().latency_ms(region)) {
            Some(ms) => Rank::Latency(ms, region),
            None => distance().map_or(Rank::Unknown, |km| Rank::Distance(km, region)),
        }
    }

    /// Clients around this one for whom `nearest`, in which `first` lives, is the nearest region too, by the same row or
    /// none.
    fn reach(&self, question: &Question<'_>, nearest: Rank<'_>, first: &PlannedEndpoint) -> Span {
        let alike = self.alike.into();
        let members = || question.pool.members().map(|(_, planned)| planned);
        let (places, unlocated) = match (nearest, &first.distances) {
            (Rank::Distance(_, region), Some(ours)) => {
                let elsewhere = members().filter(|other| other.location.as_ref() != Some(region));
                let rivals =
                    elsewhere.filter_map(|other| Some((other.location.as_ref()?, other.distances.as_ref()?)));
                let nearer = rivals.map(|(name, theirs)| theirs.nearer_than(ours, name < region));
                (nearer.fold(ours.places(), |places, nearer| places.without(&nearer)), false)
            }
            (Rank::Unknown, _) => {
                let known = members().find_map(|other| Some(other.distances.as_ref()?.places()));
                let all: PlaceSet = Place::all().collect();
                (all.without(&known.unwrap_or_default()), true)
            }
            (Rank::Latency(..) | Rank::Distance(..), _) => return alike,
        };
        let around = question.view.locator.span(question.client.address, &places, unlocated);
        around.intersect(&alike).unwrap_or(alike)
    }

    /// What endpoints that share a region are told apart by.
    fn key(&self, question: &Question<'_>) -> Network {
        match self.row {
            Some(ClientRow::Imported(row)) => row.network,
            // What was learned comes and goes; the client keeps its endpoint.
            Some(ClientRow::Learned(_)) | None => question.client.neighbourhood(),
        }
    }

    /// Clients around this one that have the same key.
    fn key_reach(&self, question: &Question<'_>) -> Span {
        match self.row {
            Some(ClientRow::Imported(_)) => self.alike.into(),
            Some(ClientRow::Learned(_)) | None => question.client.neighbourhood().into(),
        }
    }
}

/// The weight of an endpoint in the rendezvous for `key`: whoever has the greatest serves it. An endpoint that comes or
/// goes moves only the clients that it serves.
fn score(key: Network, planned: &PlannedEndpoint) -> (u64, u64) {
    let id = planned.id.0;
    (hash(key, id), id)
}
