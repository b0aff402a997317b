//! Replies that were encoded once. Where everybody is answered alike but for chance, the records of each answer that may be given
//! lie side by side, ready to be copied: four lines of memory in place of all that a decision looks at. They hold as long as the
//! view is of one edition; the first change of what answers are made of throws all of them away, and the next query of each
//! name prepares its reply anew.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use waymark_core::answer::{RecordType, settled, settled_by};
use waymark_core::model::ProfileId;
use waymark_core::state::{Edition, Plan, View};

use super::ahead::Found;
use super::fast::{Asked, Reply, Source};

/// Longer names are decided on each time. With the numbers around them they make a line of memory.
const NAME_MAX: usize = 46;
/// Most endpoints that chance decides among.
const ENDPOINTS_MAX: usize = 8;
/// All their records: those of so many IPv4 addresses.
const RECORDS_MAX: usize = 16 * ENDPOINTS_MAX;

/// How many replies are kept at first: a table of 256 KiB. It doubles when it is full, and is then empty: to carry over what
/// is in it would take milliseconds.
const FIRST_CAPACITY: usize = 896;
/// How many are kept at most by one listener: a table of 32 MiB.
const LAST_CAPACITY: usize = FIRST_CAPACITY << 7;
/// How many are kept at most by all listeners of a member, however many cores it has: tables of 256 MiB.
const ALL_MAX: usize = 8 * LAST_CAPACITY;

/// Where a reply stands, while no other edition comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(usize);

/// What a name is answered with for one type.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Prepared {
    profile: ProfileId,
    /// The sum of the weights.
    sum: u32,
    record_type: RecordType,
    name_len: u8,
    /// How many records stand in the authority section; then there is one piece, without answers.
    pub(super) authorities: u8,
    /// Does the zone take client subnets?
    pub(super) takes_subnets: bool,
    name: [u8; NAME_MAX],
    pieces: [Piece; ENDPOINTS_MAX],
    records: [u8; RECORDS_MAX],
}

/// The records of one endpoint.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// The sum of the weights up to and with this one's.
    reaches: u32,
    /// Where its records end.
    end: u8,
    /// How many they are.
    answers: u8,
}

impl Prepared {
    /// Encodes what the name that is asked for, whose plan in `view` is `plan`, is answered with; `None` where that is not the
    /// same for all, or large.
    fn new(view: &View, plan: &Plan, asked: &Asked) -> Option<Self> {
        let name = asked.name();
        let settled = settled(view, plan, name, asked.record_type(), ENDPOINTS_MAX)?;
        let mut prepared = Self {
            profile: plan.profile.id,
            sum: settled.endpoints.iter().map(|(weight, _)| weight).sum(),
            record_type: asked.record_type(),
            name_len: name.len() as u8,
            authorities: u8::from(settled.authority.is_some()),
            takes_subnets: settled.takes_subnets,
            name: [0; NAME_MAX],
            pieces: [Piece::default(); ENDPOINTS_MAX],
            records: [0; RECORDS_MAX],
        };
        prepared.name[..name.len()].copy_from_slice(name);
        let mut records = Reply::new(&mut prepared.records);
        if let Some(zone) = settled.authority {
            records.start_of_authority(asked, zone, settled.ttl)?;
            prepared.pieces[0] = Piece { reaches: u32::MAX, end: records.length() as u8, answers: 0 };
        }
        let mut reaches = 0;
        for (nth, (weight, planned)) in settled.endpoints.iter().enumerate() {
            reaches += weight;
            let mut answers = 0;
            for target in planned.answers(asked.record_type()) {
                records.record(asked, target, settled.ttl)?;
                answers += 1;
            }
            prepared.pieces[nth] = Piece { reaches, end: records.length() as u8, answers };
        }
        Some(prepared)
    }

