//! What should have been counted and concluded, reckoned in the plainest way from what was reported: no state that is carried
//! on but the reports themselves (STA-1 … STA-6, STA-11).

use std::collections::BTreeMap;

use waymark_core::model::{AgentRun, Caseless, EndpointId, Revision};
use waymark_core::state::{Action, State};

/// One report that counts.
#[derive(Clone, Copy, Debug)]
struct Count {
    is_success: bool,
    tolerated: u32,
    recovery: u32,
}

/// What one agent has reported of one endpoint since its count began.
#[derive(Clone, Debug, Default)]
struct Reports {
    counts: Vec<Count>,
    last: (u64, u64),
}

/// Verdict: up, down or none yet.
pub(crate) type Verdict = Option<bool>;

impl Reports {
    /// STA-1, from the beginning each time.
    fn verdict(&self) -> Verdict {
        let (mut verdict, mut failures, mut successes) = (None, 0_u32, 0_u32);
        for count in &self.counts {
            if count.is_success {
                (failures, successes) = (0, successes + 1);
                if verdict != Some(false) || successes >= count.recovery {
                    (verdict, successes) = (Some(true), 0);
                }
            } else {
                (failures, successes) = (failures + 1, 0);
                if failures > count.tolerated {
                    verdict = Some(false);
                }
            }
        }
        verdict
    }

    /// What came before so many reports of one kind does not matter: no patience is that long.
    fn shorten(&mut self) {
        const KEPT: usize = 16;
        let Some(begin) = self.counts.len().checked_sub(KEPT).filter(|begin| *begin > KEPT) else { return };
        if self.counts[begin..].iter().all(|count| count.is_success == self.counts[begin].is_success) {
            self.counts.drain(..begin);
        }
    }
}

/// The whole reckoning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Naive {
    reports: BTreeMap<(EndpointId, Caseless), Reports>,
    /// The last conclusion on each endpoint: is it Online (STA-4)?
    concluded: BTreeMap<EndpointId, bool>,
    /// The check whose reports are counted.
    checks: BTreeMap<EndpointId, Revision>,
}

impl Naive {
    /// Takes in a command that the log has and that was applied to `before`, which became `after`.
    pub(crate) fn take(&mut self, action: &Action, before: &State, after: &State) {
        match action {
            Action::RecordOutcomes { agent, run, outcomes } => {
                for reported in outcomes {
                    self.report(before, agent, *run, reported);
                }
            }
            Action::ExpireVerdicts { agent, session, endpoints } => {
                if before.agents.get(agent).is_some_and(|known| known.session == *session) {
                    endpoints.iter().for_each(|id| self.silence(after, *id, agent));
                }
            }
            _ => self.follow(before, after),
        }
    }

    fn report(
        &mut self,
        state: &State,
        agent: &Caseless,
        run: AgentRun,
        reported: &waymark_core::state::ReportedOutcome,
    ) -> Option<()> {
        let known =
            state.agents.get(agent).filter(|known| !known.lost && !known.is_blind && known.run == run)?;
        let health = state.health.get(&reported.endpoint)?;
        let profile = state.profiles.get(&health.profile)?;
        let endpoint = profile.endpoint_by_id(reported.endpoint)?;
        let monitor = &profile.monitor;
        // STA-5: three intervals and a timeout.
        let life_ms = 3 * monitor.effective_interval_ms() + monitor.effective_timeout_ms();
        let is_for_this = state.is_probed(profile, endpoint) && endpoint.check_revision == reported.check;
        if !is_for_this || reported.age_ms > life_ms {
            return None;
        }
        let is_success = reported.outcome.class.success();
        let reports = self.reports.entry((reported.endpoint, known.name.clone())).or_default();
        // STA-6: what comes again, or behind what came later, changes nothing.
        if reports.last.0 == run.0 && reported.sequence <= reports.last.1 {
            return None;
        }
        reports.last = (run.0, reported.sequence);
        let count = Count {
            is_success: is_success?,
            tolerated: monitor.effective_tolerated_failures(),
            recovery: monitor.effective_recovery_successes(),
        };
        reports.counts.push(count);
        reports.shorten();
        self.conclude(state, reported.endpoint);
        Some(())
    }

    fn silence(&mut self, state: &State, id: EndpointId, agent: &Caseless) {
        if self.reports.remove(&(id, agent.clone())).is_some() {
            self.conclude(state, id);
        }
    }

    /// What a change of settings, of agents or of services means for the counts (STA-5, STA-11).
    fn follow(&mut self, before: &State, after: &State) {
        for (name, agent) in &before.agents {
            let now = after.agents.get(name);
            // PRB-14: whoever sees nothing has nothing to say.
            let is_silent =
                now.is_none_or(|now| now.is_blind || now.lost && !agent.lost || now.region != agent.region);
            if is_silent {
                let counted: Vec<_> =
                    self.reports.keys().filter(|(_, by)| by == name).map(|(id, _)| *id).collect();
                counted.into_iter().for_each(|id| self.silence(after, id, name));
            }
        }
        if before.profiles.ptr_eq(&after.profiles) && before.services.ptr_eq(&after.services) {
            return;
        }
        let mut checks = BTreeMap::new();
        for profile in after.profiles.values() {
            for endpoint in &profile.endpoints {
                checks.insert(endpoint.id, endpoint.check_revision);
                let is_same = self.checks.get(&endpoint.id) == Some(&endpoint.check_revision);
                let is_probed = after.is_probed(profile, endpoint);
                if !is_same || !is_probed {
                    self.reports.retain(|(id, _), _| *id != endpoint.id);
                }
                if !is_probed {
                    self.concluded.remove(&endpoint.id);
                }
            }
        }
        self.reports.retain(|(id, _), _| checks.contains_key(id));
        self.concluded.retain(|id, _| checks.contains_key(id));
        self.checks = checks;
    }

    /// STA-2, STA-3: regions by their agents, the endpoint by its regions.
    fn conclude(&mut self, state: &State, id: EndpointId) {
        let mut regions: BTreeMap<&Caseless, (u32, u32)> = BTreeMap::new();
        for ((_, agent), reports) in
            self.reports.range((id, Caseless::new(""))..).take_while(|((of, _), _)| *of == id)
        {
            let Some(region) = state.agents.get(agent).map(|agent| &agent.region) else { continue };
            if let Some(is_up) = reports.verdict() {
                let (up, all) = regions.entry(region).or_default();
                (*up, *all) = (*up + u32::from(is_up), *all + 1);
            }
        }
        let all = regions.len();
        let up = regions.values().filter(|(up, all)| 2 * up >= *all).count();
        if all > 0 {
            self.concluded.insert(id, 2 * up >= all);
        }
    }

    /// What `agent` should think of the endpoint.
    pub(crate) fn verdict(&self, id: EndpointId, agent: &Caseless) -> Verdict {
        self.reports.get(&(id, agent.clone())).and_then(Reports::verdict)
    }

    /// Is the endpoint Online by what was last concluded? None if nothing ever was.
    pub(crate) fn is_online(&self, id: EndpointId) -> Option<bool> {
        self.concluded.get(&id).copied()
    }
}
