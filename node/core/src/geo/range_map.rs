//! What is said of addresses by networks and ranges of which the most specific counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

use crate::model::{Family, Span};

/// How far [`RangeMap::reach`] looks: a reply's scope may be longer than it could be, but never costs more.
const REACH_STEPS_MAX: usize = 64;

/// Entries by span, of which the one with the fewest addresses counts where several hold an address. Cheap to ask,
/// O(log n); to change it, build it anew, O(n log n).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeMap<T> {
    entries: Vec<(Span, T)>,
    /// Disjoint pieces in order, each with the number of the entry that counts in it.
    v4: Vec<Piece>,
    v6: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    first: u128,
    last: u128,
    entry: usize,
}

impl<T> RangeMap<T> {
    /// A map of `entries`; of those with the very same span the last counts.
    pub fn new<S: Into<Span>>(entries: impl IntoIterator<Item = (S, T)>) -> Self {
        let entries: Vec<(Span, T)> = entries.into_iter().map(|(span, value)| (span.into(), value)).collect();
        let pieces = |family| {
            let numbers = |(entry, (span, _)): (usize, &(Span, T))| {
                let (first, last) = span.numbers();
                (span.family() == family).then_some(Piece { first, last, entry })
            };
            flatten(entries.iter().enumerate().filter_map(numbers).collect())
        };
        Self { v4: pieces(Family::V4), v6: pieces(Family::V6), entries }
    }

    /// Does it say nothing of any address?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry that counts for `address`, if there is one, and the greatest span around it in which that very entry
    /// counts, or in which there is none.
    pub fn get(&self, address: IpAddr) -> (Span, Option<&T>) {
        let (family, number) = Family::number(address);
        let pieces = self.pieces_of(family);
        let behind = pieces.partition_point(|piece| piece.first <= number);
        let at_or_before = behind.checked_sub(1).map(|place| pieces[place]);
        if let Some(piece) = at_or_before.filter(|piece| number <= piece.last) {
            let span = Span::from_numbers(family, piece.first, piece.last);
            return (span, Some(&self.entries[piece.entry].1));
        }
        let first = at_or_before.map_or(0, |piece| piece.last + 1);
        let last = pieces.get(behind).map_or(family.max(), |piece| piece.first - 1);
        (Span::from_numbers(family, first, last), None)
    }

    /// The greatest span around `address` in which all that counts is `alike`, nothing included, if it is so at `address`
    /// itself. Looks at 64 pieces to each side at most: behind that, the span may be too small.
    pub fn reach(&self, address: IpAddr, alike: impl Fn(Option<&T>) -> bool) -> Span {
        let (mut reach, _) = self.get(address);
        let mut widen = |next: fn(&Span) -> Option<IpAddr>| {
            for _ in 0..REACH_STEPS_MAX {
                let Some(beside) = next(&reach) else { return };
                let (span, value) = self.get(beside);
                match reach.merge(&span).filter(|_| alike(value)) {
                    Some(wider) => reach = wider,
                    None => return,
                }
            }
        };
        widen(Span::before);
        widen(Span::behind);
        reach
    }

    /// The pieces of `family` of which something is said, in order, each with what is said of it.
    pub fn pieces(&self, family: Family) -> impl Iterator<Item = (Span, &T)> {
        self.pieces_of(family).iter().map(move |piece| {
            let span = Span::from_numbers(family, piece.first, piece.last);
            (span, &self.entries[piece.entry].1)
        })
    }

    fn pieces_of(&self, family: Family) -> &[Piece] {
        match family {
            Family::V4 => &self.v4,
            Family::V6 => &self.v6,
        }
    }
}

impl<T> Default for RangeMap<T> {
    /// A map without entries.
    fn default() -> Self {
        Self { entries: Vec::new(), v4: Vec::new(), v6: Vec::new() }
    }
}

/// Cuts what overlaps, so that each address is in one piece at most: that of the most specific entry that holds it.
///
/// A sweep from the first address to the last. Open entries wait in a heap with the most specific on top; it counts up
/// to its own end or the next entry's beginning, whichever comes first. Each step opens or drops an entry.
fn flatten(mut entries: Vec<Piece>) -> Vec<Piece> {
    entries.sort_by_key(|entry| entry.first);
    let mut waiting = entries.into_iter().peekable();
    let mut open: BinaryHeap<Reverse<(u128, Reverse<usize>, u128)>> = BinaryHeap::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = 0;
    loop {
        if open.is_empty() {
            let Some(next) = waiting.peek() else { return pieces };
            at = next.first;
        }
        while let Some(next) = waiting.next_if(|next| next.first <= at) {
            let addresses = next.last - next.first;
            open.push(Reverse((addresses, Reverse(next.entry), next.last)));
        }
        let Some(&Reverse((_, Reverse(entry), end))) = open.peek() else { continue };
        if end < at {
            open.pop();
            continue;
        }
        let last = waiting.peek().map_or(end, |next| end.min(next.first - 1));
        append(&mut pieces, Piece { first: at, last, entry });
        if last == end {
            open.pop();
        }
        match last.checked_add(1) {
            Some(next) => at = next,
            None => return pieces,
        }
    }
}

/// Appends `piece`, as one with the piece before it if that is the same entry's and ends where this begins.
fn append(pieces: &mut Vec<Piece>, piece: Piece) {
    match pieces.last_mut() {
        Some(before) if before.entry == piece.entry && before.last + 1 == piece.first => {
            before.last = piece.last;
        }
        _ => pieces.push(piece),
    }
}

#[cfg(test)]
mod tests;
