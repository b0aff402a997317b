//! Any object and any state that core can hold.

use std::net::IpAddr;
use std::sync::Arc;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use waymark_core::health::{
    AgentVerdict, ByFamily, Check, EndpointHealth, EndpointStatus, Judgement, Outcome, OutcomeClass,
    ProfileStatus, RegionalVerdict, Tally, Verdict,
};
use waymark_core::model::{
    Agent, AgentRun, Caseless, Endpoint, EndpointId, Flattened, LogIndex, MemberId, Monitor, Name,
    NameServer, Profile, ProfileId, Protocol, Region, RelativeName, Revision, Routing, StatusRange, Target,
    Timestamp, Zone, ZoneTimers,
};
use waymark_core::state::{
    CommandId, Event, EventCause, EventId, EventStatus, ProfileHealth, Remembered, State, Subject,
};

use super::headers::headers;
use super::kinds::{kind, mapping, service, stand_for_what_is_there};
use super::wishes::{monitor_patch, reply};
use super::{brake, overrides};

pub(super) fn text() -> impl Strategy<Value = String> {
    "[ -~äß€]{0,12}"
}

fn word() -> impl Strategy<Value = String> {
    "[a-zA-Z][a-zA-Z0-9]{0,7}"
}

pub(super) fn caseless() -> impl Strategy<Value = Caseless> {
    word().prop_map(|word| Caseless::new(&word))
}

pub(super) fn name() -> impl Strategy<Value = Name> {
    "[a-z_][a-z0-9_]{0,5}(\\.[a-z][a-z0-9]{0,5}){0,3}".prop_map(|text| Name::parse(&text).unwrap())
}

pub(super) fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        name().prop_map(Target::Name),
        (1_u8..=223, any::<[u8; 3]>()).prop_map(|(a, [b, c, d])| Target::V4([a, b, c, d].into())),
        any::<[u16; 7]>().prop_map(|[b, c, d, e, f, g, h]| Target::V6([0x2001, b, c, d, e, f, g, h].into())),
    ]
}

pub(super) fn revision() -> impl Strategy<Value = Revision> {
    any::<u64>().prop_map(Revision)
}

pub(super) fn timestamp() -> impl Strategy<Value = Timestamp> {
    any::<u64>().prop_map(Timestamp)
}

pub(super) fn routing() -> impl Strategy<Value = Routing> {
    proptest::sample::select(Routing::ALL.as_slice())
}

pub(super) fn protocol() -> impl Strategy<Value = Protocol> {
    proptest::sample::select(Protocol::ALL.as_slice())
}

pub(super) fn expect() -> impl Strategy<Value = Vec<StatusRange>> {
    vec((any::<u32>(), any::<u32>()).prop_map(|(min, max)| StatusRange { min, max }), 0..3)
}

pub(super) fn outcome() -> impl Strategy<Value = Outcome> {
    let class = proptest::sample::select(OutcomeClass::ALL.as_slice());
    (class, option::of(any::<u16>())).prop_map(|(class, status)| Outcome { class, status })
}

fn verdict() -> impl Strategy<Value = Option<Verdict>> {
    option::of(prop_oneof![Just(Verdict::Up), Just(Verdict::Down)])
}

pub(super) fn region() -> impl Strategy<Value = Region> {
    (caseless(), any::<i32>(), any::<i32>(), revision()).prop_map(
        |(name, latitude_e6, longitude_e6, revision)| Region { name, latitude_e6, longitude_e6, revision },
    )
}

fn zone() -> impl Strategy<Value = Zone> {
    let server =
        (name(), vec(any::<IpAddr>(), 0..3)).prop_map(|(name, addresses)| NameServer { name, addresses });
    let timers = zone_timers(prop_oneof![Just(30), Just(3_600), any::<u32>()]);
    (name(), vec(server, 0..3), option::of(name()), any::<bool>(), timers, revision()).prop_map(
        |(name, name_servers, mailbox, ecs, timers, revision)| Zone {
            name,
            name_servers,
            mailbox,
            ecs,
            timers,
            revision,
        },
    )
}

/// `timer` is any value of each of them.
pub(super) fn zone_timers<T: std::fmt::Debug + Clone>(
    timer: impl Strategy<Value = T>,
) -> impl Strategy<Value = ZoneTimers<T>> {
    vec(timer, 6).prop_map(|timers| {
        let [soa_ttl, refresh, retry, expire, negative_ttl, name_server_ttl] =
            <[T; 6]>::try_from(timers).expect("six were asked for");
        ZoneTimers { soa_ttl, refresh, retry, expire, negative_ttl, name_server_ttl }
    })
}

