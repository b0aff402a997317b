//! From what is known of an endpoint to its status and its profile's, and the events of their changes (STA-8 … STA-12).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::step::Step;
use crate::health::{
    EndpointHealth, EndpointStatus, Judgement, RegionalVerdict, Tallies, judge, profile_status,
};
use crate::model::{Agent, Caseless, Endpoint, EndpointId, Profile, ProfileId, Timestamp};
use crate::state::{Brake, EventCause, EventStatus, ProfileHealth, Subject};

/// What changed in the profiles from which statuses ascend.
#[derive(Clone, Copy)]
pub(super) enum Occasion<'a> {
    /// Counts, or addresses: the statuses of their endpoints were changed already.
    Counts,
    /// Their settings or services, for this cause.
    Settings(&'a EventCause),
    /// The overrides of these endpoints.
    Overrides(&'a BTreeMap<EndpointId, EventCause>),
}

impl Step<'_> {
    /// What a new or changed profile, or a changed service of one, means for what is known of its endpoints (STA-11).
    /// Statuses follow by [`Step::ascend`], once all that changes in one step has changed.
    ///
    /// | endpoint | counts | last conclusion |
    /// |---|---|---|
    /// | new | none | none |
    /// | its check goes on | kept | kept |
    /// | another check | cleared | kept, stale from now on |
    /// | left the probed set | cleared | cleared |
    pub(super) fn settle(&mut self, before: Option<&Profile>, after: &Profile) {
        for gone in before.into_iter().flat_map(|before| &before.endpoints) {
            if after.endpoint_by_id(gone.id).is_none() {
                self.state.health.remove(&gone.id);
                self.set_override(gone.id, None);
                self.forget_braked(after.id, gone.id);
            }
        }
        for endpoint in &after.endpoints {
            match before.and_then(|before| before.endpoint_by_id(endpoint.id)) {
                None => self.start_health(after, endpoint),
                Some(earlier) if earlier.check_revision == endpoint.check_revision => {}
                Some(_) if self.state.is_probed(after, endpoint) => self.restart_counts(endpoint.id),
                Some(_) => self.forget_conclusion(endpoint.id),
            }
        }
        self.forget_addresses(after);
    }

    /// Puts the statuses in force that follow from what changed in the profiles of `touched`, in them and level by level
    /// above them (STA-10). No profile is looked at before all that may change below it have been, and none twice: a step
    /// makes one event at most for each status (STA-12).
    pub(super) fn ascend(&mut self, touched: &BTreeSet<ProfileId>, occasion: Occasion<'_>) {
        let mut changed = touched.clone();
        for id in self.state.references.upward(touched) {
            let profile = self.profile_by_id(id);
            let is_touched = touched.contains(&id);
            let own_cause = if let Occasion::Settings(cause) = occasion { Some(cause) } else { None };
            let own_cause = own_cause.filter(|_| is_touched);
            let mut is_changed = is_touched;
            let by_probing = matches!(occasion, Occasion::Counts);
            for endpoint in &profile.endpoints {
                if let Occasion::Overrides(causes) = occasion
                    && let Some(cause) = causes.get(&endpoint.id)
                {
                    self.tell_of_override(&profile, endpoint, cause.clone());
                    continue;
                }
                let child = endpoint.child().map(|child| &child.profile);
                let is_below = |child: &&Caseless| {
                    self.state.profile_ids.get(*child).is_some_and(|child| changed.contains(child))
                };
                is_changed |= match (child.filter(is_below), own_cause) {
                    (Some(child), _) => {
                        let cause = || EventCause::Child { profile: child.clone() };
                        self.refresh_endpoint(&profile, endpoint, by_probing, cause)
                    }
                    (None, Some(cause)) => self.refresh_endpoint(&profile, endpoint, false, || cause.clone()),
                    (None, None) => false,
                };
            }
            is_changed |= self.let_go(&profile);
            if is_changed {
                let before = self.original.health.profile(id);
                let is_switched = before.is_some_and(|before| before.enabled != profile.enabled);
                let cause = own_cause.filter(|_| is_switched).cloned().unwrap_or(EventCause::Endpoints);
                self.refresh_profile(&profile, cause);
                changed.insert(id);
            }
        }
    }

    /// Takes the health of a profile that is gone out of the state.
    pub(super) fn drop_health(&mut self, profile: &Profile) {
        for endpoint in &profile.endpoints {
            self.state.health.remove(&endpoint.id);
            self.set_override(endpoint.id, None);
        }
        self.change_brake(profile.id, |brake| *brake = Brake::default());
        self.state.health.set_status(profile.id, None);
        self.mark_changed();
    }

    /// Draws the conclusion from an endpoint's counts after some of them changed (STA-3, STA-4). Returns whether the
    /// endpoint's status changed, which is then still to be told to its profile.
    pub(super) fn conclude(
        &mut self,
        profile: &Profile,
        id: EndpointId,
        cause: impl FnOnce(Vec<RegionalVerdict>) -> EventCause,
    ) -> bool {
        let Some(health) = self.state.health.get(&id) else { return false };
        let regions = self.state.regional_verdicts(health);
        let (judgement, stale_since) = match (judge(&regions), health.judgement) {
            (Some(judgement), _) => (Some(judgement), None),
            (None, Some(last)) => (Some(last), health.stale_since.or(Some(self.context.at))),
            (None, None) => (None, None),
        };
        self.note_health(profile.id);
        self.put_conclusion(id, judgement, stale_since);
        let Some(endpoint) = profile.endpoint_by_id(id) else { return false };
        self.refresh_endpoint(profile, endpoint, true, || cause(regions))
    }

    /// Takes counts of `agent` away, of those endpoints of which it has one, and draws all conclusions at once: what
    /// falls silent in one step makes at most one event for each status.
    pub(super) fn silence(&mut self, agent: &Agent, endpoints: impl IntoIterator<Item = EndpointId>) {
        let Agent { name: agent, is_blind, .. } = agent;
        let mut profiles = BTreeSet::new();
        for id in endpoints {
            let Some(profile) = self.drop_count(id, agent) else { continue };
            let profile = self.profile_by_id(profile);
            let cause = |regions| EventCause::Silence { agent: agent.clone(), is_blind: *is_blind, regions };
            if self.conclude(&profile, id, cause) {
                profiles.insert(profile.id);
            }
        }
        self.ascend(&profiles, Occasion::Counts);
    }

    /// Takes one agent's count of an endpoint away; returns the endpoint's profile if there was one.
    fn drop_count(&mut self, id: EndpointId, agent: &Caseless) -> Option<ProfileId> {
        if !self.state.health.get(&id)?.tallies.contains_key(agent) {
            return None;
        }
        let health = self.health_mut(id)?;
        health.tallies.remove(agent);
        Some(health.profile)
    }

    /// Stores a conclusion, if it is another: writing copies, reading does not.
    pub(super) fn put_conclusion(
        &mut self,
        id: EndpointId,
        judgement: Option<Judgement>,
        stale_since: Option<Timestamp>,
    ) {
        let is_other =
            |health: &Arc<EndpointHealth>| (health.judgement, health.stale_since) != (judgement, stale_since);
        if !self.state.health.get(&id).is_some_and(is_other) {
            return;
        }
        if let Some(health) = self.health_mut(id) {
            health.judgement = judgement;
            health.stale_since = stale_since;
        }
    }

    /// Every endpoint of which `agent` has a count: a look at all of them, since an agent probes all of them.
    pub(super) fn counted_by(&self, agent: &Caseless) -> Vec<EndpointId> {
        let counted = |health: &EndpointHealth| health.tallies.contains_key(agent);
        self.state.health.iter().filter(|(_, health)| counted(health)).map(|(id, _)| *id).collect()
    }

    /// The health of an endpoint, to be changed.
    pub(super) fn health_mut(&mut self, id: EndpointId) -> Option<&mut EndpointHealth> {
        self.state.health.get_mut(&id).map(Arc::make_mut)
    }

    /// Puts the profile's status in force that follows from its endpoints' (STA-9), with an event if it is another.
    fn refresh_profile(&mut self, profile: &Profile, cause: EventCause) {
        let statuses =
            profile.endpoints.iter().filter_map(|endpoint| Some(self.state.health.get(&endpoint.id)?.status));
        let status = profile_status(profile.enabled, statuses);
        let before = self.state.health.status(profile.id).map(|health| health.status);
        if before == Some(status) {
            return;
        }
        self.state.health.set_status(profile.id, Some(ProfileHealth { status, since: self.context.at }));
        if let Some(before) = before {
            self.note_health(profile.id);
            let (from, to) = (EventStatus::Profile(before), EventStatus::Profile(status));
            self.record_event(profile, Subject::Profile, from, to, cause);
        }
    }

    /// Puts the endpoint's status in force that follows from its settings and from what it stands for (STA-8), with an
    /// event if it is another. Returns whether anything changed that its profile's status, or the standing of an
    /// endpoint above, may follow. `by_probing`: does nothing else bring it about (FAIL-2)?
    pub(super) fn refresh_endpoint(
        &mut self,
        profile: &Profile,
        endpoint: &Endpoint,
        by_probing: bool,
        cause: impl FnOnce() -> EventCause,
    ) -> bool {
        let was_held = self.state.held(profile.id, endpoint.id).is_some();
        let statuses = self.put_standing(profile, endpoint, by_probing);
        if !was_held && self.state.held(profile.id, endpoint.id).is_some() {
            // It is told when it leaves.
            self.departing.insert(endpoint.id, cause());
            return true;
        }
        let Some((before, status)) = statuses else { return false };
        if before != status {
            self.record_endpoint_event(profile, endpoint, (before, status), cause());
        }
        true
    }

    /// The same for an endpoint whose override began or ended, of which there is an event in any case (STA-13).
    fn tell_of_override(&mut self, profile: &Profile, endpoint: &Endpoint, cause: EventCause) {
        let Some(health) = self.state.health.get(&endpoint.id) else { return };
        let same = (health.status, health.status);
        let statuses = self.put_standing(profile, endpoint, false).unwrap_or(same);
        self.record_endpoint_event(profile, endpoint, statuses, cause);
    }

    /// Stores the endpoint's status and standing in each family, if either is another; the status before and afterwards.
    fn put_standing(
        &mut self,
        profile: &Profile,
        endpoint: &Endpoint,
        by_probing: bool,
    ) -> Option<(EndpointStatus, EndpointStatus)> {
        let context = self.context;
        let health = self.state.health.get(&endpoint.id)?;
        let (before, by_family_before) = (health.status, health.by_family);
        let found = self.state.standing(profile, endpoint, health.judgement);
        let in_force = (before, by_family_before);
        let (status, by_family) = self.braked(profile, endpoint, found, in_force, by_probing);
        if in_force == (status, by_family) {
            return None;
        }
        let health = self.health_mut(endpoint.id)?;
        health.by_family = by_family;
        if before != status {
            health.status = status;
            health.since = context.at;
            health.since_index = context.index;
        }
        self.note_health(profile.id);
        Some((before, status))
    }

    fn record_endpoint_event(
        &mut self,
        profile: &Profile,
        endpoint: &Endpoint,
        (before, after): (EndpointStatus, EndpointStatus),
        cause: EventCause,
    ) {
        let subject = Subject::Endpoint { id: endpoint.id, name: endpoint.name.clone() };
        let (from, to) = (EventStatus::Endpoint(before), EventStatus::Endpoint(after));
        self.record_event(profile, subject, from, to, cause);
    }

    /// A new endpoint has a status but no event: nothing changed.
    fn start_health(&mut self, profile: &Profile, endpoint: &Endpoint) {
        let (status, by_family) = self.state.standing(profile, endpoint, None);
        let health = EndpointHealth {
            profile: profile.id,
            tallies: Tallies::default(),
            judgement: None,
            stale_since: None,
            status,
            by_family,
            since: self.context.at,
            since_index: self.context.index,
            flattened: None,
        };
        self.state.health.insert(endpoint.id, Arc::new(health));
    }

    /// Outside the probed set nothing is remembered: coming back starts at CheckingEndpoint.
    fn forget_conclusion(&mut self, id: EndpointId) {
        let Some(health) = self.state.health.get(&id) else { return };
        if health.tallies.is_empty() && health.judgement.is_none() {
            return;
        }
        let profile = health.profile;
        if let Some(health) = self.health_mut(id) {
            health.tallies = Tallies::default();
            health.judgement = None;
            health.stale_since = None;
        }
        self.note_health(profile);
    }

    /// Another check: what was counted before says nothing about it, but the last conclusion stays until a new one.
    fn restart_counts(&mut self, id: EndpointId) {
        let at = self.context.at;
        let Some(health) = self.health_mut(id) else { return };
        health.tallies = Tallies::default();
        if health.judgement.is_some() {
            health.stale_since.get_or_insert(at);
        }
        let profile = health.profile;
        self.note_health(profile);
    }
}
