//! The statuses of all endpoints, packed beside the plans: they are what probes change, and what each query asks for.

use std::sync::Arc;

use imbl::OrdMap;

use crate::health::EndpointStatus;
use crate::model::EndpointId;

/// How many endpoints' numbers share a block: a page of memory, which is copied in less time than it takes to look up
/// what is not in the processor's cache.
const BLOCK: usize = 4_096;

type Block = [EndpointStatus; BLOCK];

/// The status of each endpoint.
///
/// A changed status costs a copy of its block and of the pointers to some others. There are so few blocks that they stay
/// in the processor's cache: a byte for each number that was ever given, 300 KB for 100,000 profiles of two endpoints.
/// Plans that had the statuses in them would be copied with pointers to plans all over memory.
#[derive(Clone, Debug, Default)]
pub struct Statuses(OrdMap<u64, Arc<Block>>);

impl Statuses {
    /// The status of the endpoint of that number; Disabled if there never was one.
    pub fn get(&self, id: EndpointId) -> EndpointStatus {
        self.near(id).get(id)
    }

    /// The same, to be asked for several endpoints: fast for those whose numbers are near that of `first`.
    pub fn near(&self, first: EndpointId) -> StatusesNear<'_> {
        let number = place(first).0;
        StatusesNear { all: self, number, block: self.0.get(&number).map(AsRef::as_ref) }
    }

    /// Are these the very same statuses, nothing set since one was copied from the other?
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }

    /// Gives the endpoint of that number this status.
    pub(super) fn set(&mut self, id: EndpointId, status: EndpointStatus) {
        let (number, place) = place(id);
        let block = self.0.entry(number).or_insert_with(|| Arc::new([EndpointStatus::Disabled; BLOCK]));
        Arc::make_mut(block)[place] = status;
    }
}

/// The statuses of all endpoints, with one block of them at hand.
#[derive(Clone, Copy, Debug)]
pub struct StatusesNear<'a> {
    all: &'a Statuses,
    number: u64,
    block: Option<&'a Block>,
}

impl StatusesNear<'_> {
    /// The status of the endpoint of that number; Disabled if there never was one.
    pub fn get(&self, id: EndpointId) -> EndpointStatus {
        let (number, place) = place(id);
        let elsewhere = || self.all.0.get(&number).map(AsRef::as_ref);
        let block = if number == self.number { self.block } else { elsewhere() };
        block.map_or(EndpointStatus::Disabled, |block| block[place])
    }
}

/// The number of the block that has that endpoint's status, and its place in it.
fn place(id: EndpointId) -> (u64, usize) {
    let size = BLOCK as u64;
    (id.0 / size, (id.0 % size) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use EndpointStatus::{Degraded, Disabled, Online};

    #[test]
    fn obj_5_each_number_has_its_own_status_wherever_it_lies() {
        let numbers = [0, 1, 4_095, 4_096, 8_191, u64::MAX].map(EndpointId);
        let mut statuses = Statuses::default();
        assert_eq!(statuses.get(numbers[0]), Disabled);
        for id in numbers {
            let before = statuses.clone();
            statuses.set(id, Online);
            assert_eq!((before.get(id), statuses.get(id)), (Disabled, Online), "a copy stays as it is");
        }
        statuses.set(numbers[2], Degraded);
        for first in numbers {
            let found = numbers.map(|id| statuses.near(first).get(id));
            assert_eq!(found, [Online, Online, Degraded, Online, Online, Online], "near {first:?}");
        }
    }
}