fn agent() -> impl Strategy<Value = Agent> {
    (caseless(), caseless(), any::<(u64, u64)>(), revision(), text(), any::<(bool, bool)>(), timestamp())
        .prop_map(|(name, region, (run, member), session, version, (lost, is_blind), since)| Agent {
            name,
            region,
            run: AgentRun(run),
            session,
            member: MemberId(member),
            version,
            lost,
            is_blind,
            since,
        })
}

pub(super) fn check() -> impl Strategy<Value = Check> {
    let asked = (protocol(), target(), any::<u16>(), text(), any::<u64>(), any::<u64>(), expect(), headers());
    (asked, revision()).prop_map(
        |((protocol, target, port, path, interval_ms, timeout_ms, expect, headers), revision)| Check {
            protocol,
            target,
            port,
            path,
            interval_ms,
            timeout_ms,
            expect,
            headers,
            revision,
        },
    )
}

fn monitor() -> impl Strategy<Value = Monitor> {
    monitor_patch().prop_map(|patch| {
        let mut monitor = Monitor::default();
        patch.apply(&mut monitor);
        monitor
    })
}

fn endpoint() -> impl Strategy<Value = Endpoint> {
    (
        caseless(),
        kind(),
        mapping(),
        any::<(bool, bool, u32)>(),
        option::of(any::<u32>()),
        option::of(caseless()),
        headers(),
        (revision(), revision()),
    )
        .prop_map(
            |(
                name,
                kind,
                (geo, subnets),
                (enabled, always_serve, priority),
                weight,
                location,
                headers,
                revisions,
            )| {
                Endpoint {
                    id: EndpointId(0),
                    name,
                    kind,
                    geo,
                    subnets,
                    enabled,
                    priority,
                    weight,
                    location,
                    always_serve,
                    headers,
                    revision: revisions.0,
                    check_revision: revisions.1,
                }
            },
        )
}

fn profile() -> impl Strategy<Value = Profile> {
    let relative_name = prop_oneof![Just(RelativeName::Apex), name().prop_map(RelativeName::Below)];
    (
        caseless(),
        name(),
        relative_name,
        routing(),
        (option::of(any::<(u32, u32)>()), any::<(Option<u32>, Option<u64>)>()),
        any::<(bool, bool)>(),
        monitor(),
        vec(endpoint(), 0..4),
        revision(),
    )
        .prop_map(
            |(
                name,
                zone,
                relative_name,
                routing,
                (numbers, (max_removal, removal_window_ms)),
                (flatten, enabled),
                monitor,
                endpoints,
                revision,
            )| Profile {
                id: ProfileId(0),
                full_name: relative_name.within(&zone).unwrap(),
                name,
                zone,
                relative_name,
                routing,
                ttl: numbers.map(|(ttl, _)| ttl),
                max_return: numbers.map(|(_, max_return)| max_return),
                flatten,
                max_removal,
                removal_window_ms,
                enabled,
                monitor,
                endpoints,
                revision,
            },
        )
}

fn tally() -> impl Strategy<Value = Tally> {
    (any::<(u32, u32, u64, u64)>(), verdict(), outcome()).prop_map(
        |((failures, successes, run, sequence), verdict, last)| Tally {
            failures,
            successes,
            verdict,
            run: AgentRun(run),
            sequence,
            last,
        },
    )
}

fn health() -> impl Strategy<Value = EndpointHealth> {
    let status = || proptest::sample::select(EndpointStatus::ALL.as_slice());
    let by_family = (status(), status()).prop_map(|(v4, v6)| ByFamily { v4, v6 });
    (
        btree_map(caseless(), tally(), 0..3),
        option::of(prop_oneof![Just(Judgement::Online), Just(Judgement::Degraded)]),
        option::of(timestamp()),
        proptest::sample::select(EndpointStatus::ALL.as_slice()),
        option::of(by_family),
        timestamp(),
        (any::<u64>(), option::of(flattened())),
    )
        .prop_map(|(tallies, judgement, stale_since, status, by_family, since, (index, flattened))| {
            EndpointHealth {
                profile: ProfileId(0),
                tallies: tallies.into_iter().collect(),
                judgement,
                stale_since,
                status,
                by_family,
                since,
                since_index: LogIndex(index),
                flattened,
            }
        })
}

fn flattened() -> impl Strategy<Value = Arc<Flattened>> {
    let some = |addresses: Vec<IpAddr>| [vec![[192, 0, 2, 1].into()], addresses].concat();
    (name(), vec(any::<IpAddr>(), 0..3), timestamp()).prop_map(move |(name, addresses, since)| {
        Arc::new(Flattened::new(name, &some(addresses), since).expect("there is one that is good"))
    })
}

pub(super) fn regions() -> impl Strategy<Value = Vec<RegionalVerdict>> {
    let agent = (caseless(), verdict(), any::<u32>(), outcome())
        .prop_map(|(name, verdict, failures, last)| AgentVerdict { name, verdict, failures, last });
    let region = (caseless(), verdict(), vec(agent, 0..3))
        .prop_map(|(region, verdict, agents)| RegionalVerdict { region, verdict, agents });
    vec(region, 0..3)
}

