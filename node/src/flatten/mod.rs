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

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
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
/// Names that are looked up at once: a resolver has others to serve.
const LOOKUPS_MAX: usize = 32;
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

/// Each name that is to be looked up, and the endpoints that it is looked up for.
type Wanted = BTreeMap<Name, Vec<EndpointId>>;

impl Flattener {
    /// Looks names up until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        shutdown.run_until_cancelled(self.look_always()).await;
    }

    async fn look_always(self) {
        let mut resolver = None;
        let mut schedule = Schedule::default();
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if !self.membership.leads() {
                schedule = Schedule::default();
                continue;
            }
            let state = &self.reader.view().state;
            let wanted = wanted(state);
            let with_lacks = wanted.iter().map(|(name, endpoints)| (name, lacks(state, endpoints)));
            let due = schedule.due(with_lacks, Instant::now());
            if due.is_empty() {
                continue;
            }
            match resolver.get_or_insert_with(|| Resolver::new(self.resolver)) {
                Ok(resolver) => self.look_up(resolver, &wanted, due, &mut schedule).await,
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

    async fn look_up(&self, resolver: &Resolver, wanted: &Wanted, due: Vec<Name>, schedule: &mut Schedule) {
        let ask = |name: Name| async move {
            let lookup = resolver.look_up(&name).await;
            (name, lookup)
        };
        let looked_up: Vec<(Name, Lookup)> =
            stream::iter(due).map(ask).buffer_unordered(LOOKUPS_MAX).collect().await;
        let state = &self.reader.view().state;
        let found: Vec<_> = looked_up
            .iter()
            .flat_map(|(name, lookup)| {
                let endpoints = wanted.get(name).into_iter().flatten();
                endpoints.filter_map(move |endpoint| changed::found(state, *endpoint, name, lookup))
            })
            .collect();
        for found in found.chunks(FOUND_MAX) {
            let action = Action::FlattenTargets { found: found.to_vec() };
            let command = Command { id: None, author: "cluster".into(), action };
            if let Err(error) = self.proposer.propose(vec![command]).await {
                // All of them are due at the next look, here or on another leader.
                tracing::debug!(%error, "addresses of flattened profiles could not be recorded yet");
                return;
            }
        }
        let now = Instant::now();
        looked_up.iter().for_each(|(name, lookup)| schedule.looked_up(name, lookup, now));
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
