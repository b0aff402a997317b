//! The one stream to the cluster: to some member, and to the next one as soon as that fails (STA-5, STA-6).
//!
//! ```text
//!         connect, Hello          Welcome            Assignment
//!  wait ─────────────────▶ opening ───────▶ welcomed ───────────▶ serving ──┐
//!    ▲                        │ 5 s            │ 3 s                        │ heartbeat every 2 s
//!    └────── next member ◀────┴────────────────┴────────────────────────────┘ end, error, silence, no acknowledgement
//! ```

mod backoff;
pub(crate) mod message;
mod session;
mod turns;

use std::sync::Arc;

use http::Uri;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use waymark_process::chance;
use waymark_process::tls::Credentials;
use waymark_proto::agent::v1::AgentMessage;

pub(crate) use self::backoff::{Backoff, Ending};
pub(crate) use self::session::{Member, error_text};
use crate::assignment::Update;
use crate::sight::Sight;
use crate::survey::Allowance;

pub use self::turns::in_turn;

/// Who speaks.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The agent's name.
    pub agent: String,
    /// The region that it probes from.
    pub region: String,
    /// Drawn at its start.
    pub run: u64,
}

/// What the stream brings.
#[derive(Debug)]
pub(crate) enum Event {
    /// A member has welcomed the agent; its assignment will follow.
    Opened(Session),
    /// What must be probed.
    Assigned(Update),
    /// Everything up to this number is done with.
    Acknowledged(u64),
    /// The stream has ended; there will be another.
    Closed,
}

/// A stream that is open.
#[derive(Debug)]
pub(crate) struct Session {
    /// Where reports go.
    pub(crate) outbox: mpsc::Sender<AgentMessage>,
    /// Gives this member up.
    pub(crate) abandon: CancellationToken,
    /// What its Hello said of the agent's sight.
    pub(crate) told_sight: Sight,
}

/// A session that held this long was a good one: the next failure is a first failure.
const GOOD_SESSION: std::time::Duration = std::time::Duration::from_secs(5);

/// The members at `urls`, who learn of this agent by `credentials` where TLS is spoken.
pub(crate) fn members(urls: Vec<Uri>, credentials: Option<&Arc<Credentials>>) -> Vec<Member> {
    urls.into_iter().map(|url| Member::new(url, credentials)).collect()
}

/// Keeps a stream open to one of `members`, in their order, until nobody takes the events any more.
pub(crate) async fn run(
    members: Vec<Member>,
    identity: Identity,
    allowance: Allowance,
    sight: watch::Receiver<Sight>,
    events: mpsc::Sender<Event>,
) {
    let mut backoff = Backoff::new(members.len());
    for member in members.iter().cycle() {
        let (start, now) = (Instant::now(), *sight.borrow());
        let Err(end) = session::hold(member, &identity, &allowance, now, &events).await else {
            return;
        };
        if events.send(Event::Closed).await.is_err() {
            return;
        }
        if start.elapsed() >= GOOD_SESSION {
            backoff.reset();
        }
        let wait = backoff.wait(end.ending, chance::draw());
        tell(member, &end, wait);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = events.closed() => return,
        }
    }
}

fn tell(member: &Member, end: &session::End, wait: std::time::Duration) {
    let (member, wait_ms) = (member.to_string(), wait.as_millis());
    match end.ending {
        Ending::Failed => {
            tracing::warn!(member, wait_ms, reason = end.reason, "no stream; trying the next member")
        }
        Ending::Refused => tracing::error!(
            member,
            wait_ms,
            reason = end.reason,
            "the cluster refuses this agent: check its name, region and certificate, and that the region is declared"
        ),
        Ending::Superseded => tracing::error!(
            member,
            wait_ms,
            reason = end.reason,
            "another agent with this name has taken over: give each agent a name of its own"
        ),
    }
}
