//! The agents: what they find, and how it gets to the log, or not.

use std::collections::VecDeque;

use waymark_core::health::{Outcome, OutcomeClass};
use waymark_core::model::{AgentRun, Caseless, EndpointId, MemberId};
use waymark_core::state::{Action, ReportedOutcome};

use crate::world::{Member, Seen};
use harness::chance::Chance;

/// Agents, two in each region.
const AGENTS: [(&str, &str); 6] =
    [("a1", "eu"), ("a2", "eu"), ("a3", "us"), ("a4", "us"), ("a5", "asia"), ("a6", "asia")];
/// As many outcomes a report has at most.
const REPORT_MAX: usize = 8;

#[derive(Debug)]
struct Probe {
    name: Caseless,
    region: &'static str,
    run: u64,
    sequence: u64,
    /// Found, with when, and not yet acknowledged.
    backlog: VecDeque<(u64, ReportedOutcome)>,
    /// What was reported before, as it may come again from a stream that is gone.
    earlier: Vec<ReportedOutcome>,
}

/// All agents, and what is really up.
#[derive(Debug)]
pub(crate) struct Fleet {
    probes: Vec<Probe>,
    /// Which endpoints are down, by number and region; a bit for each.
    down: [u8; 64],
    runs: u64,
}

impl Fleet {
    pub(crate) fn new() -> Self {
        let probe = |(name, region): (&str, &'static str)| Probe {
            name: Caseless::new(name),
            region,
            run: 0,
            sequence: 0,
            backlog: VecDeque::new(),
            earlier: Vec::new(),
        };
        Self { probes: AGENTS.map(probe).into(), down: [0; 64], runs: 0 }
    }

    /// One thing happens to one agent; the command that comes of it, if one does.
    pub(crate) fn act(
        &mut self,
        chance: &mut Chance,
        leader: &Member,
        clock: u64,
        seen: &mut Seen,
    ) -> Option<Action> {
        let nth = chance.below(self.probes.len() as u64) as usize;
        let Self { probes, down, runs } = self;
        let probe = &mut probes[nth];
        match chance.below(100) {
            // Something goes down or comes back, everywhere or in one region.
            0 if chance.one_in(8) => {
                // Everything at once, as when a check goes wrong: what a brake is for (FAIL-2).
                down.fill(if chance.one_in(2) { 0xff } else { 0 });
                None
            }
            0..=2 => {
                let endpoint = &mut down[chance.below(64) as usize];
                *endpoint = match chance.below(3) {
                    0 => 0,
                    1 => 0xff,
                    _ => 1 << chance.below(3),
                };
                None
            }
            3 => Some(probe.open(chance, runs)),
            4 => probe.lost(leader, seen),
            5 => probe.expire(chance, leader, seen),
            6 if chance.one_in(4) => {
                seen.count("forgotten agents");
                Some(Action::ForgetAgent { name: probe.name.to_string() })
            }
            7 => probe.repeat(chance, seen),
            8 => probe.sight(chance, leader, seen),
            9..=40 => probe.report(chance, clock, seen),
            _ => probe.find(chance, leader, clock, down),
        }
    }
}

impl Probe {
    /// A stream comes up: of the same run, or of a new one, which knows nothing of what the one before had found.
    fn open(&mut self, chance: &mut Chance, runs: &mut u64) -> Action {
        if self.run == 0 || chance.one_in(3) {
            *runs += 1;
            (self.run, self.sequence) = (*runs, 0);
            self.backlog.clear();
            self.earlier.clear();
        }
        let region = if chance.one_in(20) { "us" } else { self.region };
        Action::OpenSession {
            agent: self.name.to_string(),
            region: region.to_owned(),
            run: AgentRun(self.run),
            version: "1".to_owned(),
            member: MemberId(1 + chance.below(3)),
            is_blind: chance.one_in(4).then(|| chance.one_in(2)),
        }
    }

