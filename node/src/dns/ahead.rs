//! The queries of a batch are read and looked up before the first of them is answered. Among many names, what a look-up needs is
//! in no cache of the processor, and each line of it is waited for. Queries that are looked up in a row wait together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use waymark_core::state::{Plan, View};

use super::batch::BATCH_MAX;
use super::fast::Asked;
use super::prepared::{Place, Replies};

/// A query of the usual kind, and what was found for it.
pub(super) type Ready<'a> = (Found<'a>, &'a Asked);

/// What was found for a query.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'a> {
    /// A reply that was prepared.
    Reply(Place),
    /// The plan of the name.
    Plan(&'a Arc<Plan>),
}

/// Room for the queries of one batch.
#[derive(Debug)]
pub(super) struct Ahead(Vec<Asked>);

impl Ahead {
    pub(super) fn new() -> Self {
        Self(vec![Asked::default(); BATCH_MAX])
    }

    /// Reads `packets`, at most [`BATCH_MAX`], and looks them up in `replies`, which follow `view`, or else in `view`.
    pub(super) fn look<'a, 'p>(
        &'a mut self,
        view: &'a View,
        replies: &Replies,
        packets: impl Iterator<Item = &'p [u8]>,
    ) -> Looked<'a> {
        let asked = &mut self.0;
        // If an invariant is broken here, each query is on its own, and the one that it is broken for is found out.
        let found = catch_unwind(AssertUnwindSafe(|| find(asked, view, replies, packets)));
        Looked { asked, found: found.unwrap_or([None; BATCH_MAX]) }
    }
}

fn find<'v, 'p>(
    asked: &mut [Asked],
    view: &'v View,
    replies: &Replies,
    packets: impl Iterator<Item = &'p [u8]>,
) -> [Option<Found<'v>>; BATCH_MAX] {
    let mut found = [None; BATCH_MAX];
    for ((asked, found), packet) in asked.iter_mut().zip(&mut found).zip(packets) {
        if asked.read(packet).is_some() {
            let plan = || view.plan(asked.name()).map(Found::Plan);
            *found = replies.find(asked).map(Found::Reply).or_else(plan);
        }
    }
    for one in found.iter().flatten() {
        if let Found::Plan(plan) = one {
            plan.fetch();
        }
    }
    found
}

/// What was found, by the queries' places in their batch.
#[derive(Debug)]
pub(super) struct Looked<'a> {
    asked: &'a [Asked],
    found: [Option<Found<'a>>; BATCH_MAX],
}

impl<'a> Looked<'a> {
    /// The query in that place, if the fast way may answer it.
    pub(super) fn get(&self, place: usize) -> Option<Ready<'a>> {
        self.found[place].map(|found| (found, &self.asked[place]))
    }
}

/// The fast way for queries that come alone.
#[cfg(any(test, fuzzing))]
#[derive(Debug)]
pub(super) struct Alone {
    ahead: Ahead,
    replies: Replies,
}

#[cfg(any(test, fuzzing))]
impl Alone {
    /// With `replies` that were prepared before.
    pub(super) fn new(replies: Replies) -> Self {
        Self { ahead: Ahead::new(), replies }
    }

    /// Writes the reply to what arrived into `out`, if it is for the fast way.
    pub(super) fn respond(
        &mut self,
        view: &View,
        arrival: &super::respond::Arrival<'_>,
        out: &mut [u8],
    ) -> Option<super::fast::Written> {
        self.replies.follow(view);
        let looked = self.ahead.look(view, &self.replies, std::iter::once(arrival.packet));
        let (found, asked) = looked.get(0)?;
        let source = self.replies.source(view, found, asked)?;
        super::fast::respond(view, source, asked, arrival, out)
    }
}
