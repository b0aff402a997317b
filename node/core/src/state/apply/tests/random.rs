//! Random histories: whatever is wished in whatever order, the invariants hold after every command.

mod kinds;
mod monitor;
mod overrides;
mod records;
mod sight;
mod zones;

use std::net::IpAddr;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixture::{arbitrary_client, check_answer, check_scope, locator, query_of};
use crate::model::{Name, Network, RecordType, ServicePatch};
use crate::state::FoundAddresses;
use kinds::{latency_wish, mapping, minima, service_name, service_wish};
use monitor::{headers, profile_fields};
use overrides::override_wish;
use records::record_wish;
use sight::sight_wish;
use zones::zone_wish;

/// One thing that happens. What exists is named by a number, so that most wishes hit something.
#[derive(Clone, Debug)]
enum Happening {
    /// Wished by an operator, perhaps with a mark.
    Wish(Option<u8>, Box<Action>),
    /// An agent reports on the endpoint of that number, in the run that it is in or in another.
    Report { agent: u8, endpoint: u8, run: Option<u64>, sequence: u8, age_ms: u64, outcomes: Vec<bool> },
    /// A member says that an agent's verdicts are too old, of its current session or the one before.
    Expire { agent: u8, endpoints: Vec<u8>, is_current: bool },
    /// The leader says that an agent is lost.
    Lose { agent: u8, is_current: bool },
    /// The leader has looked every target up, or some other name in its place.
    Flatten { is_current: bool, addresses: Vec<IpAddr> },
}

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(words).prop_map(str::to_owned)
}

fn profile_name() -> impl Strategy<Value = String> {
    one_of(&["web", "WEB", "api", "mail", "-bad"])
}

fn endpoint_name() -> impl Strategy<Value = String> {
    one_of(&["e1", "e2", "e3", "E1", "e/4"])
}

fn zone_name() -> impl Strategy<Value = String> {
    one_of(&["example.com", "Example.COM.", "lb.example.com", "b.example", "a..b"])
}

fn region_name() -> impl Strategy<Value = String> {
    one_of(&["r1", "r2", "R2", "r3", "r4"])
}

fn agent_name(number: u8) -> &'static str {
    ["a1", "a2", "a3", "A1"][usize::from(number) % 4]
}

/// Mostly kept, sometimes cleared or set.
fn edit<T: Clone + std::fmt::Debug + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Edit<T>> {
    prop_oneof![6 => Just(Edit::Keep), 1 => Just(Edit::Clear), 3 => value.prop_map(Edit::Set)].boxed()
}

