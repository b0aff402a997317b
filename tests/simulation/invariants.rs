//! What must hold, whatever happens: one function each. Each panics with what it saw.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use waymark_core::answer::{Query, Rcode, RecordType, decide};
use waymark_core::health::{EndpointStatus, ProfileStatus, Verdict};
use waymark_core::model::{Endpoint, LogIndex, OverrideKind, Profile, ProfileId, Routing, Target};
use waymark_core::routing::NoTrace;
use waymark_core::state::{
    Action, Applied, Change, Command, EventCause, EventId, EventStatus, State, Subject, View,
};
use waymark_proto::convert::{StateBuilder, snapshot_header, snapshot_records};

use crate::naive::Naive;
use crate::world::Member;

/// OBJ-8, VAL-1: what is refused leaves everything as it was but for the memory of its mark, and what is accepted raises the
/// counter by one at most.
pub(crate) fn an_entry_is_all_or_nothing(before: &State, applied: &Applied, is_retry: bool) {
    let after = &applied.state;
    let rise = after.counter.0 - before.counter.0;
    assert!(rise <= 1, "the counter rose by {rise}");
    if applied.reply.is_err() || is_retry || rise == 0 {
        assert!(applied.changes.is_empty(), "{:?} of {:?}", applied.changes, applied.reply);
        let remembering = State {
            remembered: after.remembered.clone(),
            remembered_order: after.remembered_order.clone(),
            audit: after.audit.clone(),
            ..before.clone()
        };
        assert!(rise == 0 && remembering == *after, "{:?} changed the state", applied.reply);
    }
}

/// CLI-4: a mark that is known is answered as it was the first time.
pub(crate) fn a_retry_is_answered_as_before(before: &State, applied: &Applied, command: &Command) {
    if let Some(known) = command.id.and_then(|id| before.remembered.get(&id)) {
        assert_eq!(known.reply, applied.reply);
    }
}

/// SEC-5: what has a note makes one entry, whatever comes of it, and a retry and what has none make none. Is there one?
pub(crate) fn the_trail_tells_of_what_is_noted(before: &State, applied: &Applied, command: &Command) -> bool {
    let is_retry = command.id.is_some_and(|id| before.remembered.contains_key(&id));
    let is_told = command.note.is_some() && !is_retry;
    let last = |state: &State| state.audit.entries.get_max().map_or(0, |(number, _)| *number);
    assert_eq!(last(&applied.state), last(before) + u64::from(is_told), "{:?}", applied.reply);
    is_told
}

/// STA-6, PRB-14: what comes from an agent that is unknown, lost, blind or of another run changes nothing.
pub(crate) fn strangers_change_nothing(before: &State, applied: &Applied, action: &Action) {
    let Action::RecordOutcomes { agent, run, .. } = action else { return };
    let is_known =
        before.agents.get(agent).is_some_and(|known| !known.lost && !known.is_blind && known.run == *run);
    assert!(is_known || applied.changes.is_empty(), "{agent} is a stranger: {:?}", applied.changes);
}

/// STA-12: the events of one subject follow one another, each from where the one before led, one for each change; a step makes one at
/// most, and only a report may have several steps in it, one for each outcome.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    last: Option<EventId>,
    to: BTreeMap<(ProfileId, Option<u64>), EventStatus>,
}

impl Chains {
    /// Follows the events that `after` has beyond `before`; how many they are.
    pub(crate) fn follow(&mut self, before: &State, after: &State, action: &Action) -> usize {
        if before.events.ptr_eq(&after.events) {
            return 0;
        }
        let mut subjects = BTreeSet::new();
        let begin = self.last.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded);
        for (id, event) in after.events.range((begin, std::ops::Bound::Unbounded)) {
            let subject = match &event.subject {
                Subject::Endpoint { id, .. } => (event.profile, Some(id.0)),
                Subject::Profile => (event.profile, None),
            };
            let is_first = subjects.insert(subject);
            let has_steps = matches!(action, Action::RecordOutcomes { .. });
            assert!(is_first || has_steps, "two events of one subject in one step: {event:?}");
            let is_override = matches!(event.cause, EventCause::Override { .. });
            assert!(is_override || event.from != Some(event.to), "an event of no change: {event:?}");
            let known = self.to.insert(subject, event.to);
            assert!(known.is_none() || known == event.from, "{known:?} is not where {event:?} begins");
            self.last = Some(*id);
        }
        subjects.len()
    }
}

