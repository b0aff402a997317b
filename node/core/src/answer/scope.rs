//! For which clients an answer holds, as a client subnet's reply says it (DNS-10, RFC 7871 §7.2.1).

use super::Query;
use crate::model::{Network, Span, Zone};
use crate::routing::Client;
use crate::state::View;

/// The scope of an answer in the making.
///
/// | query | asked zone | answer | scope |
/// |---|---|---|---|
/// | without a client subnet | – | – | none |
/// | with one | not ours, or takes none: no zone on the way looks at it | – | none |
/// | `/0` | takes them | – | 0: the source decided, and the resolver asked for nothing else |
/// | longer | takes them | without records | 0 |
/// | longer | takes them | with records | the shortest prefix for which every name on the way is answered alike (RTE-13) |
pub(super) struct Scope {
    /// The client's network, where the option is answered.
    subnet: Option<Network>,
    /// The clients for whom all of the answer so far holds; everybody as long as nothing looked at the client.
    reach: Option<Span>,
}

impl Scope {
    /// That of `query`, before anything is answered.
    pub(super) fn of(view: &View, query: &Query) -> Self {
        let zone = || view.state.answering_zone(&query.name, query.record_type);
        let takes_subnets = || zone().is_some_and(|zone| zone.ecs);
        Self { subnet: query.subnet.filter(|_| takes_subnets()), reach: None }
    }

    /// Who asks `zone`, one on the way: never by a client subnet that the reply would not tell of.
    pub(super) fn client(&self, query: &Query, zone: &Zone) -> Client {
        Client::of(query.source, self.subnet, zone)
    }

    /// The next name is answered alike for clients in `reach`. Where `client` is the packet's source, that says nothing of
    /// other clients behind the same resolver.
    pub(super) fn narrow(&mut self, client: &Client, reach: Span) {
        if client.wants_reach {
            let before = self.reach.unwrap_or(reach);
            self.reach = Some(before.intersect(&reach).unwrap_or(before));
        }
    }

    /// The scope's prefix, if the option is to be answered.
    pub(super) fn prefix(&self, has_records: bool) -> Option<u8> {
        let subnet = self.subnet?;
        let reach = self.reach.filter(|_| has_records);
        Some(reach.map_or(0, |reach| reach.prefix_around(subnet.address())))
    }
}
