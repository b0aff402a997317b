//! Tests of `apply`, by concern. The stories are in the scenario suite; here are the limits and the corners.

mod brake;
mod configuration;
mod enrolment;
mod fields;
mod geography;
mod health;
mod invariants;
mod latency;
mod levels;
mod nesting;
mod overrides;
mod random;
mod records;
mod regions;
mod sessions;
mod sight;
mod switching;
mod zones;

use crate::health::{Outcome, OutcomeClass};
use crate::model::{
    AgentRun, Caseless, Edit, EndpointId, EndpointPatch, LogIndex, MemberId, Profile, ProfilePatch, Region,
    Revision, Routing, Timestamp, ZonePatch,
};
use crate::state::{
    Action, Applied, AuditNote, Command, CommandId, Context, Rejection, Reply, ReportedOutcome, State, View,
    apply,
};

/// A state under test: each command is one log entry, one second after the one before, and after each the invariants
/// hold; the view follows the changes that `apply` tells of (DNS-23).
#[derive(Clone, Default)]
struct Cluster {
    state: State,
    view: View,
    index: u64,
    /// Commands whose number this divides are for the audit trail; none if it is 0.
    noted: u64,
}

impl Cluster {
    /// Regions `r1` to `r3`, and the zone `example.com`.
    fn new() -> Self {
        let mut cluster = Self::default();
        for region in ["r1", "r2", "r3"] {
            cluster.apply(Action::SetRegion(region_at(region, 0))).unwrap();
        }
        cluster.apply(create_zone("example.com", &[("ns1.example.com", &["192.0.2.53"])])).unwrap();
        cluster
    }

    /// The same with the profile `web` and its endpoints `e1` … `eN`.
    fn with_web(endpoints: u8) -> Self {
        let mut cluster = Self::new();
        let endpoints =
            (1..=endpoints).map(|n| (format!("e{n}"), target(&format!("192.0.2.{n}")))).collect::<Vec<_>>();
        cluster.apply(create_profile("web", "web", endpoints)).unwrap();
        cluster
    }

    fn apply(&mut self, action: Action) -> Result<Reply, Rejection> {
        self.run(None, action).reply
    }

    fn apply_marked(&mut self, id: u128, action: Action) -> Result<Reply, Rejection> {
        self.run(Some(CommandId(id)), action).reply
    }

    fn run(&mut self, id: Option<CommandId>, action: Action) -> Applied {
        self.index += 1;
        let context = Context { index: LogIndex(self.index), at: Timestamp(self.index * 1_000) };
        let is_noted = self.index.is_multiple_of(self.noted);
        let note = is_noted.then(|| AuditNote::new("192.0.2.1:50000", "wish", "something", ""));
        let command = Command { id, author: "operator".into(), note, action };
        let applied = apply(&self.state, context, &command);
        invariants::check_step(&self.state, &command, &applied);
        invariants::check_state(&applied.state);
        self.state = applied.state.clone();
        let before = std::mem::take(&mut self.view);
        self.view = before.after(self.state.clone(), &applied.changes, context.index);
        self.view.verify(&before);
        applied
    }

    /// The second time `action` changes nothing but the trail, which may tell of that, too.
    fn run_twice(&mut self, action: Action, why: &str) {
        self.run(None, action.clone());
        let before = self.state.clone();
        self.run(None, action);
        let told = State { audit: self.state.audit.clone(), ..before };
        assert_eq!(self.state, told, "{why}");
    }

    fn profile(&self, name: &str) -> &Profile {
        self.state.profile(&Caseless::new(name)).unwrap()
    }

    fn endpoint(&self, name: &str) -> EndpointId {
        let (_, endpoint) = self.profile("web").endpoint(&Caseless::new(name)).unwrap();
        endpoint.id
    }

