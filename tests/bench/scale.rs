//! What a changed status costs where there are few profiles, and where there are many (OBJ-5): the command applied and the
//! view brought up to it, in this process, without disk or sockets. Both states have a past as long as is kept, so that
//! the number of profiles is all that differs.

use std::time::{Duration, Instant};

use waymark_core::health::{Outcome, OutcomeClass};
use waymark_core::model::{
    AgentRun, Edit, EndpointId, EndpointPatch, LogIndex, MemberId, MonitorPatch, ProfilePatch, Region,
    Revision, Routing, Timestamp, ZonePatch,
};
use waymark_core::state::{Action, Change, Command, Context, ReportedOutcome, State, View, apply};

use crate::row;

const FEW: u32 = 1_000;
const MANY: u32 = 100_000;
/// How much more a change may cost among many than among few.
const RATIO_MAX: f64 = 1.5;
/// Outcomes in one command while everything is found up for the first time.
const BATCH: usize = 1_000;

pub(crate) fn measure(changes: u32) {
    let (mut few, mut many) = (Cluster::of(FEW), Cluster::of(MANY));
    few.age();
    many.age();
    let (mut among_few, mut among_many) = (Vec::new(), Vec::new());
    for number in 0..changes {
        // In turns, and each first as often as the other, so that whatever else goes on disturbs both alike.
        if number % 2 == 0 {
            among_few.push(few.change());
            among_many.push(many.change());
        } else {
            among_many.push(many.change());
            among_few.push(few.change());
        }
    }
    let (among_few, among_many) = (median(among_few), median(among_many));
    let ratio = among_many.as_secs_f64() / among_few.as_secs_f64();
    let remarks = format!("{changes} changes, in turns with the row below");
    row("status change applied, 1,000 profiles", &shown(among_few), &remarks);
    row(
        "status change applied, 100,000 profiles",
        &shown(among_many),
        &format!("{ratio:.2} × that, bound {RATIO_MAX} ×"),
    );
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations[durations.len() / 2]
}

fn shown(median: Duration) -> String {
    format!("median {:.1} µs", median.as_secs_f64() * 1e6)
}

/// One agent, and profiles of two endpoints; the agent's outcomes change the first one's status each time.
struct Cluster {
    view: View,
    index: u64,
    /// Of each profile the first endpoint, the revision of its check, and whether it is up.
    endpoints: Vec<(EndpointId, Revision, bool)>,
    /// How many statuses were turned.
    turns: u64,
}

impl Cluster {
    fn of(profiles: u32) -> Self {
        let mut cluster = Self { view: View::default(), index: 0, endpoints: Vec::new(), turns: 0 };
        let region = Region { name: "r1".into(), latitude_e6: 0, longitude_e6: 0, revision: Revision(0) };
        cluster.wish(Action::SetRegion(region));
        let fields = ZonePatch {
            name_servers: Edit::Set(vec![("ns.example.net".into(), Vec::new())]),
            ..ZonePatch::default()
        };
        cluster.wish(Action::CreateZone { name: "bench.test".into(), fields });
        for number in 0..profiles {
            cluster.wish(profile(number));
        }
        cluster.wish(Action::OpenSession {
            agent: "a1".into(),
            region: "r1".into(),
            run: AgentRun(1),
            version: "bench".into(),
            member: MemberId(1),
            is_blind: None,
        });
        let first = |profile: &std::sync::Arc<waymark_core::model::Profile>| {
            let endpoint = &profile.endpoints[0];
            (endpoint.id, endpoint.check_revision, true)
        };
        cluster.endpoints = cluster.view.state.profiles.values().map(first).collect();
        for batch in cluster.endpoints.clone().chunks(BATCH) {
            cluster.wish(outcomes(1, batch));
        }
        cluster.view = View::of(cluster.view.state.clone(), LogIndex(cluster.index));
        cluster
    }

    /// Changes the state alone; the view is made at the end of all wishes.
    fn wish(&mut self, action: Action) {
        let (state, changes) = self.applied(action);
        assert!(!changes.is_empty(), "a wish of the bench's own is good and changes something");
        self.view.state = state;
    }

    /// Turns statuses until the oldest of the past is forgotten: each change costs that from then on. There are as many
    /// events as are kept long before.
    fn age(&mut self) {
        while self.view.state.history.begins() == Timestamp(0) {
            self.change();
        }
    }

    /// Turns the status of one endpoint, another one each time until all had their turn.
    fn change(&mut self) -> Duration {
        /// A prime, so that the steps lead to every endpoint, and from none to its neighbour.
        const STRIDE: u64 = 7_919;
        let place = self.turns * STRIDE % self.endpoints.len() as u64;
        self.turns += 1;
        let endpoint = &mut self.endpoints[place as usize];
        endpoint.2 = !endpoint.2;
        let action = outcomes(self.turns + 1, &[*endpoint]);
        let started = Instant::now();
        let (state, changes) = self.applied(action);
        self.view = self.view.after(state, &changes, LogIndex(self.index));
        let taken = started.elapsed();
        let is_event = |change: &Change| matches!(change, Change::Event(_));
        assert!(changes.iter().any(is_event), "the outcome turned a status");
        taken
    }

    fn applied(&mut self, action: Action) -> (State, Vec<Change>) {
        self.index += 1;
        let context = Context { index: LogIndex(self.index), at: Timestamp(self.index) };
        let command = Command { id: None, author: "bench".into(), note: None, action };
        let applied = apply(&self.view.state, context, &command);
        (applied.state, applied.changes)
    }
}

fn profile(number: u32) -> Action {
    let endpoint = |name: &str, place: u32| {
        let address = std::net::Ipv4Addr::from((10 << 24) + 2 * number + place);
        (
            name.to_owned(),
            EndpointPatch { target: Edit::Set(address.to_string()), ..EndpointPatch::default() },
        )
    };
    let monitor = MonitorPatch { tolerated_failures: Edit::Set(0), ..MonitorPatch::default() };
    Action::CreateProfile {
        name: format!("p{number}"),
        zone: "bench.test".into(),
        relative_name: format!("p{number}"),
        fields: ProfilePatch { routing: Edit::Set(Routing::Weighted), monitor, ..ProfilePatch::default() },
        endpoints: vec![endpoint("e1", 0), endpoint("e2", 1)],
    }
}

/// One outcome for each of `endpoints`: what makes it up or down.
fn outcomes(sequence: u64, endpoints: &[(EndpointId, Revision, bool)]) -> Action {
    let reported = |&(endpoint, check, is_up): &(EndpointId, Revision, bool)| ReportedOutcome {
        endpoint,
        check,
        sequence,
        age_ms: 0,
        outcome: Outcome {
            class: if is_up { OutcomeClass::Ok } else { OutcomeClass::Refused },
            status: None,
        },
    };
    let outcomes = endpoints.iter().map(reported).collect();
    Action::RecordOutcomes { agent: "a1".into(), run: AgentRun(1), outcomes }
}
