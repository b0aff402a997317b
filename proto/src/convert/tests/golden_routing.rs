//! Bytes that every version must read, of what the routing methods stand on: services, nested profiles, places, latencies
//! and the past.

use std::sync::Arc;

use waymark_core::geo::GeoDigest;
use waymark_core::health::EndpointHealth;
use waymark_core::model::{
    Caseless, Edit, EndpointId, EndpointPatch, Flattened, Header, HeaderValue, LogIndex, MemberId, Name,
    Place, Profile, ProfileId, ProfilePatch, Revision, Service, ServicePatch, Timestamp, Zone, ZonePatch,
    ZoneTimers, parse_target,
};
use waymark_core::state::{
    Action, ApplyLevel, AuditOutcome, CookieSecret, CookieSecrets, FoundAddresses, LatencyRow,
    LatencyRowDraft, LearnedRow, Past, PlaceOverride, Replaced, State,
};

use super::{brake, enrolment, overrides, sight};

const DIGEST: GeoDigest = GeoDigest(0x5503_2c61_28a9_9df3_d306_566b_6611_10e6);

/// A header whose value is encrypted (SEC-4); what was encrypted does not matter here.
fn seal_header() -> Action {
    let header =
        Header { name: "Authorization".into(), value: HeaderValue::Sealed([0xc5; 41].as_slice().into()) };
    Action::UpdateEndpoint {
        profile: "web".into(),
        name: "one".into(),
        fields: EndpointPatch { headers: Edit::Set(vec![header]), ..EndpointPatch::default() },
        if_revision: None,
    }
}

pub(super) fn actions() -> Vec<(&'static str, Action)> {
    let if_revision = Some(Revision(41));
    let (shop, network) = ("shop".to_owned(), "198.51.100.0/24".to_owned());
    let row =
        LatencyRowDraft { network: network.clone(), latencies: vec![("eu".into(), 12), ("us".into(), 90)] };
    vec![
        ("add_endpoint.nested", add_endpoint(nested_patch())),
        (
            "add_endpoint.service",
            add_endpoint(EndpointPatch { service: Edit::Set(shop.clone()), ..EndpointPatch::default() }),
        ),
        (
            "register_service",
            Action::RegisterService {
                name: shop.clone(),
                fields: ServicePatch {
                    target: Edit::Set("192.0.2.7".into()),
                    location: Edit::Set("eu".into()),
                },
                if_revision,
            },
        ),
        ("switch_service", Action::SwitchService { name: shop.clone(), is_running: true, if_revision }),
        ("delete_service", Action::DeleteService { name: shop, if_revision }),
        (
            "learn_latencies",
            Action::LearnLatencies {
                region: "eu".into(),
                found: vec![("198.51.100.0/24".parse().expect("a network"), 12)],
            },
        ),
        ("forget_latencies", Action::ForgetLatencies { before: Timestamp(1_700_000_000_003) }),
        ("update_latency", Action::UpdateLatency { set: vec![row], remove: vec!["2001:db8::/32".into()] }),
        ("use_geo", Action::UseGeo { digest: Some(DIGEST), if_revision }),
        ("use_geo.embedded", Action::UseGeo { digest: None, if_revision: None }),
        ("set_geo_override", Action::SetGeoOverride { network: network.clone(), place: "US-CA".into() }),
        ("delete_geo_override", Action::DeleteGeoOverride { network, if_revision }),
        ("flatten_targets", Action::FlattenTargets { found: vec![found_addresses()] }),
        ("update_profile.flatten", flatten_profile()),
        ("update_zone.timers", set_timers()),
        ("rotate_cookies", Action::RotateCookies { fresh: CookieSecret([0xa7; 16]) }),
        ("raise_apply_level", Action::RaiseApplyLevel { to: ApplyLevel(2) }),
        ("allot_member", Action::AllotMember { number: MemberId(4) }),
        ("update_endpoint.secret", seal_header()),
        ("audit", Action::Audit { outcome: AuditOutcome::Begun }),
        ("forget_history", Action::ForgetHistory { before: Timestamp(1_700_000_000_000) }),
    ]
    .into_iter()
    .chain(overrides::golden_actions())
    .chain(brake::golden_actions())
    .chain(sight::golden_actions())
    .chain(enrolment::golden_actions())
    .collect()
}

fn flatten_profile() -> Action {
    let fields = ProfilePatch { flatten: Edit::Set(true), ..ProfilePatch::default() };
    Action::UpdateProfile { name: "web".into(), fields, if_revision: None }
}

fn set_timers() -> Action {
    let timers = timers().zip(timers(), |timer, _| Edit::Set(timer));
    let fields = ZonePatch { timers, ..ZonePatch::default() };
    Action::UpdateZone { name: "tm.example.com".into(), fields, if_revision: None }
}

fn timers() -> ZoneTimers {
    ZoneTimers {
        soa_ttl: 7_200,
        refresh: 1_800,
        retry: 300,
        expire: 86_400,
        negative_ttl: 10,
        name_server_ttl: 600,
    }
}

fn found_addresses() -> FoundAddresses {
    let addresses = ["192.0.2.7", "2001:db8::7"].map(|text| text.parse().unwrap());
    FoundAddresses {
        endpoint: EndpointId(8),
        name: Name::parse("www.example.net").unwrap(),
        addresses: addresses.to_vec(),
    }
}

