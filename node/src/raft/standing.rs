//! What a member says of itself, and how it is listed by that.

use std::time::Duration;

use waymark_core::model::{LogIndex, MemberId};
use waymark_core::state::ApplyLevel;
use waymark_proto::peer::v1 as wire;

use super::data_dir::REJOIN;
use super::seat::Seat;
use super::types::Node;
use super::{MemberStatus, Role, admission, convert};

/// What a member says of itself; nothing if it does not answer.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// The last entry that it has applied.
    pub(super) applied: Option<LogIndex>,
    /// Why it takes no part.
    pub(super) trouble: Option<String>,
    /// How old what it answers from may be.
    pub(super) age: Option<Duration>,
    /// The highest level of `apply` that it supports.
    pub(super) apply_level_max: Option<ApplyLevel>,
}

/// What the answer at the address of the member `id` of this cluster means.
pub(super) fn standing_of(answer: wire::DescribeResponse, seat: &Seat, id: u64) -> Standing {
    let wire::DescribeResponse { node, cluster_id, applied, trouble, age_ms, members: _, apply_level_max } =
        answer;
    let stranger =
        |text: String| Standing { trouble: Some(format!("{text}; {REJOIN}")), ..Standing::default() };
    let (found, node) = convert::node(node.unwrap_or_default());
    if cluster_id.is_empty() {
        return stranger("it is empty, having lost its data".into());
    }
    if cluster_id != seat.cluster {
        return stranger(format!("its data directory is that of a member of cluster {cluster_id}"));
    }
    if found != id {
        return stranger(format!("member {found} '{}' answers at its address", node.name));
    }
    Standing {
        applied: Some(LogIndex(applied)),
        trouble: Some(trouble).filter(|text| !text.is_empty()),
        age: age_ms.map(Duration::from_millis),
        apply_level_max: Some(admission::told(apply_level_max)),
    }
}

/// The member as it is listed.
pub(super) fn member_status(id: u64, node: Node, role: Role, standing: Standing) -> MemberStatus {
    let Node { name, grpc, dns, http } = node;
    let Standing { applied, trouble, age, apply_level_max } = standing;
    MemberStatus { id: MemberId(id), name, role, grpc, dns, http, applied, trouble, age, apply_level_max }
}
