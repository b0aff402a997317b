//! One command under way: the copy that it works on, and what it has done so far.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{EndpointId, Profile, ProfileId, Revision, Violations};
use crate::state::{
    Applied, Change, Context, Event, EventCause, EventId, EventStatus, Past, Rejection, Replaced, Reply,
    State, Subject, history,
};

/// The working copy of the state, which is thrown away if the command is refused or turns out to change nothing.
pub(super) struct Step<'a> {
    /// The state that the step started from.
    pub(super) original: &'a State,
    /// The copy. Whoever changes it says so, by a change or by [`Step::mark_changed`].
    pub(super) state: State,
    /// The entry that the command stands in.
    pub(super) context: Context,
    /// Who wishes it.
    pub(super) author: &'a str,
    /// The counter after the command, if it changes anything: the revision of whatever it changes.
    pub(super) revision: Revision,
    /// What is allowed but probably not meant.
    pub(super) warnings: Violations,
    is_changed: bool,
    changes: Vec<Change>,
    health: BTreeSet<ProfileId>,
    events: Vec<EventId>,
    replaced: Vec<Replaced>,
    /// Why endpoints are to leave that were held in this step, until it is settled whether they may (FAIL-2).
    pub(super) departing: BTreeMap<EndpointId, EventCause>,
}

impl<'a> Step<'a> {
    /// A step that starts from `state`.
    pub(super) fn new(state: &'a State, context: Context, author: &'a str) -> Self {
        Self {
            original: state,
            state: state.clone(),
            context,
            author,
            revision: Revision(state.counter.0 + 1),
            warnings: Violations::new(),
            is_changed: false,
            changes: Vec::new(),
            health: BTreeSet::new(),
            events: Vec::new(),
            replaced: Vec::new(),
            departing: BTreeMap::new(),
        }
    }

    /// Ends the step: the original state, unless the command was accepted and changed something.
    pub(super) fn close(mut self, accepted: Result<(), Rejection>) -> Applied {
        let changed = match accepted {
            Err(rejection) => {
                return Applied { state: self.original.clone(), reply: Err(rejection), changes: Vec::new() };
            }
            Ok(()) => self.is_changed,
        };
        let mut state = self.original.clone();
        if changed {
            state = self.state;
            state.counter = self.revision;
        }
        self.changes.extend(self.health.into_iter().map(Change::Health));
        self.changes.extend(self.events.into_iter().map(Change::Event));
        let replaced = history::replaced(self.original, &state, &self.changes, self.replaced);
        if !replaced.is_empty() {
            let Context { index, at } = self.context;
            state.history.add(self.revision, Past { at, index, replaced });
        }
        let reply = Reply { revision: state.counter, warnings: self.warnings.into_vec() };
        Applied { state, reply: Ok(reply), changes: self.changes }
    }

    /// Says that the copy is different from the original.
    pub(super) fn mark_changed(&mut self) {
        self.is_changed = true;
    }

    /// Says what is different.
    pub(super) fn note(&mut self, change: Change) {
        self.mark_changed();
        self.changes.push(change);
    }

    /// Says what a row, an override or a brake replaced, which its change does not tell.
    pub(super) fn note_replaced(&mut self, replaced: Replaced) {
        self.replaced.push(replaced);
    }

    /// Says that counts, verdicts or statuses of a profile's endpoints are different; once is enough.
    pub(super) fn note_health(&mut self, profile: ProfileId) {
        self.mark_changed();
        self.health.insert(profile);
    }

    /// The number of a new profile or endpoint. None is 0, so that 0 can mean "none" wherever numbers are written.
    pub(super) fn next_id(&mut self) -> u64 {
        let id = self.state.next_id.max(1);
        self.state.next_id = id + 1;
        id
    }

    /// The profile of a number that another entry of the state points at.
    pub(super) fn profile_by_id(&self, id: ProfileId) -> Arc<Profile> {
        self.state.health.profile(id).cloned().expect("an endpoint's health names a profile that exists")
    }

    /// Records a status change (STA-12), and forgets the oldest beyond [`State::EVENTS_MAX`].
    pub(super) fn record_event(
        &mut self,
        profile: &Profile,
        subject: Subject,
        from: EventStatus,
        to: EventStatus,
        cause: EventCause,
    ) {
        let ordinal = u32::try_from(self.events.len()).expect("a command makes fewer than 2^32 events");
        let id = EventId { counter: self.revision, ordinal };
        let event = Event {
            id,
            at: self.context.at,
            index: self.context.index,
            profile: profile.id,
            profile_name: profile.name.clone(),
            subject,
            from: Some(from),
            to,
            cause,
        };
        self.state.events.insert(id, Arc::new(event));
        self.events.push(id);
        while self.state.events.len() > State::EVENTS_MAX {
            let Some((oldest, _)) = self.state.events.get_min().cloned() else { break };
            self.state.events.remove(&oldest);
        }
        self.mark_changed();
    }
}