/// The profiles that an entry changed, and all that stand above one of them.
pub(crate) fn touched(state: &State, changes: &[Change]) -> BTreeSet<ProfileId> {
    let mut touched: BTreeSet<ProfileId> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Profile(id) | Change::Health(id) => Some(*id),
            _ => None,
        })
        .filter(|id| state.profiles.contains_key(id))
        .collect();
    if touched.is_empty() {
        return touched;
    }
    loop {
        let is_above = |profile: &Profile| {
            let mut children = profile.children().filter_map(|child| state.profile_ids.get(child));
            children.any(|child| touched.contains(child))
        };
        let above: Vec<ProfileId> =
            state.profiles.values().filter(|profile| is_above(profile)).map(|profile| profile.id).collect();
        let before = touched.len();
        touched.extend(above);
        if touched.len() == before {
            return touched;
        }
    }
}

/// STA-1 … STA-4, STA-8 … STA-11: verdicts and statuses are those that come out when all is reckoned anew.
pub(crate) fn profile_is_as_reckoned(naive: &Naive, state: &State, id: ProfileId) {
    let profile = &state.profiles[&id];
    for endpoint in &profile.endpoints {
        let health = &state.health.get(&endpoint.id).expect("each endpoint has its health");
        for name in state.agents.keys() {
            let counted = health.tallies.get(name).and_then(|tally| tally.verdict);
            let counted = counted.map(|verdict| verdict == Verdict::Up);
            let reckoned = naive.verdict(endpoint.id, name);
            assert_eq!(counted, reckoned, "what {name} thinks of {}/{}", profile.name, endpoint.name);
        }
        let reckoned = endpoint_status(naive, state, profile, endpoint);
        assert_eq!(health.status, reckoned, "{}/{}", profile.name, endpoint.name);
    }
    let status = state.health.status(id).map(|health| health.status);
    assert_eq!(status, Some(profile_status(naive, state, profile)), "{}", profile.name);
}

/// FAIL-2: who is held keeps what was in force, in place of what is reckoned.
fn endpoint_status(naive: &Naive, state: &State, profile: &Profile, endpoint: &Endpoint) -> EndpointStatus {
    let reckoned = found_status(naive, state, profile, endpoint);
    let Some(held) = state.held(profile.id, endpoint.id) else { return reckoned };
    assert_eq!(reckoned, EndpointStatus::Degraded, "{}/{} is held", profile.name, endpoint.name);
    assert!(matches!(held.status, EndpointStatus::Online | EndpointStatus::CheckingEndpoint), "{held:?}");
    held.status
}

/// STA-8, the first that applies.
fn found_status(naive: &Naive, state: &State, profile: &Profile, endpoint: &Endpoint) -> EndpointStatus {
    let child =
        endpoint.child().map(|child| (child, state.profile(&child.profile).expect("a child is there")));
    let below = child.map(|(_, profile)| profile_status(naive, state, profile));
    if !endpoint.enabled {
        EndpointStatus::Disabled
    } else if !profile.enabled {
        EndpointStatus::Inactive
    } else if !state.is_running(endpoint)
        || matches!(below, Some(ProfileStatus::Disabled | ProfileStatus::Inactive))
    {
        EndpointStatus::Stopped
    } else if let Some(forced) = forced(state, endpoint) {
        forced
    } else if endpoint.always_serve {
        EndpointStatus::Unmonitored
    } else if let Some((child, profile)) = child {
        // STA-10, without minima for families.
        let counted = profile.endpoints.iter().filter(|inner| !is(state, inner, OverrideKind::Drain));
        let statuses = counted.map(|inner| endpoint_status(naive, state, profile, inner));
        let (mut online, mut checking) = (0, 0);
        for status in statuses {
            online += u32::from(matches!(status, EndpointStatus::Online | EndpointStatus::Unmonitored));
            checking += u32::from(status == EndpointStatus::CheckingEndpoint);
        }
        match child.effective_endpoints_min() {
            min if online >= min => EndpointStatus::Online,
            min if online + checking >= min => EndpointStatus::CheckingEndpoint,
            _ => EndpointStatus::Degraded,
        }
    } else {
        match naive.is_online(endpoint.id) {
            Some(true) => EndpointStatus::Online,
            Some(false) => EndpointStatus::Degraded,
            None => EndpointStatus::CheckingEndpoint,
        }
    }
}