fn endpoint_fields() -> BoxedStrategy<EndpointPatch> {
    let text = one_of(&["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "www.example.com", "0.0.0.0"]);
    let switches = (edit(any::<bool>()), edit(any::<bool>()));
    let headers = prop_oneof![5 => Just(Edit::Keep), 1 => edit(headers())];
    let numbers = (edit(0_u32..=5), edit(0_u32..=1_001));
    let nested = prop_oneof![3 => Just(Default::default()), 1 => (edit(profile_name()), minima())];
    let service = prop_oneof![3 => Just(Edit::Keep), 1 => edit(service_name())];
    let place = (edit(region_name()), mapping());
    (edit(text), nested, service, switches, numbers, place, headers)
        .prop_map(
            |(
                target,
                (nested, minima),
                service,
                (enabled, always_serve),
                (priority, weight),
                (location, mapping),
                headers,
            )| EndpointPatch {
                target,
                nested,
                service,
                endpoints_min: minima[0].clone(),
                endpoints_min_v4: minima[1].clone(),
                endpoints_min_v6: minima[2].clone(),
                enabled,
                priority,
                weight,
                location,
                geo: mapping.0,
                subnets: mapping.1,
                always_serve,
                headers,
            },
        )
        .boxed()
}

fn new_endpoint() -> BoxedStrategy<(String, EndpointPatch)> {
    let text = one_of(&["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "a.example"]);
    let kind = prop_oneof![
        4 => text.prop_map(|text| EndpointPatch { target: Edit::Set(text), ..EndpointPatch::default() }),
        2 => (profile_name(), minima()).prop_map(|(name, minima)| EndpointPatch {
            nested: Edit::Set(name),
            endpoints_min: minima[0].clone(),
            endpoints_min_v4: minima[1].clone(),
            endpoints_min_v6: minima[2].clone(),
            ..EndpointPatch::default()
        }),
        1 => service_name()
            .prop_map(|name| EndpointPatch { service: Edit::Set(name), ..EndpointPatch::default() }),
    ];
    let switches = (edit(any::<bool>()), edit(prop::bool::weighted(0.3)));
    (endpoint_name(), kind, mapping(), edit(region_name()), switches, edit(0_u32..=1_001))
        .prop_map(|(name, kind, (geo, subnets), location, (enabled, always_serve), weight)| {
            (name, EndpointPatch { geo, subnets, location, enabled, always_serve, weight, ..kind })
        })
        .boxed()
}

fn profile_wish() -> BoxedStrategy<Action> {
    let relative = one_of(&["web", "api", "api.eu", "mail", "@", "a.lb", "ns1", "*"]);
    let create = (profile_name(), zone_name(), relative, profile_fields(), vec(new_endpoint(), 0..4));
    let if_revision = prop::option::weighted(0.2, (0_u64..60).prop_map(Revision));
    prop_oneof![
        2 => create.prop_map(|(name, zone, relative_name, mut fields, endpoints)| {
            fields.routing = Edit::Set(Routing::Weighted);
            Action::CreateProfile { name, zone, relative_name, fields, endpoints }
        }),
        2 => (profile_name(), profile_fields(), if_revision.clone())
            .prop_map(|(name, fields, if_revision)| Action::UpdateProfile { name, fields, if_revision }),
        1 => (profile_name(), if_revision)
            .prop_map(|(name, if_revision)| Action::DeleteProfile { name, if_revision }),
    ]
    .boxed()
}

fn endpoint_wish() -> BoxedStrategy<Action> {
    prop_oneof![
        2 => (profile_name(), new_endpoint()).prop_map(|(profile, (name, fields))| {
            Action::AddEndpoint { profile, name, fields, if_revision: None }
        }),
        4 => (profile_name(), endpoint_name(), endpoint_fields()).prop_map(|(profile, name, fields)| {
            Action::UpdateEndpoint { profile, name, fields, if_revision: None }
        }),
        1 => (profile_name(), endpoint_name())
            .prop_map(|(profile, name)| Action::RemoveEndpoint { profile, name, if_revision: None }),
    ]
    .boxed()
}

fn place_wish() -> BoxedStrategy<Action> {
    prop_oneof![
        3 => (any::<u8>(), region_name(), 1_u64..4)
            .prop_map(|(agent, region, run)| open_session(agent_name(agent), &region, run)),
        1 => any::<u8>().prop_map(|agent| Action::ForgetAgent { name: agent_name(agent).into() }),
        1 => (region_name(), 0_i32..3).prop_map(|(name, place)| Action::SetRegion(region_at(&name, place))),
        1 => region_name().prop_map(|name| Action::DeleteRegion { name, if_revision: None }),
        1 => Just(Action::Found { cluster: "c".into(), cookies: None }),
    ]
    .boxed()
}

fn happening() -> BoxedStrategy<Happening> {
    let wish = prop_oneof![1 => zone_wish(), 3 => profile_wish(), 4 => endpoint_wish(), 2 => place_wish(), 1 => service_wish(), 1 => latency_wish(), 2 => record_wish(), 2 => override_wish(), 1 => sight_wish()];
    let mark = prop::option::weighted(0.3, 0_u8..8);
    let report = (
        any::<u8>(),
        any::<u8>(),
        prop::option::weighted(0.1, 1_u64..4),
        any::<u8>(),
        prop_oneof![9 => Just(0_u64), 1 => 0_u64..200_000],
        vec(prop::bool::weighted(0.3), 1..6),
    );
    prop_oneof![
        4 => (mark, wish).prop_map(|(mark, action)| Happening::Wish(mark, Box::new(action))),
        8 => report.prop_map(|(agent, endpoint, run, sequence, age_ms, outcomes)| {
            Happening::Report { agent, endpoint, run, sequence, age_ms, outcomes }
        }),
        1 => (any::<u8>(), vec(any::<u8>(), 1..4), prop::bool::weighted(0.8))
            .prop_map(|(agent, endpoints, is_current)| Happening::Expire { agent, endpoints, is_current }),
        1 => (any::<u8>(), prop::bool::weighted(0.8))
            .prop_map(|(agent, is_current)| Happening::Lose { agent, is_current }),
        2 => (prop::bool::weighted(0.9), vec(any::<IpAddr>(), 0..3))
            .prop_map(|(is_current, addresses)| Happening::Flatten { is_current, addresses }),
    ]
    .boxed()
}

impl Cluster {
    fn happen(&mut self, happening: &Happening) {
        match happening {
            Happening::Wish(mark, action) => {
                let id = mark.map(|mark| CommandId(mark.into()));
                let first = self.run(id, Action::clone(action)).reply;
                if id.is_some() {
                    let counter = self.state.counter;
                    assert_eq!(self.run(id, Action::clone(action)).reply, first, "CLI-4");
                    assert_eq!(self.state.counter, counter, "CLI-4");
                }
            }
            Happening::Report { agent, endpoint, run, sequence, age_ms, outcomes } => {
                let report = self.read_report(*agent, *endpoint, *run, *sequence, *age_ms, outcomes);
                self.run_twice(report, "STA-6: a batch that comes twice counts once");
            }
            Happening::Expire { agent, endpoints, is_current } => {
                let endpoints = endpoints.iter().map(|endpoint| self.endpoint_at(*endpoint)).collect();
                let (agent, session) = self.session(*agent, *is_current);
                self.run(None, Action::ExpireVerdicts { agent, session, endpoints });
            }
            Happening::Flatten { is_current, addresses } => {
                let found = self.flatten_all(*is_current, addresses);
                self.run_twice(found, "DNS-16: what is known already changes nothing");
            }
            Happening::Lose { agent, is_current } => {
                let (agent, session) = self.session(*agent, *is_current);
                self.run(None, Action::LoseAgent { agent, session });
            }
        }
    }

    fn read_report(
        &self,
        agent: u8,
        endpoint: u8,
        run: Option<u64>,
        sequence: u8,
        age_ms: u64,
        outcomes: &[bool],
    ) -> Action {
        let agent = Caseless::new(agent_name(agent));
        let current = self.state.agents.get(&agent).map_or(1, |agent| agent.run.0);
        let endpoint = self.endpoint_at(endpoint);
        let outcomes = (u64::from(sequence)..).zip(outcomes).map(|(sequence, is_ok)| ReportedOutcome {
            age_ms,
            ..self.reported(endpoint, sequence, if *is_ok { '+' } else { '-' })
        });
        Action::RecordOutcomes { agent, run: AgentRun(run.unwrap_or(current)), outcomes: outcomes.collect() }
    }

    /// Asks every profile and every owner of static records for both families and more, as one client.
    fn ask(&self, client: (IpAddr, Option<Network>), draw: u64, other: u128) {
        let profiles = self.state.profiles.values().map(|profile| &profile.full_name);
        for name in profiles.chain(self.state.records.values().map(|set| &set.full_name)) {
            for record_type in [1, 28, 16, 43, 255].map(RecordType) {
                let query = query_of(name, record_type, client);
                let answer = check_answer(&self.view, &query, draw);
                check_scope(&self.view, &query, draw, &answer, other);
            }
        }
    }

    /// That every endpoint's name has these addresses, or another name.
    fn flatten_all(&self, is_current: bool, addresses: &[IpAddr]) -> Action {
        let endpoints = self.state.profiles.values().flat_map(|profile| &profile.endpoints);
        let found = endpoints.map(|endpoint| {
            let target = self.state.resolve(endpoint).target;
            let target = target.filter(|_| is_current).map(ToString::to_string);
            let name =
                Name::parse(target.as_deref().unwrap_or("other.example")).unwrap_or_else(|_| Name::root());
            FoundAddresses { endpoint: endpoint.id, name, addresses: addresses.to_vec() }
        });
        Action::FlattenTargets { found: found.collect() }
    }

    /// The endpoint of that number among those that exist; one that does not if there is none.
    fn endpoint_at(&self, number: u8) -> EndpointId {
        let count = self.state.health.len();
        let place = usize::from(number).checked_rem(count).unwrap_or(0);
        self.state.health.keys().nth(place).copied().unwrap_or(EndpointId(999))
    }

    fn session(&self, agent: u8, is_current: bool) -> (Caseless, Revision) {
        let agent = Caseless::new(agent_name(agent));
        let session = self.state.agents.get(&agent).map_or(0, |agent| agent.session.0);
        (agent, Revision(session.saturating_sub(u64::from(!is_current))))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// OBJ-8, VAL-1, STA-2 … STA-10, STA-12, CLI-4: see `invariants`; RTE-3, RTE-15, DNS-10: see `fixture::claims`.
    #[test]
    fn every_history_keeps_the_invariants(
        (is_nested, is_raised) in any::<(bool, bool)>(),
        noted in 0_u64..4,
        history in vec(happening(), 1..60),
        asked in vec((arbitrary_client(), any::<u64>(), any::<u128>()), 8),
    ) {
        let mut cluster = Cluster::with_web(2);
        cluster.view.locator = locator();
        cluster.noted = noted;
        if is_raised { cluster.raise() }
        if is_nested {
            cluster.apply(create_zone("lb.example.com", &[("ns.example.net", &[])])).unwrap();
        }
        // Two levels below `web`, so that what happens has somewhere to go.
        let leaf = vec![("e1".to_owned(), target("192.0.2.7"))];
        cluster.apply(create_profile("mail", "mail", leaf)).unwrap();
        for (parent, child) in [("api", "mail"), ("web", "api")] {
            let below = EndpointPatch { nested: Edit::Set(child.into()), ..EndpointPatch::default() };
            let action = match parent {
                "web" => add_endpoint("e3", below),
                _ => create_profile(parent, parent, vec![("e1".to_owned(), below)]),
            };
            cluster.apply(action).unwrap();
        }
        for (agent, region) in [("a1", "r1"), ("a2", "r2"), ("a3", "r3")] {
            cluster.open(agent, region, 1);
        }
        for service in ["db", "cdn"] {
            let fields = ServicePatch { target: Edit::Set("192.0.2.9".into()), location: Edit::Set("r1".into()) };
            cluster.apply(Action::RegisterService { name: service.into(), fields, if_revision: None }).unwrap();
        }
        history.iter().for_each(|happening| cluster.happen(happening));
        invariants::check_trail(&cluster.state);
        asked.into_iter().for_each(|(client, draw, other)| cluster.ask(client, draw, other));
    }

    /// Every member comes to the same state (STA-12, RTE-14): `apply` depends on its arguments alone.
    #[test]
    fn two_members_agree(history in vec(happening(), 1..30)) {
        let mut members = [Cluster::with_web(2), Cluster::with_web(2)];
        members.iter_mut().for_each(|member| member.noted = 3);
        members.iter_mut().for_each(Cluster::raise);
        for happening in &history {
            members.iter_mut().for_each(|member| member.happen(happening));
        }
        prop_assert_eq!(&members[0].state, &members[1].state);
    }

    /// STA-6: batches of one run that come late and again, in any order, after others, change nothing.
    #[test]
    fn redelivery_changes_nothing(
        outcomes in vec(any::<bool>(), 1..80),
        cuts in vec(1_usize..8, 1..40),
        again in vec((0_usize..40, 0_usize..40), 0..60),
    ) {
        let mut cluster = Cluster::with_web(1);
        cluster.open("a1", "r1", 1);
        let endpoint = cluster.endpoint("e1");
        let letter = |is_ok: &bool| if *is_ok { '+' } else { '-' };
        let found: Vec<_> = (1..)
            .zip(&outcomes)
            .map(|(sequence, is_ok)| cluster.reported(endpoint, sequence, letter(is_ok)))
            .collect();
        let mut rest = found.into_iter();
        let batches: Vec<Vec<ReportedOutcome>> =
            cuts.iter().map(|count| rest.by_ref().take(*count).collect()).collect();
        let mut plain = cluster.clone();
        let record = |batch: &Vec<ReportedOutcome>| Action::RecordOutcomes {
            agent: "a1".into(),
            run: AgentRun(1),
            outcomes: batch.clone(),
        };
        for (place, batch) in batches.iter().enumerate() {
            plain.run(None, record(batch));
            cluster.run(None, record(batch));
            for (_, earlier) in again.iter().filter(|(after, earlier)| *after == place && earlier <= after) {
                let before = cluster.state.clone();
                cluster.run(None, record(&batches[*earlier]));
                prop_assert_eq!(&cluster.state, &before);
            }
        }
        let counts = |cluster: &Cluster| cluster.state.health[&endpoint].tallies.clone();
        prop_assert_eq!(counts(&plain), counts(&cluster));
        prop_assert_eq!(plain.state.counter, cluster.state.counter);
    }
}
