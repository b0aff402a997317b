//! Which agents' streams are alive where: each member tells the leader every 2 s, and the leader proposes
//! `LoseAgent` for a session that nobody has named for 15 s (STA-5). A new leader starts its timers afresh.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};
use waymark_core::model::{Caseless, Revision};
use waymark_core::state::{Action, Command};
use waymark_proto::peer::v1 as wire;

use super::base::Base;
use super::forward::{peer, timed};
use super::leader::Leader;
use super::lessor::{Lessor, SILENCE};
use super::seat::Seat;
use super::types::Node;
use super::{ProposeError, Proposer};

/// How often held sessions are named to the leader.
const NAME_EVERY: Duration = Duration::from_secs(2);
/// How often the leader looks for sessions that nobody names.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A session is named if it was heard this lately: two heartbeats of an agent. The leader counts the 15 s from the last
/// naming, so that longer would make it wait that much longer (STA-5).
const HEARD_LATELY: Duration = Duration::from_secs(4);

/// One agent's session whose stream this member holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldSession {
    /// The agent.
    pub agent: Caseless,
    /// The session.
    pub session: Revision,
}

/// The sessions that this member holds. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Leases {
    held: Arc<Mutex<HashMap<Caseless, (Revision, Instant)>>>,
    lessor: Arc<Mutex<Lessor>>,
}

impl Leases {
    /// Says that the session's stream has just been heard from (report or heartbeat): it is named to the leader as
    /// long as that was a moment ago.
    pub fn heard(&self, session: &HeldSession) {
        let mut held = locked(&self.held);
        let now = Instant::now();
        match held.get_mut(&session.agent) {
            // A stream of an older session may still be on its way out.
            Some((known, _)) if *known > session.session => {}
            Some(known) => *known = (session.session, now),
            None => drop(held.insert(session.agent.clone(), (session.session, now))),
        }
    }

    /// Says that the stream has ended: the session is no longer named.
    pub fn release(&self, session: &HeldSession) {
        let mut held = locked(&self.held);
        if held.get(&session.agent).is_some_and(|(known, _)| *known == session.session) {
            held.remove(&session.agent);
        }
    }

    /// On the leader: a member holds `sessions`.
    pub(super) fn name(&self, sessions: &[HeldSession]) {
        locked(&self.lessor).name(sessions, Instant::now());
    }

    /// The sessions to be named now; forgets those that were not heard of for too long.
    fn to_name(&self) -> Vec<HeldSession> {
        let mut held = locked(&self.held);
        held.retain(|_, (_, heard)| heard.elapsed() < HEARD_LATELY);
        held.iter()
            .map(|(agent, (session, _))| HeldSession { agent: agent.clone(), session: *session })
            .collect()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Starts naming, and, whenever this member leads, looking.
pub(super) fn start(base: &Arc<Base>, proposer: &Proposer) -> Leases {
    let leases = Leases { held: Arc::default(), lessor: Arc::default() };
    base.tasks.spawn(name_always(base.clone(), leases.clone()));
    base.tasks.spawn(look_always(base.clone(), leases.clone(), proposer.clone()));
    leases
}

async fn name_always(base: Arc<Base>, leases: Leases) {
    let work = async {
        let seat = base.seated().await;
        let mut ticks = interval(NAME_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let sessions = leases.to_name();
            match seat.leader() {
                Leader::Here => leases.name(&sessions),
                Leader::There(id, node) if !sessions.is_empty() => {
                    name_to(&base, &seat, id, &node, sessions).await
                }
                Leader::There(..) | Leader::Unknown | Leader::Failed(_) => {}
            }
        }
    };
    base.stop.run_until_cancelled(work).await;
}

async fn name_to(base: &Base, seat: &Seat, id: u64, node: &Node, sessions: Vec<HeldSession>) {
    let sessions = sessions.into_iter().map(|HeldSession { agent, session }| wire::HeldSession {
        agent: agent.to_string(),
        session: session.0,
    });
    let message = wire::HoldSessionsRequest { member: seat.member, sessions: sessions.collect() };
    let Ok(mut peer) = peer(base, seat, id, node) else { return };
    if let Err(status) = peer.hold_sessions(timed(message, NAME_EVERY)).await {
        // The next time comes soon, and a new leader waits for it.
        tracing::debug!(
            leader = id,
            error = status.message(),
            "held sessions could not be named to the leader"
        );
    }
}

async fn look_always(base: Arc<Base>, leases: Leases, proposer: Proposer) {
    let work = async {
        let seat = base.seated().await;
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let term = seat.metrics().current_term;
            if seat.leader() != Leader::Here {
                continue;
            }
            let view = base.reader.view();
            let alive = view.state.agents.values().filter(|agent| !agent.lost);
            let alive = alive.map(|agent| HeldSession { agent: agent.name.clone(), session: agent.session });
            let silent = locked(&leases.lessor).look(term, alive, Instant::now());
            if !silent.is_empty() {
                lose(&proposer, silent).await;
            }
        }
    };
    base.stop.run_until_cancelled(work).await;
}

async fn lose(proposer: &Proposer, silent: Vec<HeldSession>) {
    let names: Vec<_> = silent.iter().map(|held| held.agent.to_string()).collect();
    tracing::warn!(agents = ?names, "no member has heard of them for {SILENCE:?}: they are taken for lost");
    let lose = |HeldSession { agent, session }| Command::of_cluster(Action::LoseAgent { agent, session });
    let commands = silent.into_iter().map(lose);
    match proposer.propose(commands.collect()).await {
        Ok(_) => {}
        // It is tried again at the next look, here or on another leader.
        Err(error @ (ProposeError::NoLeader | ProposeError::OutcomeUnknown | ProposeError::Busy)) => {
            tracing::debug!(%error, "lost agents could not be recorded yet");
        }
        Err(error) => tracing::warn!(%error, "lost agents could not be recorded"),
    }
}
