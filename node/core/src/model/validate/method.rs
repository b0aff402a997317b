//! What a routing method asks of the endpoints: judged against the method being switched to (SET-14 … SET-16, SET-22).

use super::endpoint::EndpointDraft;
use crate::model::{EndpointKind, Routing, Violations};

/// Judges endpoints by what `routing` needs to choose among them.
///
/// | method | each endpoint |
/// |---|---|
/// | priority, weighted | anything |
/// | performance | has a location; a service endpoint its service's |
/// | geographic | has a code |
/// | subnet | has subnets, but for one, the fallback |
/// | multivalue | is external, with an address |
pub(super) fn check_method(routing: Routing, drafts: &[EndpointDraft<'_>], violations: &mut Violations) {
    match routing {
        Routing::Priority | Routing::Weighted => {}
        Routing::Performance => each(drafts, violations, check_location),
        Routing::Geographic => each(drafts, violations, check_code),
        Routing::Multivalue => each(drafts, violations, check_address),
        Routing::Subnet => check_fallback(drafts, violations),
    }
}

fn each(
    drafts: &[EndpointDraft<'_>],
    violations: &mut Violations,
    check: impl Fn(&EndpointDraft<'_>, &mut Violations),
) {
    for draft in drafts {
        violations.within(&draft.path, |violations| check(draft, violations));
    }
}

/// SET-14.
fn check_location(draft: &EndpointDraft<'_>, violations: &mut Violations) {
    if draft.resolved.location.is_some() {
        return;
    }
    match draft.endpoint.service() {
        // A service that is not there was told of already.
        Some(_) if draft.resolved.target.is_none() => {}
        None => violations.add("location", "is required by the method performance: a region's name"),
        Some(service) => violations.add(
            "service",
            format!("the service '{service}' has no location, which the method performance requires"),
        ),
    }
}

/// SET-15.
fn check_code(draft: &EndpointDraft<'_>, violations: &mut Violations) {
    if draft.endpoint.geo.is_empty() && !draft.unread.geo {
        violations
            .add("geo", "is required by the method geographic: at least one code, as in WORLD or GEO-EU");
    }
}

/// SET-16: an endpoint without subnets is the fallback, and there is one at most.
fn check_fallback(drafts: &[EndpointDraft<'_>], violations: &mut Violations) {
    let is_without = |draft: &&EndpointDraft<'_>| draft.endpoint.subnets.is_empty() && !draft.unread.subnets;
    let mut without = drafts.iter().filter(is_without);
    let Some(fallback) = without.next() else { return };
    for draft in without {
        violations.within(&draft.path, |violations| {
            let name = &fallback.endpoint.name;
            violations.add(
                "subnets",
                format!(
                    "is empty, but '{name}' is the fallback already; the method subnet takes one at most"
                ),
            );
        });
    }
}

/// SET-22.
fn check_address(draft: &EndpointDraft<'_>, violations: &mut Violations) {
    match (&draft.endpoint.kind, draft.resolved.target) {
        (EndpointKind::Nested(child), _) => violations.add(
            "nested",
            format!(
                "'{}' is a profile: the method multivalue takes external endpoints with addresses only",
                child.profile
            ),
        ),
        (EndpointKind::Service(service), _) => violations.add(
            "service",
            format!(
                "'{service}' is a service: the method multivalue takes external endpoints with addresses only"
            ),
        ),
        (EndpointKind::External(_), Some(target)) if !target.is_address() => violations.add(
            "target",
            format!(
                "'{target}' is a name: the method multivalue takes external endpoints with addresses only"
            ),
        ),
        (EndpointKind::External(_), _) => {}
    }
}
