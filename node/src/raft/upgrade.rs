//! Raising the level of `apply`, on the leader, once all members support a higher one (CLU-9).
//!
//! | of the members | the level |
//! |---|---|
//! | each answers, takes part, and supports the highest that any supports | is raised to that; stays, if that is in force |
//! | some do not | stays; each of them is named |
//!
//! No member comes in meanwhile: changes of who is in the cluster take turns with this one, and whoever comes later is refused unless
//! it supports the level (`admission`).

use waymark_core::state::{Action, ApplyLevel, Command};

use super::types::Node;
use super::{MemberStatus, Membership, MembershipError, Role, seat::Seat};

/// Raises the level as far as all members support. Returns the leader.
pub(super) async fn upgrade(membership: &Membership, seat: &Seat) -> Result<(u64, Node), MembershipError> {
    // What the leader knows of the level must not be older than what its predecessors did.
    membership.proposer.read_barrier().await?;
    let members = membership.status().await.members;
    let to = supported_by_all(&members).map_err(MembershipError::Refused)?;
    let before = membership.base.reader.view().state.apply_level;
    if to > before {
        let command = Command::of_cluster(Action::RaiseApplyLevel { to });
        membership.proposer.propose(vec![command]).await?;
        tracing::info!(%before, %to, "the apply level is raised");
    }
    Ok((seat.member, membership.base.config.node()))
}

/// The highest level that any of `members` supports; refused, in words, unless all do.
pub(super) fn supported_by_all(members: &[MemberStatus]) -> Result<ApplyLevel, String> {
    let highest = members.iter().filter_map(|member| member.apply_level_max).max().unwrap_or_default();
    let obstacles: Vec<String> = members.iter().filter_map(|member| obstacle(member, highest)).collect();
    if obstacles.is_empty() {
        return Ok(highest);
    }
    Err(format!(
        "the apply level is not raised to {highest} before all members support it: {}",
        obstacles.join("; ")
    ))
}

/// Why `member` stands in the way of the level `to`.
fn obstacle(member: &MemberStatus, to: ApplyLevel) -> Option<String> {
    let noun = if member.role == Role::Learner { "learner" } else { "member" };
    let name = &member.name;
    match (member.apply_level_max, &member.trouble) {
        (_, Some(trouble)) => Some(format!("{noun} '{name}': {trouble}")),
        (None, None) => Some(format!("{noun} '{name}' does not answer: start it, or remove it")),
        (Some(max), None) if max < to => {
            Some(format!("{noun} '{name}' supports up to {max}: run the later version on it"))
        }
        (Some(_), None) => None,
    }
}

#[cfg(test)]
mod tests {
    use waymark_core::model::MemberId;

    use super::*;

    fn member(id: u64, role: Role, max: Option<u32>) -> MemberStatus {
        MemberStatus {
            id: MemberId(id),
            name: format!("m{id}"),
            role,
            grpc: String::new(),
            dns: String::new(),
            http: String::new(),
            applied: None,
            trouble: None,
            age: None,
            apply_level_max: max.map(ApplyLevel),
        }
    }

    #[test]
    fn clu_9_who_stands_in_the_way_of_a_level_is_named() {
        let up = |id| member(id, Role::Follower, Some(3));
        assert_eq!(supported_by_all(&[up(1), up(2), member(3, Role::Learner, Some(3))]), Ok(ApplyLevel(3)));
        let refused = |odd: MemberStatus| supported_by_all(&[up(1), odd, up(3)]).unwrap_err();
        let text = refused(member(2, Role::Learner, Some(2)));
        assert!(text.contains("to 3") && text.contains("learner 'm2' supports up to 2"), "{text}");
        let text = refused(member(2, Role::Leader, None));
        assert!(text.contains("member 'm2' does not answer"), "{text}");
        let text = refused(MemberStatus { trouble: Some("it is empty".into()), ..up(2) });
        assert!(text.contains("member 'm2': it is empty"), "{text}");
    }
}
