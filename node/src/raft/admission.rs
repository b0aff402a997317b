//! Taking a member in, on the leader: it is reached, told who it is, catches up as a learner and becomes a voter. Every
//! step may be taken twice, so an admission that broke off is completed by asking again (CLU-1, CLU-9).
//!
//! ```text
//! Describe ─▶ empty ─────────────────────▶ Join ─▶ learner ─▶ caught up ─▶ voter
//!          ├▶ of this cluster, under way ──▶ ▲                  (done if it is a voter)
//!          └▶ of another cluster, taken out of this one, or unreachable: refused
//! ```
//!
//! Whoever answers at the address says its name itself; the join goes to a member that proves that name.
//!
//! A number is in the membership only after its member has joined. One that is in the membership and yet describes
//! itself as empty has lost its data (CLU-4).

use std::future::Future;
use std::time::Duration;

use openraft::ChangeMembers;
use openraft::error::{ChangeMembershipError, ClientWriteError, RaftError};
use tokio::time::{Instant, timeout, timeout_at};
use tonic::{Code, Status};
use waymark_core::model::MemberId;
use waymark_core::state::{Action, ApplyLevel, Command};
use waymark_process::identity::is_same;
use waymark_proto::peer::v1 as wire;

use super::address::is_loopback;
use super::caller::Introduction;
use super::connections::{BadAddress, reason};
use super::forward::{peer, timed};
use super::seat::Seat;
use super::types::{Metrics, Node};
use super::{Membership, MembershipError, ProposeError, convert};

/// How long the member to be taken in has to answer one question.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// A learner that is at most this many entries behind has caught up: it takes the rest as a voter within a moment.
const CAUGHT_UP_ENTRIES: u64 = 64;

type WriteError = RaftError<u64, ClientWriteError<u64, Node>>;

/// Takes in the member at `address`; ends by `deadline`. Returns its number and addresses.
pub(super) async fn admit(
    membership: &Membership,
    seat: &Seat,
    address: &str,
    as_learner: bool,
    deadline: Instant,
) -> Result<(u64, Node), MembershipError> {
    let address = with_scheme(address, membership.base.config.credentials.is_some());
    let found = describe(membership, seat, &address).await?;
    let (last, level) = {
        let state = &membership.base.reader.view().state;
        (state.last_member, state.apply_level)
    };
    let (id, node) = place(seat, &found, last)?;
    refuse_old_version(&found, level)?;
    let known = seat.metrics().membership_config.membership().get_node(&id).cloned();
    let has_moved = known.is_some_and(|known| known != node);
    if is_voter(&seat.metrics(), id) && !has_moved {
        return Ok((id, node));
    }
    if found.cluster_id.is_empty() {
        allot(membership, id).await?;
    }
    // Whoever answers there shows by its certificate that the name is its own.
    join(membership, seat, id, &node).await?;
    let unfinished = |_| {
        let name = &node.name;
        MembershipError::OutcomeUnknown(format!(
            "member '{name}' was not taken in in time; see 'waymark cluster status', and add it again to complete it"
        ))
    };
    let admitted = async {
        if has_moved {
            let nodes = ChangeMembers::SetNodes([(id, node.clone())].into());
            seat.raft.change_membership(nodes, false).await.map_err(write_failed)?;
        }
        seat_at_the_table(seat, id, node.clone(), as_learner).await
    };
    timeout_at(deadline, admitted).await.map_err(unfinished)??;
    Ok((id, node))
}

/// Has the log remember that the number is given, for when its member is taken out again: one that comes back with it and with
/// its old data would else be taken for another.
async fn allot(membership: &Membership, number: u64) -> Result<(), MembershipError> {
    let action = Action::AllotMember { number: MemberId(number) };
    let command = Command::of_cluster(action);
    Ok(membership.proposer.propose(vec![command]).await.map(drop)?)
}

fn with_scheme(address: &str, is_encrypted: bool) -> String {
    let scheme = if is_encrypted { "https" } else { "http" };
    if address.contains("://") { address.to_owned() } else { format!("{scheme}://{address}") }
}

async fn describe(
    membership: &Membership,
    seat: &Seat,
    address: &str,
) -> Result<Description, MembershipError> {
    let introduction = Introduction::new(&seat.cluster, seat.member, 0);
    let mut peer = membership.base.connections.stranger(address, introduction).map_err(bad_address)?;
    let asked = peer.describe(timed(wire::DescribeRequest {}, ANSWER_TIMEOUT));
    let answer = in_time(asked).await.map_err(|status| {
        let reason = reason(&status);
        MembershipError::Unreachable(format!("there is no answer from a member at {address}: {reason}"))
    })?;
    let wire::DescribeResponse {
        node,
        cluster_id,
        applied,
        trouble: _,
        age_ms: _,
        members: _,
        apply_level_max,
    } = answer.into_inner();
    let (id, node) = convert::node(node.unwrap_or_default());
    let apply_level_max = told(apply_level_max);
    Ok(Description { id, node, cluster_id, applied, apply_level_max })
}

