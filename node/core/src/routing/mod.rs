//! The choice among a profile's endpoints (spec §1.5): the pool, then one file a method.

mod pool;

pub use pool::{PoolKind, Standing};

use std::sync::Arc;

use crate::model::Name;
use crate::state::Plan;

/// Is told of each step of a decision. The name server listens to nothing, `explain` to everything.
pub trait Trace {
    /// The zone that encloses the name.
    fn zone(&mut self, zone: &Name);
    /// One profile's choice: its pool, each endpoint's standing, who was chosen, and by which rule. The closure makes
    /// the details only if somebody wants them.
    fn choice(&mut self, plan: &Arc<Plan>, details: impl FnOnce() -> ChoiceDetails);
    /// The rule that made the answer.
    fn reason(&mut self, reason: impl FnOnce() -> String);
}

/// What [`Trace::choice`] is told.
#[derive(Clone, Debug)]
pub struct ChoiceDetails {
    /// What the pool was made of.
    pub pool: PoolKind,
    /// For each endpoint, in order.
    pub standings: Vec<Standing>,
    /// The endpoint that was chosen, by its place.
    pub chosen: Option<usize>,
    /// The rule that chose.
    pub rule: String,
    /// The draw at this level.
    pub draw: u64,
}

/// A trace that nobody reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTrace;

impl Trace for NoTrace {
    fn zone(&mut self, _zone: &Name) {}
    fn choice(&mut self, _plan: &Arc<Plan>, _details: impl FnOnce() -> ChoiceDetails) {}
    fn reason(&mut self, _reason: impl FnOnce() -> String) {}
}
