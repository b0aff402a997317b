//! What operators wish, in their right mind and out of it, and what resolvers ask.

use waymark_core::answer::{Query, RecordType};
use waymark_core::model::{
    AgentRun, Caseless, Edit, EndpointId, EndpointPatch, MemberId, MonitorPatch, Name, OverrideKind,
    ProfileId, ProfilePatch, Region, Revision, Routing, ServicePatch, Timestamp, ZonePatch,
};
use waymark_core::state::{Action, ApplyLevel, ReportedOutcome, State};

use harness::chance::Chance;

const ZONES: [&str; 2] = ["example.com", "eu.example.com"];
const PROFILES: [&str; 8] = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"];
const ENDPOINTS: [&str; 5] = ["e0", "e1", "e2", "e3", "e4"];
const SERVICES: [&str; 3] = ["s0", "s1", "s2"];
const REGIONS: [&str; 3] = ["eu", "us", "asia"];
const TARGETS: [&str; 7] = [
    "192.0.2.1",
    "192.0.2.2",
    "2001:db8::1",
    "2001:db8::2",
    "www.example.net",
    "alt.example.net",
    "p0.example.com",
];
const INTERVALS: [u64; 3] = [30_000, 10_000, 1_000];

fn zone(name: &str) -> Action {
    let servers = vec![(format!("ns1.{name}"), vec!["192.0.2.53".to_owned()])];
    let fields = ZonePatch { name_servers: Edit::Set(servers), ..ZonePatch::default() };
    Action::CreateZone { name: name.to_owned(), fields }
}

/// What a cluster begins with.
pub(crate) fn beginning() -> Vec<Action> {
    let region = |name: &&str| {
        let at = (name.len() as i32) * 1_000_000;
        let name = Caseless::new(name);
        Action::SetRegion(Region { name, latitude_e6: at, longitude_e6: -at, revision: Revision(0) })
    };
    let found = Action::Found { cluster: "c0ffee".into(), cookies: None };
    let raised = Action::RaiseApplyLevel { to: ApplyLevel::HIGHEST };
    let places = REGIONS.iter().map(region).chain(ZONES.map(zone));
    [found, raised].into_iter().chain(places).chain([braked()]).collect()
}

/// FAIL-2: a profile that no operator changes, so that it is probed long enough for its brake to act often.
fn braked() -> Action {
    let endpoint = |nth: usize| {
        let target = Edit::Set(format!("198.51.100.{nth}"));
        (format!("e{nth}"), EndpointPatch { target, ..EndpointPatch::default() })
    };
    let monitor = MonitorPatch { tolerated_failures: Edit::Set(0), ..MonitorPatch::default() };
    Action::CreateProfile {
        name: "braked".into(),
        zone: ZONES[0].into(),
        relative_name: "braked".into(),
        fields: ProfilePatch {
            routing: Edit::Set(Routing::Multivalue),
            max_removal: Edit::Set(40),
            monitor,
            ..ProfilePatch::default()
        },
        endpoints: (1..=6).map(endpoint).collect(),
    }
}

fn one(chance: &mut Chance, among: &[&str]) -> String {
    (*chance.one_of(among).expect("there are some")).to_owned()
}

fn edit<T>(chance: &mut Chance, often: u64, value: impl FnOnce(&mut Chance) -> T) -> Edit<T> {
    match chance.below(often * 10) {
        number if number < 10 => Edit::Set(value(chance)),
        10 => Edit::Clear,
        _ => Edit::Keep,
    }
}

fn routing(chance: &mut Chance) -> Routing {
    *chance
        .one_of(&[Routing::Priority, Routing::Weighted, Routing::Performance, Routing::Multivalue])
        .expect("there are some")
}

