//! Changes of who is in the cluster and who leads it, on the leader (CLU-1, CLU-8, CLU-9). One at a time; each may be asked for
//! twice.

use std::time::Duration;

use openraft::ChangeMembers;
use tokio::time::{Instant, timeout, timeout_at};
use waymark_core::model::nearest;
use waymark_proto::peer::v1 as wire;
use waymark_proto::peer::v1::change_request::Kind;

use super::admission::{admit, has_vote, is_changing, is_voter, vote, write_failed};
use super::forward::{peer, timed};
use super::leader::Leader;
use super::membership::{Membership, MembershipError};
use super::seat::Seat;
use super::types::{Metrics, Node};
use super::upgrade::upgrade;
use super::{ProposeError, TimerProfile};

/// How often a leader looks whether a change of the voters was left half done.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a member that was taken out has to hear of it: it may be dead.
const DISMISSAL: Duration = Duration::from_secs(1);

/// What shall change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The empty member at this address comes in, and votes unless it shall only learn.
    Admit { address: String, as_learner: bool },
    /// The member of this name goes.
    Remove(String),
    /// The learner of this name votes from now on.
    Promote(String),
    /// The voter of this name leads from now on; any if it is empty.
    Transfer(String),
    /// The level of `apply` is as high as all members support.
    Upgrade,
}

impl From<&Change> for wire::ChangeRequest {
    fn from(change: &Change) -> Self {
        let kind = match change.clone() {
            Change::Admit { address, as_learner } => {
                Kind::Admit(wire::Admission { address, learner: as_learner })
            }
            Change::Remove(name) => Kind::Remove(name),
            Change::Promote(name) => Kind::Promote(name),
            Change::Transfer(name) => Kind::Transfer(name),
            Change::Upgrade => Kind::Upgrade(wire::Upgrade {}),
        };
        Self { kind: Some(kind) }
    }
}

/// The change that a message asks for; none if it is of a kind that this version does not know.
pub(super) fn change(request: wire::ChangeRequest) -> Option<Change> {
    Some(match request.kind? {
        Kind::Admit(wire::Admission { address, learner }) => Change::Admit { address, as_learner: learner },
        Kind::Remove(name) => Change::Remove(name),
        Kind::Promote(name) => Change::Promote(name),
        Kind::Transfer(name) => Change::Transfer(name),
        Kind::Upgrade(wire::Upgrade {}) => Change::Upgrade,
    })
}

/// Carries `change` out; ends by `deadline`. Returns the member that was meant. [`ProposeError::NoLeader`] says that nothing
/// was done and that another member may lead by now.
pub(super) async fn carry_out(
    membership: &Membership,
    seat: &Seat,
    change: &Change,
    deadline: Instant,
) -> Result<(u64, Node), MembershipError> {
    let late = |_| {
        MembershipError::Refused("the cluster is being changed already; try again when that is done".into())
    };
    let _turn = timeout_at(deadline, membership.changing.lock()).await.map_err(late)?;
    match change {
        Change::Admit { address, as_learner } => {
            admit(membership, seat, address, *as_learner, deadline).await
        }
        Change::Remove(name) => remove(membership, seat, name, deadline).await,
        Change::Promote(name) => promote(seat, name, deadline).await,
        Change::Transfer(name) => transfer(membership, seat, name, deadline).await,
        Change::Upgrade => upgrade(membership, seat).await,
    }
}

/// Completes, whenever this member leads, changes of the voters that broke off between their two entries, as when the leader or whoever
/// waited for it went away: until then the cluster needs the majorities of both, that of those who were to go among them.
pub(super) fn complete_always(membership: &Membership) {
    let membership = membership.clone();
    membership.base.clone().tasks.spawn(async move {
        let stop = membership.base.stop.clone();
        let work = async {
            let seat = membership.base.seated().await;
            let mut ticks = tokio::time::interval(LOOK_EVERY);
            loop {
                ticks.tick().await;
                if seat.leader() == Leader::Here
                    && is_changing(&seat.metrics())
                    && let Ok(_turn) = membership.changing.try_lock()
                {
                    complete(&seat).await;
                }
            }
        };
        stop.run_until_cancelled(work).await;
    });
}

/// Goes on to the later of both configurations.
async fn complete(seat: &Seat) {
    let no_more = ChangeMembers::AddVoterIds([].into());
    let completed = timeout(Membership::DEADLINE, seat.raft.change_membership(no_more, false)).await;
    match completed {
        Ok(Ok(_)) => tracing::info!("a change of the voters that was left half done is complete"),
        Ok(Err(error)) => tracing::debug!(%error, "a change of the voters cannot be completed yet"),
        Err(_) => tracing::debug!("a change of the voters is not complete yet"),
    }
}

fn members(seat: &Seat) -> Vec<(u64, Node)> {
    let metrics = seat.metrics();
    metrics.membership_config.membership().nodes().map(|(id, node)| (*id, node.clone())).collect()
}

fn find(seat: &Seat, name: &str) -> Result<(u64, Node), MembershipError> {
    let members = members(seat);
    let found = members.iter().find(|(_, node)| node.name == name).cloned();
    found.ok_or_else(|| {
        let near = nearest(name, members.iter().map(|(_, node)| node.name.as_str()));
        let hint = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
        MembershipError::Unknown(format!("there is no member '{name}'{hint}"))
    })
}

