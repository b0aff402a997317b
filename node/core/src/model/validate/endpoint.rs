//! The endpoints of a profile: each by itself, and beside each other (SET-12 … SET-22).

use std::collections::{BTreeMap, BTreeSet};

use super::header::check_headers;
use super::mapping::check_mappings;
use super::method::check_method;
use super::name::check_endpoint_name;
use crate::model::{
    Caseless, Child, Endpoint, EndpointKind, Name, Profile, Protocol, RelativeName, Resolved, Routing,
    Target, Violations, profile_limits as limits, quote,
};

/// An endpoint as it would be stored, for judging. What could not be read of it is left out, so that nothing is said
/// of the same field twice.
#[derive(Clone, Debug)]
pub struct EndpointDraft<'a> {
    /// Its path in the wish, as in `endpoints[2]`; empty if it is the wish.
    pub path: String,
    /// The endpoint.
    pub endpoint: &'a Endpoint,
    /// Its target and its location, its own or its service's, as far as they could be read.
    pub resolved: Resolved<'a>,
    /// Its priority, if it has one.
    pub priority: Option<u32>,
    /// Which of its mappings are empty only because none of what was given could be read.
    pub unread: UnreadMappings,
}

/// Mappings that were given, but of which nothing could be read: that is told of, and they are not missing as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreadMappings {
    /// [`Endpoint::geo`].
    pub geo: bool,
    /// [`Endpoint::subnets`].
    pub subnets: bool,
}

impl<'a> EndpointDraft<'a> {
    /// Drafts of `endpoints`, which are complete; `resolve` looks their targets and locations up.
    pub fn all(
        endpoints: impl IntoIterator<Item = &'a Endpoint>,
        resolve: impl Fn(&'a Endpoint) -> Resolved<'a>,
    ) -> Vec<Self> {
        let draft = |(place, endpoint): (usize, &'a Endpoint)| Self {
            path: format!("endpoints[{place}]"),
            endpoint,
            resolved: resolve(endpoint),
            priority: Some(endpoint.priority),
            unread: UnreadMappings::default(),
        };
        endpoints.into_iter().enumerate().map(draft).collect()
    }

    /// The field that says where its target comes from.
    fn target_field(&self) -> &'static str {
        if self.endpoint.service().is_some() { "service" } else { "target" }
    }
}

/// What the endpoints of a profile are judged by.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The profile's method; `None` if it could not be read.
    pub routing: Option<Routing>,
    /// What the profile's probes speak.
    pub protocol: Protocol,
    /// Does the profile stand at its zone's own name?
    pub is_at_apex: bool,
    /// Are names answered by their addresses (DNS-16)?
    pub flatten: bool,
    /// The name that the profile answers for; `None` if it could not be read.
    pub own_name: Option<&'a Name>,
}

impl<'a> From<&'a Profile> for Surroundings<'a> {
    fn from(profile: &'a Profile) -> Self {
        Self {
            routing: Some(profile.routing),
            protocol: profile.monitor.protocol,
            is_at_apex: profile.relative_name == RelativeName::Apex,
            flatten: profile.flatten,
            own_name: Some(&profile.full_name),
        }
    }
}

/// Judges the endpoints of a profile. What two of them break together is noted at the later one of `drafts`. Beyond
/// the most that there may be, none is judged for itself.
pub fn validate_endpoints(
    drafts: &[EndpointDraft<'_>],
    surroundings: Surroundings<'_>,
    violations: &mut Violations,
) {
    if drafts.len() > limits::ENDPOINTS_MAX {
        violations.add(
            "endpoints",
            format!("{} are too many; a profile has at most {}", drafts.len(), limits::ENDPOINTS_MAX),
        );
    }
    let mut names = BTreeSet::new();
    let mut priorities = BTreeMap::new();
    let mut addresses = BTreeMap::new();
    let first = drafts.iter().find_map(|draft| draft.resolved.target);
    let drafts = &drafts[..drafts.len().min(limits::ENDPOINTS_MAX)];
    for draft in drafts {
        violations.within(&draft.path, |violations| {
            check_name(draft, &mut names, violations);
            check_target(draft, first, surroundings, &mut addresses, violations);
            check_kind(draft, surroundings.is_at_apex, violations);
            check_priority(draft, &mut priorities, violations);
            let weight = u64::from(draft.endpoint.effective_weight());
            violations.range("weight", weight, 1, limits::WEIGHT_MAX.into());
            check_headers(&draft.endpoint.headers, surroundings.protocol, violations);
        });
    }
    check_mappings(drafts, violations);
    if let Some(routing) = surroundings.routing {
        check_method(routing, drafts, violations);
    }
}

fn check_name<'a>(draft: &EndpointDraft<'a>, seen: &mut BTreeSet<&'a Caseless>, violations: &mut Violations) {
    let name = &draft.endpoint.name;
    check_endpoint_name("name", name.as_str(), violations);
    if !seen.insert(name) {
        violations.add("name", format!("{} is given twice", quote(name.as_str())));
    }
}

