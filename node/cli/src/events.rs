//! `waymark events`: changes of status, oldest first.

use std::cell::RefCell;
use std::ops::ControlFlow;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use comfy_table::Cell;
use serde::Serialize;
use tonic::Request;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::events_client::EventsClient;
use waymark_proto::admin::v1::{self as wire, ListEventsRequest, ListEventsResponse};

use crate::client::{Attempt, Heard};
use crate::failure::Failure;
use crate::flags;
use crate::output::overridden::OverrideChange;
use crate::output::screen::append;
use crate::output::verdicts::Region;
use crate::output::{Format, Shown, Style, render_next, table, time, words};
use crate::session::Session;

/// Which events are wanted.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  waymark events web --since 1h\n  waymark events --follow -o json")]
pub(crate) struct Wanted {
    /// Of one profile; of all if not given.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    profile: Option<String>,
    /// Go on with every further event as it happens; one JSON value a line with -o json, one document each with -o yaml.
    #[arg(long, short)]
    follow: bool,
    /// Only those since then: how long ago, or a moment as in 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "DURATION", value_parser = flags::moment)]
    since: Option<flags::Moment>,
    /// At most so many, the latest; 1 to 10000 [default: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: Option<u32>,
}

/// Shows the events there are, or goes on with those that come.
pub(crate) async fn run(wanted: Wanted, session: &Session) -> Result<String, Failure> {
    let Wanted { profile, follow: is_followed, since, limit } = wanted;
    let request = ListEventsRequest {
        profile: profile.unwrap_or_default(),
        since_ms: since.map(|since| since.0).unwrap_or_default(),
        after: String::new(),
        read: session.read(),
        limit: limit.unwrap_or_default(),
    };
    if is_followed { follow(request, session).await } else { once(request, session).await }
}

async fn once(request: ListEventsRequest, session: &Session) -> Result<String, Failure> {
    let call = async |at: Attempt| {
        let request = at.request(&request);
        EventsClient::new(at.channel).max_decoding_message_size(RESPONSE_BYTES_MAX).list_events(request).await
    };
    let ListEventsResponse { events } = session.client.read(call).await?;
    Ok(session.show(&EventList { events: events.into_iter().map(Into::into).collect() }))
}

async fn follow(request: ListEventsRequest, session: &Session) -> Result<String, Failure> {
    // A stream that is opened anew goes on behind the last event that was seen.
    let request = RefCell::new(request);
    let open = async |at: Attempt| {
        let request = request.borrow().clone();
        EventsClient::new(at.channel)
            .max_decoding_message_size(RESPONSE_BYTES_MAX)
            .watch_events(Request::new(request))
            .await
    };
    let show = |heard: Heard<wire::Event>| match heard {
        Heard::Tick => Ok(ControlFlow::Continue(())),
        Heard::Message(event) => {
            request.borrow_mut().after.clone_from(&event.id);
            let event = Event::from(event);
            append(&match session.format {
                Format::Table => event.line(),
                Format::Json | Format::Yaml => render_next(&event, session.format, &session.style),
                Format::Name => format!("{}\n", event.id),
            })
        }
    };
    session.client.follow(open, show).await?;
    Ok(String::new())
}

#[derive(Debug, Serialize)]
struct EventList {
    events: Vec<Event>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    id: String,
    at: String,
    log_index: u64,
    profile: String,
    /// Null if the profile's own status changed.
    endpoint: Option<String>,
    /// Null for an object that is new.
    from: Option<String>,
    to: String,
    cause: String,
    regions: Vec<Region>,
    /// The override that began or ended, if that is the cause; then `from` and `to` may be alike.
    #[serde(rename = "override", skip_serializing_if = "Option::is_none")]
    overridden: Option<OverrideChange>,
    #[serde(skip)]
    at_ms: u64,
}

