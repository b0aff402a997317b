//! The addresses of one family, cut into ranges of one place each: the half of a geo table.

use crate::model::{Place, PlaceSet};

/// An address as a number of its family's width.
pub(super) trait Number: Copy + Ord {
    /// Bits below the sixteen highest.
    const BELOW_TOP: u32;
    /// The number, which must fit.
    fn narrow(number: u128) -> Self;
    /// The number, in the width that holds either family.
    fn widen(self) -> u128;
    /// The sixteen highest bits.
    fn top(self) -> usize;
}

impl Number for u32 {
    const BELOW_TOP: u32 = 16;
    fn narrow(number: u128) -> Self {
        number as Self
    }
    fn widen(self) -> u128 {
        self.into()
    }
    fn top(self) -> usize {
        (self >> Self::BELOW_TOP) as usize
    }
}

impl Number for u128 {
    const BELOW_TOP: u32 = 112;
    fn narrow(number: u128) -> Self {
        number
    }
    fn widen(self) -> u128 {
        self
    }
    fn top(self) -> usize {
        (self >> Self::BELOW_TOP) as usize
    }
}

/// Some places, and perhaps the addresses that are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) places: PlaceSet,
    pub(super) nowhere: bool,
}

impl Wanted {
    fn holds(&self, place: Option<Place>) -> bool {
        place.map_or(self.nowhere, |place| self.places.contains(place))
    }

    fn insert(&mut self, place: Option<Place>) {
        match place {
            Some(place) => self.places.insert(place),
            None => self.nowhere = true,
        }
    }

    fn holds_all(&self, other: &Self) -> bool {
        (self.nowhere || !other.nowhere) && other.places.is_subset(&self.places)
    }
}

/// How many values the sixteen highest bits of an address have.
const TOPS: usize = 1 << 16;

/// Ranges that a leaf of the tree stands for: few enough to look through, enough to keep the tree small.
const LEAF: usize = 64;

/// Every address of a family has its place, or none, by the last range that begins at or before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Half<N> {
    /// Where each range begins; the first at 0. It ends where the next begins.
    starts: Vec<N>,
    /// The place of each range; no two neighbours have the same.
    places: Vec<Option<Place>>,
    /// For each value of the sixteen highest bits, the range in which the first such address lies; and the last range.
    tops: Vec<u32>,
    /// What is found in the ranges below each node: node 1 is the root, n has the children 2n and 2n + 1, and the second
    /// half are the leaves.
    tree: Vec<Wanted>,
}

impl<N: Number> Half<N> {
    /// A half of ranges that begin where the pairs say, in order, the first at 0. Neighbours of one place become one.
    pub(super) fn new(ranges: impl IntoIterator<Item = (u128, Option<Place>)>) -> Self {
        let (mut starts, mut places) = (Vec::new(), Vec::new());
        for (start, place) in ranges {
            if places.last() != Some(&place) {
                starts.push(N::narrow(start));
                places.push(place);
            }
        }
        let (tops, tree) = (index(&starts), plant(&places));
        Self { starts, places, tops, tree }
    }

    /// The place of an address.
    pub(super) fn locate(&self, number: N) -> Option<Place> {
        self.places[self.position(number)]
    }

    /// The ranges from the one in which `first` lies on: where each begins, and its place.
    pub(super) fn ranges_from(&self, first: u128) -> impl Iterator<Item = (u128, Option<Place>)> {
        let at = self.position(N::narrow(first));
        self.starts[at..].iter().map(|start| start.widen()).zip(self.places[at..].iter().copied())
    }

    /// The first and the last address of the greatest span around `number` in which all is `wanted`; none if it is not
    /// so itself.
    pub(super) fn span(&self, number: N, wanted: &Wanted, max: u128) -> Option<(u128, u128)> {
        let at = self.position(number);
        if !wanted.holds(self.places[at]) {
            return None;
        }
        let first = self.last_unwanted(at, wanted).map_or(0, |range| self.starts[range + 1].widen());
        let last = self.first_unwanted(at, wanted).map_or(max, |range| self.starts[range].widen() - 1);
        Some((first, last))
    }

    /// The range in which an address lies.
    fn position(&self, number: N) -> usize {
        let top = number.top();
        let (low, high) = (self.tops[top] as usize, self.tops[top + 1] as usize);
        low + self.starts[low + 1..=high].partition_point(|start| *start <= number)
    }

    /// The first range behind `at` that is not wanted.
    fn first_unwanted(&self, at: usize, wanted: &Wanted) -> Option<usize> {
        let unwanted = |range: &usize| !wanted.holds(self.places[*range]);
        let leaf_end = (at / LEAF + 1) * LEAF;
        if let Some(found) = (at..leaf_end.min(self.places.len())).find(unwanted) {
            return Some(found);
        }
        let mut node = self.tree.len() / 2 + at / LEAF;
        loop {
            // Up, as long as the node is a right child, and then to the right.
            node >>= node.trailing_ones();
            if node == 0 {
                return None;
            }
            node += 1;
            if !wanted.holds_all(&self.tree[node]) {
                break;
            }
        }
        while node < self.tree.len() / 2 {
            node = if wanted.holds_all(&self.tree[2 * node]) { 2 * node + 1 } else { 2 * node };
        }
        let first = (node - self.tree.len() / 2) * LEAF;
        (first..self.places.len()).find(unwanted)
    }

    /// The last range before `at` that is not wanted.
    fn last_unwanted(&self, at: usize, wanted: &Wanted) -> Option<usize> {
        let unwanted = |range: &usize| !wanted.holds(self.places[*range]);
        if let Some(found) = (at / LEAF * LEAF..at).rfind(unwanted) {
            return Some(found);
        }
        let mut node = self.tree.len() / 2 + at / LEAF;
        loop {
            // Up, as long as the node is a left child, and then to the left.
            node >>= node.trailing_zeros();
            if node == 1 {
                return None;
            }
            node -= 1;
            if !wanted.holds_all(&self.tree[node]) {
                break;
            }
        }
        while node < self.tree.len() / 2 {
            node = if wanted.holds_all(&self.tree[2 * node + 1]) { 2 * node } else { 2 * node + 1 };
        }
        let first = (node - self.tree.len() / 2) * LEAF;
        (first..first + LEAF).rfind(unwanted)
    }
}

fn index<N: Number>(starts: &[N]) -> Vec<u32> {
    let mut tops = Vec::with_capacity(TOPS + 1);
    let mut at = 0;
    for top in 0..TOPS {
        let first = N::narrow((top as u128) << N::BELOW_TOP);
        while starts.get(at + 1).is_some_and(|start| *start <= first) {
            at += 1;
        }
        tops.push(at as u32);
    }
    tops.push(starts.len() as u32 - 1);
    tops
}

fn plant(places: &[Option<Place>]) -> Vec<Wanted> {
    let leaves = places.len().div_ceil(LEAF).next_power_of_two();
    let mut tree = vec![Wanted::default(); 2 * leaves];
    for (node, ranges) in tree[leaves..].iter_mut().zip(places.chunks(LEAF)) {
        ranges.iter().for_each(|place| node.insert(*place));
    }
    for node in (1..leaves).rev() {
        let (left, right) = (tree[2 * node], tree[2 * node + 1]);
        tree[node] =
            Wanted { places: left.places.union(&right.places), nowhere: left.nowhere || right.nowhere };
    }
    tree
}
