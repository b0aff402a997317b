//! What holds after every command, whatever it was.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::health::{ByFamily, EndpointStatus, judge, profile_status, regional_verdicts};
use crate::model::{
    Caseless, Endpoint, Profile, ProfileId, RecordType, Timestamp, Violations, validate_profile,
    validate_record_set, validate_zone,
};
use crate::state::{Action, Applied, AuditTrail, Brake, Change, Command, EventCause, State, Subject};

/// What one command may have done to the state.
pub(super) fn check_step(before: &State, command: &Command, applied: &Applied) {
    let after = &applied.state;
    let is_retry = command.id.is_some_and(|id| before.remembered.contains_key(&id));
    let has_changed = after.counter != before.counter;
    match &applied.reply {
        Ok(_) if has_changed => {
            assert_eq!(after.counter.0, before.counter.0 + 1, "the counter rises by one");
        }
        Ok(_) => assert!(applied.changes.is_empty(), "no change without the counter"),
        Err(_) => assert!(!has_changed && applied.changes.is_empty(), "a refusal changes nothing"),
    }
    if let Ok(reply) = &applied.reply
        && !is_retry
    {
        assert_eq!(reply.revision, after.counter);
    }
    if !has_changed {
        let mut unmarked = after.clone();
        unmarked.remembered = before.remembered.clone();
        unmarked.remembered_order = before.remembered_order.clone();
        unmarked.audit = before.audit.clone();
        assert_eq!(unmarked, *before, "all or nothing");
    }
    let told = u64::from(command.note.is_some() && !is_retry);
    let last = |state: &State| state.audit.entries.get_max().map_or(0, |(number, _)| *number);
    assert_eq!(last(after), last(before) + told, "SEC-5: one entry for what is noted, whatever comes of it");
    if let Some(id) = command.id {
        assert_eq!(after.remembered[&id].reply, applied.reply);
    }
    for agent in after.agents.values() {
        if before.agents.get(&agent.name).is_some_and(|earlier| earlier.region != agent.region) {
            let has_count = after.health.values().any(|health| health.tallies.contains_key(&agent.name));
            assert!(!has_count, "what was counted from another region is gone");
        }
    }
    check_events(before, applied);
    if !matches!(command.action, Action::RecordOutcomes { .. }) {
        check_one_event_each(applied);
    }
    check_history(before, after);
}

/// SEC-5: each entry holds the hash of the one before it.
pub(super) fn check_trail(state: &State) {
    assert_eq!(AuditTrail::check(state.audit.entries.values().map(AsRef::as_ref)), Ok(()));
}

/// STA-12: one step is one event for each status that changed. Only outcomes, which count one after the other, may change
/// one to and fro.
fn check_one_event_each(applied: &Applied) {
    let mut seen = Vec::new();
    for change in &applied.changes {
        let Change::Event(id) = change else { continue };
        let event = &applied.state.events[id];
        let subject = (event.profile, event.subject.clone());
        assert!(!seen.contains(&subject), "two events of {subject:?} in {:?}", applied.changes);
        seen.push(subject);
    }
}

/// RTE-15: what the step replaced leads back to the state before it, in everything that answers are made of.
fn check_history(before: &State, after: &State) {
    let newest = after.history.iter().last().filter(|(counter, _)| *counter > before.counter);
    let earlier = match newest {
        Some((_, past)) => after.at(Timestamp(past.at.0 - 1), past.index).expect("it is kept").0,
        None => after.clone(),
    };
    assert_eq!(earlier.zones, before.zones);
    assert_eq!(earlier.profiles, before.profiles);
    assert_eq!(earlier.profile_ids, before.profile_ids);
    assert_eq!(earlier.owners, before.owners);
    assert!(earlier.health.statuses().eq(before.health.statuses()));
    assert_eq!(earlier.records, before.records);
    assert_eq!(earlier.services, before.services);
    assert_eq!(earlier.references, before.references);
    assert_eq!(earlier.regions, before.regions);
    assert_eq!(earlier.latency.rows, before.latency.rows);
    assert_eq!(earlier.geography, before.geography);
    assert_eq!(earlier.overrides, before.overrides);
    assert!(earlier.health.keys().eq(before.health.keys()));
    for (endpoint, health) in before.health.iter() {
        let was = &earlier.health[endpoint];
        assert_eq!((was.status, was.stale_since), (health.status, health.stale_since));
        assert_eq!(was.flattened, health.flattened);
        let verdicts = |state: &State, health| -> Vec<_> {
            let regions = state.regional_verdicts(health);
            regions.into_iter().map(|region| (region.region, region.verdict)).collect()
        };
        assert_eq!(verdicts(&earlier, was), verdicts(before, health));
    }
}