    /// The records that `draw`, the query's, falls on, and how many of them are answers. The last piece reaches the sum of the
    /// weights, so there are some.
    pub(super) fn drawn(&self, draw: u64) -> Option<(&[u8], u8)> {
        // Most names have one answer.
        let place = if self.sum > 1 { settled_by(draw, self.profile, self.sum) } else { 0 };
        let mut start = 0;
        for piece in &self.pieces {
            if place < piece.reaches {
                return Some((self.records.get(start..usize::from(piece.end))?, piece.answers));
            }
            start = usize::from(piece.end);
        }
        None
    }

    fn is_for(&self, asked: &Asked) -> bool {
        self.record_type == asked.record_type() && self.name[..usize::from(self.name_len)] == *asked.name()
    }
}

/// The replies that one listener has prepared.
#[derive(Debug)]
pub(super) struct Replies {
    table: HashTable<Prepared>,
    capacity: usize,
    capacity_max: usize,
    edition: Edition,
}

impl Replies {
    /// Those of one of so many listeners.
    pub(super) fn of_one_among(listeners: usize) -> Self {
        Self::of(FIRST_CAPACITY, LAST_CAPACITY.min(ALL_MAX / listeners.max(1)))
    }

    /// None at all: each query is decided on.
    #[cfg(any(test, fuzzing))]
    pub(super) fn none() -> Self {
        Self::of(0, 0)
    }

    fn of(capacity: usize, capacity_max: usize) -> Self {
        let table = HashTable::with_capacity(capacity);
        Self { table, capacity, capacity_max, edition: Edition::default() }
    }

    /// Gets ready for a batch that is answered from `view`: forgets what no longer holds. Places from before say nothing.
    pub(super) fn follow(&mut self, view: &View) {
        if *view.edition() != self.edition {
            self.edition = view.edition().clone();
            self.table.clear();
        }
        if self.table.len() == self.capacity && 2 * self.capacity <= self.capacity_max {
            self.capacity *= 2;
            // The old one goes first: a machine need not have room for both.
            self.table = HashTable::new();
            self.table = HashTable::with_capacity(self.capacity);
        }
    }

    /// Where the reply to that query is, if it was prepared. Its memory is on the way when this returns.
    pub(super) fn find(&self, asked: &Asked) -> Option<Place> {
        if !can_prepare(asked) {
            return None;
        }
        self.table.find_bucket_index(hash(asked), |prepared| prepared.is_for(asked)).map(Place)
    }

    /// What a query is answered out of for which `found` was found in `view`, which is followed: what is prepared, or is now, or
    /// else the plan.
    pub(super) fn source<'a>(
        &'a mut self,
        view: &View,
        found: Found<'a>,
        asked: &Asked,
    ) -> Option<Source<'a>> {
        let (place, plan) = match found {
            Found::Reply(place) => (Some(place), None),
            Found::Plan(plan) => (self.prepare(view, plan, asked), Some(plan)),
        };
        let prepared = place.and_then(|place| self.table.get_bucket(place.0));
        prepared.map(Source::Prepared).or(plan.map(Source::Plan))
    }

    /// Prepares the reply to a query that was not found, for the name of `plan`; `None` if there is none that can be.
    fn prepare(&mut self, view: &View, plan: &Plan, asked: &Asked) -> Option<Place> {
        if self.table.len() == self.capacity || !can_prepare(asked) {
            return None;
        }
        let prepared = Prepared::new(view, plan, asked)?;
        // Another query of the same batch may have been first.
        if let Some(place) = self.find(asked) {
            return Some(place);
        }
        // There is room, so nothing moves, and nobody needs to know the others' hashes.
        let entry = self.table.insert_unique(hash(asked), prepared, |_| unreachable!("there is room"));
        Some(Place(entry.bucket_index()))
    }
}

/// May the reply to that be kept? Others are not looked for.
fn can_prepare(asked: &Asked) -> bool {
    asked.name().len() <= NAME_MAX && matches!(asked.record_type(), RecordType::A | RecordType::AAAA)
}

fn hash(asked: &Asked) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(asked.name());
    hasher.write_u16(asked.record_type().0);
    hasher.finish()
}
