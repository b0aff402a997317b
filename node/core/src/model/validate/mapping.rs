//! Which clients the endpoints of a profile are for: no client may be two endpoints' (SET-15, SET-16).

use std::collections::BTreeMap;

use super::endpoint::EndpointDraft;
use crate::model::{Caseless, Place, Span, Violations};

/// Judges codes and subnets under every method: what is kept must be good when the method comes that uses it.
pub(super) fn check_mappings(drafts: &[EndpointDraft<'_>], violations: &mut Violations) {
    let mut codes: BTreeMap<Place, &Caseless> = BTreeMap::new();
    for draft in drafts {
        violations.within(&draft.path, |violations| check_codes(draft, &mut codes, violations));
    }
    check_subnets(drafts, violations);
}

fn check_codes<'a>(
    draft: &EndpointDraft<'a>,
    seen: &mut BTreeMap<Place, &'a Caseless>,
    violations: &mut Violations,
) {
    let endpoint = draft.endpoint;
    for (place, code) in endpoint.geo.iter().enumerate() {
        let field = format!("geo[{place}]");
        match seen.insert(*code, &endpoint.name) {
            Some(other) if *other == endpoint.name => {
                violations.add(&field, format!("{code} is given twice"))
            }
            Some(other) => violations.add(&field, format!("{code} is a code of '{other}' already")),
            None => {}
        }
    }
}

/// Looks at the subnets of all endpoints in their order: whoever begins before the one before has ended, overlaps.
fn check_subnets(drafts: &[EndpointDraft<'_>], violations: &mut Violations) {
    let mut subnets: Vec<(Span, usize)> = Vec::new();
    for (number, draft) in drafts.iter().enumerate() {
        subnets.extend(draft.endpoint.subnets.iter().map(|span| (*span, number)));
    }
    subnets.sort_unstable();
    let mut furthest: Option<(Span, usize)> = None;
    for subnet in subnets {
        if let Some(before) = furthest.filter(|before| before.0.overlaps(&subnet.0)) {
            // Told of at the later endpoint.
            let (later, earlier) = if before.1 > subnet.1 { (before, subnet) } else { (subnet, before) };
            violations.within(&drafts[later.1].path, |violations| {
                let other = &drafts[earlier.1].endpoint.name;
                violations.add("subnets", format!("{} overlaps {} of '{other}'", later.0, earlier.0));
            });
        }
        let reaches = |span: &Span| (span.family(), span.last());
        if furthest.is_none_or(|furthest| reaches(&furthest.0) < reaches(&subnet.0)) {
            furthest = Some(subnet);
        }
    }
}