/// Every event of the step is noted as a change, is numbered in order, and tells of a change that was one.
fn check_events(before: &State, applied: &Applied) {
    let noted: Vec<_> = applied
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::Event(id) => Some(*id),
            _ => None,
        })
        .collect();
    let recorded: Vec<_> =
        applied.state.events.keys().filter(|id| !before.events.contains_key(*id)).copied().collect();
    assert_eq!(noted, recorded);
    for (ordinal, id) in noted.iter().enumerate() {
        let event = &applied.state.events[id];
        assert_eq!((id.counter, id.ordinal as usize), (applied.state.counter, ordinal));
        let is_told_anyway = matches!(event.cause, EventCause::Override { .. });
        assert!(event.from != Some(event.to) || is_told_anyway);
    }
    let unique: BTreeSet<String> = applied.changes.iter().map(|change| format!("{change:?}")).collect();
    assert_eq!(unique.len(), applied.changes.len(), "each change is noted once");
}

/// What holds in every state.
pub(super) fn check_state(state: &State) {
    check_indexes(state);
    check_health(state);
    check_records(state);
    let mut violations = Violations::new();
    let resolve = |endpoint| state.resolve(endpoint);
    state.profiles.values().for_each(|profile| validate_profile(profile, resolve, &mut violations));
    state.zones.values().for_each(|zone| validate_zone(zone, &mut violations));
    for set in state.records.values() {
        validate_record_set(set.record_type, set.ttl, &set.data, &mut violations);
    }
    assert_eq!(violations.into_vec(), [], "what is stored is valid");
    assert!(state.events.len() <= State::EVENTS_MAX);
    assert!(state.remembered.len() <= State::REMEMBERED_MAX);
    let orders: Vec<_> = state.remembered_order.iter().map(|(order, id)| (*order, *id)).collect();
    let mut remembered: Vec<_> = state.remembered.iter().map(|(id, kept)| (kept.order, *id)).collect();
    remembered.sort();
    assert_eq!(orders, remembered);
}

fn check_indexes(state: &State) {
    assert_eq!(state.profile_ids.len(), state.profiles.len());
    assert_eq!(state.owners.len(), state.profiles.len());
    assert_eq!(state.health.statuses().count(), state.profiles.len());
    for (id, profile) in &state.profiles {
        let beside = state.health.profile(*id).expect("each profile is beside its endpoints' health");
        assert!(Arc::ptr_eq(profile, beside));
        assert_eq!(profile.id, *id);
        assert_eq!(state.profile_ids.get(&profile.name), Some(id));
        assert_eq!(state.owners.get(&profile.full_name.tree_key()), Some(id));
        let closest = state.enclosing_zone(&profile.full_name).expect("a profile's zone exists");
        assert_eq!(closest.name, profile.zone);
        assert!(profile.revision <= state.counter && profile.id.0 < state.next_id);
        for endpoint in &profile.endpoints {
            assert!(endpoint.revision <= profile.revision && endpoint.id.0 < state.next_id);
            assert!(endpoint.location.iter().all(|region| state.region(region).is_some()));
        }
    }
    let mut rebuilt = state.clone();
    rebuilt.rebuild_references().expect("no profile names what is not there");
    assert_eq!(rebuilt.references, state.references);
    for agent in state.agents.values().filter(|agent| !agent.lost) {
        assert!(state.region(&agent.region).is_some(), "{agent:?}");
    }
}

/// DNS-17: every name is a profile's or has static records, an alias stands alone, and DS at nested zones' names in the
/// zones around them; a name server has its addresses from its zone alone. DNS-2: no zone is older than its records.
fn check_records(state: &State) {
    for (key, set) in &state.records {
        assert_eq!((key, &set.relative_name.within(&set.zone)), (&set.key(), &Ok(set.full_name.clone())));
        let zone = &state.zones[&set.zone];
        assert!(set.revision <= zone.revision && zone.revision <= state.counter, "{set:?}");
        let answering = state.answering_zone(&set.full_name, set.record_type);
        assert_eq!(answering.map(|zone| &zone.name), Some(&set.zone), "{set:?}");
        if set.record_type == RecordType::DS {
            assert!(state.zones.contains_key(&set.full_name) && set.full_name != set.zone, "{set:?}");
            continue;
        }
        assert!(!state.owners.contains_key(&key.0), "{set:?}");
        let is_alias = set.record_type == RecordType::CNAME;
        assert!(!is_alias || state.record_sets(&set.full_name).count() == 1 && set.full_name != set.zone);
        let says_where = is_alias || matches!(set.record_type, RecordType::A | RecordType::AAAA);
        assert!(!says_where || state.addressing_zone(&set.full_name).is_none(), "{set:?}");
    }
}

