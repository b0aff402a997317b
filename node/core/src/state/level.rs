//! Which behaviour of `apply` the cluster goes by (CLU-9). Members of two versions work side by side while a cluster is upgraded, and
//! one entry of the log must do the same on all of them: so what a version does otherwise than the one before it, it does only
//! once the state says so.
//!
//! | level | what is otherwise than on the level before |
//! |---|---|
//! | 1 | |
//! | 2 | a new agent, or a new region, is refused where there are as many as there may be (SEC-6) |
//!
//! Whoever changes what `apply` makes of an entry, be it by one more warning, adds a level, and keeps what was for the levels below.

use std::fmt;

use super::{Action, Command, State};

/// A behaviour of [`super::apply()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplyLevel(pub u32);

impl ApplyLevel {
    /// The one that a log or a snapshot means that says nothing of levels.
    pub const LOWEST: Self = Self(1);
    /// From here on agents and regions are limited in number.
    pub(super) const LIMITED_NUMBERS: Self = Self(2);
    /// The highest that this version supports; it supports all below it, too.
    pub const HIGHEST: Self = Self::LIMITED_NUMBERS;

    /// What a member must support to apply `command` in `state`. A member that does not must stop before it: what it would make of it
    /// may be something else than what the others make of it.
    pub fn needed(state: &State, command: &Command) -> Self {
        match command.action {
            Action::RaiseApplyLevel { to } => state.apply_level.max(to),
            _ => state.apply_level,
        }
    }
}

impl Default for ApplyLevel {
    fn default() -> Self {
        Self::LOWEST
    }
}

impl fmt::Display for ApplyLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