fn add_endpoint(fields: EndpointPatch) -> Action {
    Action::AddEndpoint { profile: "web".into(), name: "eu".into(), fields, if_revision: None }
}

fn nested_patch() -> EndpointPatch {
    EndpointPatch {
        nested: Edit::Set("api".into()),
        endpoints_min: Edit::Set(2),
        endpoints_min_v4: Edit::Set(1),
        endpoints_min_v6: Edit::Set(0),
        geo: Edit::Set(vec!["DE".into(), "GEO-AS".into()]),
        subnets: Edit::Set(vec!["10.0.0.0/8".into(), "2001:db8::1-2001:db8::9".into()]),
        ..EndpointPatch::default()
    }
}

/// One object of each of these kinds, and a past in which each object of `state` was replaced.
pub(super) fn add_places(state: &mut State) {
    let network = "198.51.100.0/24".parse().unwrap();
    let service = Service {
        name: "shop".into(),
        target: parse_target("192.0.2.7").unwrap(),
        location: Some("eu".into()),
        is_running: false,
        revision: Revision(11),
    };
    let found = PlaceOverride { place: Place::parse("US-CA").unwrap(), revision: Revision(12) };
    state.services.insert(service.name.clone(), service.into());
    state.latency.insert(LatencyRow { network, latencies: vec![("eu".into(), 12), ("us".into(), 90)] });
    (state.latency.revision, state.latency.at) = (Revision(13), Timestamp(1_700_000_000_003));
    let row = LatencyRow { network, latencies: vec![("eu".into(), 14)] };
    state.learned.insert(LearnedRow { row, confirmed: vec![Timestamp(1_700_000_000_005)] }.into());
    state.geography.overrides.insert(network, found);
    (state.geography.table, state.geography.revision) = (Some(DIGEST), Revision(14));
    enrolment::add_enrolment(state);
    state.cookies = CookieSecrets {
        current: Some(CookieSecret([0xa7; 16])),
        previous: Some(CookieSecret([0xb3; 16])),
        since: Timestamp(1_700_000_000_004),
    };
    let id = ProfileId(7);
    let name = |text: &str| Caseless::new(text);
    let replaced = vec![
        Replaced::Zone(state.zones.keys().next().unwrap().clone(), state.zones.values().next().cloned()),
        Replaced::Profile(id, state.profiles.get(&id).cloned()),
        Replaced::Status(id, state.health.status(id)),
        Replaced::Health(*state.health.keys().next().unwrap(), state.health.values().next().cloned()),
        Replaced::Service(name("shop"), state.services.get(&name("shop")).cloned()),
        Replaced::Region(
            state.regions.keys().next().unwrap().clone(),
            state.regions.values().next().cloned(),
        ),
        Replaced::Agent(name("agent-1"), state.agents.get(&name("agent-1")).cloned()),
        Replaced::LatencyRow(network, state.latency.rows.get(&network).cloned()),
        Replaced::GeoTable(Some(DIGEST), Revision(14)),
        Replaced::GeoOverride(network, Some(found)),
    ];
    let none = vec![
        Replaced::Zone(state.zones.keys().next().unwrap().clone(), None),
        Replaced::Profile(id, None),
        Replaced::Status(id, None),
        Replaced::Health(*state.health.keys().next().unwrap(), None),
        Replaced::Service(name("shop"), None),
        Replaced::Region(name("eu"), None),
        Replaced::Agent(name("agent-1"), None),
        Replaced::LatencyRow(network, None),
        Replaced::GeoTable(None, Revision(0)),
        Replaced::GeoOverride(network, None),
    ];
    for (counter, replaced) in [(20, none), (21, replaced)] {
        let past = Past { at: Timestamp(1_700_000_000_000 + counter), index: LogIndex(counter), replaced };
        state.history.add(Revision(counter), past);
    }
    add_later_fields(state, id);
    overrides::add_golden(state);
    sight::add_golden(state);
    state.history.begin_at(Timestamp(1_600_000_000_000));
}

/// A past of fields that the first version did not have: a zone's times, a flattened profile and what it stood for.
fn add_later_fields(state: &mut State, id: ProfileId) {
    let (name, zone) = state.zones.iter().next().unwrap();
    let zone = Zone { timers: timers(), ..Zone::clone(zone) };
    let profile = Profile { flatten: true, ..Profile::clone(&state.profiles[&id]) };
    let (endpoint, health) = state.health.iter().next().unwrap();
    let FoundAddresses { name: target, addresses, .. } = found_addresses();
    let flattened = Flattened::new(target, &addresses, Timestamp(1_700_000_000_005));
    let health = EndpointHealth { flattened: flattened.map(Arc::new), ..EndpointHealth::clone(health) };
    let replaced = vec![
        Replaced::Zone(name.clone(), Some(zone.into())),
        Replaced::Profile(id, Some(profile.into())),
        Replaced::Health(*endpoint, Some(health.into())),
    ];
    let past = Past { at: Timestamp(1_700_000_000_030), index: LogIndex(30), replaced };
    state.history.add(Revision(30), past);
}
