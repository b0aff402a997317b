//! Which place every address is in.

use std::fmt;
use std::net::IpAddr;

use super::Fnv;
use super::RangeMap;
use super::half::{Half, Number, Wanted};
use crate::model::{Family, Place, PlaceSet, Span};

/// A table of all addresses and their places. Built once, then only asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeoTable {
    v4: Half<u32>,
    v6: Half<u128>,
}

/// Ranges of a table overlap or are out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{span} begins before the end of the range before it")]
pub struct OrderFault {
    /// The later one.
    pub span: Span,
}

/// What a table says, as a number: equal for tables that say the same of every address (RTE-14). No protection against
/// somebody who wants two tables to look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GeoDigest(pub u128);

/// 32 digits, as it is named to people.
impl fmt::Display for GeoDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:032x}", self.0))
    }
}

impl Default for GeoTable {
    /// A table that knows of no address.
    fn default() -> Self {
        Self::new([]).expect("nothing is in order")
    }
}

impl GeoTable {
    /// A table of `ranges` that do not overlap and, in each family, are in order. What lies between them is nowhere.
    pub fn new(ranges: impl IntoIterator<Item = (Span, Place)>) -> Result<Self, OrderFault> {
        let (mut v4, mut v6) = (Cuts::default(), Cuts::default());
        for (span, place) in ranges {
            match span.family() {
                Family::V4 => v4.push(span, place)?,
                Family::V6 => v6.push(span, place)?,
            }
        }
        Ok(Self { v4: Half::new(v4.finish(Family::V4)), v6: Half::new(v6.finish(Family::V6)) })
    }

    pub(super) fn from_halves(v4: Half<u32>, v6: Half<u128>) -> Self {
        Self { v4, v6 }
    }

    /// The place of `address`, if it is known.
    pub fn locate(&self, address: IpAddr) -> Option<Place> {
        match Family::number(address) {
            (Family::V4, number) => self.v4.locate(number as u32),
            (Family::V6, number) => self.v6.locate(number),
        }
    }

    /// The greatest span around `address` in which every address is in one of `places` or, if `unlocated` ones are
    /// wanted too, nowhere (DNS-10). The address alone, if that is not true of itself.
    pub fn span(&self, address: IpAddr, places: &PlaceSet, unlocated: bool) -> Span {
        let wanted = Wanted { places: *places, nowhere: unlocated };
        let (family, number) = Family::number(address);
        let found = match family {
            Family::V4 => self.v4.span(number as u32, &wanted, family.max()),
            Family::V6 => self.v6.span(number, &wanted, family.max()),
        };
        let (first, last) = found.unwrap_or((number, number));
        Span::from_numbers(family, first, last)
    }

    /// The table with what `overrides` say in place of what it says itself.
    pub fn with_overrides(&self, overrides: &RangeMap<Place>) -> Self {
        Self {
            v4: Half::new(overlaid(&self.v4, Family::V4, overrides)),
            v6: Half::new(overlaid(&self.v6, Family::V6, overrides)),
        }
    }

    /// The ranges of `family`, in order: where each begins, and its place. None is of the same place as the next.
    pub(super) fn ranges(&self, family: Family) -> Box<dyn Iterator<Item = (u128, Option<Place>)> + '_> {
        match family {
            Family::V4 => Box::new(self.v4.ranges_from(0)),
            Family::V6 => Box::new(self.v6.ranges_from(0)),
        }
    }

    /// The digest of what it says. It reads the whole table: keep it.
    pub fn digest(&self) -> GeoDigest {
        let mut digest = Fnv::default();
        for family in [Family::V4, Family::V6] {
            for (start, place) in self.ranges(family) {
                digest.add(&start.to_be_bytes());
                // A code stays what it is when places are added to the hierarchy; its number may not.
                digest.add(place.map_or("", Place::code).as_bytes());
                digest.add(b"\n");
            }
        }
        GeoDigest(digest.value())
    }
}

/// Where ranges begin, while a table is read: a range, and nowhere behind it until the next.
#[derive(Default)]
struct Cuts {
    cuts: Vec<(u128, Option<Place>)>,
    /// The first address behind the last range; none behind the last address of all.
    next: Option<u128>,
}

impl Cuts {
    fn push(&mut self, span: Span, place: Place) -> Result<(), OrderFault> {
        let (first, last) = span.numbers();
        let next = if self.cuts.is_empty() { Some(0) } else { self.next };
        match next {
            Some(next) if next < first => self.cuts.push((next, None)),
            Some(next) if next == first => {}
            _ => return Err(OrderFault { span }),
        }
        self.cuts.push((first, Some(place)));
        self.next = last.checked_add(1);
        Ok(())
    }

    fn finish(mut self, family: Family) -> Vec<(u128, Option<Place>)> {
        let next = if self.cuts.is_empty() { Some(0) } else { self.next };
        if let Some(next) = next.filter(|next| *next <= family.max()) {
            self.cuts.push((next, None));
        }
        self.cuts
    }
}

/// The ranges of `half`, and over them those of `overrides`.
fn overlaid<N: Number>(
    half: &Half<N>,
    family: Family,
    overrides: &RangeMap<Place>,
) -> Vec<(u128, Option<Place>)> {
    let mut cuts = Vec::new();
    let copy = |cuts: &mut Vec<_>, first: u128, behind: Option<u128>| {
        let ranges = half.ranges_from(first);
        let before_end = ranges.take_while(|(start, _)| behind.is_none_or(|behind| *start < behind));
        cuts.extend(before_end.map(|(start, place)| (start.max(first), place)));
    };
    let mut next = Some(0);
    for (span, place) in overrides.pieces(family) {
        let (first, last) = span.numbers();
        if let Some(next) = next.filter(|next| *next < first) {
            copy(&mut cuts, next, Some(first));
        }
        cuts.push((first, Some(*place)));
        next = last.checked_add(1).filter(|next| *next <= family.max());
    }
    if let Some(next) = next {
        copy(&mut cuts, next, None);
    }
    cuts
}

#[cfg(test)]
mod tests;
