//! From a stream's beginning to an open session.

use tokio::time::{Instant, timeout};
use tonic::{Extensions, Streaming};
use waymark_core::model::{AgentRun, Caseless, EndpointId};
use waymark_core::state::View;
use waymark_proto::agent::v1::{AgentMessage, Hello, agent_message::Kind};

use super::ending::Ending;
use super::limits::HELLO_TEXT_MAX;
use super::reading;
use super::rings::lock;
use super::service::Shared;
use super::session::{Greeting, Records, Session, millis};
use crate::raft::{HeldSession, ProposeError};

/// Takes the Hello and opens the session through the log; returns it and when its clock began.
pub(super) async fn open(
    shared: &Shared,
    extensions: &Extensions,
    incoming: &mut Streaming<AgentMessage>,
) -> Result<(Session, Instant), Ending> {
    let hello = hello(shared, incoming).await?;
    (shared.admission)(extensions, &hello.agent, &hello.region).map_err(Ending::Forbidden)?;
    let greeting = greeting(shared, hello)?;
    let held = propose(shared, &greeting).await?;
    let opened = Instant::now();
    let records = Records {
        rings: shared.recent.open(&held.agent),
        counters: shared.counters.clone(),
        measurements: shared.measurements.clone(),
        keys: shared.keys.clone(),
    };
    let name = shared.identity.name.clone();
    let mut session = Session::new(held, greeting, name, shared.waits, records);
    inherit(&mut session, &shared.reader.view()).await;
    Ok((session, opened))
}

async fn hello(shared: &Shared, incoming: &mut Streaming<AgentMessage>) -> Result<Hello, Ending> {
    let no_hello = || Ending::NoHello(shared.waits.hello);
    let first = timeout(shared.waits.hello, incoming.message());
    let message = tokio::select! {
        () = shared.shutdown.cancelled() => return Err(Ending::ShuttingDown),
        first = first => first.map_err(|_| no_hello())?,
    };
    match message {
        Err(status) => Err(Ending::broken(&status)),
        Ok(Some(AgentMessage { kind: Some(Kind::Hello(hello)) })) => Ok(hello),
        Ok(_) => Err(no_hello()),
    }
}

fn greeting(shared: &Shared, hello: Hello) -> Result<Greeting, Ending> {
    let Hello { agent, region, run, version, queries_per_minute, sight } = hello;
    for (field, text) in [("agent", &agent), ("region", &region), ("version", &version)] {
        if text.len() > HELLO_TEXT_MAX {
            return Err(Ending::Malformed(format!(
                "the Hello's {field} has {} bytes; at most {HELLO_TEXT_MAX} are allowed",
                text.len()
            )));
        }
    }
    let member = (shared.identity.id)().ok_or(Ending::NotMember)?;
    if !*shared.is_leader_reachable.borrow() {
        return Err(Ending::Leaderless);
    }
    if !lock(&shared.openings).take(1, millis(shared.started.elapsed())) {
        return Err(Ending::Limit {
            what: "the number of sessions opened on one member in a second",
            most: shared.waits.openings_per_second,
            advice: "; try again later",
        });
    }
    let is_blind = reading::is_blind(sight);
    Ok(Greeting { agent, region, run: AgentRun(run), version, member, queries_per_minute, is_blind })
}

async fn propose(shared: &Shared, greeting: &Greeting) -> Result<HeldSession, Ending> {
    let proposal = shared.consensus.propose(vec![greeting.open()]);
    let Some(result) = shared.shutdown.run_until_cancelled(proposal).await else {
        return Err(Ending::ShuttingDown);
    };
    let proposed = result.map_err(|error| match error {
        ProposeError::NotMember => Ending::NotMember,
        ProposeError::Storage(_)
        | ProposeError::Failed(_)
        | ProposeError::Refused(_)
        | ProposeError::Level { .. } => Ending::Failed(error),
        ProposeError::NoLeader | ProposeError::OutcomeUnknown | ProposeError::Busy => Ending::Leaderless,
    })?;
    let reply = proposed.replies.into_iter().next().expect("there is one reply for each command")?;
    Ok(HeldSession { agent: Caseless::new(&greeting.agent), session: reply.revision })
}

/// Starts the clocks of the verdicts that the agent has already (STA-5).
async fn inherit(session: &mut Session, view: &View) {
    /// Endpoints between two chances for other streams: some hundred microseconds.
    const AT_ONCE: usize = 1_000;
    let endpoints: Vec<EndpointId> = view.state.health.keys().copied().collect();
    for some in endpoints.chunks(AT_ONCE) {
        some.iter().for_each(|endpoint| session.inherit(view, *endpoint));
        tokio::task::yield_now().await;
    }
}
