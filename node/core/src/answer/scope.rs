//! For which clients an answer holds, as a client subnet's reply says it (DNS-10, RFC 7871 §7.2.1).

use super::Query;
use crate::model::{Network, Span};
use crate::state::View;

/// The scope of an answer in the making.
///
/// | query | asked zone | answer | scope |
/// |---|---|---|---|
/// | without a client subnet | – | – | none |
/// | with one | not ours, or takes none | – | none |
/// | `/0` | takes them | – | 0: the source decided, and the resolver asked for nothing else |
/// | longer | takes them | negative, in whatever zone | 0 |
/// | longer | takes them | positive | the shortest prefix for which every name on the way is answered alike |
pub(super) struct Scope {
    /// The client's network, where the option is answered.
    subnet: Option<Network>,
    /// The clients for whom all of the answer so far holds.
    reach: Option<Span>,
}

impl Scope {
    /// That of `query`, before anything is answered.
    pub(super) fn of(view: &View, query: &Query) -> Self {
        let takes_subnets = || view.state.enclosing_zone(&query.name).is_some_and(|zone| zone.ecs);
        Self { subnet: query.subnet.filter(|_| takes_subnets()), reach: None }
    }

    /// The next name is answered alike for clients in `reach`.
    pub(super) fn narrow(&mut self, reach: Span) {
        self.reach = match self.reach {
            // A zone that takes no client subnet looks at the source, which may be of the other family: that says
            // nothing of the client.
            Some(before) => Some(before.intersect(&reach).unwrap_or(before)),
            None => Some(reach),
        };
    }

    /// The answer is negative.
    pub(super) fn lose(&mut self) {
        self.reach = None;
    }

    /// The scope's prefix, if the option is to be answered.
    pub(super) fn prefix(&self) -> Option<u8> {
        let subnet = self.subnet?;
        let narrow = self.reach.filter(|_| subnet.prefix() > 0);
        Some(narrow.map_or(0, |reach| reach.prefix_around(subnet.address())))
    }
}