async fn remove(
    membership: &Membership,
    seat: &Seat,
    name: &str,
    deadline: Instant,
) -> Result<(u64, Node), MembershipError> {
    let (id, node) = find(seat, name)?;
    let has_vote = has_vote(&seat.metrics(), id);
    if has_vote {
        refuse_lost_majority(membership, seat, id).await?;
    }
    if id == seat.member {
        // Whoever leads next does it.
        transfer(membership, seat, "", deadline).await?;
        return Err(ProposeError::NoLeader.into());
    }
    let changes = if has_vote {
        ChangeMembers::RemoveVoters([id].into())
    } else {
        ChangeMembers::RemoveNodes([id].into())
    };
    let unfinished = |_| {
        MembershipError::OutcomeUnknown(format!(
            "member '{name}' was not out in time; see 'waymark cluster status', and remove it again to complete it"
        ))
    };
    let changed = timeout_at(deadline, seat.raft.change_membership(changes, false)).await;
    changed.map_err(unfinished)?.map_err(write_failed)?;
    if let Ok(mut peer) = peer(&membership.base, seat, id, &node) {
        // It may be dead; what it says then is not asked for anyway.
        drop(peer.dismiss(timed(wire::DismissRequest {}, DISMISSAL)).await);
    }
    Ok((id, node))
}

/// Those who are left must have a majority among them that answers, or the change would never end.
async fn refuse_lost_majority(
    membership: &Membership,
    seat: &Seat,
    leaving: u64,
) -> Result<(), MembershipError> {
    let metrics = seat.metrics();
    let left: Vec<u64> = metrics.membership_config.voter_ids().filter(|id| *id != leaving).collect();
    if left.is_empty() {
        return Err(MembershipError::Refused(
            "it is the only member that votes, and a cluster needs one".into(),
        ));
    }
    let status = membership.status().await;
    let answers = |id: &&u64| {
        status
            .members
            .iter()
            .any(|member| member.id.0 == **id && member.applied.is_some() && member.trouble.is_none())
    };
    let (answering, needed) = (left.iter().filter(answers).count(), left.len() / 2 + 1);
    if answering >= needed {
        return Ok(());
    }
    Err(MembershipError::Refused(format!(
        "of the {} members that would vote without it, {answering} answer, and {needed} are needed: bring others back, or \
         remove them first",
        left.len()
    )))
}

async fn promote(seat: &Seat, name: &str, deadline: Instant) -> Result<(u64, Node), MembershipError> {
    let (id, node) = find(seat, name)?;
    let unfinished = |_| {
        MembershipError::OutcomeUnknown(format!(
            "member '{name}' was not a voter in time; see 'waymark cluster status', and promote it again"
        ))
    };
    if !is_voter(&seat.metrics(), id) {
        timeout_at(deadline, vote(seat, id)).await.map_err(unfinished)??;
    }
    Ok((id, node))
}

/// The leader falls silent, so that others may vote, and has the one that shall lead stand for election.
async fn transfer(
    membership: &Membership,
    seat: &Seat,
    name: &str,
    deadline: Instant,
) -> Result<(u64, Node), MembershipError> {
    let (id, node) = if name.is_empty() { nearest_voter(seat)? } else { find(seat, name)? };
    if id == seat.member {
        return Ok((id, node));
    }
    let metrics = seat.metrics();
    if !has_vote(&metrics, id) {
        return Err(MembershipError::Refused(format!(
            "member '{}' does not vote: promote it first",
            node.name
        )));
    }
    if !is_near(&metrics, id) {
        return Err(MembershipError::Refused(format!(
            "member '{}' does not answer, or is behind: only one that has everything can lead",
            node.name
        )));
    }
    let within = transfer_time(membership.base.config.timers).min(deadline - Instant::now());
    let mut peer = peer(&membership.base, seat, id, &node)
        .map_err(|error| MembershipError::Unreachable(error.to_string()))?;
    let _silence = seat.fall_silent();
    let asked = peer.take_over(timed(wire::TakeOverRequest {}, within)).await;
    asked.map_err(|status| {
        MembershipError::OutcomeUnknown(format!(
            "member '{}' does not lead: {}; see 'waymark cluster status'",
            node.name,
            status.message()
        ))
    })?;
    Ok((id, node))
}

/// CLU-8: three times the longest election timeout.
pub(super) fn transfer_time(timers: TimerProfile) -> Duration {
    3 * timers.election().1
}

fn matched(metrics: &Metrics, id: u64) -> Option<u64> {
    let replication = metrics.replication.as_ref()?;
    replication.get(&id).copied().flatten().map(|matched| matched.index)
}

/// Has it all but what is on its way?
fn is_near(metrics: &Metrics, id: u64) -> bool {
    const ON_THE_WAY: u64 = 1_000;
    let last = metrics.last_log_index.unwrap_or_default();
    matched(metrics, id).is_some_and(|matched| matched + ON_THE_WAY >= last)
}

fn nearest_voter(seat: &Seat) -> Result<(u64, Node), MembershipError> {
    let metrics = seat.metrics();
    let others = metrics.membership_config.voter_ids().filter(|id| *id != seat.member);
    let nearest = others.filter(|id| is_near(&metrics, *id)).max_by_key(|id| matched(&metrics, *id));
    let node =
        nearest.and_then(|id| Some((id, metrics.membership_config.membership().get_node(&id)?.clone())));
    node.ok_or_else(|| {
        MembershipError::Refused("no other member that votes has everything and answers".into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clu_9_every_change_is_read_back_from_its_message() {
        for wished in [
            Change::Admit { address: "http://192.0.2.1:7400".into(), as_learner: true },
            Change::Admit { address: "http://192.0.2.1:7400".into(), as_learner: false },
            Change::Remove("m1".into()),
            Change::Promote("m1".into()),
            Change::Transfer(String::new()),
            Change::Upgrade,
        ] {
            assert_eq!(change(wire::ChangeRequest::from(&wished)), Some(wished));
        }
        assert_eq!(change(wire::ChangeRequest { kind: None }), None);
    }
}
