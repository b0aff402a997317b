//! States to test the read side with, made by hand: what `apply` would refuse can't be made, nor is it needed.

mod arbitrary;
mod claims;

use std::net::IpAddr;
use std::sync::Arc;

pub(crate) use arbitrary::{ZONES, arbitrary_client, arbitrary_query, arbitrary_state, arbitrary_target};
pub(crate) use claims::{check_answer, check_scope, query_of};

use crate::answer::Query;
use crate::geo::{GeoTable, Locator, RangeMap};
use crate::health::{EndpointHealth, EndpointStatus, ProfileStatus, Tallies, endpoint_status};
use crate::model::{
    Caseless, Endpoint, EndpointId, EndpointKind, Flattened, LogIndex, Monitor, Name, NameServer, Override,
    OverrideKind, Place, Profile, ProfileId, RecordSet, RecordType, Region, RelativeName, Revision, Routing,
    Span, Timestamp, Zone, ZoneTimers, parse_target,
};
use crate::state::{LatencyRow, Plan, ProfileHealth, State, Statuses, View};

/// A name that is known to be good.
pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect(text)
}

/// A question from an address that does not matter.
pub(crate) fn query(text: &str, record_type: RecordType) -> Query {
    Query { name: name(text), record_type, source: IpAddr::from([198, 51, 100, 7]), subnet: None }
}

/// The view of `state` at some log index.
pub(crate) fn view(state: State) -> View {
    View::of(state, LogIndex(7))
}

pub(crate) fn place(code: &str) -> Place {
    Place::parse(code).expect(code)
}

pub(crate) fn span(text: &str) -> Span {
    text.parse().expect(text)
}

/// The view of `state` where clients are located by [`locator`].
pub(crate) fn located(state: State) -> View {
    let mut view = view(state);
    view.locator = locator();
    view
}

/// 198.51.100.0/24 is in Germany, 198.51.101.0/24 in France, 203.0.113.0/24 in California, 2001:db8::/32 in Japan; the
/// rest is nowhere.
pub(crate) fn locator() -> Locator {
    let ranges = [
        ("198.51.100.0/24", "DE"),
        ("198.51.101.0/24", "FR"),
        ("203.0.113.0/24", "US-CA"),
        ("2001:db8::/32", "JP"),
    ];
    let table =
        GeoTable::new(ranges.map(|(network, code)| (span(network), place(code)))).expect("ranges in order");
    Locator::new(table.into(), RangeMap::default())
}

pub(crate) fn set_region(state: &mut State, name: &str, latitude: i32, longitude: i32) {
    let (latitude_e6, longitude_e6) = (latitude * 1_000_000, longitude * 1_000_000);
    let region = Region { name: Caseless::new(name), latitude_e6, longitude_e6, revision: Revision(0) };
    state.regions.insert(region.name.clone(), Arc::new(region));
}

/// Gives the latency table a row of `network`.
pub(crate) fn set_row(state: &mut State, network: &str, latencies: &[(&str, u32)]) {
    let network = network.parse().expect(network);
    let mut latencies: Vec<_> = latencies.iter().map(|(region, ms)| (Caseless::new(region), *ms)).collect();
    latencies.sort();
    state.latency.insert(LatencyRow { network, latencies });
}

/// Lets a measured row of `network` be known.
pub(crate) fn set_learned(state: &mut State, network: &str, latencies: &[(&str, u32)]) {
    let network = network.parse().expect(network);
    for (region, ms) in latencies {
        state.learned.learn(network, &Caseless::new(region), *ms, Timestamp(1));
    }
}

/// The plan of an enabled priority profile with endpoints `e1`, `e2` … of priority 1, 2 …, and their statuses.
pub(crate) fn plan(endpoints: &[(&str, EndpointStatus)]) -> (Plan, Statuses) {
    let mut state = State::default();
    let id = add_profile(&mut state, "example.com", "web", endpoints);
    let view = view(state);
    (Plan::clone(view.plan_by_id(id).expect("the profile that was just added")), view.statuses)
}

/// An override of that kind, by nobody in particular.
pub(crate) fn overridden(kind: OverrideKind) -> Arc<Override> {
    let (author, reason) = ("operator".to_owned(), "a move".to_owned());
    Arc::new(Override { kind, author, reason, at: Timestamp(7), ends: None, revision: Revision(7) })
}

/// A state with the zone `example.com` of two name servers, the first of which lies in it.
pub(crate) fn example_state() -> State {
    let mut state = State::default();
    let first: (&str, &[&str]) = ("ns1.example.com", &["192.0.2.53", "2001:db8::53"]);
    set_zone(&mut state, "example.com", &[first, ("ns2.example.net", &[])]);
    state
}

/// Adds a zone or puts another in its place.
pub(crate) fn set_zone(state: &mut State, zone: &str, name_servers: &[(&str, &[&str])]) {
    state.counter.0 += 1;
    let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().expect(text)).collect();
    let server =
        |(server, texts): &(&str, &[&str])| NameServer { name: name(server), addresses: addresses(texts) };
    let zone = Zone {
        name: name(zone),
        name_servers: name_servers.iter().map(server).collect(),
        mailbox: None,
        ecs: true,
        timers: ZoneTimers::DEFAULT,
        revision: state.counter,
    };
    state.zones.insert(zone.name.clone(), Arc::new(zone));
}

