//! What a method is asked, and what it replies.

use std::sync::Arc;

use super::{Absence, Chosen, Client, Pool};
use crate::model::Span;
use crate::state::{Plan, View};

/// One profile's question to its method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) view: &'a View,
    pub(super) plan: &'a Arc<Plan>,
    pub(super) pool: Pool<'a>,
    pub(super) client: Client,
    /// The draw of this profile at this level.
    pub(super) draw: u64,
}

impl Question<'_> {
    /// The reply of a method that does not look at the client.
    pub(super) fn same_for_everybody(&self, chosen: Option<Chosen>) -> Ruling {
        Ruling {
            chosen: chosen.ok_or_else(|| Absence::of(self.plan, &self.view.statuses)),
            reach: self.client.everybody(),
        }
    }
}

/// A method's reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruling {
    /// Who answers, or why nobody does.
    pub(super) chosen: Result<Chosen, Absence>,
    /// Clients around this one for whom the reply is the same, this one included.
    pub(super) reach: Span,
}
