//! `waymark status`: how the endpoints are, one line each.

use std::ops::ControlFlow;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use comfy_table::Cell;
use serde::Serialize;
use tonic::Request;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::statuses_client::StatusesClient;
use waymark_proto::admin::v1::{self as wire, ListStatusesRequest, ListStatusesResponse};

use crate::client::{Attempt, Heard};
use crate::failure::Failure;
use crate::output::overridden::Override;
use crate::output::screen::{Screen, append};
use crate::output::verdicts::{self, Region};
use crate::output::{Format, Shown, Style, render_next, table, time, words};
use crate::session::Session;

/// Whose status is wanted.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  waymark status\n  waymark status web --watch\n  waymark status --stale -o json"
)]
pub(crate) struct Wanted {
    /// One profile; all if not given.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    profile: Option<String>,
    /// Go on showing it whenever something changes: in place on a terminal, one JSON value a line with -o json, one document each with -o yaml.
    #[arg(long, short)]
    watch: bool,
}

/// Shows the status once or for as long as somebody looks.
pub(crate) async fn run(wanted: Wanted, session: &Session) -> Result<String, Failure> {
    let profile = wanted.profile.unwrap_or_default();
    if wanted.watch { watch(profile, session).await } else { once(profile, session).await }
}

async fn once(profile: String, session: &Session) -> Result<String, Failure> {
    let applied = std::cell::Cell::new(0);
    let incomplete = std::cell::RefCell::new(std::collections::BTreeSet::new());
    let profiles = session
        .pages(async |page| {
            let request =
                ListStatusesRequest { profile: profile.clone(), page: Some(page), read: session.read() };
            let answer = list(&request, session).await?;
            applied.set(answer.applied);
            incomplete.borrow_mut().extend(answer.incomplete);
            Ok((answer.profiles, answer.next_page_token))
        })
        .await?;
    let whole = ListStatusesResponse {
        profiles,
        applied: applied.get(),
        next_page_token: String::new(),
        incomplete: incomplete.into_inner().into_iter().collect(),
    };
    Ok(session.show(&StatusList::from(whole)))
}

async fn watch(profile: String, session: &Session) -> Result<String, Failure> {
    let request = ListStatusesRequest { profile, page: None, read: session.read() };
    let open = async |at: Attempt| {
        StatusesClient::new(at.channel)
            .max_decoding_message_size(RESPONSE_BYTES_MAX)
            .watch_statuses(Request::new(request.clone()))
            .await
    };
    let mut screen = Screen::default();
    let mut latest: Option<StatusList> = None;
    let in_place = session.format == Format::Table && session.style.is_terminal;
    let show = |heard: Heard<ListStatusesResponse>| {
        let is_new = matches!(heard, Heard::Message(_));
        if let Heard::Message(list) = heard {
            latest = Some(list.into());
        }
        match &latest {
            // Every second too, as the ages of the statuses grow.
            Some(list) if in_place => screen.redraw(&list.text(&session.style)),
            Some(list) if is_new && session.format.is_structured() => {
                append(&render_next(list, session.format, &session.style))
            }
            Some(list) if is_new => append(&format!("{}\n", session.show(list))),
            _ => Ok(ControlFlow::Continue(())),
        }
    };
    session.client.follow(open, show).await?;
    Ok(String::new())
}

#[derive(Debug, Serialize)]
struct StatusList {
    applied: u64,
    profiles: Vec<Profile>,
    /// Members that did not tell all that their agents found last.
    incomplete: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    name: String,
    full_name: String,
    status: String,
    since: String,
    routing: String,
    revision: u64,
    endpoints: Vec<Endpoint>,
    #[serde(skip)]
    since_ms: u64,
}

#[derive(Debug, Serialize)]
struct Endpoint {
    name: String,
    target: String,
    #[serde(flatten)]
    standing: Standing,
}

/// What is said of an endpoint that is in the pool although probes find it Degraded (FAIL-2).
pub(crate) const HELD: &str = "held by brake";

/// How an endpoint is, and who says so.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Standing {
    pub(crate) status: String,
    since: String,
    /// Since when no region has a verdict, although there was a conclusion once.
    stale_since: Option<String>,
    /// Do agents probe it?
    pub(crate) probed: bool,
    pub(crate) regions: Vec<Region>,
    /// What an operator put over what probes find; null if nobody did.
    #[serde(rename = "override")]
    pub(crate) overridden: Option<Override>,
    /// Since when it is held in the pool by the removal brake; null if it is not.
    held_since: Option<String>,
    #[serde(skip)]
    since_ms: u64,
}

