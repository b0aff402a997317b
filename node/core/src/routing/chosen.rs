//! The few endpoints that one decision chooses, and those that it passed over, by their positions in the profile.

use crate::model::profile_limits::{ENDPOINTS_MAX, RETURN_MAX};

/// Most endpoints in one answer (SET-17).
const CHOSEN_MAX: usize = RETURN_MAX as usize;

/// The endpoints that were chosen, in the order in which they are answered. Held in place: a query costs no allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    positions: [u8; CHOSEN_MAX],
    count: u8,
}

impl Chosen {
    /// One endpoint.
    pub(super) fn one(position: usize) -> Self {
        [position].into_iter().collect()
    }

    /// Their positions in the profile.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.positions[..usize::from(self.count)].iter().map(|position| usize::from(*position))
    }
}

/// The first eight of the positions.
impl FromIterator<usize> for Chosen {
    fn from_iter<I: IntoIterator<Item = usize>>(positions: I) -> Self {
        let mut chosen = Self { positions: [0; CHOSEN_MAX], count: 0 };
        for (free, position) in chosen.positions.iter_mut().zip(positions) {
            *free = u8::try_from(position).expect("a profile has at most 200 endpoints");
            chosen.count += 1;
        }
        chosen
    }
}

/// Nested endpoints whose child turned out to have nobody for this query: the parent decides again without them
/// (RTE-12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed([u64; ENDPOINTS_MAX.div_ceil(64)]);

impl Passed {
    /// Adds an endpoint.
    pub(super) fn insert(&mut self, position: usize) {
        self.0[position / 64] |= 1 << (position % 64);
    }

    /// Was it passed over?
    pub(super) fn contains(&self, position: usize) -> bool {
        self.0[position / 64] >> (position % 64) & 1 == 1
    }
}