/// SET-20, SET-21 and DNS-16, as far as the text itself does not break them. `first` sets the kind for all. A profile
/// that answers with its own name answers nobody; loops that lead through others are warned about only (VAL-5).
fn check_target<'a>(
    draft: &EndpointDraft<'a>,
    first: Option<&Target>,
    surroundings: Surroundings<'_>,
    seen: &mut BTreeMap<&'a Target, &'a Caseless>,
    violations: &mut Violations,
) {
    let Some(target) = draft.resolved.target else { return };
    let field = draft.target_field();
    if let (Target::Name(name), Some(own)) = (target, surroundings.own_name)
        && name == own
    {
        let endpoint = &draft.endpoint.name;
        let rule = format!("'{name}' is the profile's own name: '{endpoint}' would lead back to it for ever");
        violations.add(field, rule);
    }
    if surroundings.is_at_apex && !surroundings.flatten && !target.is_address() {
        violations.add(
            field,
            format!(
                "'{target}' is a name: at the zone's apex only addresses can stand beside SOA and NS; 'flatten' would \
                 have it answered by its addresses"
            ),
        );
    }
    if first.is_some_and(|first| first.is_address() != target.is_address()) {
        let (this, others) =
            if target.is_address() { ("an address", "names") } else { ("a name", "addresses") };
        violations.add(
            field,
            format!("'{target}' is {this}, but others are {others}: a profile has one or the other"),
        );
    }
    if !target.is_address() {
        return;
    }
    if let Some(other) = seen.insert(target, &draft.endpoint.name) {
        violations.add(field, format!("{target} is the address of '{other}' already"));
    }
}

/// What only some kinds of endpoint may have (SET-14, SET-18, SET-19, DNS-16).
fn check_kind(draft: &EndpointDraft<'_>, is_at_apex: bool, violations: &mut Violations) {
    let endpoint = draft.endpoint;
    match &endpoint.kind {
        EndpointKind::External(_) => {}
        EndpointKind::Service(_) if endpoint.location.is_some() => {
            violations.add("location", "a service endpoint lives where its service does; set it there");
        }
        EndpointKind::Service(_) => {}
        EndpointKind::Nested(child) => {
            check_minima(child, violations);
            if endpoint.always_serve {
                violations.add("always_serve", "is not for nested endpoints: they follow their child");
            }
            if is_at_apex {
                violations.add(
                    "nested",
                    format!(
                        "'{}' may come to answer with a name: at the zone's apex only addresses can stand beside \
                         SOA and NS",
                        child.profile
                    ),
                );
            }
        }
    }
}

/// SET-19. A minimum that the child cannot reach is allowed, and warned about.
fn check_minima(child: &Child, violations: &mut Violations) {
    if child.effective_endpoints_min() == 0 {
        violations.add("endpoints_min", "0 is too low; at least 1 endpoint of the child must be available");
    }
}

/// SET-12: in range, and no two alike.
fn check_priority<'a>(
    draft: &EndpointDraft<'a>,
    seen: &mut BTreeMap<u32, &'a Caseless>,
    violations: &mut Violations,
) {
    let Some(priority) = draft.priority else { return };
    violations.range("priority", priority.into(), 1, limits::PRIORITY_MAX.into());
    if let Some(other) = seen.insert(priority, &draft.endpoint.name) {
        violations.add("priority", format!("{priority} is the priority of '{other}' already"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EndpointId, Revision, parse_target};

    fn endpoint(name: &str, target: &str, priority: u32) -> Endpoint {
        Endpoint {
            id: EndpointId(1),
            name: Caseless::new(name),
            kind: EndpointKind::External(parse_target(target).unwrap()),
            enabled: true,
            priority,
            weight: None,
            location: None,
            geo: Vec::new(),
            subnets: Vec::new(),
            always_serve: false,
            headers: Vec::new(),
            revision: Revision(0),
            check_revision: Revision(0),
        }
    }

    #[test]
    fn val_1_nothing_is_said_of_what_could_not_be_read() {
        let [first, second] = [endpoint("e1", "192.0.2.1", 1), endpoint("e2", "a.example", 1)];
        let unread = |path: &str, endpoint| EndpointDraft {
            path: path.into(),
            endpoint,
            resolved: Resolved::default(),
            priority: None,
            unread: UnreadMappings::default(),
        };
        let drafts = [unread("endpoints[0]", &first), unread("endpoints[1]", &second)];
        let surroundings = Surroundings {
            routing: None,
            protocol: Protocol::Http,
            is_at_apex: true,
            flatten: false,
            own_name: None,
        };
        let mut violations = Violations::new();
        validate_endpoints(&drafts, surroundings, &mut violations);
        assert!(violations.is_empty());
    }
}