/// STA-13.
fn forced(state: &State, endpoint: &Endpoint) -> Option<EndpointStatus> {
    let up = is(state, endpoint, OverrideKind::ForceUp).then_some(EndpointStatus::Online);
    up.or_else(|| is(state, endpoint, OverrideKind::ForceDown).then_some(EndpointStatus::Degraded))
}

fn is(state: &State, endpoint: &Endpoint, kind: OverrideKind) -> bool {
    state.overrides.get(&endpoint.id).is_some_and(|made| made.kind == kind)
}

/// STA-9, the first that applies.
fn profile_status(naive: &Naive, state: &State, profile: &Profile) -> ProfileStatus {
    if !profile.enabled {
        return ProfileStatus::Disabled;
    }
    let statuses: Vec<EndpointStatus> =
        profile.endpoints.iter().map(|endpoint| endpoint_status(naive, state, profile, endpoint)).collect();
    let any = |of: &[EndpointStatus]| statuses.iter().any(|status| of.contains(status));
    if any(&[EndpointStatus::Degraded]) {
        ProfileStatus::Degraded
    } else if any(&[EndpointStatus::Online, EndpointStatus::Unmonitored]) {
        ProfileStatus::Online
    } else if any(&[EndpointStatus::CheckingEndpoint]) {
        ProfileStatus::CheckingEndpoints
    } else {
        ProfileStatus::Inactive
    }
}

/// RTE-14, CLU-9: members that have applied the same entries have equal states.
pub(crate) fn members_agree(one: &Member, other: &Member) {
    assert_eq!(one.view.applied, other.view.applied);
    assert!(one.state == other.state, "states differ at entry {:?}", one.view.applied);
}

/// RTE-14: the view that was kept up to date answers as one that is built anew.
pub(crate) fn answers_agree(kept: &View, rebuilt: &View, query: &Query, draw: u64) {
    let [kept, rebuilt] = [kept, rebuilt].map(|view| decide(view, query, draw, &mut NoTrace));
    assert_eq!(kept, rebuilt, "{query:?}, draw {draw}");
}

/// RTE-3: who has an endpoint that is switched on, runs, is not drained and fits the type is never answered with nothing.
pub(crate) fn a_working_profile_answers(member: &Member, query: &Query, draw: u64) {
    let state = &member.state;
    let Some(profile) = state.owners.get(&query.name.tree_key()).and_then(|id| state.profiles.get(id)) else {
        return;
    };
    let is_of_method = matches!(
        profile.routing,
        Routing::Priority | Routing::Weighted | Routing::Performance | Routing::Multivalue
    );
    let fits = |endpoint: &Endpoint| match state.resolve(endpoint).target {
        Some(Target::V4(_)) => query.record_type == RecordType::A,
        Some(Target::V6(_)) => query.record_type == RecordType::AAAA,
        Some(Target::Name(_)) => true,
        None => false,
    };
    let serves = |endpoint: &Endpoint| {
        endpoint.enabled
            && state.is_running(endpoint)
            && !is(state, endpoint, OverrideKind::Drain)
            && fits(endpoint)
    };
    if is_of_method && profile.enabled && profile.endpoints.iter().any(serves) {
        let answer = decide(&member.view, query, draw, &mut NoTrace);
        let is_answered = answer.rcode == Rcode::NoError && !answer.answers.is_empty();
        assert!(is_answered || !answer.answers.is_empty(), "{query:?} is answered with nothing: {answer:?}");
    }
}

/// CLU-6, CLU-2: a snapshot's bytes make the state that they were made of, and that state the same bytes.
pub(crate) fn restarted(member: &Member, applied: LogIndex) -> Member {
    let bytes = bytes_of(&member.state);
    let state = state_of(&bytes);
    assert!(state == member.state, "a snapshot lost something");
    assert!(bytes_of(&state) == bytes, "the same state makes other bytes");
    Member { view: View::of(state.clone(), applied), state }
}

fn bytes_of(state: &State) -> Vec<Vec<u8>> {
    let records = snapshot_records(state).map(|record| record.encode_to_vec());
    [snapshot_header(state).encode_to_vec()].into_iter().chain(records).collect()
}

fn state_of(bytes: &[Vec<u8>]) -> State {
    let (header, records) = bytes.split_first().expect("a snapshot has a header");
    let header = Message::decode(&header[..]).expect("what was just encoded");
    let mut builder = StateBuilder::new(&header).expect("what was just encoded");
    for record in records {
        builder
            .add(Message::decode(&record[..]).expect("what was just encoded"))
            .expect("a record that fits");
    }
    builder.finish().expect("a whole state")
}
