//! Status changes: listed, and followed as they happen (STA-12).

use std::convert::Infallible;
use std::ops::Bound;
use std::sync::Arc;

use prost::Message;
use tonic::{Request, Response, Status};
use waymark_core::model::{Caseless, Timestamp, Violations};
use waymark_core::state::{Event, EventId, State};
use waymark_proto::admin::v1::{self, ListEventsRequest, ListEventsResponse, events_server};
use waymark_proto::convert::{event_id, event_id_text, event_message};

use super::fault;
use super::handles::Handles;
use super::limits::{EVENTS_DEFAULT, PAGE_BYTES_MAX};
use super::watch::{Ended, Outlet, Watch};

/// The service.
#[derive(Clone)]
pub(super) struct EventsService {
    handles: Handles,
}

impl EventsService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }
}

#[tonic::async_trait]
impl events_server::Events for EventsService {
    async fn list_events(
        &self,
        request: Request<ListEventsRequest>,
    ) -> Result<Response<ListEventsResponse>, Status> {
        let mut request = request.into_inner();
        let read = request.read.take();
        let wanted = Wanted::of(request, &self.handles.reader.view().state)?;
        let view = self.handles.view(read).await?;
        let cluster = &view.state.cluster;
        let events = wanted.latest(&view.state)?.iter().map(|event| event_message(cluster, event)).collect();
        Ok(Response::new(ListEventsResponse { events: newest_that_fit(events) }))
    }

    type WatchEventsStream = Watch<v1::Event>;

    async fn watch_events(
        &self,
        request: Request<ListEventsRequest>,
    ) -> Result<Response<Self::WatchEventsStream>, Status> {
        let handles = self.handles.clone();
        let state = handles.reader.view().state.clone();
        let mut wanted = Wanted::of(request.into_inner(), &state)?;
        if wanted.after.is_some() {
            // The limit says how far to look back at the start; whoever resumes must not miss what is beyond it.
            wanted.limit = State::EVENTS_MAX;
        }
        let events = wanted.latest(&state)?;
        let (outlet, watch) = handles.watches.open().await?;
        tokio::spawn(async move {
            let Err(why) = follow(&outlet, &handles, &wanted, state, events).await;
            outlet.end(why);
        });
        Ok(Response::new(watch))
    }
}

/// Which events are wanted.
#[derive(Clone, Debug)]
struct Wanted {
    profile: Option<Caseless>,
    since: Timestamp,
    after: Option<EventId>,
    limit: usize,
}

impl Wanted {
    /// Reads a request; `state` says which cluster's ids may stand in it.
    fn of(request: ListEventsRequest, state: &State) -> Result<Self, Status> {
        let ListEventsRequest { profile, since_ms, after, read: _, limit } = request;
        let mut violations = Violations::new();
        let parsed = event_id(&state.cluster, &after);
        if !after.is_empty() && parsed.is_none() {
            violations.add("after", format!("'{after}' is no event's id of this cluster"));
        }
        violations.range("limit", limit.into(), 0, State::EVENTS_MAX as u64);
        fault::refuse_if_any(violations)?;
        let limit = match limit {
            // Whoever resumes wants all that was missed.
            0 if parsed.is_some() => State::EVENTS_MAX,
            0 => EVENTS_DEFAULT as usize,
            limit => limit as usize,
        };
        let profile = (!profile.is_empty()).then(|| Caseless::new(&profile));
        Ok(Self { profile, since: Timestamp(since_ms), after: parsed, limit })
    }

    /// The latest of the wanted events that `state` keeps, oldest first.
    fn latest(&self, state: &State) -> Result<Vec<Arc<Event>>, Status> {
        check_kept(state, self.after)?;
        self.check_profile(state)?;
        let wanted = behind(state, self.after).rev().filter(|event| self.is_wanted(event));
        let mut events: Vec<_> = wanted.take(self.limit).collect();
        events.reverse();
        Ok(events)
    }

    fn is_wanted(&self, event: &Event) -> bool {
        event.at >= self.since && self.profile.as_ref().is_none_or(|profile| *profile == event.profile_name)
    }

    /// A profile that neither exists nor has left events is probably misspelt.
    fn check_profile(&self, state: &State) -> Result<(), Status> {
        let Some(profile) = &self.profile else { return Ok(()) };
        let is_known = state.profile_ids.contains_key(profile)
            || state.events.values().any(|event| event.profile_name == *profile);
        if is_known {
            return Ok(());
        }
        Err(fault::not_found("profile", profile.as_str(), state.profile_ids.keys().map(Caseless::as_str)))
    }
}

/// Sends `events`, and then every further one as it comes into the view behind `state`.
async fn follow(
    outlet: &Outlet<v1::Event>,
    handles: &Handles,
    wanted: &Wanted,
    state: State,
    events: Vec<Arc<Event>>,
) -> Result<Infallible, Ended> {
    let mut reader = handles.reader.clone();
    for event in &events {
        outlet.send(event_message(&state.cluster, event)).await?;
    }
    let mut last = latest_id(&state);
    drop(state);
    loop {
        let state = reader.view().state.clone();
        check_kept(&state, last)?;
        for event in behind(&state, last).filter(|event| wanted.is_wanted(event)) {
            outlet.send(event_message(&state.cluster, &event)).await?;
        }
        last = latest_id(&state).or(last);
        drop(state);
        outlet.changed(&mut reader).await?;
    }
}

fn latest_id(state: &State) -> Option<EventId> {
    state.events.get_max().map(|(id, _)| *id)
}

fn behind(state: &State, after: Option<EventId>) -> impl DoubleEndedIterator<Item = Arc<Event>> + '_ {
    let start = after.map_or(Bound::Unbounded, Bound::Excluded);
    state.events.range((start, Bound::Unbounded)).map(|(_, event)| event.clone())
}

/// Refuses to go on behind an event when some behind it may have been forgotten: nobody may miss one without knowing.
fn check_kept(state: &State, after: Option<EventId>) -> Result<(), Status> {
    let is_full = state.events.len() >= State::EVENTS_MAX;
    match (after, state.events.get_min()) {
        (Some(after), Some((oldest, _))) if is_full && after < *oldest => Err(Status::out_of_range(format!(
            "events behind {} have been forgotten: the latest {} are kept; start again without 'after'",
            event_id_text(&state.cluster, after),
            State::EVENTS_MAX
        ))),
        _ => Ok(()),
    }
}

/// As many of the newest `events` as fit into one message, oldest first.
fn newest_that_fit(events: Vec<v1::Event>) -> Vec<v1::Event> {
    let mut bytes = 0;
    let fitting = events.iter().rev().take_while(|event| {
        bytes += event.encoded_len();
        bytes <= PAGE_BYTES_MAX
    });
    let dropped = events.len() - fitting.count();
    events.into_iter().skip(dropped).collect()
}
