//! How far every place is from one point, reckoned once (RTE-7).

use super::{Place, PlaceSet, Point};

/// Kilometres from every place to one point. Reckoning them takes hundreds of sines; comparing them none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distances(Box<[u16]>);

impl Distances {
    /// Stands at places that have no point of their own.
    const NO_POINT: u16 = u16::MAX;

    /// Those to `point`.
    pub fn to(point: Point) -> Self {
        let from = |place: Place| {
            let km = place.point().map_or(u32::MAX, |from| from.distance_km(point));
            // No two points are farther from each other than 20,015 km.
            u16::try_from(km).unwrap_or(Self::NO_POINT)
        };
        Self(Place::all().map(from).collect())
    }

    /// Whole kilometres from `place`, if it has a point.
    pub fn from(&self, place: Place) -> Option<u16> {
        Some(self.0[place.index()]).filter(|km| *km != Self::NO_POINT)
    }

    /// The places that have a point.
    pub fn places(&self) -> PlaceSet {
        self.places_where(|km, _| km != Self::NO_POINT, self)
    }

    /// The places that are nearer to this point than to that of `other`; with `ties` those too that are as near.
    pub fn nearer_than(&self, other: &Self, ties: bool) -> PlaceSet {
        self.places_where(|km, other| km < other || (ties && km == other), other)
    }

    fn places_where(&self, test: impl Fn(u16, u16) -> bool, other: &Self) -> PlaceSet {
        let pairs = self.0.iter().zip(&other.0);
        Place::all()
            .zip(pairs)
            .filter(|(_, (km, other))| test(**km, **other))
            .map(|(place, _)| place)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rte_7_distances_are_those_between_the_points() {
        let [north, south] =
            [60_000_000, -40_000_000].map(|latitude_e6| Point { latitude_e6, longitude_e6: 9_000_000 });
        let (to_north, to_south) = (Distances::to(north), Distances::to(south));
        let nearer = to_north.nearer_than(&to_south, false);
        for place in Place::all() {
            let km = |to: Point| place.point().map(|from| from.distance_km(to));
            assert_eq!(to_north.from(place).map(u32::from), km(north), "{place}");
            assert_eq!(to_north.places().contains(place), place.point().is_some(), "{place}");
            assert_eq!(nearer.contains(place), km(north) < km(south), "{place}");
        }
        assert_eq!(to_north.nearer_than(&to_north, false), PlaceSet::EMPTY);
        assert_eq!(to_north.nearer_than(&to_north, true), Place::all().collect());
    }
}
