//! What an agent must probe, as messages: everything first, then what changed since the last one on its stream (PRB-11).
//!
//! The profiles and services that an agent was told of are kept as the state's own persistent maps: it costs nothing,
//! and comparing them with later ones passes over everything that both share.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use imbl::ordmap::DiffItem;
use prost::Message;
use waymark_core::health::Check;
use waymark_core::model::{Endpoint, EndpointId, Profile, ProfileId, Revision};
use waymark_core::state::{State, View};
use waymark_process::secrets::{Keys, UnsealError};
use waymark_proto::agent::v1 as wire;

use super::limits::{ASSIGNMENT_BYTES_MAX, ASSIGNMENT_CHECKS_MAX};

/// What one stream was told, and what is still to be told.
#[derive(Debug, Default)]
pub(super) struct Assigner {
    /// The checks' revision that the stream is brought to; `None` before the full assignment.
    revision: Option<Revision>,
    /// What the stream knew before that.
    before: State,
    /// What it will know then.
    after: State,
    /// The profiles that differ and have not been looked at yet.
    differing: VecDeque<ProfileId>,
    /// Differences of profiles that have.
    ready: VecDeque<Difference>,
    /// The next message begins the full assignment.
    is_full: bool,
    /// What secret headers are decrypted with (SEC-4).
    keys: Arc<Keys>,
}

/// Only what is different, not the check itself: a profile's checks together may be large.
#[derive(Debug)]
enum Difference {
    Check(ProfileId, EndpointId),
    Removed(EndpointId),
}

impl Assigner {
    /// One that has told nothing yet.
    pub(super) fn new(keys: Arc<Keys>) -> Self {
        Self { keys, ..Self::default() }
    }

    /// Must the agent be told something that `view` says?
    pub(super) fn is_due(&self, view: &View) -> bool {
        self.is_under_way() || self.revision != Some(view.checks_revision)
    }

    /// The next message; `None` if the agent knows all that `view` says.
    pub(super) fn next(&mut self, view: &View) -> Option<wire::Assignment> {
        while self.is_due(view) {
            if !self.is_under_way() {
                self.aim_at(view);
            }
            let message = self.part();
            // Not every change of the checks' revision changes a check.
            if message.full || !message.checks.is_empty() || !message.removed.is_empty() {
                return Some(message);
            }
        }
        None
    }

    fn is_under_way(&self) -> bool {
        self.is_full || !self.ready.is_empty() || !self.differing.is_empty()
    }

    fn aim_at(&mut self, view: &View) {
        self.is_full = self.revision.is_none();
        self.revision = Some(view.checks_revision);
        self.before = std::mem::replace(&mut self.after, checked(&view.state));
        self.differing =
            self.before.profiles.diff(&self.after.profiles).map(|item| differing_id(&item)).collect();
    }

    fn part(&mut self) -> wire::Assignment {
        let mut part = wire::Assignment {
            revision: self.revision.unwrap_or_default().0,
            full: std::mem::take(&mut self.is_full),
            ..Default::default()
        };
        let (mut bytes, mut unread) = (0, Unread::default());
        while part.checks.len() + part.removed.len() < ASSIGNMENT_CHECKS_MAX {
            match self.difference() {
                None => break,
                Some(Difference::Removed(endpoint)) => part.removed.push(endpoint.0),
                Some(Difference::Check(profile, endpoint)) => {
                    let Some(mut check) = self.check(profile, endpoint) else { continue };
                    if let Err(reason) = unseal(&self.keys, &mut check) {
                        unread.note(&self.after, profile, endpoint, reason);
                        part.removed.push(endpoint.0);
                        continue;
                    }
                    bytes += check.encoded_len();
                    if bytes > ASSIGNMENT_BYTES_MAX && !part.checks.is_empty() {
                        self.ready.push_front(Difference::Check(profile, endpoint));
                        break;
                    }
                    part.checks.push(check);
                }
            }
        }
        unread.tell();
        part.more = self.has_difference();
        part
    }

    fn difference(&mut self) -> Option<Difference> {
        self.has_difference().then(|| self.ready.pop_front()).flatten()
    }

    fn has_difference(&mut self) -> bool {
        while self.ready.is_empty() {
            let Some(id) = self.differing.pop_front() else { return false };
            self.ready = differences(id, &self.before, &self.after);
        }
        true
    }

    fn check(&self, profile: ProfileId, endpoint: EndpointId) -> Option<wire::Check> {
        let profile = self.after.profiles.get(&profile)?;
        let check = self.after.check(profile, profile.endpoint_by_id(endpoint)?)?;
        Some((endpoint, &check).into())
    }
}

fn differing_id<V>(item: &DiffItem<'_, '_, ProfileId, V>) -> ProfileId {
    match item {
        DiffItem::Add(id, _) | DiffItem::Remove(id, _) | DiffItem::Update { new: (id, _), .. } => **id,
    }
}

fn differences(id: ProfileId, before: &State, after: &State) -> VecDeque<Difference> {
    let (before, after) = (checks(before, id), checks(after, id));
    let removed = before.keys().filter(|id| !after.contains_key(id)).map(|id| Difference::Removed(*id));
    let changed = after.iter().filter(|(endpoint, check)| before.get(endpoint) != Some(check));
    removed.chain(changed.map(|(endpoint, _)| Difference::Check(id, *endpoint))).collect()
}

/// The checks of a profile's endpoints that are probed (PRB-11).
fn checks(state: &State, id: ProfileId) -> BTreeMap<EndpointId, Check> {
    let profile = state.profiles.get(&id);
    let endpoints = profile
        .into_iter()
        .flat_map(|profile| profile.endpoints.iter().map(move |endpoint| (profile, endpoint)));
    let check = |(profile, endpoint): (&Arc<Profile>, &Endpoint)| {
        Some((endpoint.id, state.check(profile, endpoint)?))
    };
    endpoints.filter_map(check).collect()
}

/// Of `state` what its checks depend on, so that nothing else is kept.
fn checked(state: &State) -> State {
    State { profiles: state.profiles.clone(), services: state.services.clone(), ..State::default() }
}

/// Puts what secret headers say in their place. An agent that needs them gets them in plain text, within TLS, and nobody else does.
fn unseal(keys: &Keys, check: &mut wire::Check) -> Result<(), UnsealError> {
    for header in check.headers.iter_mut().filter(|header| header.secret) {
        header.value = keys.unseal(&header.name, &header.sealed)?;
        (header.secret, header.sealed) = (false, Default::default());
    }
    Ok(())
}

/// Checks of one message whose secrets this member cannot read. They are not carried out: without the header, an endpoint that is
/// well would seem to fail.
#[derive(Default)]
struct Unread {
    count: usize,
    first: Option<(String, UnsealError)>,
}

impl Unread {
    fn note(&mut self, state: &State, profile: ProfileId, endpoint: EndpointId, reason: UnsealError) {
        self.count += 1;
        let profile = state.profiles.get(&profile);
        let named = profile
            .and_then(|profile| Some(format!("{}/{}", profile.name, profile.endpoint_by_id(endpoint)?.name)));
        self.first.get_or_insert_with(|| (named.unwrap_or_default(), reason));
    }

    /// One line for each message, so that it does not matter how many there are.
    fn tell(self) {
        let Some((endpoint, reason)) = self.first else { return };
        tracing::error!(
            endpoint,
            %reason,
            others = self.count - 1,
            "a secret header cannot be read: agents on this member do not probe its endpoint"
        );
    }
}