fn profile_fields(chance: &mut Chance, is_new: bool) -> ProfilePatch {
    let routing = if is_new { Edit::Set(routing(chance)) } else { edit(chance, 8, routing) };
    ProfilePatch {
        routing,
        ttl: edit(chance, 4, |chance| chance.below(600) as u32),
        max_removal: edit(chance, 2, |chance| 1 + chance.below(60) as u32),
        removal_window_ms: edit(chance, 12, |chance| 1_000 + chance.below(60_000)),
        enabled: edit(chance, 3, |chance| !chance.one_in(3)),
        monitor: MonitorPatch {
            interval_ms: edit(chance, 4, |chance| *chance.one_of(&INTERVALS).expect("there are some")),
            tolerated_failures: edit(chance, 3, |chance| chance.below(5) as u32),
            recovery_successes: edit(chance, 3, |chance| 1 + chance.below(4) as u32),
            path: edit(chance, 8, |chance| format!("/{}", chance.below(3))),
            ..MonitorPatch::default()
        },
        ..ProfilePatch::default()
    }
}

fn endpoint_fields(chance: &mut Chance, is_new: bool) -> EndpointPatch {
    let mut fields = EndpointPatch {
        enabled: edit(chance, 4, |chance| !chance.one_in(3)),
        weight: edit(chance, 3, |chance| 1 + chance.below(100) as u32),
        location: edit(chance, 3, |chance| one(chance, &REGIONS)),
        always_serve: edit(chance, 6, |chance| chance.one_in(2)),
        priority: edit(chance, 4, |chance| 1 + chance.below(9) as u32),
        ..EndpointPatch::default()
    };
    match chance.below(if is_new { 4 } else { 12 }) {
        0 => fields.service = Edit::Set(one(chance, &SERVICES)),
        1 => {
            fields.nested = Edit::Set(one(chance, &PROFILES));
            fields.endpoints_min = edit(chance, 2, |chance| 1 + chance.below(3) as u32);
        }
        2 | 3 => fields.target = Edit::Set(one(chance, &TARGETS)),
        _ => {}
    }
    fields
}

/// Something that an operator may want; often it is refused.
pub(crate) fn wish(chance: &mut Chance, state: &State) -> Action {
    let (name, endpoint) = (one(chance, &PROFILES), one(chance, &ENDPOINTS));
    let known = state.profile(&Caseless::new(&name)).map(|profile| profile.revision);
    let if_revision = known
        .filter(|_| chance.one_in(4))
        .map(|revision| Revision(revision.0 - chance.below(2).min(revision.0)));
    match chance.below(24) {
        0..=2 => Action::CreateProfile {
            relative_name: name.clone(),
            name,
            zone: one(chance, &ZONES),
            fields: profile_fields(chance, true),
            endpoints: (0..chance.below(3))
                .map(|nth| (format!("e{nth}"), endpoint_fields(chance, true)))
                .collect(),
        },
        3 if chance.one_in(3) => Action::DeleteProfile { name, if_revision },
        3..=7 => Action::UpdateProfile { name, fields: profile_fields(chance, false), if_revision },
        8..=11 => Action::AddEndpoint {
            profile: name,
            name: endpoint,
            fields: endpoint_fields(chance, true),
            if_revision,
        },
        12..=16 => Action::UpdateEndpoint {
            profile: name,
            name: endpoint,
            fields: endpoint_fields(chance, false),
            if_revision,
        },
        17 | 18 => Action::RemoveEndpoint { profile: name, name: endpoint, if_revision },
        19 => Action::RegisterService {
            name: one(chance, &SERVICES),
            fields: ServicePatch {
                target: edit(chance, 1, |chance| one(chance, &TARGETS)),
                location: edit(chance, 2, |chance| one(chance, &REGIONS)),
            },
            if_revision: None,
        },
        20 | 21 => Action::SwitchService {
            name: one(chance, &SERVICES),
            is_running: chance.one_in(2),
            if_revision: None,
        },
        22 if chance.one_in(2) => override_some(chance, state),
        22 => Action::DeleteService { name: one(chance, &SERVICES), if_revision: None },
        _ => Action::ForgetHistory { before: Timestamp(chance.below(2_000_000_000_000)) },
    }
}

