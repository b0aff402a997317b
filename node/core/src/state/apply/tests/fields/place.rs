//! Regions, agents, services and rows of the latency table: OBJ-1, OBJ-6, OBJ-9, RTE-7.

use super::*;
use crate::model::Agent;
use crate::state::{LatencyRow, LatencyRowDraft, LatencyTable};

const CHARACTERS: &str = "has a character other than letters, digits, '-', '.', '_' and ':'";

/// What regions, agents and services may be called.
const NAMES: [(&str, &str); 12] = [
    ("a", TAKEN),
    ("eu-central", TAKEN),
    ("own:eu_central.1", TAKEN),
    ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", TAKEN),
    (
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "is 64 characters long; at most 63 are allowed",
    ),
    ("", "is empty"),
    ("own:eu:1", "'own:eu:1' may have one ':', between a provider and a name"),
    (":eu", "':eu' may have one ':', between a provider and a name"),
    ("own:", "'own:' may have one ':', between a provider and a name"),
    ("eu central", CHARACTERS),
    ("eu/1", CHARACTERS),
    ("w\u{fc}", CHARACTERS),
];

#[test]
fn obj_9_names_of_regions_agents_and_services() {
    for (name, told) in NAMES {
        let fields = ServicePatch { target: Edit::Set("192.0.2.9".into()), location: Edit::Keep };
        for (field, action) in [
            ("name", Action::SetRegion(region_at(name, 0))),
            ("agent", open_session(name, "r1", 1)),
            ("name", Action::RegisterService { name: name.into(), fields, if_revision: None }),
        ] {
            let expected = match told {
                TAKEN => TAKEN.to_owned(),
                CHARACTERS => format!("{field}: '{name}' {CHARACTERS}"),
                told => format!("{field}: {told}"),
            };
            check(&Cluster::new(), &action, Action::clone, &[(name, |_| {}, &expected)]);
        }
    }
}

#[test]
fn obj_1_coordinates() {
    fn at(region: &mut Region, latitude_e6: i32, longitude_e6: i32) {
        (region.latitude_e6, region.longitude_e6) = (latitude_e6, longitude_e6);
    }
    let good = region_at("r9", 0);
    check(
        &Cluster::new(),
        &good,
        |region| Action::SetRegion(region.clone()),
        &[
            ("lowest", |region| at(region, -90_000_000, -180_000_000), TAKEN),
            ("highest", |region| at(region, 90_000_000, 180_000_000), TAKEN),
            (
                "too low",
                |region| at(region, -90_000_001, -180_000_001),
                "latitude: -90.000001 is outside -90–90\nlongitude: -180.000001 is outside -180–180",
            ),
            (
                "too high",
                |region| at(region, 91_500_000, 180_000_001),
                "latitude: 91.5 is outside -90–90\nlongitude: 180.000001 is outside -180–180",
            ),
            (
                "no number of a place",
                |region| at(region, i32::MIN, i32::MAX),
                "latitude: -2147.483648 is outside -90–90\nlongitude: 2147.483647 is outside -180–180",
            ),
        ],
    );
}

#[test]
fn obj_1_an_agents_version() {
    check(
        &Cluster::new(),
        &String::new(),
        |version| {
            let Action::OpenSession { agent, region, run, member, is_blind, .. } =
                open_session("a1", "r1", 1)
            else {
                unreachable!("a session is opened");
            };
            Action::OpenSession { agent, region, run, member, is_blind, version: version.clone() }
        },
        &[
            ("missing", |_| {}, TAKEN),
            ("longest", |version| *version = "1".repeat(Agent::VERSION_MAX), TAKEN),
            (
                "too long",
                |version| *version = "1".repeat(Agent::VERSION_MAX + 1),
                &format!(
                    "version: is {} characters long; at most {} are allowed",
                    Agent::VERSION_MAX + 1,
                    Agent::VERSION_MAX
                ),
            ),
            ("a line's end", |version| *version = "1\n2".into(), "version: has a control character"),
        ],
    );
}

#[test]
fn obj_6_a_services_target_and_location() {
    let good = ServicePatch { target: Edit::Set("192.0.2.9".into()), location: Edit::Keep };
    check(
        &Cluster::new(),
        &good,
        |fields| Action::RegisterService { name: "db".into(), fields: fields.clone(), if_revision: None },
        &[
            ("an address", |_| {}, TAKEN),
            ("a name", |fields| fields.target = Edit::Set("db.example.net".into()), TAKEN),
            (
                "missing",
                |fields| fields.target = Edit::Keep,
                "target: is required: a DNS name, an IPv4 or an IPv6 address",
            ),
            (
                "a port",
                |fields| fields.target = Edit::Set("db:5432".into()),
                "target: 'db:5432' has a scheme, a path or a port; only a DNS name or an address is wanted here",
            ),
            ("a region", |fields| fields.location = Edit::Set("R1".into()), TAKEN),
            (
                "a misspelt region",
                |fields| fields.location = Edit::Set("r4".into()),
                "location: there is no region 'r4'; did you mean 'r3'?",
            ),
        ],
    );
}

