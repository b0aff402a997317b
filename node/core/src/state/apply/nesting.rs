//! Profiles above and below each other: no loops, and no more than ten nestings one below the other (SET-23).
//!
//! Whoever walks from profile to profile walks level by level, each level a set, so that a profile that is reached on
//! many ways is looked at once for each level and not once for each way.

use std::collections::BTreeMap;

use crate::model::{Profile, ProfileId, Violations, profile_limits as limits};
use crate::state::State;

/// Each profile of a level, and one by which it was reached.
type Level = BTreeMap<ProfileId, ProfileId>;

/// Notes why `parent`, which may be about to be made, cannot nest `child` at `field`.
pub(super) fn check(state: &State, parent: &Profile, child: &Profile, violations: &mut Violations) {
    const FIELD: &str = "nested";
    let below = levels(child.id, |id| children(state, id));
    if let Some(way) = way_to(parent.id, child.id, &below) {
        let named = way.iter().map(|id| match state.profiles.get(id) {
            Some(profile) => profile.name.to_string(),
            None => parent.name.to_string(),
        });
        let way: Vec<String> = std::iter::once(parent.name.to_string()).chain(named).collect();
        violations.add(FIELD, format!("'{}' would make a loop: {}", child.name, way.join(" → ")));
        return;
    }
    let above = levels(parent.id, |id| state.references.parents(id).collect());
    let depth = above.len() + 1 + below.len();
    if depth > limits::NESTING_MAX {
        violations.add(
            FIELD,
            format!(
                "'{}' would make {depth} nestings one below the other; at most {} are allowed",
                child.name,
                limits::NESTING_MAX
            ),
        );
    }
}

fn children(state: &State, id: ProfileId) -> Vec<ProfileId> {
    let profile = state.profiles.get(&id);
    let names = profile.into_iter().flat_map(|profile| profile.children());
    names.filter_map(|name| state.profile_ids.get(name)).copied().collect()
}

/// The levels that `next` leads to from `start`, without it.
fn levels(start: ProfileId, next: impl Fn(ProfileId) -> Vec<ProfileId>) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let mut ids = vec![start];
    while levels.len() <= limits::NESTING_MAX {
        let level: Level =
            ids.iter().flat_map(|id| next(*id).into_iter().map(|found| (found, *id))).collect();
        if level.is_empty() {
            break;
        }
        ids = level.keys().copied().collect();
        levels.push(level);
    }
    levels
}

/// The way from `start` to `end` through `levels`, both included, if there is one.
fn way_to(end: ProfileId, start: ProfileId, levels: &[Level]) -> Option<Vec<ProfileId>> {
    if end == start {
        return Some(vec![end]);
    }
    let depth = levels.iter().position(|level| level.contains_key(&end))?;
    let mut way = vec![end];
    for level in levels[..=depth].iter().rev() {
        way.push(level[way.last().unwrap_or(&end)]);
    }
    way.reverse();
    Some(way)
}