impl From<ListStatusesResponse> for StatusList {
    fn from(message: ListStatusesResponse) -> Self {
        let ListStatusesResponse { profiles, applied, next_page_token: _, incomplete } = message;
        Self { applied, profiles: profiles.into_iter().map(Into::into).collect(), incomplete }
    }
}

impl From<wire::ProfileStatus> for Profile {
    fn from(message: wire::ProfileStatus) -> Self {
        let wire::ProfileStatus { name, full_name, status, since_ms, routing, endpoints, revision } = message;
        Self {
            name,
            full_name,
            status: words::profile_status(status),
            since: time::rfc_3339(since_ms),
            routing: words::routing(routing),
            revision,
            endpoints: endpoints.into_iter().map(Into::into).collect(),
            since_ms,
        }
    }
}

impl From<wire::EndpointStatus> for Endpoint {
    fn from(message: wire::EndpointStatus) -> Self {
        let wire::EndpointStatus {
            name,
            target,
            status,
            since_ms,
            stale_since_ms,
            regions,
            unprobed,
            overridden,
            held,
        } = message;
        let standing = Standing {
            status: words::endpoint_status(status),
            since: time::rfc_3339(since_ms),
            stale_since: stale_since_ms.map(time::rfc_3339),
            probed: !unprobed,
            regions: regions.into_iter().map(Into::into).collect(),
            overridden: overridden.map(Into::into),
            held_since: held.map(|held| time::rfc_3339(held.since_ms)),
            since_ms,
        };
        Self { name, target, standing }
    }
}

impl Standing {
    /// Marked if nobody stands by it any more.
    fn stale(&self) -> Option<String> {
        self.stale_since.as_ref().map(|since| format!("stale since {since}"))
    }

    /// Marked if the removal brake holds it in the pool.
    pub(crate) fn held(&self) -> Option<String> {
        self.held_since.as_ref().map(|since| format!("{HELD} since {since}"))
    }

    fn told(&self) -> String {
        let regions = Some(verdicts::line(&self.regions, self.probed)).filter(|line| !line.is_empty());
        let overridden = self.overridden.as_ref().map(Override::line);
        [overridden, self.held(), self.stale(), regions].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// The status with its age, in one line.
    pub(crate) fn line(&self) -> String {
        let age = time::age(self.since_ms, time::now_ms());
        let stale = self.stale().map(|stale| format!(", {stale}")).unwrap_or_default();
        let held = self.held().map(|held| format!(", {held}")).unwrap_or_default();
        format!("{} for {age}{held}{stale}", self.status)
    }
}

/// How each endpoint of a profile is, by name.
pub(crate) async fn standings(
    profile: &str,
    session: &Session,
) -> Result<impl Iterator<Item = (String, Standing)>, Failure> {
    let request = ListStatusesRequest { profile: profile.to_owned(), page: None, read: session.read() };
    let ListStatusesResponse { profiles, .. } = list(&request, session).await?;
    let endpoints = profiles.into_iter().flat_map(|profile| profile.endpoints).map(Endpoint::from);
    Ok(endpoints.map(|endpoint| (endpoint.name, endpoint.standing)))
}

/// How one endpoint of a profile is, and the members that did not tell all they know of it; `None` if it is gone.
pub(crate) async fn standing(
    profile: &str,
    endpoint: &str,
    session: &Session,
) -> Result<Option<(Standing, Vec<String>)>, Failure> {
    let request = ListStatusesRequest { profile: profile.to_owned(), page: None, read: session.read() };
    let ListStatusesResponse { profiles, incomplete, .. } = list(&request, session).await?;
    let endpoints = profiles.into_iter().flat_map(|profile| profile.endpoints);
    let found = endpoints.map(Endpoint::from).find(|found| found.name.eq_ignore_ascii_case(endpoint));
    Ok(found.map(|found| (found.standing, incomplete)))
}

async fn list(request: &ListStatusesRequest, session: &Session) -> Result<ListStatusesResponse, Failure> {
    let call = async |at: Attempt| {
        let request = at.request(request);
        StatusesClient::new(at.channel)
            .max_decoding_message_size(RESPONSE_BYTES_MAX)
            .list_statuses(request)
            .await
    };
    session.client.read(call).await
}

/// Says which members are missing; nothing if none is.
pub(crate) fn missing(incomplete: &[String]) -> Option<String> {
    (!incomplete.is_empty()).then(|| {
        let names = incomplete.join(", ");
        format!("what the agents of {names} found last is not all here: no answer in time")
    })
}

impl Shown for StatusList {
    const KIND: &'static str = "StatusList";

