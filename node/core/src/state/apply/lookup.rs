//! Finding what a command names, or saying what was probably meant.

use std::sync::Arc;

use imbl::OrdMap;

use crate::geo::CloudRegion;
use crate::model::{
    Agent, Caseless, Endpoint, EndpointId, EndpointPattern, Name, Profile, RecordSet, RecordType, Region,
    RelativeName, Revision, Service, Zone, nearest, quote, shorten,
};
use crate::state::{KnownRegion, Rejection, State};

/// How many names before and behind the wrong one, in their order, are looked at for a hint: likeness begins at the
/// first letters, and a slip of the pen must not cost a look at every profile.
const HINT_REACH: usize = 500;

/// The most objects that a refusal names.
const NAMED_MAX: usize = 10;

pub(super) fn zone(state: &State, text: &str) -> Result<Arc<Zone>, Rejection> {
    let name = Name::parse(text);
    if let Some(zone) = name.as_ref().ok().and_then(|name| state.zones.get(name)) {
        return Ok(zone.clone());
    }
    let near: Vec<String> = match &name {
        Ok(name) => near_keys(&state.zones, name).map(ToString::to_string).collect(),
        Err(_) => state.zones.keys().take(2 * HINT_REACH).map(ToString::to_string).collect(),
    };
    let hint = nearest(text, near.iter().map(String::as_str)).map(str::to_owned);
    Err(Rejection::NotFound { noun: "zone", name: shorten(text), hint })
}

pub(super) fn profile(state: &State, name: &str) -> Result<Arc<Profile>, Rejection> {
    let key = Caseless::new(name);
    state.profile(&key).cloned().ok_or_else(|| missing("profile", &key, &state.profile_ids))
}

pub(super) fn endpoint<'a>(profile: &'a Profile, name: &str) -> Result<(usize, &'a Endpoint), Rejection> {
    profile.endpoint(&Caseless::new(name)).ok_or_else(|| {
        let names = profile.endpoints.iter().map(|endpoint| endpoint.name.as_str());
        let within = |name: &str| format!("{}/{}", profile.name, shorten(name));
        let hint = nearest(name, names).map(within);
        Rejection::NotFound { noun: "endpoint", name: within(name), hint }
    })
}

/// The first `most` endpoints that a pattern stands for, each with its profile; one at least (STA-13).
pub(super) fn matching(
    state: &State,
    pattern: &EndpointPattern,
    most: usize,
) -> Result<Vec<(Arc<Profile>, EndpointId)>, Rejection> {
    let EndpointPattern { profile: wanted, endpoint } = pattern;
    let profiles: Vec<Arc<Profile>> = match wanted.name() {
        Some(name) => vec![profile(state, name.as_str())?],
        None => state.profiles.values().filter(|profile| wanted.matches(&profile.name)).cloned().collect(),
    };
    let all =
        profiles.iter().flat_map(|profile| profile.endpoints.iter().map(move |endpoint| (profile, endpoint)));
    let matched = all.filter(|(_, candidate)| endpoint.matches(&candidate.name));
    let found: Vec<_> =
        matched.map(|(profile, endpoint)| (profile.clone(), endpoint.id)).take(most).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    if profiles.is_empty() {
        let letters = wanted.letters();
        return Err(Rejection::NotFound {
            noun: "profile",
            name: shorten(&wanted.to_string()),
            hint: hint(&Caseless::new(&letters), &state.profile_ids),
        });
    }
    let candidates = profiles
        .iter()
        .flat_map(|profile| profile.endpoints.iter().map(|endpoint| (&profile.name, endpoint.name.as_str())));
    let candidates: Vec<_> = candidates.take(2 * HINT_REACH).collect();
    let near = nearest(&endpoint.letters(), candidates.iter().map(|(_, name)| *name));
    let near = near.and_then(|near| candidates.iter().find(|(_, name)| *name == near));
    Err(Rejection::NotFound {
        noun: "endpoint",
        name: shorten(&format!("{wanted}/{endpoint}")),
        hint: near.map(|(profile, endpoint)| format!("{profile}/{endpoint}")),
    })
}