fn bad_address(error: BadAddress) -> MembershipError {
    MembershipError::Unreachable(error.to_string())
}

/// The answer, or that there is none: a connection that does not come up takes longer than its question may.
async fn in_time<T>(asked: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let late = |_| Status::deadline_exceeded(format!("nothing within {ANSWER_TIMEOUT:?}"));
    timeout(ANSWER_TIMEOUT, asked).await.map_err(late)?
}

/// What a member says of itself.
#[derive(Clone, Debug)]
struct Description {
    id: u64,
    node: Node,
    cluster_id: String,
    applied: u64,
    apply_level_max: ApplyLevel,
}

/// The number and addresses that the described member has or gets, one above `last` and all that there are; refuses one that
/// cannot be taken in.
fn place(seat: &Seat, found: &Description, last: u64) -> Result<(u64, Node), MembershipError> {
    let metrics = seat.metrics();
    let members: Vec<(u64, Node)> =
        metrics.membership_config.membership().nodes().map(|(id, node)| (*id, node.clone())).collect();
    let Description { id, node, cluster_id, applied, apply_level_max: _ } = found;
    let refused = |text: String| Err(MembershipError::Refused(text));
    let at = &node.grpc;
    if !cluster_id.is_empty() && *cluster_id != seat.cluster {
        return refused(format!(
            "the member at {at} belongs to cluster {cluster_id}, this is cluster {}",
            seat.cluster
        ));
    }
    if let Some((known, _)) = members.iter().find(|(_, known)| known.grpc == *at && cluster_id.is_empty()) {
        return refused(format!(
            "member {known} at {at} has lost its data: give the new member addresses and a name of its own"
        ));
    }
    let is_listed = members.iter().any(|(known, _)| known == id);
    // One whose admission broke off has nothing yet.
    if !cluster_id.is_empty() && !is_listed && *applied > 0 {
        return refused(format!(
            "the member at {at} was taken out of this cluster; its data is that of number {id}, which is never given again: \
             stop it, wipe its data directory (or move it away), start it empty, and add it then"
        ));
    }
    let next = || members.iter().map(|(id, _)| *id).chain([last]).max().unwrap_or_default() + 1;
    let number = if cluster_id.is_empty() { next() } else { *id };
    if let Some((_, known)) =
        members.iter().find(|(other, known)| *other == number && known.name != node.name)
    {
        return refused(format!("the member at {at} says it is number {number}, which is '{}'", known.name));
    }
    if let Some((other, known)) =
        members.iter().find(|(other, known)| *other != number && is_same(&known.name, &node.name))
    {
        return refused(format!(
            "member {other} is named '{}' already, for certificates at least: give the new one a name of its own",
            known.name
        ));
    }
    refuse_mixed_loopback(node, &members)?;
    Ok((number, node.clone()))
}

/// It would stop at the first entry (CLU-9).
fn refuse_old_version(found: &Description, level: ApplyLevel) -> Result<(), MembershipError> {
    let Description { node, apply_level_max, .. } = found;
    if *apply_level_max >= level {
        return Ok(());
    }
    Err(MembershipError::Refused(format!(
        "the member at {} supports apply levels up to {apply_level_max}, and this cluster is at {level}: run the later version on \
         it first",
        node.grpc
    )))
}

/// The highest level of `apply` that a member says it supports; one of before there were levels does not say.
pub(super) fn told(apply_level_max: u32) -> ApplyLevel {
    ApplyLevel(apply_level_max).max(ApplyLevel::LOWEST)
}

/// Members on loopback and members elsewhere would not reach each other.
fn refuse_mixed_loopback(node: &Node, members: &[(u64, Node)]) -> Result<(), MembershipError> {
    match members.iter().find(|(_, known)| is_loopback(&known.grpc) != is_loopback(&node.grpc)) {
        None => Ok(()),
        Some((id, known)) => Err(MembershipError::Refused(format!(
            "the new member advertises {new}, member {id} advertises {old}: loopback addresses are good only if all \
             members have them",
            new = node.grpc,
            old = known.grpc
        ))),
    }
}

async fn join(membership: &Membership, seat: &Seat, id: u64, node: &Node) -> Result<(), MembershipError> {
    let mut peer = peer(&membership.base, seat, id, node).map_err(bad_address)?;
    let request = wire::JoinRequest { cluster_id: seat.cluster.clone(), member_id: id };
    let failed = |status: Status| match status.code() {
        Code::FailedPrecondition | Code::InvalidArgument => {
            MembershipError::Refused(status.message().to_owned())
        }
        _ => MembershipError::Unreachable(format!(
            "the member does not answer at {}, the address it advertises: {}",
            node.grpc,
            reason(&status)
        )),
    };
    in_time(peer.join(timed(request, ANSWER_TIMEOUT))).await.map(drop).map_err(failed)
}

