//! What an endpoint comes to in a state: its target and region, whether it is probed, and how much of a child is
//! available.

use super::State;
use crate::health::{
    Availability, ByFamily, Check, EndpointStatus, Judgement, endpoint_status, nested_forced, nested_status,
};
use crate::model::{Endpoint, EndpointId, EndpointKind, Name, Profile, Resolved, Target};

impl State {
    /// The target and the region of `endpoint`: its own, or its service's.
    pub fn resolve<'a>(&'a self, endpoint: &'a Endpoint) -> Resolved<'a> {
        match &endpoint.kind {
            EndpointKind::External(target) => {
                Resolved { target: Some(target), location: endpoint.location.as_ref() }
            }
            EndpointKind::Nested(_) => Resolved { target: None, location: endpoint.location.as_ref() },
            EndpointKind::Service(name) => match self.services.get(name) {
                Some(service) => {
                    Resolved { target: Some(&service.target), location: service.location.as_ref() }
                }
                None => Resolved::default(),
            },
        }
    }

    /// The name that the leader looks up for `endpoint`, which belongs to `profile`: there is none unless that is flattened
    /// (DNS-16).
    pub fn name_to_flatten<'a>(&'a self, profile: &Profile, endpoint: &'a Endpoint) -> Option<&'a Name> {
        match self.resolve(endpoint).target {
            Some(Target::Name(name)) if profile.flatten => Some(name),
            _ => None,
        }
    }

    /// Does what the endpoint stands for run? Only a service can say that it does not.
    pub fn is_running(&self, endpoint: &Endpoint) -> bool {
        let service = endpoint.service().and_then(|name| self.services.get(name));
        service.is_none_or(|service| service.is_running)
    }

    /// Do agents probe `endpoint`, which belongs to `profile` (PRB-11)?
    pub fn is_probed(&self, profile: &Profile, endpoint: &Endpoint) -> bool {
        profile.enabled
            && endpoint.enabled
            && !endpoint.always_serve
            && endpoint.child().is_none()
            && self.is_running(endpoint)
    }

    /// What agents must probe of `endpoint`, which belongs to `profile`; `None` if it is not to be probed (PRB-11).
    pub fn check(&self, profile: &Profile, endpoint: &Endpoint) -> Option<Check> {
        let target = self.resolve(endpoint).target?;
        self.is_probed(profile, endpoint).then(|| Check::of(profile, endpoint, target))
    }

    /// What an operator's override forces on the endpoint, if one does (STA-13).
    fn forced(&self, id: EndpointId) -> Option<Judgement> {
        Judgement::forced_by(self.overrides.get(&id)?.kind)
    }

    /// Is the endpoint kept out of every pool (STA-13)?
    pub fn is_drained(&self, id: EndpointId) -> bool {
        self.overrides.get(&id).is_some_and(|overridden| overridden.is_drain())
    }

    /// How many endpoints of `profile` are available (STA-10), drained ones never. Looks one level down: nested endpoints have their own
    /// standing stored.
    pub fn availability(&self, profile: &Profile) -> Availability {
        let mut available = Availability::default();
        for endpoint in &profile.endpoints {
            let Some(health) = self.health.get(&endpoint.id) else { continue };
            if self.is_drained(endpoint.id) {
                continue;
            }
            match self.resolve(endpoint).target {
                Some(Target::Name(_)) if profile.flatten => {
                    available.add_flattened(health.status, health.flattened.as_deref());
                }
                Some(target) => available.add_target(health.status, target),
                None => available.add_nested(health.status, health.by_family.unwrap_or(ByFamily::NOBODY)),
            }
        }
        available
    }

    /// The status that follows for `endpoint`, which belongs to `profile`, from its settings and from what it stands
    /// for (STA-8, STA-10): the probes' last conclusion, a service's word, or its child, and over these what is forced
    /// (STA-13). A nested endpoint has a standing in each family as well.
    pub fn standing(
        &self,
        profile: &Profile,
        endpoint: &Endpoint,
        judgement: Option<Judgement>,
    ) -> (EndpointStatus, Option<ByFamily>) {
        let forced = self.forced(endpoint.id);
        let (found, by_family) = match endpoint.child() {
            Some(child) => {
                let below = self.profile(&child.profile).expect("a profile that is a child can't be deleted");
                let status = self.health.status(below.id).expect("each profile has its status").status;
                let available = self.availability(below);
                let (found, by_family) = nested_status(child, status, available);
                let to = |forced| nested_forced(available, EndpointStatus::by(Some(forced)));
                (found, Some(forced.map_or(by_family, to)))
            }
            None if self.is_running(endpoint) => (EndpointStatus::by(judgement), None),
            None => (EndpointStatus::Stopped, None),
        };
        let status = endpoint_status(endpoint.enabled, profile.enabled, endpoint.always_serve, forced, found);
        (status, by_family.map(|by_family| if status.is_out() { ByFamily::NOBODY } else { by_family }))
    }
}