pub(super) fn record_set(
    state: &State,
    zone: &Zone,
    relative_name: &str,
    record_type: RecordType,
) -> Result<Arc<RecordSet>, Rejection> {
    let full = RelativeName::parse(relative_name).and_then(|relative| relative.within(&zone.name));
    let key = full.as_ref().ok().map(|full| (full.tree_key(), record_type));
    let found = key.as_ref().and_then(|key| state.records.get(key)).filter(|set| set.zone == zone.name);
    found.cloned().ok_or_else(|| {
        let name = full.map_or_else(|_| shorten(relative_name), |full| full.to_string());
        let name = format!("{name} {record_type}");
        let near = key.iter().flat_map(|key| near_keys(&state.records, key));
        let near = near.filter_map(|key| state.records.get(key)).map(|set| set.title());
        let near: Vec<String> = near.collect();
        let hint = nearest(&name, near.iter().map(String::as_str)).map(str::to_owned);
        Rejection::NotFound { noun: "record set", name, hint }
    })
}

pub(super) fn service(state: &State, name: &str) -> Result<Arc<Service>, Rejection> {
    let key = Caseless::new(name);
    state.services.get(&key).cloned().ok_or_else(|| missing("service", &key, &state.services))
}

/// A region that the operator has declared.
pub(super) fn own_region(state: &State, name: &str) -> Result<Arc<Region>, Rejection> {
    let key = Caseless::new(name);
    state.regions.get(&key).cloned().ok_or_else(|| missing("region", &key, &state.regions))
}

/// A region that may be named: declared, or a cloud's.
pub(super) fn region(state: &State, name: &str) -> Result<KnownRegion, Rejection> {
    let key = Caseless::new(name);
    state.region(&key).ok_or_else(|| Rejection::NotFound {
        noun: "region",
        name: shorten(name),
        hint: region_hint(state, &key),
    })
}

/// The region that a wrong name was probably meant for.
pub(super) fn region_hint(state: &State, name: &Caseless) -> Option<String> {
    let own = near_keys(&state.regions, name).map(Caseless::as_str);
    nearest(name.as_str(), own.chain(CloudRegion::all().map(|region| region.name()))).map(str::to_owned)
}

pub(super) fn agent(state: &State, name: &str) -> Result<Arc<Agent>, Rejection> {
    let key = Caseless::new(name);
    state.agents.get(&key).cloned().ok_or_else(|| missing("agent", &key, &state.agents))
}

/// OBJ-8: refused unless the object is at the revision that the author saw, if it names one.
pub(super) fn check_revision(
    noun: &'static str,
    name: &(impl ToString + ?Sized),
    current: Revision,
    expected: Option<Revision>,
) -> Result<(), Rejection> {
    match expected {
        Some(expected) if expected != current => {
            Err(Rejection::RevisionMismatch { noun, name: name.to_string(), expected, current })
        }
        _ => Ok(()),
    }
}

/// The first [`NAMED_MAX`] of `names`, and how many there are beyond.
pub(super) fn name_some(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names = names.into_iter();
    let mut named: Vec<String> = names.by_ref().take(NAMED_MAX).collect();
    match names.count() {
        0 => {}
        more => named.push(format!("and {more} more")),
    }
    named
}

/// The name that a missing one was probably meant to be, among its neighbours in the map.
fn hint<V: Clone>(name: &Caseless, known: &OrdMap<Caseless, V>) -> Option<String> {
    nearest(name.as_str(), near_keys(known, name).map(Caseless::as_str)).map(str::to_owned)
}

/// What is wrong with a field that names something that is not there.
pub(super) fn no_such<V: Clone>(noun: &str, name: &Caseless, known: &OrdMap<Caseless, V>) -> String {
    there_is_no(noun, name, hint(name, known))
}

/// The same for a region, which may be a cloud's.
pub(super) fn no_such_region(state: &State, name: &Caseless) -> String {
    there_is_no("region", name, region_hint(state, name))
}

fn there_is_no(noun: &str, name: &Caseless, hint: Option<String>) -> String {
    let meant = hint.map(|near| format!("; did you mean '{near}'?"));
    format!("there is no {noun} {}{}", quote(name.as_str()), meant.unwrap_or_default())
}

fn missing<V: Clone>(noun: &'static str, name: &Caseless, known: &OrdMap<Caseless, V>) -> Rejection {
    Rejection::NotFound { noun, name: shorten(name.as_str()), hint: hint(name, known) }
}

fn near_keys<'a, K: Ord + Clone, V: Clone>(map: &'a OrdMap<K, V>, key: &K) -> impl Iterator<Item = &'a K> {
    let before = map.range(..key.clone()).rev().take(HINT_REACH);
    let behind = map.range(key.clone()..).take(HINT_REACH);
    before.chain(behind).map(|(key, _)| key)
}