    fn status(&self, name: &str) -> &'static str {
        self.state.health[&self.endpoint(name)].status.as_str()
    }

    fn open(&mut self, agent: &str, region: &str, run: u64) -> Revision {
        self.apply(open_session(agent, region, run)).unwrap().revision
    }

    /// One batch of outcomes of `agent` in its current run, from sequence number `sequence` on: `+` a success, `-` a
    /// failure, `?` trouble of the agent's own.
    fn report(&mut self, agent: &str, endpoint: &str, sequence: u64, outcomes: &str) -> Applied {
        let run = self.state.agents[&Caseless::new(agent)].run;
        let id = self.endpoint(endpoint);
        let outcomes =
            (sequence..).zip(outcomes.chars()).map(|(sequence, letter)| self.reported(id, sequence, letter));
        let action = Action::RecordOutcomes { agent: agent.into(), run, outcomes: outcomes.collect() };
        self.run(None, action)
    }

    /// An outcome of the check that is in force.
    fn reported(&self, endpoint: EndpointId, sequence: u64, letter: char) -> ReportedOutcome {
        let class = match letter {
            '+' => OutcomeClass::Ok,
            '-' => OutcomeClass::Timeout,
            _ => OutcomeClass::Agent,
        };
        let check = self.view.endpoint(endpoint).map_or(Revision(0), |(_, found)| found.check_revision);
        ReportedOutcome { endpoint, check, sequence, age_ms: 0, outcome: Outcome { class, status: None } }
    }
}

fn region_at(name: &str, latitude_e6: i32) -> Region {
    Region { name: name.into(), latitude_e6, longitude_e6: 0, revision: Revision(0) }
}

fn zone_fields(servers: &[(&str, &[&str])]) -> ZonePatch {
    let server = |(name, addresses): &(&str, &[&str])| {
        ((*name).to_owned(), addresses.iter().map(|address| (*address).to_owned()).collect())
    };
    ZonePatch { name_servers: Edit::Set(servers.iter().map(server).collect()), ..ZonePatch::default() }
}

fn create_zone(name: &str, servers: &[(&str, &[&str])]) -> Action {
    Action::CreateZone { name: name.into(), fields: zone_fields(servers) }
}

fn target(text: &str) -> EndpointPatch {
    EndpointPatch { target: Edit::Set(text.into()), ..EndpointPatch::default() }
}

fn priority_routing() -> ProfilePatch {
    ProfilePatch { routing: Edit::Set(Routing::Priority), ..ProfilePatch::default() }
}

fn create_profile(name: &str, relative_name: &str, endpoints: Vec<(String, EndpointPatch)>) -> Action {
    create_in("example.com", name, relative_name, priority_routing(), endpoints)
}

fn create_in(
    zone: &str,
    name: &str,
    relative_name: &str,
    fields: ProfilePatch,
    endpoints: Vec<(String, EndpointPatch)>,
) -> Action {
    Action::CreateProfile {
        name: name.into(),
        zone: zone.into(),
        relative_name: relative_name.into(),
        fields,
        endpoints,
    }
}

fn update_profile(fields: ProfilePatch) -> Action {
    Action::UpdateProfile { name: "web".into(), fields, if_revision: None }
}

fn add_endpoint(name: &str, fields: EndpointPatch) -> Action {
    Action::AddEndpoint { profile: "web".into(), name: name.into(), fields, if_revision: None }
}

fn update_endpoint(name: &str, fields: EndpointPatch) -> Action {
    Action::UpdateEndpoint { profile: "web".into(), name: name.into(), fields, if_revision: None }
}

fn remove_endpoint(name: &str) -> Action {
    Action::RemoveEndpoint { profile: "web".into(), name: name.into(), if_revision: None }
}

fn open_session(agent: &str, region: &str, run: u64) -> Action {
    Action::OpenSession {
        agent: agent.into(),
        region: region.into(),
        run: AgentRun(run),
        version: "0.1.0".into(),
        member: MemberId(1),
        is_blind: None,
    }
}

/// What a refused command was told, line by line.
#[track_caller]
fn faults(reply: Result<Reply, Rejection>) -> Vec<String> {
    match reply {
        Err(Rejection::Invalid(violations)) => violations.iter().map(ToString::to_string).collect(),
        other => panic!("expected violations, got {other:?}"),
    }
}