/// STA-13: made, lifted, or over.
fn override_some(chance: &mut Chance, state: &State) -> Action {
    let pattern = match chance.below(4) {
        0 => "*/*".to_owned(),
        1 => format!("{}/*", one(chance, &PROFILES)),
        _ => format!("{}/{}", one(chance, &PROFILES), one(chance, &ENDPOINTS)),
    };
    let reason = "a try".to_owned();
    let ended: Vec<_> = state.overrides.iter().map(|(id, made)| (*id, made.revision)).collect();
    match chance.below(5) {
        0 => Action::LiftOverrides { pattern, reason },
        1 => Action::EndOverrides { ended: ended.into_iter().filter(|_| chance.one_in(2)).collect() },
        _ => Action::OverrideEndpoints {
            pattern,
            kind: *chance.one_of(&OverrideKind::ALL).expect("there are some"),
            reason,
            span_ms: chance.one_in(2).then_some(60_000),
            even_last: chance.one_in(2),
        },
    }
}

/// FAIL-2: the windows of some departures are over.
pub(crate) fn release(chance: &mut Chance, state: &State) -> Action {
    let mut due = Vec::new();
    for (id, brake) in &state.brakes {
        let left: Vec<Revision> = brake.left.values().copied().collect();
        due.extend(chance.one_of(&left).filter(|_| chance.one_in(2)).map(|up_to| (*id, *up_to)));
    }
    Action::ReleaseBrakes { due }
}

/// A question for one of the names, or for one that is not there.
pub(crate) fn question(chance: &mut Chance, state: &State) -> (Query, u64) {
    let names: Vec<&Name> = state.profiles.values().map(|profile| &profile.full_name).collect();
    let name = match chance.one_of(&names) {
        Some(name) if !chance.one_in(10) => (*name).clone(),
        _ => Name::parse("nobody.example.com").expect("a name"),
    };
    let types = [RecordType::A, RecordType::AAAA, RecordType(16), RecordType::ANY];
    let record_type = *chance.one_of(&types).expect("there are some");
    let source = std::net::Ipv4Addr::from(chance.below(1 << 32) as u32).into();
    (Query { name, record_type, source, subnet: None }, chance.draw())
}

fn text(chance: &mut Chance) -> String {
    const PIECES: [&str; 12] =
        ["", "@", ".", "*", "p0", "e0", "example.com", "xn--", "\u{0}", "ü", "-", "\u{1b}[31m"];
    let mut text: String = (0..chance.below(4)).map(|_| one(chance, &PIECES)).collect();
    if chance.one_in(50) {
        text = text.repeat(100);
    }
    text
}

fn number(chance: &mut Chance) -> u64 {
    match chance.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => chance.below(10),
        3 => u64::from(u32::MAX) + chance.below(2),
        _ => chance.draw() >> chance.below(64),
    }
}

