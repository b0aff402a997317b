//! Bytes that every version must read. `UPDATE_GOLDEN=1` writes the files that are missing, and never another.

use std::collections::BTreeMap;

use prost::Message;
use waymark_core::health::{
    EndpointHealth, EndpointStatus, Judgement, Outcome, OutcomeClass, ProfileStatus, Tally, Verdict,
};
use waymark_core::model::{
    Agent, AgentRun, Caseless, Edit, Endpoint, EndpointId, EndpointKind, EndpointPatch, Header, LogIndex,
    MemberId, Monitor, MonitorPatch, Name, NameServer, Profile, ProfileId, ProfilePatch, Protocol, Region,
    RelativeName, Revision, Routing, StatusRange, Timestamp, Zone, ZonePatch, ZoneTimers, parse_target,
};
use waymark_core::state::{
    Action, AuditNote, Command, CommandId, CookieSecret, ProfileHealth, Remembered, ReportedOutcome, State,
};

use super::brake::add_brake;
use super::golden_events::{audit, events, replies};
use super::golden_files::{golden, hex};
use super::golden_routing::{self, add_places};
use super::records::{self, add_records};
use crate::convert::{StateBuilder, snapshot_header, snapshot_records};
use crate::storage::v1 as stored;
use crate::storage::v1::snapshot_record::Kind;

const OK: Outcome = Outcome { class: OutcomeClass::Ok, status: Some(200) };
pub(super) const REFUSED: Outcome = Outcome { class: OutcomeClass::Refused, status: None };

fn header() -> Header {
    Header { name: "Host".into(), value: "web.example.org".into() }
}

fn zone_patch() -> ZonePatch {
    let servers = vec![("ns1.tm.example.com".into(), vec!["192.0.2.53".into(), "2001:db8::53".into()])];
    ZonePatch {
        name_servers: Edit::Set(servers),
        mailbox: Edit::Set("hostmaster@example.com".into()),
        ..Default::default()
    }
}

fn profile_patch() -> ProfilePatch {
    ProfilePatch {
        routing: Edit::Set(Routing::Weighted),
        ttl: Edit::Set(30),
        max_return: Edit::Keep,
        flatten: Edit::Keep,
        max_removal: Edit::Keep,
        removal_window_ms: Edit::Keep,
        enabled: Edit::Set(true),
        monitor: MonitorPatch {
            protocol: Edit::Set(Protocol::Https),
            port: Edit::Set(8443),
            path: Edit::Set("/health".into()),
            interval_ms: Edit::Set(10_000),
            timeout_ms: Edit::Set(5_000),
            tolerated_failures: Edit::Set(2),
            recovery_successes: Edit::Set(3),
            expect: Edit::Set(vec![StatusRange { min: 200, max: 299 }]),
            headers: Edit::Set(vec![header()]),
        },
    }
}

fn endpoint_patch() -> EndpointPatch {
    EndpointPatch {
        target: Edit::Set("192.0.2.10".into()),
        enabled: Edit::Set(false),
        priority: Edit::Set(1),
        weight: Edit::Set(80),
        location: Edit::Set("aws:eu-central-1".into()),
        always_serve: Edit::Set(true),
        headers: Edit::Set(vec![header()]),
        ..EndpointPatch::default()
    }
}

pub(super) fn region() -> Region {
    Region {
        name: "aws:eu-central-1".into(),
        latitude_e6: 50_110_900,
        longitude_e6: -8_682_100,
        revision: Revision(4),
    }
}

