//! Finds out what the names of flattened profiles stand for, while this member leads, and has it agreed on (DNS-16): members
//! answer from the state, and never ask anybody in order to answer (DNS-4).
//!
//! ```text
//! wanted names ─▶ schedule: which are due ─▶ lookup: A and AAAA ─▶ changed ─▶ Proposer
//! ```
//!
//! A new leader looks everything up at once. Until then, and while nothing is found, the last addresses stay.

mod changed;
mod lookup;
mod schedule;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{JoinError, JoinSet};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use waymark_core::model::{EndpointId, Name};
use waymark_core::state::{Action, Command, State};

use self::lookup::{Lookup, Resolver};
use self::schedule::Schedule;
use crate::publication::Reader;
use crate::raft::{Membership, Proposer};

/// How often it is looked which names are due: a new one waits no longer.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Names that are looked up at once: a resolver has others to serve. Whom nobody answers for has a place for some seconds, and
/// others must find one beside many such.
const LOOKUPS_MAX: usize = 256;
/// Endpoints in one command: far below what an entry may have, with 16 addresses each.
const FOUND_MAX: usize = 500;

/// What it works with.
pub struct Flattener {
    /// Where the profiles are.
    pub reader: Reader,
    /// What takes changed addresses in.
    pub proposer: Proposer,
    /// Who knows whether this member leads.
    pub membership: Membership,
    /// The resolver that is asked; the system's if none is named.
    pub resolver: Option<SocketAddr>,
}

/// What is under way, and what comes when.
struct Work {
    running: JoinSet<(Name, Lookup)>,
    under_way: BTreeSet<Name>,
    schedule: Schedule,
}

/// Each name that is to be looked up, and the endpoints that it is looked up for.
type Wanted = BTreeMap<Name, Vec<EndpointId>>;

impl Flattener {
    /// Looks names up until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        shutdown.run_until_cancelled(self.look_always()).await;
    }

    async fn look_always(self) {
        let mut work =
            Work { running: JoinSet::new(), under_way: BTreeSet::new(), schedule: Schedule::default() };
        let mut resolver = None;
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                // What is found is recorded at once: others may be long in coming.
                Some(first) = work.running.join_next(), if !work.running.is_empty() => {
                    self.record(first, &mut work).await;
                    continue;
                }
            }
            if !self.membership.leads() {
                work.schedule = Schedule::default();
                continue;
            }
            match resolver.get_or_insert_with(|| Resolver::new(self.resolver).map(Arc::new)) {
                Ok(resolver) => self.begin(resolver, &mut work),
                Err(reason) => {
                    tracing::error!(
                        reason,
                        "there is no resolver: the names of flattened profiles are not looked up; name one with --resolver"
                    );
                    return;
                }
            }
        }
    }

    /// Begins to look up what is due and not under way already.
    fn begin(&self, resolver: &Arc<Resolver>, work: &mut Work) {
        let state = &self.reader.view().state;
        let wanted = wanted(state);
        let with_lacks = wanted.iter().map(|(name, endpoints)| (name, lacks(state, endpoints)));
        for name in work.schedule.due(with_lacks, Instant::now()) {
            if work.running.len() >= LOOKUPS_MAX || !work.under_way.insert(name.clone()) {
                continue;
            }
            let resolver = resolver.clone();
            work.running.spawn(async move {
                let lookup = resolver.look_up(&name).await;
                (name, lookup)
            });
        }
    }

    /// Has what was found recorded, with what else is found by now.
    async fn record(&self, first: Result<(Name, Lookup), JoinError>, work: &mut Work) {
        let mut looked_up: Vec<(Name, Lookup)> = Vec::new();
        let mut next = Some(first);
        while let Some(finished) = next {
            match finished {
                Ok((name, lookup)) => {
                    work.under_way.remove(&name);
                    looked_up.push((name, lookup));
                }
                Err(error) => {
                    // Nobody knows which one it was: all of them may be asked again.
                    tracing::error!(%error, "a look-up broke off");
                    work.under_way.clear();
                }
            }
            next = work.running.try_join_next();
        }
        if !self.membership.leads() {
            return;
        }
        let state = &self.reader.view().state;
        let wanted = wanted(state);
        let found: Vec<_> = looked_up
            .iter()
            .flat_map(|(name, lookup)| {
                let endpoints = wanted.get(name).into_iter().flatten();
                endpoints.filter_map(move |endpoint| changed::found(state, *endpoint, name, lookup))
            })
            .collect();
        for found in found.chunks(FOUND_MAX) {
            let action = Action::FlattenTargets { found: found.to_vec() };
            let command = Command::of_cluster(action);
            if let Err(error) = self.proposer.propose(vec![command]).await {
                // All of them are due at the next look, here or on another leader.
                tracing::debug!(%error, "addresses of flattened profiles could not be recorded yet");
                return;
            }
        }
        let now = Instant::now();
        looked_up.iter().for_each(|(name, lookup)| work.schedule.looked_up(name, lookup, now));
    }
}

/// Is one of the endpoints without addresses?
fn lacks(state: &State, endpoints: &[EndpointId]) -> bool {
    let flattened = |id| state.health.get(id).is_some_and(|health| health.flattened.is_some());
    !endpoints.iter().all(flattened)
}

/// The names of flattened endpoints, but for those that are ours to answer: they would be found by asking ourselves.
fn wanted(state: &State) -> Wanted {
    let mut wanted = Wanted::new();
    let profiles = state.references.flattened().filter_map(|id| state.profiles.get(&id));
    for profile in profiles {
        for endpoint in &profile.endpoints {
            let Some(name) = state.name_to_flatten(profile, endpoint) else { continue };
            if state.enclosing_zone(name).is_none() {
                wanted.entry(name.clone()).or_default().push(endpoint.id);
            }
        }
    }
    wanted
}
