//! The queries of a batch are read and looked up before the first of them is answered. Among many names, what a look-up needs is
//! in no cache of the processor, and each line of it is waited for: some six, one behind the other. Queries that are looked up
//! in a row wait together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use waymark_core::state::{Plan, View};

use super::batch::BATCH_MAX;
use super::fast::Asked;

/// A query of the usual kind, and the plan of its name.
pub(super) type Ready<'a> = (&'a Arc<Plan>, &'a Asked);

/// Room for the queries of one batch.
#[derive(Debug)]
pub(super) struct Ahead(Vec<Asked>);

impl Ahead {
    pub(super) fn new() -> Self {
        Self(vec![Asked::default(); BATCH_MAX])
    }

    /// Reads `packets`, at most [`BATCH_MAX`], and looks their names up in `view`.
    pub(super) fn look<'a, 'p>(
        &'a mut self,
        view: &'a View,
        packets: impl Iterator<Item = &'p [u8]>,
    ) -> Found<'a> {
        let asked = &mut self.0;
        // If an invariant is broken here, each query is on its own, and the one that it is broken for is found out.
        let plans = catch_unwind(AssertUnwindSafe(|| find(asked, view, packets)));
        Found { asked, plans: plans.unwrap_or([None; BATCH_MAX]) }
    }
}

fn find<'v, 'p>(
    asked: &mut [Asked],
    view: &'v View,
    packets: impl Iterator<Item = &'p [u8]>,
) -> [Option<&'v Arc<Plan>>; BATCH_MAX] {
    let (mut is_usual, mut plans) = ([false; BATCH_MAX], [None; BATCH_MAX]);
    for ((asked, is_usual), packet) in asked.iter_mut().zip(&mut is_usual).zip(packets) {
        *is_usual = asked.read(packet).is_some();
    }
    for ((asked, plan), _) in asked.iter().zip(&mut plans).zip(is_usual).filter(|(_, is_usual)| *is_usual) {
        *plan = view.plan(asked.name());
    }
    plans.iter().flatten().for_each(|plan| plan.fetch());
    plans
}

/// What was found, by the queries' places in their batch.
#[derive(Debug)]
pub(super) struct Found<'a> {
    asked: &'a [Asked],
    plans: [Option<&'a Arc<Plan>>; BATCH_MAX],
}

impl<'a> Found<'a> {
    /// The query in that place, if the fast way may answer it.
    pub(super) fn get(&self, place: usize) -> Option<Ready<'a>> {
        self.plans[place].map(|plan| (plan, &self.asked[place]))
    }
}