fn operators_actions() -> [(&'static str, Action); 14] {
    let if_revision = Some(Revision(41));
    let (zone, web, eu) = ("tm.example.com".to_owned(), "web".to_owned(), "eu".to_owned());
    [
        ("found", Action::Found { cluster: "5f0c2f1e8a6b4d7c".into(), cookies: None }),
        (
            "found.cookies",
            Action::Found { cluster: "5f0c2f1e8a6b4d7c".into(), cookies: Some(CookieSecret([0xa7; 16])) },
        ),
        ("create_zone", Action::CreateZone { name: zone.clone(), fields: zone_patch() }),
        (
            "update_zone",
            Action::UpdateZone {
                name: zone.clone(),
                fields: ZonePatch { mailbox: Edit::Clear, ..zone_patch() },
                if_revision,
            },
        ),
        ("delete_zone", Action::DeleteZone { name: zone.clone(), if_revision }),
        (
            "create_profile",
            Action::CreateProfile {
                name: web.clone(),
                zone,
                relative_name: "web".into(),
                fields: profile_patch(),
                endpoints: vec![(eu.clone(), endpoint_patch())],
            },
        ),
        (
            "update_profile",
            Action::UpdateProfile {
                name: web.clone(),
                fields: ProfilePatch { ttl: Edit::Clear, ..profile_patch() },
                if_revision,
            },
        ),
        ("delete_profile", Action::DeleteProfile { name: web.clone(), if_revision }),
        (
            "add_endpoint",
            Action::AddEndpoint {
                profile: web.clone(),
                name: eu.clone(),
                fields: endpoint_patch(),
                if_revision,
            },
        ),
        (
            "update_endpoint",
            Action::UpdateEndpoint {
                profile: web.clone(),
                name: eu.clone(),
                fields: EndpointPatch { weight: Edit::Clear, ..endpoint_patch() },
                if_revision,
            },
        ),
        ("remove_endpoint", Action::RemoveEndpoint { profile: web, name: eu, if_revision }),
        ("set_region", Action::SetRegion(region())),
        ("delete_region", Action::DeleteRegion { name: "aws:eu-central-1".into(), if_revision }),
        ("forget_agent", Action::ForgetAgent { name: "agent-1".into() }),
    ]
}

fn members_actions() -> [(&'static str, Action); 5] {
    let agent = || "agent-1".into();
    let outcome = ReportedOutcome {
        endpoint: EndpointId(8),
        check: Revision(0),
        sequence: 1_001,
        age_ms: 12,
        outcome: REFUSED,
    };
    [
        (
            "open_session",
            Action::OpenSession {
                agent: "agent-1".into(),
                region: "aws:eu-central-1".into(),
                run: AgentRun(u64::MAX),
                version: "0.1.0".into(),
                member: MemberId(2),
                is_blind: None,
            },
        ),
        (
            "record_outcomes",
            Action::RecordOutcomes {
                agent: agent(),
                run: AgentRun(u64::MAX),
                outcomes: vec![outcome, ReportedOutcome { sequence: 1_002, outcome: OK, ..outcome }],
            },
        ),
        (
            "record_outcomes.of_check",
            Action::RecordOutcomes {
                agent: agent(),
                run: AgentRun(7),
                outcomes: vec![ReportedOutcome { check: Revision(6), ..outcome }],
            },
        ),
        (
            "expire_verdicts",
            Action::ExpireVerdicts {
                agent: agent(),
                session: Revision(40),
                endpoints: vec![EndpointId(8), EndpointId(9)],
            },
        ),
        ("lose_agent", Action::LoseAgent { agent: agent(), session: Revision(40) }),
    ]
}

/// A state with one object of each kind, and every field of it set.
fn state() -> State {
    let mut state =
        State { cluster: "5f0c2f1e8a6b4d7c".into(), counter: Revision(42), next_id: 9, ..State::default() };
    let zone = Zone {
        name: Name::parse("tm.example.com").unwrap(),
        name_servers: vec![NameServer {
            name: Name::parse("ns1.tm.example.com").unwrap(),
            addresses: vec!["192.0.2.53".parse().unwrap(), "2001:db8::53".parse().unwrap()],
        }],
        mailbox: Some(Name::parse("hostmaster.example.com").unwrap()),
        ecs: true,
        timers: ZoneTimers::DEFAULT,
        revision: Revision(3),
    };
    let agent = Agent {
        name: "agent-1".into(),
        region: region().name,
        run: AgentRun(u64::MAX),
        session: Revision(40),
        member: MemberId(2),
        version: "0.1.0".into(),
        lost: true,
        is_blind: false,
        since: Timestamp(1_700_000_000_000),
    };
    for profile in profiles(&zone) {
        let id = profile.id;
        state.profile_ids.insert(profile.name.clone(), id);
        state.owners.insert(profile.full_name.tree_key(), id);
        let health = ProfileHealth { status: ProfileStatus::Degraded, since: Timestamp(1_700_000_000_001) };
        state.health.set_status(id, Some(health));
        state.health.insert(profile.endpoints[0].id, health_of(id).into());
        state.profiles.insert(id, profile.into());
    }
    state.zones.insert(zone.name.clone(), zone.into());
    state.regions.insert(region().name, region().into());
    state.agents.insert(agent.name.clone(), agent.into());
    state.audit = audit();
    for event in events() {
        state.events.insert(event.id, event.into());
    }
    for (order, reply) in (17..).zip(replies()) {
        let mark = CommandId(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f00 + u128::from(order));
        state.remembered.insert(mark, Remembered { order, reply }.into());
        state.remembered_order.insert(order, mark);
    }
    add_brake(&mut state, &events()[0]);
    add_places(&mut state);
    add_records(&mut state);
    state.rebuild_references().unwrap();
    state
}

/// The second one's endpoint says when its check began, which the first version did not know.
fn profiles(zone: &Zone) -> [Profile; 2] {
    let first = profile(zone);
    let relative_name = RelativeName::parse("api").unwrap();
    let endpoint = Endpoint { id: EndpointId(11), check_revision: Revision(6), ..first.endpoints[0].clone() };
    let second = Profile {
        id: ProfileId(10),
        name: "api".into(),
        full_name: relative_name.within(&zone.name).unwrap(),
        relative_name,
        endpoints: vec![endpoint],
        ..first.clone()
    };
    [first, second]
}

fn profile(zone: &Zone) -> Profile {
    let relative_name = RelativeName::parse("web").unwrap();
    let mut monitor = Monitor::default();
    profile_patch().monitor.apply(&mut monitor);
    let endpoint = Endpoint {
        id: EndpointId(8),
        name: "eu".into(),
        kind: EndpointKind::External(parse_target("192.0.2.10").unwrap()),
        enabled: false,
        priority: 1,
        weight: Some(80),
        location: Some(region().name),
        geo: Vec::new(),
        subnets: Vec::new(),
        always_serve: true,
        headers: vec![header()],
        revision: Revision(6),
        check_revision: Revision(0),
    };
    Profile {
        id: ProfileId(7),
        name: "Web".into(),
        zone: zone.name.clone(),
        full_name: relative_name.within(&zone.name).unwrap(),
        relative_name,
        routing: Routing::Priority,
        ttl: Some(30),
        max_return: None,
        flatten: false,
        max_removal: None,
        removal_window_ms: None,
        enabled: false,
        monitor,
        endpoints: vec![endpoint],
        revision: Revision(7),
    }
}

fn health_of(profile: ProfileId) -> EndpointHealth {
    let tally = Tally {
        failures: 3,
        successes: 1,
        verdict: Some(Verdict::Down),
        run: AgentRun(u64::MAX),
        sequence: 1_001,
        last: REFUSED,
    };
    EndpointHealth {
        profile,
        tallies: [(Caseless::new("agent-1"), tally)].into_iter().collect(),
        judgement: Some(Judgement::Degraded),
        stale_since: Some(Timestamp(1_700_000_000_002)),
        status: EndpointStatus::Degraded,
        by_family: None,
        since: Timestamp(1_700_000_000_001),
        since_index: LogIndex(99),
        flattened: None,
    }
}

#[test]
fn every_command_of_the_log_is_read_for_ever() {
    for (name, action) in operators_actions()
        .into_iter()
        .chain(members_actions())
        .chain(golden_routing::actions())
        .chain(records::actions())
    {
        let id = Some(CommandId(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10));
        // What has a note is what came after there were any.
        let note = (name == "audit").then(|| AuditNote::new("192.0.2.1:50000", "remove member", "m4", ""));
        let command = Command { id, author: "operator".into(), note, action };
        let today = stored::Command::from(&command).encode_to_vec();
        let bytes = golden(&format!("command.{name}.hex"), &today);
        let read = Command::try_from(stored::Command::decode(bytes.as_slice()).unwrap()).unwrap();
        assert_eq!(read, command, "{name}: the old bytes read as something else");
        assert_eq!(hex(&stored::Command::from(&read).encode_to_vec()), hex(&bytes), "{name}: written anew");
    }
}

#[test]
fn every_record_of_a_snapshot_is_read_for_ever() {
    let state = state();
    let header = snapshot_header(&state).encode_to_vec();
    let header = stored::SnapshotHeader::decode(golden("snapshot.header.hex", &header).as_slice()).unwrap();
    let mut builder = StateBuilder::new(&header).unwrap();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut old = Vec::new();
    for record in snapshot_records(&state) {
        let kind = record_name(&record);
        let place = seen.entry(kind).and_modify(|place| *place += 1).or_default();
        let bytes = golden(&format!("snapshot.{kind}.{place}.hex"), &record.encode_to_vec());
        builder.add(stored::SnapshotRecord::decode(bytes.as_slice()).unwrap()).unwrap();
        old.push(hex(&bytes));
    }
    assert_eq!(seen.len(), 22, "a record of each kind: {seen:?}");
    let read = builder.finish().unwrap();
    assert_eq!(read, state, "the old bytes read as something else");
    let anew: Vec<_> = snapshot_records(&read).map(|record| hex(&record.encode_to_vec())).collect();
    assert_eq!(anew, old);
}

fn record_name(record: &stored::SnapshotRecord) -> &'static str {
    match record.kind.as_ref().unwrap() {
        Kind::Zone(_) => "zone",
        Kind::Profile(_) => "profile",
        Kind::Region(_) => "region",
        Kind::Agent(_) => "agent",
        Kind::Health(_) => "health",
        Kind::Event(_) => "event",
        Kind::Reply(_) => "reply",
        Kind::Service(_) => "service",
        Kind::LatencyRow(_) => "latency-row",
        Kind::LearnedRow(_) => "learned-row",
        Kind::LatencyTable(_) => "latency-table",
        Kind::GeoOverride(_) => "geo-override",
        Kind::GeoTable(_) => "geo-table",
        Kind::Past(_) => "past",
        Kind::History(_) => "history",
        Kind::Cookies(_) => "cookies",
        Kind::RecordSet(_) => "record-set",
        Kind::Override(_) => "override",
        Kind::Brake(_) => "brake",
        Kind::Audit(_) => "audit",
        Kind::IssuingAuthority(_) => "issuing-authority",
        Kind::JoinToken(_) => "join-token",
    }
}
