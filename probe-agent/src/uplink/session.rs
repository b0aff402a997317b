//! One stream to one member, from connecting to its end.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status, Streaming};
use waymark_process::tls::{ConnectError, Connector, Credentials};
use waymark_proto::agent::v1::member_message::Kind;
use waymark_proto::agent::v1::mesh_client::MeshClient;
use waymark_proto::agent::v1::{AgentMessage, Assignment, MemberMessage, Welcome};

use super::backoff::Ending;
use super::{Event, Identity, Session, message};
use crate::sight::Sight;
use crate::survey::{Allowance, Surveyor};

/// How often a sign of life is sent (STA-5).
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long from Hello to Welcome, which goes through the log.
const OPENING_TIMEOUT: Duration = Duration::from_secs(5);
/// How long from there to each part of the first assignment. Nothing is probed meanwhile (PRB-11), so it is shorter than
/// the fastest check's verdict lives without an outcome, 3.2 s (STA-5).
const ASSIGNMENT_TIMEOUT: Duration = Duration::from_secs(3);
/// A member that sends nothing this long is pinged,
const PING_INTERVAL: Duration = Duration::from_secs(3);
/// and given up if it does not answer: a dead machine or a broken path is noticed within 7 s, half of what makes an
/// agent lost (STA-5).
const PING_TIMEOUT: Duration = Duration::from_secs(4);
/// Messages that wait for the network; outcomes beyond it wait in the backlog.
const OUTBOX_MAX: usize = 16;
/// Largest message of a member, in bytes: members put at most 1 MiB of checks, or one check, and a thousand removals into
/// one part of an assignment.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Flow-control windows in bytes: a full assignment should not wait for round trips.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 4 * 1024 * 1024;

/// A member, and how to reach it.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    endpoint: Endpoint,
    connector: Connector,
}

impl Member {
    pub(super) fn new(url: Uri, credentials: Option<&Arc<Credentials>>) -> Self {
        let is_encrypted = url.scheme_str() == Some("https");
        let connector = Connector::new(credentials.filter(|_| is_encrypted).cloned());
        let endpoint = Endpoint::from(url)
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        Self { endpoint, connector }
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoint.uri().fmt(f)
    }
}

/// How a stream ended.
#[derive(Debug)]
pub(super) struct End {
    pub(super) ending: Ending,
    pub(super) reason: String,
}

impl End {
    fn failed(reason: impl Into<String>) -> Self {
        Self { ending: Ending::Failed, reason: reason.into() }
    }
}

impl From<Status> for End {
    fn from(status: Status) -> Self {
        let ending = match status.code() {
            Code::Aborted => Ending::Superseded,
            Code::InvalidArgument | Code::NotFound | Code::PermissionDenied | Code::Unauthenticated => {
                Ending::Refused
            }
            _ => Ending::Failed,
        };
        Self { ending, reason: format!("{:?}: {}", status.code(), status.message()) }
    }
}

/// Nobody takes the events any more: the agent is about to end.
pub(super) struct Unheard;

/// Opens a stream to `member` and serves it until it ends.
pub(super) async fn hold(
    member: &Member,
    identity: &Identity,
    allowance: &Allowance,
    sight: Sight,
    events: &mpsc::Sender<Event>,
) -> Result<Unheard, End> {
    let (outbox, queue) = mpsc::channel(OUTBOX_MAX);
    // There is room: this is the first message.
    let _ = outbox.try_send(message::hello(identity, allowance.queries_per_minute, sight));
    let opened = tokio::select! {
        opened = open(member, queue) => opened,
        () = events.closed() => return Ok(Unheard),
    };
    let (inbound, welcome) = opened?;
    tracing::info!(member = %member, name = welcome.member, session = welcome.session, "reporting to this member");
    let abandon = CancellationToken::new();
    let session = Session { outbox, abandon, told_sight: sight };
    serve(inbound, session, Surveyor::new(allowance.clone()), events).await
}

async fn open(
    member: &Member,
    queue: mpsc::Receiver<AgentMessage>,
) -> Result<(Streaming<MemberMessage>, Welcome), End> {
    let connected = member.endpoint.connect_with_connector(member.connector.clone()).await;
    let channel = connected.map_err(|error| match ConnectError::behind(&error) {
        Some(refusal) if refusal.is_refusal() => End { ending: Ending::Refused, reason: refusal.to_string() },
        _ => End::failed(error_text(&error)),
    })?;
    let opening = timeout(OPENING_TIMEOUT, greet(channel, queue)).await;
    opening.map_err(|_| End::failed(format!("no welcome within {} s", OPENING_TIMEOUT.as_secs())))?
}

async fn greet(
    channel: Channel,
    queue: mpsc::Receiver<AgentMessage>,
) -> Result<(Streaming<MemberMessage>, Welcome), End> {
    let mut client = MeshClient::new(channel).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let mut inbound = client.session(ReceiverStream::new(queue)).await?.into_inner();
    match inbound.message().await?.and_then(|message| message.kind) {
        Some(Kind::Welcome(welcome)) => Ok((inbound, welcome)),
        Some(_) => Err(End::failed("the member did not begin with a welcome: is it of another version?")),
        None => Err(End::failed("the member ended the stream without a welcome")),
    }
}

async fn serve(
    mut inbound: Streaming<MemberMessage>,
    session: Session,
    mut surveyor: Surveyor,
    events: &mpsc::Sender<Event>,
) -> Result<Unheard, End> {
    let (outbox, abandon) = (session.outbox.clone(), session.abandon.clone());
    if events.send(Event::Opened(session)).await.is_err() {
        return Ok(Unheard);
    }
    let mut heartbeat = interval(HEARTBEAT_INTERVAL);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut assignment_deadline = Instant::now() + ASSIGNMENT_TIMEOUT;
    let mut is_assigned = false;
    let mut parts = Assignment::default();
    loop {
        let event = tokio::select! {
            received = inbound.message() => match received?.and_then(|message| message.kind) {
                Some(Kind::Assignment(part)) => {
                    assignment_deadline = Instant::now() + ASSIGNMENT_TIMEOUT;
                    match message::gather(&mut parts, part) {
                        Some(assignment) => {
                            is_assigned = true;
                            Event::Assigned(message::update(assignment))
                        }
                        None => continue,
                    }
                }
                Some(Kind::Acknowledgement(acknowledgement)) => Event::Acknowledged(acknowledgement.sequence),
                Some(Kind::Measure(request)) => {
                    surveyor.begin(request, outbox.clone());
                    continue;
                }
                Some(Kind::Welcome(_)) => continue,
                None => return Err(End::failed("the member ended the stream")),
            },
            _ = heartbeat.tick() => {
                // A full outbox is a sign of life of its own; if it stays full, no acknowledgement comes either.
                let _ = outbox.try_send(message::heartbeat());
                continue;
            }
            () = sleep_until(assignment_deadline), if !is_assigned => {
                return Err(End::failed("the member says nothing of what to probe"));
            }
            () = abandon.cancelled() => return Err(End::failed("the member acknowledges nothing")),
            () = events.closed() => return Ok(Unheard),
        };
        if events.send(event).await.is_err() {
            return Ok(Unheard);
        }
    }
}

/// The error and its causes: tonic's own words are only "transport error".
pub(crate) fn error_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        // Some errors repeat their cause's words.
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}