/// Learner, caught up, voter unless it shall only learn.
async fn seat_at_the_table(
    seat: &Seat,
    id: u64,
    node: Node,
    as_learner: bool,
) -> Result<(), MembershipError> {
    let is_listed = seat.metrics().membership_config.membership().get_node(&id) == Some(&node);
    if !is_listed {
        seat.raft.add_learner(id, node, false).await.map_err(write_failed)?;
    }
    match is_voter(&seat.metrics(), id) {
        true => Ok(()),
        false if as_learner => caught_up(seat, id).await,
        false => vote(seat, id).await,
    }
}

/// Has the learner vote once it has caught up.
pub(super) async fn vote(seat: &Seat, id: u64) -> Result<(), MembershipError> {
    caught_up(seat, id).await?;
    let changes = ChangeMembers::AddVoterIds([id].into());
    seat.raft.change_membership(changes, false).await.map(drop).map_err(write_failed)
}

/// Waits until the learner has nearly everything.
async fn caught_up(seat: &Seat, id: u64) -> Result<(), MembershipError> {
    let caught_up = |metrics: &Metrics| {
        let matched = metrics.replication.as_ref().and_then(|all| all.get(&id).copied().flatten());
        let last = metrics.last_log_index.unwrap_or_default();
        matched.is_some_and(|matched| matched.index + CAUGHT_UP_ENTRIES >= last)
    };
    let over = |metrics: &Metrics| metrics.replication.is_none();
    let mut metrics = seat.raft.metrics();
    let ended =
        metrics.wait_for(|metrics| caught_up(metrics) || over(metrics)).await.map(|metrics| over(&metrics));
    if ended.unwrap_or(true) {
        return Err(ProposeError::OutcomeUnknown.into());
    }
    Ok(())
}

/// Does it vote, and is no change of the voters under way?
pub(super) fn is_voter(metrics: &Metrics, id: u64) -> bool {
    has_vote(metrics, id) && !is_changing(metrics)
}

/// Does it vote, be it only before, or only after, a change of the voters that is under way?
pub(super) fn has_vote(metrics: &Metrics, id: u64) -> bool {
    metrics.membership_config.voter_ids().any(|voter| voter == id)
}

/// Is a change of the voters under way, so that majorities of those before and of those after it are needed?
pub(super) fn is_changing(metrics: &Metrics) -> bool {
    metrics.membership_config.membership().get_joint_config().len() > 1
}

pub(super) fn write_failed(error: WriteError) -> MembershipError {
    match error {
        RaftError::APIError(ClientWriteError::ForwardToLeader(_)) => ProposeError::OutcomeUnknown.into(),
        RaftError::APIError(ClientWriteError::ChangeMembershipError(ChangeMembershipError::InProgress(
            _,
        ))) => MembershipError::Refused(
            "the membership is being changed already; try again when that is done".into(),
        ),
        RaftError::APIError(ClientWriteError::ChangeMembershipError(error)) => {
            MembershipError::Refused(error.to_string())
        }
        RaftError::Fatal(fatal) => ProposeError::Storage(fatal.to_string()).into(),
    }
}

/// `error` on its way to the member that was asked for the change.
pub(super) fn status(error: &MembershipError) -> Status {
    match error {
        MembershipError::Refused(text) => Status::already_exists(text.clone()),
        MembershipError::Unreachable(text) => Status::not_found(text.clone()),
        MembershipError::OutcomeUnknown(text) => Status::aborted(text.clone()),
        MembershipError::Unknown(text) => Status::out_of_range(text.clone()),
        MembershipError::Propose(error) => super::forward::status(error),
    }
}

/// What the leader's `status` means to the member that was asked for the change; `None` if the leader did nothing.
pub(super) fn error(status: &Status) -> Option<MembershipError> {
    use super::forward::{Refusal, refusal};
    match status.code() {
        Code::AlreadyExists => Some(MembershipError::Refused(status.message().to_owned())),
        Code::NotFound => Some(MembershipError::Unreachable(status.message().to_owned())),
        Code::Aborted => Some(MembershipError::OutcomeUnknown(status.message().to_owned())),
        Code::OutOfRange => Some(MembershipError::Unknown(status.message().to_owned())),
        _ => match refusal(status) {
            Refusal::Nothing => None,
            Refusal::Perhaps => Some(ProposeError::OutcomeUnknown.into()),
            Refusal::Final(error) => Some(error.into()),
        },
    }
}