    fn names(&self) -> Vec<String> {
        self.profiles.iter().map(|profile| profile.name.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let now_ms = time::now_ms();
        let headings = ["PROFILE", "ENDPOINT", "TARGET", "STATUS", "FOR", "REGIONS"];
        let mut shown = table::table(style, &headings);
        for profile in &self.profiles {
            shown.add_row([
                table::emphasized(&profile.name, style),
                Cell::new(""),
                Cell::new(&profile.full_name),
                table::judged(&profile.status, style),
                Cell::new(time::age(profile.since_ms, now_ms)),
                Cell::new(format!("{} routing", profile.routing)),
            ]);
            for endpoint in &profile.endpoints {
                shown.add_row([
                    Cell::new(&profile.name),
                    Cell::new(&endpoint.name),
                    Cell::new(&endpoint.target),
                    table::judged(&endpoint.standing.status, style),
                    Cell::new(time::age(endpoint.standing.since_ms, now_ms)),
                    Cell::new(endpoint.standing.told()),
                ]);
            }
        }
        let mut text = table::finish(shown);
        if let Some(missing) = missing(&self.incomplete) {
            text.push_str(&missing);
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::render;

    fn list() -> StatusList {
        let agent = wire::AgentVerdict {
            name: "eu-1".into(),
            verdict: wire::Verdict::Down.into(),
            failures: 4,
            last_outcome: Some(wire::Outcome { class: wire::OutcomeClass::Timeout.into(), status: None }),
            detail: "no connection within 5000 ms".into(),
            blind: false,
        };
        let region = wire::RegionalVerdict {
            region: "eu".into(),
            verdict: wire::Verdict::Down.into(),
            agents: vec![agent],
        };
        let endpoint = wire::EndpointStatus {
            name: "e1".into(),
            target: "192.0.2.1".into(),
            status: wire::Status::Degraded.into(),
            since_ms: 1_700_000_000_000,
            stale_since_ms: None,
            regions: vec![region],
            unprobed: false,
            overridden: Some(wire::Override {
                kind: wire::OverrideKind::Drain.into(),
                author: "alice".into(),
                reason: "a move".into(),
                ..Default::default()
            }),
            held: Some(wire::Held { since_ms: 1_700_000_060_000 }),
        };
        let profile = wire::ProfileStatus {
            name: "web".into(),
            full_name: "web.tm.example.com".into(),
            status: wire::Status::Degraded.into(),
            routing: wire::Routing::Priority.into(),
            endpoints: vec![endpoint],
            ..Default::default()
        };
        StatusList::from(ListStatusesResponse { profiles: vec![profile], applied: 9, ..Default::default() })
    }

    #[test]
    fn cli_7_json_has_the_contracts_fields() {
        let text = render(&list(), Format::Json, &Style::default());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let endpoint = &json["profiles"][0]["endpoints"][0];
        let wanted = serde_json::json!({
            "name": "e1", "target": "192.0.2.1", "status": "Degraded", "since": "2023-11-14T22:13:20Z",
            "staleSince": null, "probed": true, "heldSince": "2023-11-14T22:14:20Z",
            "override": {
                "kind": "drain", "author": "alice", "reason": "a move", "since": "1970-01-01T00:00:00Z", "until": null,
            },
            "regions": [{ "region": "eu", "verdict": "down", "agents": [{
                "name": "eu-1", "verdict": "down", "failures": 4, "lastOutcome": "timeout", "lastStatusCode": null,
                "lastReason": "no connection within 5000 ms", "blind": false,
            }] }],
        });
        assert_eq!(endpoint, &wanted);
    }

    #[test]
    fn one_line_for_each_endpoint() {
        let text = list().text(&Style::default());
        let line = text.lines().find(|line| line.contains("192.0.2.1")).unwrap();
        for word in [
            "web",
            "e1",
            "Degraded",
            "eu down (4 × timeout)",
            "drained by alice",
            "held by brake since 2023-11-14T22:14:20Z",
        ] {
            assert!(line.contains(word), "{line}");
        }
    }
}