fn event() -> impl Strategy<Value = Event> {
    let cause =
        prop_oneof![
            (caseless(), outcome(), regions()).prop_map(|(agent, outcome, regions)| EventCause::Outcome {
                agent,
                outcome,
                regions
            }),
            (caseless(), any::<bool>(), regions())
                .prop_map(|(agent, is_blind, regions)| EventCause::Silence { agent, is_blind, regions }),
            text().prop_map(|author| EventCause::Configuration { author }),
            Just(EventCause::Endpoints),
            (caseless(), any::<bool>(), text()).prop_map(|(name, is_running, author)| EventCause::Service {
                name,
                is_running,
                author
            }),
            caseless().prop_map(|profile| EventCause::Child { profile }),
            overrides::cause(),
            brake::cause(),
        ];
    let endpoint =
        || proptest::sample::select(EndpointStatus::ALL.as_slice()).prop_map(EventStatus::Endpoint);
    let profile = || proptest::sample::select(ProfileStatus::ALL.as_slice()).prop_map(EventStatus::Profile);
    let subject =
        prop_oneof![
            (any::<u64>(), caseless(), option::of(endpoint()), endpoint())
                .prop_map(|(id, name, from, to)| (Subject::Endpoint { id: EndpointId(id), name }, from, to)),
            (option::of(profile()), profile()).prop_map(|(from, to)| (Subject::Profile, from, to)),
        ];
    (any::<(u64, u32, u64, u64, u64)>(), caseless(), subject, cause).prop_map(
        |((counter, ordinal, at, index, profile), profile_name, (subject, from, to), cause)| Event {
            id: EventId { counter: Revision(counter), ordinal },
            at: Timestamp(at),
            index: LogIndex(index),
            profile: ProfileId(profile),
            profile_name,
            subject,
            from,
            to,
            cause,
        },
    )
}

/// Any state whose maps agree with each other, as `apply` keeps them.
pub(super) fn state() -> impl Strategy<Value = State> {
    let status = proptest::sample::select(ProfileStatus::ALL.as_slice());
    (
        (text(), revision()),
        (vec(zone(), 0..3), vec(service(), 0..3)),
        vec((profile(), status, timestamp(), vec(health(), 4)), 0..4),
        vec(region(), 0..3),
        vec(agent(), 0..3),
        vec(event(), 0..4),
        btree_map(any::<u128>(), reply(), 0..4),
    )
        .prop_map(
            |((cluster, counter), (zones, services), profiles, regions, agents, events, replies)| {
                let mut state = State { cluster, counter, next_id: 1, ..State::default() };
                state.zones = zones.into_iter().map(|zone| (zone.name.clone(), Arc::new(zone))).collect();
                state.services =
                    services.into_iter().map(|service| (service.name.clone(), Arc::new(service))).collect();
                state.regions =
                    regions.into_iter().map(|region| (region.name.clone(), Arc::new(region))).collect();
                state.agents =
                    agents.into_iter().map(|agent| (agent.name.clone(), Arc::new(agent))).collect();
                state.events = events.into_iter().map(|event| (event.id, Arc::new(event))).collect();
                for (profile, status, since, healths) in profiles {
                    insert_profile(&mut state, profile, ProfileHealth { status, since }, healths);
                }
                for (order, (id, reply)) in (7..).zip(replies) {
                    state.remembered.insert(CommandId(id), Arc::new(Remembered { order, reply }));
                    state.remembered_order.insert(order, CommandId(id));
                }
                state.rebuild_references().unwrap();
                state
            },
        )
}

fn insert_profile(
    state: &mut State,
    mut profile: Profile,
    health: ProfileHealth,
    healths: Vec<EndpointHealth>,
) {
    let key = profile.full_name.tree_key();
    if state.profile_ids.contains_key(&profile.name) || state.owners.contains_key(&key) {
        return;
    }
    profile.endpoints.iter_mut().for_each(|endpoint| stand_for_what_is_there(endpoint, state));
    let mut number = || {
        state.next_id += 1;
        state.next_id
    };
    profile.id = ProfileId(number());
    for endpoint in &mut profile.endpoints {
        endpoint.id = EndpointId(number());
    }
    for (endpoint, health) in profile.endpoints.iter().zip(healths) {
        state.health.insert(endpoint.id, Arc::new(EndpointHealth { profile: profile.id, ..health }));
    }
    state.profile_ids.insert(profile.name.clone(), profile.id);
    state.owners.insert(key, profile.id);
    state.health.set_status(profile.id, Some(health));
    state.profiles.insert(profile.id, Arc::new(profile));
}
