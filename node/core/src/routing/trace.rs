//! Telling whoever listens how a decision came about. The name server listens to nothing, `explain` to everything.

use std::sync::Arc;

use super::{PoolKind, Standing};
use crate::model::Name;
use crate::state::Plan;

/// Is told of each step of a decision. What a step has to say is made by a closure, only if somebody wants it.
pub trait Trace {
    /// The zone that encloses the name; once for each name of a chain.
    fn zone(&mut self, zone: &Name);
    /// One profile's choice: its pool, each endpoint's standing, who was chosen, and by which rule. A nested endpoint's
    /// child comes next, one level deeper; if it has nobody, the profile may choose again.
    fn choice(&mut self, plan: &Arc<Plan>, details: impl FnOnce() -> ChoiceDetails);
    /// The rule that made the answer, in one line; once for each name of a chain and once more if the chain breaks off.
    fn reason(&mut self, reason: impl FnOnce() -> String);
}

/// What [`Trace::choice`] is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceDetails {
    /// How many nested levels below the profile that was asked for.
    pub depth: u32,
    /// What the pool was made of.
    pub pool: PoolKind,
    /// For each endpoint, in order.
    pub standings: Vec<EndpointStanding>,
    /// The endpoints that were chosen, by their positions, in the order in which they are answered.
    pub chosen: Vec<usize>,
    /// One line: the rule that chose, or why there was nobody to choose.
    pub rule: String,
    /// The draw at this level.
    pub draw: u64,
}

/// Whether an endpoint is in the pool, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointStanding {
    /// In or out, and the kind of reason.
    pub standing: Standing,
    /// The reason in one line, as in `out: Degraded, and 1 healthier endpoint is in the pool`.
    pub reason: String,
}

/// A trace that nobody reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTrace;

impl Trace for NoTrace {
    fn zone(&mut self, _zone: &Name) {}
    fn choice(&mut self, _plan: &Arc<Plan>, _details: impl FnOnce() -> ChoiceDetails) {}
    fn reason(&mut self, _reason: impl FnOnce() -> String) {}
}