/// Adds an enabled priority profile, named like its full name, with endpoints `e1`, `e2` … of priority 1, 2 ….
pub(crate) fn add_profile(
    state: &mut State,
    zone: &str,
    relative_name: &str,
    endpoints: &[(&str, EndpointStatus)],
) -> ProfileId {
    let relative_name = RelativeName::parse(relative_name).expect(relative_name);
    let zone = name(zone);
    let full_name = relative_name.within(&zone).expect("a name that is short enough");
    state.next_id += 1;
    let profile = Profile {
        id: ProfileId(state.next_id),
        name: Caseless::new(&full_name.to_string()),
        zone,
        relative_name,
        full_name,
        routing: Routing::Priority,
        ttl: None,
        max_return: None,
        flatten: false,
        max_removal: None,
        removal_window_ms: None,
        enabled: true,
        monitor: Monitor::default(),
        endpoints: Vec::new(),
        revision: Revision(0),
    };
    let id = profile.id;
    set_profile(state, profile);
    set_endpoints(state, id, endpoints);
    id
}

/// Adds static records or puts others in their place.
pub(crate) fn set_records(
    state: &mut State,
    zone: &str,
    relative_name: &str,
    record_type: RecordType,
    data: &[&[u8]],
) -> Name {
    state.counter.0 += 1;
    let (zone, relative_name) = (name(zone), RelativeName::parse(relative_name).expect(relative_name));
    let full_name = relative_name.within(&zone).expect("a name that is short enough");
    let set = RecordSet {
        zone,
        relative_name,
        full_name: full_name.clone(),
        record_type,
        ttl: 300,
        data: data.iter().map(|data| Arc::from(*data)).collect(),
        revision: state.counter,
    };
    state.records.insert(set.key(), Arc::new(set));
    full_name
}

/// Changes a profile's own fields.
pub(crate) fn edit_profile(state: &mut State, id: ProfileId, edit: impl FnOnce(&mut Profile)) {
    let mut profile = (*state.profiles[&id]).clone();
    edit(&mut profile);
    set_profile(state, profile);
}

/// Switches a profile off, and with it its endpoints (STA-8).
pub(crate) fn disable_profile(state: &mut State, id: ProfileId) {
    edit_profile(state, id, |profile| profile.enabled = false);
    for endpoint in &state.profiles[&id].endpoints.clone() {
        let (enabled, always) = (endpoint.enabled, endpoint.always_serve);
        let status = endpoint_status(enabled, false, always, None, EndpointStatus::Online);
        set_status(state, id, endpoint.id, status);
    }
}

/// Gives a profile these endpoints, new ones, in place of those it has.
pub(crate) fn set_endpoints(state: &mut State, id: ProfileId, endpoints: &[(&str, EndpointStatus)]) {
    for endpoint in &state.profiles[&id].endpoints.clone() {
        state.health.remove(&endpoint.id);
    }
    let mut made = Vec::new();
    for ((target, status), place) in endpoints.iter().zip(1..) {
        state.next_id += 1;
        made.push(Endpoint {
            id: EndpointId(state.next_id),
            name: Caseless::new(&format!("e{place}")),
            kind: EndpointKind::External(parse_target(target).expect(target)),
            enabled: *status != EndpointStatus::Disabled,
            priority: place,
            weight: None,
            location: None,
            geo: Vec::new(),
            subnets: Vec::new(),
            always_serve: *status == EndpointStatus::Unmonitored,
            headers: Vec::new(),
            revision: state.counter,
            check_revision: state.counter,
        });
        set_status(state, id, EndpointId(state.next_id), *status);
    }
    edit_profile(state, id, |profile| profile.endpoints = made);
}

/// Gives an endpoint this status, whatever its settings say.
pub(crate) fn set_status(state: &mut State, profile: ProfileId, id: EndpointId, status: EndpointStatus) {
    let health = EndpointHealth {
        profile,
        tallies: Tallies::default(),
        judgement: None,
        stale_since: None,
        status,
        by_family: None,
        since: Timestamp(0),
        since_index: LogIndex(0),
        flattened: None,
    };
    state.health.insert(id, Arc::new(health));
}

/// Gives the endpoints of a profile, in order, addresses that their names were resolved to, where they are flattened.
pub(crate) fn flatten(state: &mut State, id: ProfileId, addresses: &[&[&str]]) {
    let profile = state.profiles[&id].clone();
    for (endpoint, texts) in profile.endpoints.iter().zip(addresses) {
        let Some(target) = state.name_to_flatten(&profile, endpoint).cloned() else { continue };
        let addresses: Vec<IpAddr> = texts.iter().map(|text| text.parse().expect(text)).collect();
        let flattened = Flattened::new(target, &addresses, Timestamp(7)).map(Arc::new);
        let health = state.health.get_mut(&endpoint.id).expect("each endpoint has its health");
        Arc::make_mut(health).flattened = flattened;
    }
}

/// Takes a profile out with its endpoints.
pub(crate) fn remove_profile(state: &mut State, id: ProfileId) -> Name {
    state.counter.0 += 1;
    let profile = state.profiles.remove(&id).expect("a profile that is there");
    state.profile_ids.remove(&profile.name);
    state.health.set_status(id, None);
    state.health.set_profile(id, None);
    state.owners.remove(&profile.full_name.tree_key());
    for endpoint in &profile.endpoints {
        state.health.remove(&endpoint.id);
    }
    profile.full_name.clone()
}

fn set_profile(state: &mut State, mut profile: Profile) {
    state.counter.0 += 1;
    profile.revision = state.counter;
    state.profile_ids.insert(profile.name.clone(), profile.id);
    state.owners.insert(profile.full_name.tree_key(), profile.id);
    let health = ProfileHealth { status: ProfileStatus::CheckingEndpoints, since: Timestamp(0) };
    let profile = Arc::new(profile);
    state.health.set_status(profile.id, Some(health));
    state.health.set_profile(profile.id, Some(profile.clone()));
    state.profiles.insert(profile.id, profile);
}