/// Every endpoint has one health entry, and every status is what the truth tables say of the counts.
fn check_health(state: &State) {
    let endpoints = state.profiles.values().map(|profile| profile.endpoints.len()).sum::<usize>();
    assert_eq!(state.health.len(), endpoints);
    assert!(
        state.overrides.keys().all(|id| state.health.get(id).is_some()),
        "STA-13: gone with its endpoint"
    );
    for profile in state.profiles.values() {
        let mut statuses = Vec::new();
        for endpoint in &profile.endpoints {
            let health = &state.health[&endpoint.id];
            assert_eq!(health.profile, profile.id);
            if let Some(flattened) = &health.flattened {
                assert_eq!(state.name_to_flatten(profile, endpoint), Some(flattened.name()), "DNS-16");
            }
            let regions = regional_verdicts(health.tallies.iter().map(|(name, tally)| {
                let agent = &state.agents[name];
                assert!(!agent.lost && !agent.is_blind, "neither a lost agent nor a blind one has a count");
                (name, &agent.region, tally)
            }));
            match judge(&regions) {
                Some(judgement) => {
                    assert_eq!((health.judgement, health.stale_since), (Some(judgement), None));
                }
                None => assert_eq!(health.judgement.is_some(), health.stale_since.is_some()),
            }
            if !state.is_probed(profile, endpoint) {
                assert!(health.tallies.is_empty() && health.judgement.is_none());
            }
            let found = state.standing(profile, endpoint, health.judgement);
            let (status, by_family) = in_force(state, profile, endpoint, found);
            assert_eq!((health.status, health.by_family), (status, by_family));
            statuses.push(status);
        }
        let status = profile_status(profile.enabled, statuses);
        assert_eq!(state.health.status(profile.id).unwrap().status, status);
    }
    state.brakes.iter().for_each(|(id, brake)| check_brake(state, *id, brake));
    check_histories(state);
}

/// FAIL-2: what is held stands in place of what was found, which is Degraded.
fn in_force(
    state: &State,
    profile: &Profile,
    endpoint: &Endpoint,
    found: (EndpointStatus, Option<ByFamily>),
) -> (EndpointStatus, Option<ByFamily>) {
    let Some(held) = state.held(profile.id, endpoint.id) else { return found };
    assert_eq!(found.0, EndpointStatus::Degraded, "FAIL-2: whoever is not found Degraded is not held");
    assert!(matches!(held.status, EndpointStatus::Online | EndpointStatus::CheckingEndpoint));
    held.in_place_of(found.1)
}

/// FAIL-2: nobody is held for whom there is room, nobody counts whom probing could not take out, and nothing is kept for nothing.
fn check_brake(state: &State, id: ProfileId, brake: &Brake) {
    assert!(!brake.is_empty());
    let profile = &state.profiles[&id];
    let room = state.removal_room(profile).expect("a profile without a brake keeps nothing");
    assert!(brake.held.is_empty() || brake.left.len() >= room, "there is room: {brake:?}");
    for endpoint in brake.left.keys().chain(brake.held.keys()) {
        assert!(profile.endpoint_by_id(*endpoint).is_some(), "gone with its endpoint");
        assert!(state.is_removable(*endpoint, state.health[endpoint].status), "{brake:?}");
    }
    assert!(brake.left.keys().all(|endpoint| !brake.held.contains_key(endpoint)));
    assert!(brake.left.values().all(|left| *left <= state.counter));
}

/// The events of one subject form a chain that ends at its present status, as far as they are kept.
fn check_histories(state: &State) {
    let mut last = std::collections::BTreeMap::new();
    for event in state.events.values() {
        let subject = match &event.subject {
            Subject::Endpoint { id, .. } => Some(*id),
            Subject::Profile => None,
        };
        if let Some(previous) = last.insert((event.profile, subject), event.to) {
            assert_eq!(event.from, Some(previous), "{event:?}");
        }
    }
    for ((profile, subject), to) in last {
        let present = match subject {
            Some(id) => state.health.get(&id).map(|health| health.status.as_str()),
            None => state.health.status(profile).map(|health| health.status.as_str()),
        };
        assert!(present.is_none_or(|present| present == to.as_str()));
    }
}

/// The agent's verdict and failures on an endpoint, as text.
pub(super) fn tally(state: &State, endpoint: crate::model::EndpointId, agent: &str) -> Option<String> {
    let tally = state.health[&endpoint].tallies.get(&Caseless::new(agent))?;
    let verdict = crate::health::Verdict::as_str(tally.verdict);
    Some(format!("{verdict} {} {}", tally.failures, tally.successes))
}
