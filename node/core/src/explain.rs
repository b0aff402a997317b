//! An answer with everything that led to it (RTE-15), by the same function that answers queries.

use std::sync::Arc;

use crate::answer::{Answer, Query};
use crate::model::Name;
use crate::routing::{PoolKind, Standing};
use crate::state::{Plan, View};

/// An answer and its reasons.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The zone that encloses the name, if one of ours does.
    pub zone: Option<Name>,
    /// The answer.
    pub answer: Answer,
    /// The profiles that were asked, in the order in which the chain went through them.
    pub profiles: Vec<ProfileExplanation>,
    /// One line: which rule made the answer.
    pub reason: String,
}

/// How one profile chose.
#[derive(Clone, Debug)]
pub struct ProfileExplanation {
    /// The profile with its endpoints and their health.
    pub plan: Arc<Plan>,
    /// What the pool was made of.
    pub pool: PoolKind,
    /// For each endpoint, in order: in the pool or why not.
    pub standings: Vec<Standing>,
    /// The endpoint that was chosen, by its place.
    pub chosen: Option<usize>,
    /// One line: the rule that chose.
    pub rule: String,
    /// The draw at this level.
    pub draw: u64,
}

/// Answers `query` and keeps every reason.
pub fn explain(_view: &View, _query: &Query, _draw: u64) -> Explanation {
    unimplemented!()
}
