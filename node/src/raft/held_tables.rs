//! Which geo tables each member has and goes by: asked of the members, because their disks are no part of the state.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;
use waymark_core::model::MemberId;
use waymark_proto::admin::v1::GeoTable;
use waymark_proto::peer::v1 as wire;

use super::base::Base;
use super::forward::{peer, timed};
use super::seat::Seat;
use super::types::Node;

/// What a member has, and the digest of the table that it goes by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    /// The embedded one first.
    pub tables: Vec<GeoTable>,
    /// See there.
    pub used: String,
}

/// Lists the tables that this member has.
pub type HeldSource = Box<dyn Fn() -> Vec<GeoTable> + Send + Sync>;

/// Tells which tables this member has, and asks the others. Cheap to clone.
#[derive(Clone)]
pub struct HeldTables {
    base: Arc<Base>,
    source: Arc<OnceLock<HeldSource>>,
}

impl fmt::Debug for HeldTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldTables").finish_non_exhaustive()
    }
}

impl HeldTables {
    pub(super) fn new(base: Arc<Base>) -> Self {
        Self { base, source: Arc::default() }
    }

    /// Lets this member tell from `source`, once; until then it has nothing to tell.
    pub fn tell_from(&self, source: HeldSource) {
        // A second source would be a fault of the program that no operator could do anything about: the first stays.
        let _ = self.source.set(source);
    }

    /// Asks every member, this one among them; none is known of those that do not answer `within` that time.
    pub async fn gather(&self, within: Duration) -> Vec<(MemberId, Option<Held>)> {
        let Some(seat) = self.base.seat() else { return Vec::new() };
        let metrics = seat.metrics();
        let nodes: Vec<_> = metrics.membership_config.nodes().map(|(id, node)| (*id, node.clone())).collect();
        let seat = &*seat;
        let answers = nodes.iter().map(|(id, node)| async move {
            let told = timeout(within, self.ask(seat, *id, node, within)).await;
            (MemberId(*id), told.unwrap_or(None))
        });
        join_all(answers).await
    }

    async fn ask(&self, seat: &Seat, member: u64, node: &Node, within: Duration) -> Option<Held> {
        if seat.member == member {
            return Some(self.own());
        }
        let mut peer = peer(&self.base, seat, member, node).ok()?;
        let request = timed(wire::ListHeldTablesRequest {}, within);
        let wire::ListHeldTablesResponse { tables, used } =
            peer.list_held_tables(request).await.ok()?.into_inner();
        Some(Held { tables, used })
    }

    /// What this member has.
    pub fn own(&self) -> Held {
        let tables = self.source.get().map(|source| source()).unwrap_or_default();
        Held { tables, used: self.base.reader.peek().locator.geo_table().digest.to_string() }
    }

    /// The answer to another member.
    pub(super) fn answer(&self) -> wire::ListHeldTablesResponse {
        let Held { tables, used } = self.own();
        wire::ListHeldTablesResponse { tables, used }
    }
}
