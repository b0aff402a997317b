//! Which behaviour of `apply` the cluster goes by (CLU-9). Members of two versions work side by side while a cluster is upgraded, and
//! one entry of the log must do the same on all of them: so what a version does otherwise than the one before it, it does only
//! once the state says so.
//!
//! | level | what is otherwise than on the level before |
//! |---|---|
//! | 1 | |
//! | 2 | a new agent, or a new region, is refused where there are as many as there may be (SEC-6); there are an issuing authority and join tokens (SEC-1) |
//! | 3 | profiles may have a removal brake (FAIL-2) |
//!
//! Whoever changes what `apply` makes of an entry, be it by one more warning, adds a level, and keeps what was for the levels below.
//! What a command says that the level below does not know has a row in [`ApplyLevel::of`]: it is not proposed before the cluster is
//! at that level, since members that do not know it would stop before it, or pass over a part of it.

use std::fmt;

use super::{Action, Command, State};
use crate::model::ProfilePatch;

/// A behaviour of [`super::apply()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplyLevel(pub u32);

impl ApplyLevel {
    /// The one that a log or a snapshot means that says nothing of levels.
    pub const LOWEST: Self = Self(1);
    /// From here on agents and regions are limited in number.
    pub(super) const LIMITED_NUMBERS: Self = Self(2);
    /// From here on agents can be enrolled by the cluster. (No version was released that took such commands below it.)
    pub(super) const ENROLMENT: Self = Self(2);
    /// From here on profiles may have a removal brake.
    pub(super) const REMOVAL_BRAKE: Self = Self(3);
    /// The highest that this version supports; it supports all below it, too.
    pub const HIGHEST: Self = Self::REMOVAL_BRAKE;

    /// What a member must support to apply `command` in `state`. A member that does not must stop before it: what it would make of it
    /// may be something else than what the others make of it.
    pub fn needed(state: &State, command: &Command) -> Self {
        let to = match command.action {
            Action::RaiseApplyLevel { to } => to,
            _ => Self::of(&command.action),
        };
        state.apply_level.max(to)
    }

    /// The level at which a cluster must be for `action` to be proposed, by what it says. Raising the level itself needs none.
    pub fn of(action: &Action) -> Self {
        match action {
            Action::CreateProfile { fields, .. } | Action::UpdateProfile { fields, .. } => {
                Self::of_profile(fields)
            }
            Action::Enrolment(_) => Self::ENROLMENT,
            Action::ReleaseBrakes { .. } => Self::REMOVAL_BRAKE,
            Action::Found { .. }
            | Action::CreateZone { .. }
            | Action::UpdateZone { .. }
            | Action::DeleteZone { .. }
            | Action::DeleteProfile { .. }
            | Action::AddEndpoint { .. }
            | Action::UpdateEndpoint { .. }
            | Action::RemoveEndpoint { .. }
            | Action::OverrideEndpoints { .. }
            | Action::LiftOverrides { .. }
            | Action::EndOverrides { .. }
            | Action::SetRecords { .. }
            | Action::DeleteRecords { .. }
            | Action::RegisterService { .. }
            | Action::SwitchService { .. }
            | Action::DeleteService { .. }
            | Action::UpdateLatency { .. }
            | Action::LearnLatencies { .. }
            | Action::ForgetLatencies { .. }
            | Action::UseGeo { .. }
            | Action::SetGeoOverride { .. }
            | Action::DeleteGeoOverride { .. }
            | Action::SetRegion(_)
            | Action::DeleteRegion { .. }
            | Action::OpenSession { .. }
            | Action::SetSight { .. }
            | Action::RecordOutcomes { .. }
            | Action::ExpireVerdicts { .. }
            | Action::LoseAgent { .. }
            | Action::ForgetHistory { .. }
            | Action::RotateCookies { .. }
            | Action::FlattenTargets { .. }
            | Action::AllotMember { .. }
            | Action::RaiseApplyLevel { .. }
            | Action::Audit { .. }
            | Action::ForgetAgent { .. } => Self::LOWEST,
        }
    }

    /// The same by a profile's fields.
    pub(super) fn of_profile(fields: &ProfilePatch) -> Self {
        let ProfilePatch {
            routing: _,
            ttl: _,
            max_return: _,
            flatten: _,
            enabled: _,
            max_removal,
            removal_window_ms,
            monitor: _,
        } = fields;
        match max_removal.is_named() || removal_window_ms.is_named() {
            true => Self::REMOVAL_BRAKE,
            false => Self::LOWEST,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Edit, Revision};
    use crate::state::EnrolmentWish;

    fn update(fields: ProfilePatch) -> Action {
        Action::UpdateProfile { name: "web".into(), fields, if_revision: None }
    }

    #[test]
    fn clu_9_what_a_command_says_tells_the_level_that_it_needs() {
        let max_removal = |max_removal| update(ProfilePatch { max_removal, ..Default::default() });
        let window = |removal_window_ms| update(ProfilePatch { removal_window_ms, ..Default::default() });
        let create = Action::CreateProfile {
            name: "web".into(),
            zone: "example.com".into(),
            relative_name: "web".into(),
            fields: ProfilePatch { max_removal: Edit::Set(20), ..Default::default() },
            endpoints: Vec::new(),
        };
        for (action, level) in [
            (update(ProfilePatch { ttl: Edit::Set(5), ..Default::default() }), 1),
            (Action::DeleteProfile { name: "web".into(), if_revision: None }, 1),
            (Action::RaiseApplyLevel { to: ApplyLevel(9) }, 1),
            (Action::Enrolment(EnrolmentWish::Uninstall), 2),
            (Action::Enrolment(EnrolmentWish::EndTokens { ended: Vec::new() }), 2),
            (max_removal(Edit::Set(20)), 3),
            (max_removal(Edit::Clear), 3),
            (window(Edit::Set(5_000)), 3),
            (create, 3),
            (Action::ReleaseBrakes { due: vec![(crate::model::ProfileId(1), Revision(1))] }, 3),
        ] {
            assert_eq!(ApplyLevel::of(&action), ApplyLevel(level), "{action:?}");
        }
    }

    #[test]
    fn clu_9_a_member_must_support_the_state_the_command_and_what_it_raises_to() {
        let at = |level| State { apply_level: ApplyLevel(level), ..State::default() };
        let needed = |level, action| ApplyLevel::needed(&at(level), &Command::of_cluster(action)).0;
        let uninstall = || Action::Enrolment(EnrolmentWish::Uninstall);
        assert_eq!((needed(1, uninstall()), needed(3, uninstall())), (2, 3));
        assert_eq!(needed(1, Action::RaiseApplyLevel { to: ApplyLevel(2) }), 2);
        assert_eq!(needed(2, Action::ForgetAgent { name: "a1".into() }), 2);
    }
}
