//! The view after changes equals the view built from nothing, and knows what exists and what to probe.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof, proptest};
use proptest::sample;

use super::*;
use crate::fixture::{
    ZONES, add_profile, arbitrary_target, disable_profile, edit_profile, example_state, name, remove_profile,
    set_endpoints, set_records, set_status, set_zone, view,
};
use crate::health::EndpointStatus::{self, Degraded, Disabled, Inactive, Online, Stopped, Unmonitored};
use crate::model::RecordType;

impl View {
    /// Fails unless the view, which changes led to, is the one that is built from its state alone; `before` is the view
    /// before the changes.
    pub(crate) fn verify(&self, before: &View) {
        let built = View::of(self.state.clone(), self.applied);
        assert_eq!(self.plans, built.plans);
        assert_eq!(self.present, built.present);
        for (endpoint, health) in self.state.health.iter() {
            assert_eq!(self.statuses.get(*endpoint), health.status);
        }
        assert_eq!(self.plans.len(), self.state.profiles.len());
        assert_eq!(self.present.keys().cloned().collect::<BTreeSet<_>>(), existing_names(&self.state));
        let is_same = before.checks().eq(self.checks());
        let expected = if is_same { before.checks_revision } else { self.state.counter };
        assert_eq!(self.checks_revision, expected);
        if self.edition == before.edition {
            assert_eq!((&self.plans, &self.state.zones), (&before.plans, &before.state.zones));
            let status = |view: &View, id: &EndpointId| view.statuses.get(*id);
            assert!(self.state.health.iter().all(|(id, _)| status(self, id) == status(before, id)));
        }
    }
}

