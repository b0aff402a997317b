//! `waymark endpoint drain|force-up|force-down|lift`: overrides (STA-13).

use serde::Serialize;
use waymark_proto::admin::v1::endpoints_client::EndpointsClient;
use waymark_proto::admin::v1::{
    self as wire, LiftOverridesRequest, OverrideEndpointsRequest, OverrideEndpointsResponse,
};

use crate::client::Attempt;
use crate::confirm;
use crate::failure::{Exit, Failure};
use crate::flags::duration::{Millis, with_days};
use crate::output::{Shown, Style, Written};
use crate::session::Session;

/// Whom an override is for, how long it lasts, and why.
#[derive(clap::Args, Debug)]
pub(crate) struct Overriding {
    /// PROFILE/ENDPOINT, in which '*' stands for any letters and '?' for one.
    pattern: String,
    /// How long it lasts, 1m to 30d; until it is lifted if not given.
    #[arg(long = "for", value_name = "DURATION", value_parser = with_days)]
    span: Option<Millis>,
    /// Why, for those who find it later.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Whose overrides end, and why.
#[derive(clap::Args, Debug)]
pub(crate) struct Lifting {
    /// PROFILE/ENDPOINT, in which '*' stands for any letters and '?' for one.
    pattern: String,
    /// Why, for those who look for it later.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) async fn put(
    kind: wire::OverrideKind,
    overriding: Overriding,
    session: &Session,
) -> Result<String, Failure> {
    let done = match kind {
        wire::OverrideKind::ForceUp => "forced up",
        wire::OverrideKind::ForceDown => "forced down",
        wire::OverrideKind::Drain | wire::OverrideKind::Unspecified => "drained",
    };
    let response = match send(kind, &overriding, session.yes, session).await {
        Err(refused) if refused.exit == Exit::NeedsYes => {
            confirm::last_endpoint(refused)?;
            send(kind, &overriding, true, session).await?
        }
        other => other?,
    };
    Ok(show(response, &overriding.pattern, done, session))
}

async fn send(
    kind: wire::OverrideKind,
    overriding: &Overriding,
    even_last: bool,
    session: &Session,
) -> Result<OverrideEndpointsResponse, Failure> {
    let Overriding { pattern, span, reason } = overriding;
    let request = OverrideEndpointsRequest {
        pattern: pattern.clone(),
        kind: kind.into(),
        reason: reason.clone(),
        for_ms: span.map(|Millis(span)| span),
        even_last,
        write: session.write(None),
    };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        EndpointsClient::new(at.channel).override_endpoints(request).await
    };
    session.client.write(call).await
}

pub(super) async fn lift(lifting: Lifting, session: &Session) -> Result<String, Failure> {
    let Lifting { pattern, reason } = lifting;
    let request = LiftOverridesRequest { pattern: pattern.clone(), reason, write: session.write(None) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        EndpointsClient::new(at.channel).lift_overrides(request).await
    };
    Ok(show(session.client.write(call).await?, &pattern, "lifted", session))
}

/// What a change of overrides came to.
#[derive(Debug, Serialize)]
struct Overridden {
    /// The endpoints that it reached, as `profile/endpoint`.
    endpoints: Vec<String>,
    #[serde(flatten)]
    written: Written,
}

fn show(response: OverrideEndpointsResponse, pattern: &str, done: &'static str, session: &Session) -> String {
    let OverrideEndpointsResponse { write, endpoints } = response;
    let written = Written::new("override", pattern, done, write.unwrap_or_default());
    session.note(&written);
    session.show(&Overridden { endpoints, written })
}

impl Shown for Overridden {
    const KIND: &'static str = "WriteResult";

    fn names(&self) -> Vec<String> {
        self.endpoints.clone()
    }

    fn text(&self, _: &Style) -> String {
        let Written { done, revision, log_index, .. } = &self.written;
        let line = |name: &String| {
            format!("endpoint '{name}' {done} (revision {revision}, log entry {log_index})\n")
        };
        match self.endpoints.as_slice() {
            [] => format!("nothing {done}\n"),
            some => some.iter().map(line).collect(),
        }
    }
}