    fn lost(&self, leader: &Member, seen: &mut Seen) -> Option<Action> {
        let agent = leader.state.agents.get(&self.name)?;
        seen.count("lost agents");
        Some(Action::LoseAgent { agent: self.name.clone(), session: agent.session })
    }

    /// Its canaries all fail, or one answers again (PRB-14).
    fn sight(&self, chance: &mut Chance, leader: &Member, seen: &mut Seen) -> Option<Action> {
        let agent = leader.state.agents.get(&self.name)?;
        seen.count("changes of sight");
        let is_blind = chance.one_in(3);
        Some(Action::SetSight { agent: self.name.clone(), session: agent.session, is_blind })
    }

    fn expire(&self, chance: &mut Chance, leader: &Member, seen: &mut Seen) -> Option<Action> {
        let agent = leader.state.agents.get(&self.name)?;
        let mut session = agent.session;
        // A member that had the stream once comes too late.
        if chance.one_in(4) {
            session.0 = session.0.saturating_sub(1);
        }
        let some = leader.state.health.keys().filter(|_| chance.one_in(3)).copied().collect();
        seen.count("expiries");
        Some(Action::ExpireVerdicts { agent: self.name.clone(), session, endpoints: some })
    }

    /// A probe of one of the endpoints that are to be probed, by the check of the moment.
    fn find(&mut self, chance: &mut Chance, leader: &Member, clock: u64, down: &[u8; 64]) -> Option<Action> {
        let ids: Vec<EndpointId> = leader.state.health.keys().copied().collect();
        let id = *chance.one_of(&ids)?;
        let (_, endpoint) = leader.view.endpoint(id)?;
        let region = ["eu", "us", "asia"].iter().position(|region| *region == self.region)?;
        let is_down = down[(id.0 % 64) as usize] >> region & 1 == 1;
        let class = match chance.below(40) {
            0 => OutcomeClass::Agent,
            1 => OutcomeClass::Timeout,
            _ if is_down => OutcomeClass::Refused,
            _ => OutcomeClass::Ok,
        };
        self.sequence += 1;
        let outcome = Outcome { class, status: None };
        let (check, sequence) = (endpoint.check_revision, self.sequence);
        self.backlog
            .push_back((clock, ReportedOutcome { endpoint: id, check, sequence, age_ms: 0, outcome }));
        None
    }

    /// What was found leaves, in order; what is not acknowledged stays.
    fn report(&mut self, chance: &mut Chance, clock: u64, seen: &mut Seen) -> Option<Action> {
        let many = self.backlog.len().min(1 + chance.below(REPORT_MAX as u64) as usize);
        if many == 0 {
            return None;
        }
        // The clock may have gone back; an agent's own does not.
        let aged = |(at, reported): &(u64, ReportedOutcome)| ReportedOutcome {
            age_ms: clock.saturating_sub(*at),
            ..*reported
        };
        let outcomes: Vec<ReportedOutcome> = self.backlog.iter().take(many).map(aged).collect();
        if outcomes.iter().any(|reported| reported.age_ms > 40_000) {
            seen.count("late reports");
        }
        self.earlier.clone_from(&outcomes);
        // The acknowledgement is lost now and then: the same is sent again.
        if !chance.one_in(6) {
            self.backlog.drain(..many);
        }
        Some(self.record(outcomes))
    }

    /// A member that had the stream before proposes what the log has already.
    fn repeat(&self, chance: &mut Chance, seen: &mut Seen) -> Option<Action> {
        if self.earlier.is_empty() {
            return None;
        }
        seen.count("duplicates");
        let mut action = self.record(self.earlier.clone());
        if let Action::RecordOutcomes { run, agent, .. } = &mut action {
            match chance.below(8) {
                0 => run.0 += 1_000_000,
                1 => *agent = Caseless::new("nobody"),
                _ => {}
            }
        }
        Some(action)
    }

    fn record(&self, outcomes: Vec<ReportedOutcome>) -> Action {
        Action::RecordOutcomes { agent: self.name.clone(), run: AgentRun(self.run), outcomes }
    }
}