impl From<wire::Event> for Event {
    fn from(message: wire::Event) -> Self {
        let wire::Event {
            id,
            at_ms,
            log_index,
            profile,
            endpoint,
            from,
            to,
            cause,
            regions,
            counter: _,
            ordinal: _,
            overridden,
        } = message;
        let endpoint = Some(endpoint).filter(|endpoint| !endpoint.is_empty());
        let status = |number| {
            if endpoint.is_some() { words::endpoint_status(number) } else { words::profile_status(number) }
        };
        Self {
            id,
            at: time::rfc_3339(at_ms),
            log_index,
            profile,
            from: (from != 0).then(|| status(from)),
            to: status(to),
            endpoint,
            cause,
            regions: regions.into_iter().map(Into::into).collect(),
            overridden: overridden.map(Into::into),
            at_ms,
        }
    }
}

impl Event {
    fn subject(&self) -> String {
        self.endpoint
            .as_ref()
            .map_or_else(|| self.profile.clone(), |endpoint| format!("{}/{endpoint}", self.profile))
    }

    fn change(&self) -> String {
        match self.from.as_deref() {
            Some(from) if from == self.to => format!("stays {from}"),
            from => format!("{} → {}", from.unwrap_or("new"), self.to),
        }
    }

    /// Why, and of an override that was made until when.
    fn cause(&self) -> String {
        let until = self.overridden.as_ref().and_then(OverrideChange::until);
        let until = until.map(|until| format!(" (until {until})")).unwrap_or_default();
        format!("{}{until}", self.cause)
    }

    /// It alone, in columns that need not know of later ones.
    fn line(&self) -> String {
        format!(
            "{}  {:<24}  {:<28}  {}\n",
            time::readable(self.at_ms),
            self.subject(),
            self.change(),
            self.cause()
        )
    }
}

impl Shown for Event {
    const KIND: &'static str = "Event";

    fn names(&self) -> Vec<String> {
        vec![self.id.clone()]
    }

    fn text(&self, _: &Style) -> String {
        self.line()
    }
}

impl Shown for EventList {
    const KIND: &'static str = "EventList";

    fn names(&self) -> Vec<String> {
        self.events.iter().map(|event| event.id.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["TIME (UTC)", "WHAT", "CHANGE", "CAUSE"]);
        for event in &self.events {
            shown.add_row([
                Cell::new(time::readable(event.at_ms)),
                Cell::new(event.subject()),
                Cell::new(event.change()),
                Cell::new(event.cause()),
            ]);
        }
        table::finish(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sta_12_an_event_tells_when_what_from_to_and_why() {
        let event = Event::from(wire::Event {
            id: "c-41-0".into(),
            at_ms: 1_700_000_000_000,
            profile: "web".into(),
            endpoint: "eu".into(),
            to: wire::Status::Checking.into(),
            cause: "a change by operator".into(),
            ..Default::default()
        });
        let line = event.line();
        for word in ["2023-11-14 22:13:20", "web/eu", "new → CheckingEndpoint", "a change by operator"] {
            assert!(line.contains(word), "{line}");
        }
        assert_eq!(serde_json::to_value(&event).unwrap()["from"], serde_json::Value::Null);
    }

    #[test]
    fn sta_13_an_override_tells_until_when_and_that_a_status_stays() {
        let change = wire::OverrideChange {
            act: wire::OverrideAct::Made.into(),
            kind: wire::OverrideKind::Drain.into(),
            author: "alice".into(),
            reason: "a move".into(),
            ends_ms: Some(1_700_000_060_000),
        };
        let event = Event::from(wire::Event {
            endpoint: "eu".into(),
            from: wire::Status::Online.into(),
            to: wire::Status::Online.into(),
            cause: "drained by alice: a move".into(),
            overridden: Some(change),
            ..Default::default()
        });
        let line = event.line();
        for word in ["stays Online", "drained by alice: a move (until 2023-11-14T22:14:20Z)"] {
            assert!(line.contains(word), "{line}");
        }
        assert_eq!(serde_json::to_value(&event).unwrap()["override"]["act"], "made");
    }

    #[test]
    fn a_profiles_own_status_has_its_own_words() {
        let event = Event::from(wire::Event { to: wire::Status::Checking.into(), ..Default::default() });
        assert_eq!((event.endpoint, event.to.as_str()), (None, "CheckingEndpoints"));
    }
}