/// OBJ-9: what would make a profile invalid is refused, naming the profile.
#[test]
fn obj_9_a_service_that_is_in_use() {
    let mut cluster = furnished();
    for (name, service) in [("e2", "cdn"), ("e3", "db")] {
        let fields = EndpointPatch { service: Edit::Set(service.into()), ..EndpointPatch::default() };
        cluster.apply(add_endpoint(name, fields)).unwrap();
    }
    check(
        &cluster,
        &ServicePatch::default(),
        |fields| Action::RegisterService { name: "cdn".into(), fields: fields.clone(), if_revision: None },
        &[
            ("another address", |fields| fields.target = Edit::Set("192.0.2.20".into()), TAKEN),
            (
                "the address of another endpoint",
                |fields| fields.target = Edit::Set("192.0.2.1".into()),
                "target: would make profiles invalid: 'web' (endpoints[1].service: 192.0.2.1 is the address of 'e1' \
                 already)",
            ),
            (
                "a name among addresses",
                |fields| fields.target = Edit::Set("a.example".into()),
                "target: would make profiles invalid: 'web' (endpoints[1].service: 'a.example' is a name, but others \
                 are addresses: a profile has one or the other)",
            ),
            ("no location", |fields| fields.location = Edit::Clear, TAKEN),
        ],
    );
    let delete = |name: &str| Action::DeleteService { name: name.into(), if_revision: None };
    assert_eq!(
        cluster.apply(delete("cdn")).unwrap_err().to_string(),
        "the service 'cdn' is in use by profile 'web'"
    );
    assert!(matches!(
        cluster.apply(delete("nothing")),
        Err(Rejection::NotFound { noun: "service", hint: None, .. })
    ));
}

#[test]
fn rte_7_rows_of_the_latency_table() {
    fn row(set: &mut [LatencyRowDraft], latencies: &[(&str, u32)]) {
        set[0].latencies = latencies.iter().map(|(region, ms)| ((*region).into(), *ms)).collect();
    }
    let good = vec![LatencyRowDraft { network: "192.0.2.0/24".into(), latencies: vec![("r1".into(), 7)] }];
    check(
        &Cluster::new(),
        &good,
        |set| Action::UpdateLatency { set: set.clone(), remove: Vec::new() },
        &[
            ("lowest", |set| row(set, &[("R1", 0)]), TAKEN),
            ("highest", |set| row(set, &[("r1", LatencyRow::LATENCY_MS_MAX)]), TAKEN),
            (
                "too high",
                |set| row(set, &[("r1", LatencyRow::LATENCY_MS_MAX + 1)]),
                "rows[0].latencies['r1']: 60001 is outside 0–60000",
            ),
            ("no region", |set| row(set, &[]), "rows[0].latencies: 0 regions; a row has 1–200"),
            (
                "a misspelt region",
                |set| row(set, &[("aws:eu-centrl-1", 7)]),
                "rows[0].latencies['aws:eu-centrl-1']: there is no such region; did you mean 'aws:eu-central-1'?",
            ),
            (
                "a region twice",
                |set| row(set, &[("r1", 7), ("R1", 8)]),
                "rows[0].latencies['R1']: is given twice",
            ),
            (
                "host bits",
                |set| set[0].network = "192.0.2.7/24".into(),
                "rows[0].network: '192.0.2.7/24' has bits set behind its prefix; did you mean 192.0.2.0/24?",
            ),
            (
                "no network",
                |set| set[0].network = "nowhere".into(),
                "rows[0].network: 'nowhere' has no prefix length; a single address is written with /32 or /128",
            ),
            (
                "a network twice",
                |set| set.push(set[0].clone()),
                "rows[1].network: '192.0.2.0/24' is given twice",
            ),
            ("IPv6", |set| set[0].network = "2001:db8::/48".into(), TAKEN),
            (
                "too many",
                |set| *set = vec![set[0].clone(); LatencyTable::BATCH_MAX + 1],
                "rows: 1001 rows are too many; one change has at most 1000",
            ),
        ],
    );
}