/// Anything at all.
pub(crate) fn nonsense(chance: &mut Chance, state: &State) -> Action {
    if chance.one_in(3) {
        return wish(chance, state);
    }
    let if_revision = chance.one_in(3).then(|| Revision(number(chance)));
    let (name, profile) =
        (text(chance), if chance.one_in(2) { text(chance) } else { one(chance, &PROFILES) });
    match chance.below(16) {
        0 => Action::CreateZone { name, fields: ZonePatch::default() },
        1 => Action::DeleteZone { name, if_revision },
        2 => Action::CreateProfile {
            name: profile,
            zone: name,
            relative_name: text(chance),
            fields: senseless_fields(chance),
            endpoints: (0..chance.below(250)).map(|_| (text(chance), senseless_endpoint(chance))).collect(),
        },
        3 => Action::UpdateProfile { name: profile, fields: senseless_fields(chance), if_revision },
        4 => Action::AddEndpoint { profile, name, fields: senseless_endpoint(chance), if_revision },
        5 => Action::UpdateEndpoint { profile, name, fields: senseless_endpoint(chance), if_revision },
        6 => Action::SetRecords {
            zone: one(chance, &ZONES),
            relative_name: name,
            record_type: waymark_core::model::RecordType(number(chance) as u16),
            ttl: number(chance) as u32,
            data: (0..chance.below(4)).map(|_| text(chance).into_bytes().into()).collect(),
            if_revision,
        },
        7 => Action::OpenSession {
            agent: name,
            region: one(chance, &REGIONS),
            run: AgentRun(number(chance)),
            version: text(chance),
            member: MemberId(number(chance)),
            is_blind: None,
        },
        8 => Action::RecordOutcomes {
            agent: Caseless::new(&name),
            run: AgentRun(number(chance)),
            outcomes: (0..chance.below(9)).map(|_| senseless_outcome(chance)).collect(),
        },
        9 => Action::ExpireVerdicts {
            agent: Caseless::new(&name),
            session: Revision(number(chance)),
            endpoints: (0..chance.below(9)).map(|_| EndpointId(number(chance))).collect(),
        },
        10 => Action::LoseAgent { agent: Caseless::new(&name), session: Revision(number(chance)) },
        11 => Action::SetRegion(Region {
            name: Caseless::new(&name),
            latitude_e6: number(chance) as i32,
            longitude_e6: number(chance) as i32,
            revision: Revision(number(chance)),
        }),
        12 => Action::UpdateLatency {
            set: Vec::new(),
            remove: (0..chance.below(5)).map(|_| text(chance)).collect(),
        },
        13 => Action::SetGeoOverride { network: name, place: text(chance) },
        14 if chance.one_in(2) => Action::ReleaseBrakes {
            due: (0..chance.below(5))
                .map(|_| (ProfileId(number(chance)), Revision(number(chance))))
                .collect(),
        },
        14 => Action::ForgetLatencies { before: Timestamp(number(chance)) },
        _ => Action::Found { cluster: name, cookies: None },
    }
}

fn senseless_fields(chance: &mut Chance) -> ProfilePatch {
    ProfilePatch {
        ttl: edit(chance, 1, |chance| number(chance) as u32),
        max_return: edit(chance, 1, |chance| number(chance) as u32),
        max_removal: edit(chance, 1, |chance| number(chance) as u32),
        removal_window_ms: edit(chance, 1, number),
        monitor: MonitorPatch {
            interval_ms: edit(chance, 1, number),
            timeout_ms: edit(chance, 1, number),
            tolerated_failures: edit(chance, 1, |chance| number(chance) as u32),
            recovery_successes: edit(chance, 1, |chance| number(chance) as u32),
            path: edit(chance, 1, text),
            port: edit(chance, 1, |chance| number(chance) as u32),
            ..MonitorPatch::default()
        },
        ..profile_fields(chance, true)
    }
}

fn senseless_endpoint(chance: &mut Chance) -> EndpointPatch {
    EndpointPatch {
        weight: edit(chance, 1, |chance| number(chance) as u32),
        priority: edit(chance, 1, |chance| number(chance) as u32),
        endpoints_min: edit(chance, 1, |chance| number(chance) as u32),
        location: edit(chance, 1, text),
        geo: edit(chance, 1, |chance| (0..chance.below(4)).map(|_| text(chance)).collect()),
        subnets: edit(chance, 1, |chance| (0..chance.below(4)).map(|_| text(chance)).collect()),
        target: edit(chance, 1, text),
        ..endpoint_fields(chance, true)
    }
}

fn senseless_outcome(chance: &mut Chance) -> ReportedOutcome {
    use waymark_core::health::{Outcome, OutcomeClass};
    let class =
        *chance.one_of(&[OutcomeClass::Ok, OutcomeClass::Refused, OutcomeClass::Agent]).expect("some");
    ReportedOutcome {
        endpoint: EndpointId(number(chance)),
        check: Revision(number(chance)),
        sequence: number(chance),
        age_ms: number(chance),
        outcome: Outcome { class, status: None },
    }
}
