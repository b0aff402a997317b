//! A set of places, as bits.

use super::Place;

/// Words of 64 bits that hold a bit for each place.
const WORDS: usize = Place::COUNT.div_ceil(64);

/// Some of the places. A set holds what was put into it, not what lies in those places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceSet([u64; WORDS]);

impl PlaceSet {
    /// No place.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Puts `place` into it.
    pub fn insert(&mut self, place: Place) {
        self.0[place.index() / 64] |= 1 << (place.index() % 64);
    }

    /// Is `place` in it?
    pub fn contains(&self, place: Place) -> bool {
        self.0[place.index() / 64] >> (place.index() % 64) & 1 == 1
    }

    /// Is every place of `self` in `other`?
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).all(|(mine, theirs)| mine & !theirs == 0)
    }

    /// The places that are in it and not in `other`.
    pub fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// The places that are in either.
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl FromIterator<Place> for PlaceSet {
    fn from_iter<I: IntoIterator<Item = Place>>(places: I) -> Self {
        let mut set = Self::EMPTY;
        places.into_iter().for_each(|place| set.insert(place));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_put_into_it() {
        let every_third = |place: &Place| place.index().is_multiple_of(3);
        let thirds: PlaceSet = Place::all().filter(every_third).collect();
        let rest: PlaceSet = Place::all().filter(|place| !every_third(place)).collect();
        for place in Place::all() {
            assert_eq!(thirds.contains(place), every_third(&place), "{place}");
            assert_ne!(thirds.contains(place), rest.contains(place), "{place}");
        }
        let all: PlaceSet = Place::all().collect();
        assert_eq!(thirds.union(&rest), all);
        assert_eq!(all.without(&rest), thirds);
        assert!(thirds.is_subset(&all) && thirds.is_subset(&thirds) && PlaceSet::EMPTY.is_subset(&thirds));
        assert!(!all.is_subset(&thirds) && !thirds.is_subset(&rest));
    }
}
