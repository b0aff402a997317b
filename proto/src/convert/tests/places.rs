//! Any latency row, override, choice of a geo table, and history of whatever a state has.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use waymark_core::geo::GeoDigest;
use waymark_core::model::{LogIndex, Network, Place, Revision};
use waymark_core::state::{
    CookieSecret, CookieSecrets, LatencyRow, LearnedRow, Past, PlaceOverride, Replaced, State,
};

use super::arbitrary::{caseless, revision, timestamp};

pub(super) fn network() -> impl Strategy<Value = Network> {
    (any::<u32>(), 0..=32_u8)
        .prop_map(|(address, prefix)| Network::around(std::net::Ipv4Addr::from(address).into(), prefix))
}

fn latency_row() -> impl Strategy<Value = LatencyRow> {
    let latencies = proptest::collection::btree_map(caseless(), any::<u32>(), 0..3);
    (network(), latencies)
        .prop_map(|(network, latencies)| LatencyRow { network, latencies: latencies.into_iter().collect() })
}

fn learned_row() -> impl Strategy<Value = LearnedRow> {
    latency_row().prop_flat_map(|row| {
        let confirmed = vec(timestamp(), row.latencies.len());
        (Just(row), confirmed).prop_map(|(row, confirmed)| LearnedRow { row, confirmed })
    })
}

fn place_override() -> impl Strategy<Value = (Network, PlaceOverride)> {
    let place = (0..Place::COUNT).prop_map(|index| Place::from_index(index).unwrap());
    (network(), place, revision())
        .prop_map(|(network, place, revision)| (network, PlaceOverride { place, revision }))
}

/// Puts such things into a state, and into its history each object that it has, once as it is and once as if it had been
/// new.
pub(super) fn with_places(state: impl Strategy<Value = State>) -> impl Strategy<Value = State> {
    let choice = (option::of(any::<u128>().prop_map(GeoDigest)), 1..u64::MAX);
    let secrets = any::<[Option<[u8; 16]>; 2]>();
    let places = (
        (vec(latency_row(), 0..3), vec(learned_row(), 0..3)),
        vec(place_override(), 0..3),
        choice,
        secrets,
        any::<bool>(),
    );
    (state, places, timestamp()).prop_map(
        |(mut state, ((rows, learned), overrides, (table, chosen), secrets, has_history), at)| {
            for row in rows {
                state.latency.insert(row);
            }
            for row in learned {
                state.learned.insert(Arc::new(row));
            }
            state.latency.revision = Revision(u64::from(!state.latency.rows.is_empty()));
            state.geography.overrides = overrides.into_iter().collect();
            (state.geography.table, state.geography.revision) = (table, Revision(chosen));
            let [current, previous] = secrets.map(|secret| secret.map(CookieSecret));
            if current.is_some() {
                state.cookies = CookieSecrets { current, previous, since: at };
            }
            if has_history {
                state.history.begin_at(at);
                let (before, none) = everything(&state);
                for (counter, replaced) in [(7, before), (9, none)] {
                    state.history.add(Revision(counter), Past { at, index: LogIndex(counter), replaced });
                }
            }
            state
        },
    )
}

fn everything(state: &State) -> (Vec<Replaced>, Vec<Replaced>) {
    let (mut was, mut was_not) = (Vec::new(), Vec::new());
    let mut add = |before, none| {
        was.push(before);
        was_not.push(none);
    };
    for (name, zone) in &state.zones {
        add(Replaced::Zone(name.clone(), Some(zone.clone())), Replaced::Zone(name.clone(), None));
    }
    for (id, profile) in &state.profiles {
        add(Replaced::Profile(*id, Some(profile.clone())), Replaced::Profile(*id, None));
    }
    for (id, status) in state.health.statuses() {
        add(Replaced::Status(id, Some(status)), Replaced::Status(id, None));
    }
    for (id, health) in state.health.iter() {
        add(Replaced::Health(*id, Some(health.clone())), Replaced::Health(*id, None));
    }
    for (name, service) in &state.services {
        add(Replaced::Service(name.clone(), Some(service.clone())), Replaced::Service(name.clone(), None));
    }
    for (name, region) in &state.regions {
        add(Replaced::Region(name.clone(), Some(region.clone())), Replaced::Region(name.clone(), None));
    }
    for (name, agent) in &state.agents {
        add(Replaced::Agent(name.clone(), Some(agent.clone())), Replaced::Agent(name.clone(), None));
    }
    for set in state.records.values() {
        let replaced = |before| Replaced::Records(set.full_name.clone(), set.record_type, before);
        add(replaced(Some(set.clone())), replaced(None));
    }
    for (network, row) in state.latency.rows.iter() {
        add(Replaced::LatencyRow(*network, Some(row.clone())), Replaced::LatencyRow(*network, None));
    }
    for (network, found) in &state.geography.overrides {
        add(Replaced::GeoOverride(*network, Some(*found)), Replaced::GeoOverride(*network, None));
    }
    for (id, over) in &state.overrides {
        add(Replaced::Override(*id, Some(over.clone())), Replaced::Override(*id, None));
    }
    let chosen = Replaced::GeoTable(state.geography.table, Revision(3));
    add(chosen, Replaced::GeoTable(None, Revision(0)));
    (was, was_not)
}
