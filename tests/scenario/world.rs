//! What a script acts on: the state and the view built from it, the time, and the agents' own counting.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use waymark_core::model::{Agent, Caseless, Endpoint, EndpointId, LogIndex, Profile, Revision, Timestamp};
use waymark_core::state::{Action, Applied, Change, Command, CommandId, Context, State, View, apply};

/// A cluster of one pure core.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// What is agreed on.
    pub(crate) state: State,
    /// Kept up to date change by change, as on a member.
    pub(crate) view: View,
    /// The time that the next command carries.
    pub(crate) at: Timestamp,
    index: u64,
    /// The check that each endpoint had before its present one.
    old_checks: BTreeMap<EndpointId, Revision>,
    /// The last sequence number of each agent's run.
    sequences: BTreeMap<(Caseless, u64), u64>,
}

impl World {
    /// Applies one command, as one log entry.
    pub(crate) fn apply(&mut self, mark: Option<u128>, author: &str, action: Action) -> Applied {
        self.index += 1;
        let context = Context { index: LogIndex(self.index), at: self.at };
        let command = Command { id: mark.map(CommandId), author: author.to_owned(), note: None, action };
        let applied = apply(&self.state, context, &command);
        self.take(&applied);
        applied
    }

    /// Is the command of that mark remembered?
    pub(crate) fn remembers(&self, mark: Option<u128>) -> bool {
        mark.is_some_and(|mark| self.state.remembered.contains_key(&CommandId(mark)))
    }

    pub(crate) fn profile(&self, name: &str) -> Result<&Profile> {
        let profile = self.state.profile(&Caseless::new(name));
        profile.map(AsRef::as_ref).with_context(|| format!("the script has no profile '{name}'"))
    }

    pub(crate) fn agent(&self, name: &str) -> Result<&Agent> {
        let agent = self.state.agents.get(&Caseless::new(name));
        agent.map(AsRef::as_ref).with_context(|| format!("the script has no agent '{name}'"))
    }

    /// The endpoint called `PROFILE/NAME`, or `NAME` if only one profile has it, or `#N` whether it exists or not.
    pub(crate) fn endpoint(&self, text: &str) -> Result<EndpointId> {
        if let Some(number) = text.strip_prefix('#') {
            return Ok(EndpointId(number.parse()?));
        }
        let (profile, name) = match text.split_once('/') {
            Some((profile, name)) => (Some(Caseless::new(profile)), Caseless::new(name)),
            None => (None, Caseless::new(text)),
        };
        let mut found = self
            .state
            .profiles
            .values()
            .filter(|candidate| profile.as_ref().is_none_or(|profile| candidate.name == *profile))
            .filter_map(|candidate| candidate.endpoint(&name));
        match (found.next(), found.next()) {
            (Some((_, endpoint)), None) => Ok(endpoint.id),
            (None, _) => bail!("the script has no endpoint '{text}'"),
            (Some(_), Some(_)) => bail!("there is more than one endpoint '{text}': name the profile"),
        }
    }

    /// The sequence number of the next of `count` outcomes in a run. One that is given is taken, and counted from.
    pub(crate) fn sequence(&mut self, agent: &Caseless, run: u64, given: Option<u64>, count: u64) -> u64 {
        let last = self.sequences.entry((agent.clone(), run)).or_insert(0);
        let first = given.unwrap_or(*last + 1);
        *last = (*last).max(first + count - 1);
        first
    }

    /// The revision of the endpoint's check; `old` is the check before.
    pub(crate) fn check(&self, endpoint: EndpointId, word: Option<&str>) -> Result<Revision> {
        match word {
            None => Ok(self.view.endpoint(endpoint).map_or(Revision(0), |(_, found)| found.check_revision)),
            Some("old") => {
                self.old_checks.get(&endpoint).copied().context("the endpoint has had one check only")
            }
            Some(word) => bail!("check={word}: only the 'old' one can be named"),
        }
    }

    fn take(&mut self, applied: &Applied) {
        let changes: &[Change] = &applied.changes;
        let endpoints = |state: &State| -> Vec<Endpoint> {
            state.profiles.values().flat_map(|profile| profile.endpoints.clone()).collect()
        };
        let after = endpoints(&applied.state);
        for earlier in endpoints(&self.state) {
            let is_over =
                |now: &&Endpoint| now.id == earlier.id && now.check_revision != earlier.check_revision;
            if after.iter().any(|now| is_over(&now)) {
                self.old_checks.insert(earlier.id, earlier.check_revision);
            }
        }
        self.state = applied.state.clone();
        self.view = self.view.after(self.state.clone(), changes, LogIndex(self.index));
    }
}