/// One alteration of a state, with the changes that `apply` would tell of.
#[derive(Clone, Debug)]
enum Step {
    SetZone { zone: usize, server: &'static str },
    RemoveZone { zone: usize },
    AddProfile { relative_name: &'static str, endpoints: Vec<(&'static str, EndpointStatus)> },
    EditProfile { nth: usize, enabled: bool, ttl: u32, port: u32 },
    SetEndpoints { nth: usize, endpoints: Vec<(&'static str, EndpointStatus)> },
    SetStatus { nth: usize, status: EndpointStatus },
    RemoveProfile { nth: usize },
    SetRecords { relative_name: &'static str, record_type: u16 },
    RemoveRecords { nth: usize },
}

impl Step {
    fn carry_out(&self, state: &mut State) -> Vec<Change> {
        match self {
            Self::SetZone { zone, server } => {
                let addresses: &[&str] =
                    if name(server).is_within(&name(ZONES[*zone])) { &["192.0.2.54"] } else { &[] };
                set_zone(state, ZONES[*zone], &[(server, addresses)]);
                vec![Change::Zone(name(ZONES[*zone]))]
            }
            Self::RemoveZone { zone } => {
                let zone = name(ZONES[*zone]);
                state.zones.remove(&zone).map(|_| Change::Zone(zone)).into_iter().collect()
            }
            Self::AddProfile { relative_name, endpoints } => {
                if state.owners.contains_key(&name(&format!("{relative_name}.example.com")).tree_key()) {
                    return Vec::new();
                }
                vec![Change::Profile(add_profile(state, "example.com", relative_name, endpoints))]
            }
            Self::EditProfile { nth, enabled, ttl, port } => with_nth(state, *nth, |state, id| {
                edit_profile(state, id, |profile| {
                    profile.enabled = *enabled;
                    profile.ttl = Some(*ttl);
                    profile.monitor.port = Some(*port);
                });
                Change::Profile(id)
            }),
            Self::SetEndpoints { nth, endpoints } => with_nth(state, *nth, |state, id| {
                set_endpoints(state, id, endpoints);
                Change::Profile(id)
            }),
            Self::SetStatus { nth, status } => with_nth(state, *nth, |state, id| {
                for endpoint in &state.profiles[&id].endpoints.clone() {
                    set_status(state, id, endpoint.id, *status);
                }
                Change::Health(id)
            }),
            Self::RemoveProfile { nth } => with_nth(state, *nth, |state, id| {
                let full_name = remove_profile(state, id);
                Change::ProfileRemoved(id, full_name)
            }),
            Self::SetRecords { relative_name, record_type } => {
                let record_type = RecordType(*record_type);
                let full_name = set_records(state, "example.com", relative_name, record_type, &[b"\x00"]);
                vec![Change::Records(full_name, record_type)]
            }
            Self::RemoveRecords { nth } => {
                let key = state.records.keys().nth(nth % state.records.len().max(1)).cloned();
                let removed = key.and_then(|key| state.records.remove(&key));
                removed
                    .map(|set| Change::Records(set.full_name.clone(), set.record_type))
                    .into_iter()
                    .collect()
            }
        }
    }
}

fn with_nth(
    state: &mut State,
    nth: usize,
    alter: impl FnOnce(&mut State, ProfileId) -> Change,
) -> Vec<Change> {
    let count = state.profiles.len().max(1);
    let id = state.profiles.keys().nth(nth % count).copied();
    id.map(|id| alter(state, id)).into_iter().collect()
}

fn arbitrary_step() -> impl Strategy<Value = Step> {
    const SERVERS: [&str; 4] =
        ["ns.lb.example.com", "ns.example.org", "web.lb.example.com", "ns9.example.net"];
    let statuses = sample::select(&EndpointStatus::ALL[..]);
    let endpoints = || vec((arbitrary_target(true), sample::select(&EndpointStatus::ALL[..])), 0..3);
    prop_oneof![
        (0..ZONES.len(), sample::select(&SERVERS[..]))
            .prop_map(|(zone, server)| Step::SetZone { zone, server }),
        (0..ZONES.len()).prop_map(|zone| Step::RemoveZone { zone }),
        (sample::select(&["web", "api.eu", "ns.lb", "lb", "eu"][..]), endpoints())
            .prop_map(|(relative_name, endpoints)| Step::AddProfile { relative_name, endpoints }),
        (any::<usize>(), any::<bool>(), 0_u32..3, 80_u32..82)
            .prop_map(|(nth, enabled, ttl, port)| Step::EditProfile { nth, enabled, ttl, port }),
        (any::<usize>(), endpoints()).prop_map(|(nth, endpoints)| Step::SetEndpoints { nth, endpoints }),
        (any::<usize>(), statuses).prop_map(|(nth, status)| Step::SetStatus { nth, status }),
        any::<usize>().prop_map(|nth| Step::RemoveProfile { nth }),
        (sample::select(&["web", "api.eu", "txt.eu"][..]), 16_u16..18)
            .prop_map(|(relative_name, record_type)| Step::SetRecords { relative_name, record_type }),
        any::<usize>().prop_map(|nth| Step::RemoveRecords { nth }),
    ]
}

/// Every name that exists, found by looking at everything.
fn existing_names(state: &State) -> BTreeSet<Arc<[u8]>> {
    let zones = state.zones.keys().cloned();
    let servers = state.zones.values().flat_map(|zone| &zone.name_servers);
    let servers = servers.filter(|server| !server.addresses.is_empty()).map(|server| server.name.clone());
    let is_enabled = |endpoint: &Endpoint| state.health[&endpoint.id].status != Disabled;
    let exists = |profile: &&Arc<Profile>| profile.enabled && profile.endpoints.iter().any(is_enabled);
    let profiles = state.profiles.values().filter(exists);
    let profiles = profiles.map(|profile| profile.full_name.clone());
    let records = state.records.values().map(|set| set.full_name.clone());
    zones.chain(servers).chain(profiles).chain(records).map(|name| name.tree_key()).collect()
}

proptest! {
    /// DNS-23: what a view says follows from its state alone, however many changes were taken in at once.
    #[test]
    fn after_equals_of(batches in vec(vec(arbitrary_step(), 0..4), 1..12)) {
        let mut state = example_state();
        let mut stepped = view(state.clone());
        for (batch, index) in batches.iter().zip(1..) {
            let mut changes = Vec::new();
            for step in batch {
                changes.extend(step.carry_out(&mut state));
            }
            let before = stepped;
            stepped = before.after(state.clone(), &changes, LogIndex(index));
            stepped.verify(&before);
        }
    }
}

#[test]
fn rte_4_a_disabled_profile_makes_no_empty_non_terminal() {
    let mut state = example_state();
    let id = add_profile(&mut state, "example.com", "api.eu", &[("192.0.2.1", Online)]);
    assert!(view(state.clone()).is_present(&name("eu.example.com")));
    disable_profile(&mut state, id);
    assert!(!view(state.clone()).is_present(&name("eu.example.com")));
    assert!(view(state).plan(name("api.eu.example.com").as_wire()).is_some(), "explain still finds it");
}

#[test]
fn a_name_stays_present_as_long_as_one_reason_is_left() {
    let mut state = example_state();
    let addresses: &[&str] = &["192.0.2.53"];
    set_zone(&mut state, "lb.example.com", &[("ns1.lb.example.com", addresses)]);
    set_zone(&mut state, "example.com", &[("ns1.lb.example.com", addresses)]);
    let before = view(state.clone());
    state.zones.remove(&name("lb.example.com"));
    let after = before.after(state, &[Change::Zone(name("lb.example.com"))], LogIndex(8));
    assert!(after.is_present(&name("ns1.lb.example.com")));
    assert_eq!(after.name_server_addresses(&name("ns1.lb.example.com")).len(), 1);
}

#[test]
fn prb_11_lists_what_is_to_be_probed() {
    let mut state = example_state();
    let statuses = [("192.0.2.1", Degraded), ("192.0.2.2", Disabled), ("192.0.2.3", Unmonitored)];
    let id = add_profile(&mut state, "example.com", "web", &statuses);
    let off = add_profile(&mut state, "example.com", "off", &[("192.0.2.4", Online)]);
    disable_profile(&mut state, off);
    let view = view(state);
    let endpoints = &view.state.profiles[&id].endpoints;
    let checks: Vec<_> = view.checks().collect();
    assert_eq!(checks.len(), 1);
    assert_eq!(checks[0].0, endpoints[0].id);
    assert_eq!(view.check(endpoints[0].id).as_ref(), Some(&checks[0].1));
    assert_eq!(view.check(endpoints[1].id), None);
    assert_eq!(view.check(EndpointId(999)), None);
    assert_eq!(view.patience(endpoints[0].id).map(|patience| patience.tolerated_failures), Some(3));
    assert_eq!(view.tally(endpoints[0].id, &"a1".into()), None);
    assert_eq!(view.endpoint(endpoints[2].id).map(|(profile, _)| profile.id), Some(id));
}

#[test]
fn checks_revision_rises_with_checks_and_with_nothing_else() {
    let mut state = example_state();
    let id = add_profile(&mut state, "example.com", "web", &[("192.0.2.1", Online)]);
    let first = view(state.clone());
    assert_eq!(first.checks_revision, state.counter);

    edit_profile(&mut state, id, |profile| profile.ttl = Some(5));
    let second = first.after(state.clone(), &[Change::Profile(id)], LogIndex(8));
    assert_eq!(second.checks_revision, first.checks_revision, "a time to live is no agent's business");

    edit_profile(&mut state, id, |profile| profile.monitor.path = Some("/health".to_owned()));
    let third = second.after(state.clone(), &[Change::Profile(id)], LogIndex(9));
    assert_eq!(third.checks_revision, state.counter);

    remove_profile(&mut state, id);
    assert_eq!(
        view(state.clone()).checks_revision,
        state.counter,
        "a snapshot may have taken every check away"
    );
}

/// What a change does not touch is shared, not made again: what probes find touches no plan, but a status that is out does.
#[test]
fn obj_5_a_change_renews_its_own_plan_alone() {
    let mut state = example_state();
    let web = add_profile(&mut state, "example.com", "web", &[("192.0.2.1", Online)]);
    add_profile(&mut state, "example.com", "api", &[("192.0.2.2", Online)]);
    let endpoint = state.profiles[&web].endpoints[0].id;
    let mut before = view(state.clone());
    for (status, is_kept) in [(Degraded, true), (Stopped, false), (Inactive, false), (Online, false)] {
        set_status(&mut state, web, endpoint, status);
        let after = before.after(state.clone(), &[Change::Health(web)], LogIndex(8));
        let is_shared = |name: &str| {
            let plan = |view: &View| view.plan(crate::fixture::name(name).as_wire()).cloned().expect(name);
            Arc::ptr_eq(&plan(&before), &plan(&after))
        };
        assert!(is_shared("api.example.com"));
        assert_eq!(is_shared("web.example.com"), is_kept, "{status:?}");
        assert_eq!(after.statuses.get(endpoint), status);
        assert_eq!(after.checks_revision, before.checks_revision, "health alone changes no check");
        assert!(after.edition() != before.edition(), "answers are different");
        let counted = after.after(state.clone(), &[Change::Health(web)], LogIndex(9));
        assert!(after.edition() == counted.edition(), "counts alone change no answer");
        before = after;
    }
}
