//! From outcomes to statuses and events: the corners that the scenario scripts don't tell of.

use super::invariants::tally;
use super::*;
use crate::health::EndpointStatus;
use crate::model::{Header, MonitorPatch, ServicePatch};
use crate::state::{EventCause, EventStatus, Subject};

fn monitor(monitor: MonitorPatch) -> Action {
    update_profile(ProfilePatch { monitor, ..ProfilePatch::default() })
}

fn tolerated(failures: u32) -> Action {
    monitor(MonitorPatch { tolerated_failures: Edit::Set(failures), ..MonitorPatch::default() })
}

/// Agents `a1` to `a3` in regions `r1` to `r3`, and the endpoints `e1` and `e2`.
fn probed() -> Cluster {
    let mut cluster = Cluster::with_web(2);
    for n in 1..=3 {
        cluster.open(&format!("a{n}"), &format!("r{n}"), n);
    }
    cluster
}

#[test]
fn sta_1_for_every_tolerance_the_next_failure_is_down() {
    for failures in 0..=9_u32 {
        let mut cluster = probed();
        cluster.apply(tolerated(failures)).unwrap();
        cluster.report("a1", "e1", 1, "+");
        for n in 1..=failures + 1 {
            assert_eq!(cluster.status("e1"), "Online", "{n} of {failures} tolerated");
            cluster.report("a1", "e1", u64::from(n) + 1, "-");
        }
        assert_eq!(cluster.status("e1"), "Degraded", "{failures} tolerated");
    }
}

#[test]
fn sta_7_batches_do_not_matter() {
    let outcomes = "+--+----+-?-+----";
    let mut at_once = probed();
    at_once.report("a1", "e1", 1, outcomes);
    let mut singly = probed();
    for (sequence, outcome) in (1..).zip(outcomes.chars()) {
        singly.report("a1", "e1", sequence, &outcome.to_string());
    }
    let story = |cluster: &Cluster| {
        let id = cluster.endpoint("e1");
        let events: Vec<_> = cluster
            .state
            .events
            .values()
            .map(|event| format!("{:?} {:?} {:?}", event.subject, event.from, event.to))
            .collect();
        (tally(&cluster.state, id, "a1"), events)
    };
    assert_eq!(story(&at_once), story(&singly));
    assert_eq!(
        story(&singly).1.len(),
        8,
        "checking, up, down, up, down: four changes of each of two subjects"
    );
}

#[test]
fn sta_7_what_changes_nothing_is_no_change() {
    let mut cluster = probed();
    cluster.report("a1", "e1", 1, "+----");
    let before = cluster.state.clone();
    assert!(cluster.report("a1", "e1", 6, "---").changes.is_empty(), "beyond down");
    assert!(cluster.report("a1", "e1", 2, "++").changes.is_empty(), "STA-6: replayed");
    assert!(cluster.report("a1", "e1", 9, "??").changes.is_empty(), "PRB-9: the agent's own trouble");
    assert_eq!(cluster.state, before);
    assert!(!cluster.report("a1", "e1", 11, "+").changes.is_empty());
    let before = cluster.state.clone();
    assert!(cluster.report("a1", "e1", 12, "+++").changes.is_empty(), "beyond up");
    assert_eq!(cluster.state, before);
}

#[test]
fn sta_6_late_outcomes_and_strangers_change_nothing() {
    let mut cluster = probed();
    let id = cluster.endpoint("e1");
    let expiry = cluster.profile("web").monitor.verdict_expiry_ms();
    assert_eq!(expiry, 100_000);
    let good = cluster.reported(id, 1, '+');
    let aged = |age_ms| ReportedOutcome { age_ms, ..good };
    let record = |agent: &str, run, outcome| Action::RecordOutcomes {
        agent: agent.into(),
        run: AgentRun(run),
        outcomes: vec![outcome],
    };
    let before = cluster.state.clone();
    cluster.apply(record("a1", 1, aged(expiry + 1))).unwrap();
    cluster.apply(record("a9", 1, aged(0))).unwrap();
    cluster.apply(record("a1", 7, aged(0))).unwrap();
    cluster.apply(record("a1", 1, ReportedOutcome { endpoint: EndpointId(999), ..good })).unwrap();
    assert_eq!(cluster.state, before);
    cluster.apply(record("a1", 1, aged(expiry))).unwrap();
    assert_eq!(cluster.status("e1"), "Online");
}

#[test]
fn sta_8_what_is_not_probed_is_not_counted() {
    let mut cluster = probed();
    let edit = |fields: EndpointPatch| update_endpoint("e1", fields);
    let off = EndpointPatch { enabled: Edit::Set(false), ..EndpointPatch::default() };
    let on = EndpointPatch { enabled: Edit::Set(true), ..EndpointPatch::default() };
    let always = |on| EndpointPatch { always_serve: Edit::Set(on), ..EndpointPatch::default() };
    let profile = |on| update_profile(ProfilePatch { enabled: Edit::Set(on), ..ProfilePatch::default() });
    for (leave, status, back) in [
        (edit(off), "Disabled", edit(on)),
        (edit(always(true)), "Unmonitored", edit(always(false))),
        (profile(false), "Inactive", profile(true)),
    ] {
        cluster.report("a1", "e1", 1, "+--");
        assert_eq!(cluster.status("e1"), "Online");
        cluster.apply(leave).unwrap();
        assert_eq!(cluster.status("e1"), status);
        assert!(cluster.report("a1", "e1", 9, "----").changes.is_empty());
        cluster.apply(back).unwrap();
        assert_eq!(cluster.status("e1"), "CheckingEndpoint", "STA-11 after {status}");
        assert_eq!(tally(&cluster.state, cluster.endpoint("e1"), "a1"), None);
    }
}

#[test]
fn sta_11_every_part_of_the_check_starts_the_counts_anew() {
    let patch = MonitorPatch::default;
    let host = |name: &str| Edit::Set(vec![Header { name: name.into(), value: "a.example".into() }]);
    let endpoint = |fields| update_endpoint("e1", fields);
    let range = crate::model::StatusRange { min: 200, max: 299 };
    for action in [
        monitor(MonitorPatch { protocol: Edit::Set(crate::model::Protocol::Https), ..patch() }),
        monitor(MonitorPatch { port: Edit::Set(8080), ..patch() }),
        monitor(MonitorPatch { path: Edit::Set("/x".into()), ..patch() }),
        monitor(MonitorPatch { interval_ms: Edit::Set(10_000), ..patch() }),
        monitor(MonitorPatch { timeout_ms: Edit::Set(5_000), ..patch() }),
        monitor(MonitorPatch { expect: Edit::Set(vec![range]), ..patch() }),
        monitor(MonitorPatch { headers: host("Host"), ..patch() }),
        endpoint(EndpointPatch { headers: host("host"), ..EndpointPatch::default() }),
        endpoint(target("192.0.2.99")),
    ] {
        let mut cluster = probed();
        cluster.report("a1", "e1", 1, "----");
        let applied = cluster.run(None, action.clone());
        let id = cluster.endpoint("e1");
        assert!(cluster.state.health[&id].tallies.is_empty(), "{action:?}");
        assert_eq!(
            cluster.state.health[&id].stale_since,
            Some(Timestamp(cluster.index * 1_000)),
            "{action:?}"
        );
        assert_eq!(cluster.status("e1"), "Degraded", "the last status stays: {action:?}");
        assert_eq!(applied.changes.len(), 2, "{:?}", applied.changes);
        cluster.report("a1", "e1", 5, "---");
        assert_eq!(cluster.status("e1"), "Degraded");
        assert!(cluster.state.health[&id].stale_since.is_some(), "three of four failures are no verdict");
    }
}

#[test]
fn sta_11_what_leaves_the_check_alone_keeps_counts() {
    let patch = MonitorPatch::default;
    let header = |name: &str| Edit::Set(vec![Header { name: name.into(), value: "1".into() }]);
    for action in [
        update_profile(ProfilePatch { ttl: Edit::Set(5), ..Default::default() }),
        update_profile(ProfilePatch { routing: Edit::Set(Routing::Weighted), ..Default::default() }),
        tolerated(7),
        monitor(MonitorPatch { recovery_successes: Edit::Set(3), ..patch() }),
        monitor(MonitorPatch { headers: header("X-A"), ..patch() }),
        // Said aloud, the defaults are no other check.
        monitor(MonitorPatch { port: Edit::Set(80), path: Edit::Set("/".into()), ..patch() }),
        monitor(MonitorPatch { interval_ms: Edit::Set(30_000), timeout_ms: Edit::Set(10_000), ..patch() }),
        update_endpoint("e1", EndpointPatch { weight: Edit::Set(9), ..Default::default() }),
        update_endpoint("e1", EndpointPatch { priority: Edit::Set(9), ..Default::default() }),
        update_endpoint("e1", EndpointPatch { location: Edit::Set("r1".into()), ..Default::default() }),
        update_endpoint("e1", EndpointPatch { headers: header("X-A"), ..Default::default() }),
        add_endpoint("e3", target("192.0.2.3")),
        remove_endpoint("e2"),
    ] {
        let mut cluster = probed();
        cluster.report("a1", "e1", 1, "+--");
        cluster.apply(action.clone()).unwrap();
        assert_eq!(tally(&cluster.state, cluster.endpoint("e1"), "a1").unwrap(), "up 2 0", "{action:?}");
    }
}

#[test]
fn sta_4_silence_of_all_keeps_the_last_status() {
    let mut cluster = probed();
    cluster.report("a1", "e1", 1, "+");
    cluster.report("a2", "e1", 1, "----");
    cluster.report("a3", "e1", 1, "----");
    assert_eq!(cluster.status("e1"), "Degraded");
    let id = cluster.endpoint("e1");
    let session = |cluster: &Cluster, agent: &str| cluster.state.agents[&Caseless::new(agent)].session;
    let expire = |cluster: &mut Cluster, agent: &str| {
        let session = session(cluster, agent);
        cluster.run(
            None,
            Action::ExpireVerdicts { agent: agent.into(), session, endpoints: vec![id, EndpointId(999)] },
        )
    };
    expire(&mut cluster, "a2");
    assert_eq!(cluster.status("e1"), "Online", "half of the regions that are left say up");
    let cause = |cluster: &Cluster| {
        cluster.state.events.values().rev().find_map(|event| match &event.subject {
            Subject::Endpoint { .. } => Some(event.cause.clone()),
            Subject::Profile => None,
        })
    };
    match cause(&cluster) {
        Some(EventCause::Silence { agent, is_blind: false, regions }) => {
            assert_eq!((agent.as_str(), regions.len()), ("a2", 2));
        }
        other => panic!("{other:?}"),
    }
    expire(&mut cluster, "a1");
    assert_eq!(cluster.status("e1"), "Degraded");
    expire(&mut cluster, "a3");
    assert_eq!(cluster.status("e1"), "Degraded");
    let since = cluster.state.health[&id].stale_since;
    assert_eq!(since, Some(Timestamp(cluster.index * 1_000)));
    assert!(expire(&mut cluster, "a3").changes.is_empty());
    cluster.report("a1", "e1", 2, "-");
    assert_eq!(cluster.state.health[&id].stale_since, since, "a count without a verdict says nothing");
    cluster.report("a1", "e1", 3, "+");
    assert_eq!((cluster.status("e1"), cluster.state.health[&id].stale_since), ("Online", None));
}

#[test]
fn sta_12_what_falls_silent_at_once_is_concluded_at_once() {
    let mut cluster = probed();
    // e1: r1 up, r2 and r3 down. e2: r1 up, r2 down.
    for (agent, e1, e2) in [("a1", "+", "+"), ("a2", "----", "----"), ("a3", "----", "?")] {
        cluster.report(agent, "e1", 1, e1);
        cluster.report(agent, "e2", 11, e2);
    }
    assert_eq!((cluster.status("e1"), cluster.status("e2")), ("Degraded", "Online"));
    // Without r1, e2 is down too; the profile was and is Degraded, and says nothing.
    let session = cluster.state.agents[&Caseless::new("a1")].session;
    let before = cluster.state.events.len();
    cluster.apply(Action::LoseAgent { agent: "a1".into(), session }).unwrap();
    assert_eq!(cluster.state.events.len(), before + 1);
    assert_eq!(cluster.status("e2"), "Degraded");
}

#[test]
fn sta_12_an_event_says_what_happened() {
    let mut cluster = probed();
    cluster.report("a1", "e1", 1, "+");
    let events: Vec<_> = cluster.state.events.values().collect();
    assert_eq!(events.len(), 2);
    let (endpoint, profile) = (events[0], events[1]);
    assert_eq!((endpoint.id.ordinal, profile.id.ordinal), (0, 1));
    assert_eq!((endpoint.at.0, endpoint.index.0), (cluster.index * 1_000, cluster.index));
    assert_eq!(endpoint.from, Some(EventStatus::Endpoint(EndpointStatus::CheckingEndpoint)));
    assert_eq!(endpoint.to, EventStatus::Endpoint(EndpointStatus::Online));
    assert!(matches!(&endpoint.cause, EventCause::Outcome { regions, .. } if regions.len() == 1));
    assert_eq!(profile.cause, EventCause::Endpoints);
    let off = ProfilePatch { enabled: Edit::Set(false), ..ProfilePatch::default() };
    cluster.apply(update_profile(off)).unwrap();
    let causes: Vec<_> = cluster.state.events.values().skip(2).map(|event| event.cause.clone()).collect();
    assert_eq!(causes, vec![EventCause::Configuration { author: "operator".into() }; 3]);
}

#[test]
fn sta_12_the_oldest_events_go_first() {
    let mut cluster = probed();
    let mut sequence = 0;
    let flaps = State::EVENTS_MAX / 4 + 1;
    let outcomes = "+----".repeat(10);
    while cluster.state.events.len() < State::EVENTS_MAX {
        cluster.report("a1", "e1", sequence, &outcomes);
        sequence += 50;
        assert!(sequence <= flaps as u64 * 5 + 50);
    }
    let oldest = *cluster.state.events.get_min().map(|(id, _)| id).unwrap();
    cluster.report("a1", "e1", sequence, "+");
    assert_eq!(cluster.state.events.len(), State::EVENTS_MAX);
    assert!(!cluster.state.events.contains_key(&oldest));
}

#[test]
fn sta_9_an_empty_profile_is_inactive_until_it_has_an_endpoint() {
    let mut cluster = Cluster::with_web(0);
    let status =
        |cluster: &Cluster| cluster.state.health.status(cluster.profile("web").id).unwrap().status.as_str();
    assert_eq!(status(&cluster), "Inactive");
    cluster.apply(add_endpoint("e1", target("192.0.2.1"))).unwrap();
    assert_eq!(status(&cluster), "CheckingEndpoints");
    cluster.apply(remove_endpoint("e1")).unwrap();
    assert_eq!(status(&cluster), "Inactive");
    assert_eq!(cluster.state.events.len(), 2, "of the profile; a new endpoint is no change of status");
}

/// PRB-11, OBJ-6: what agents were told while it was stopped must not pass for what they are to probe now.
#[test]
fn prb_11_a_service_that_starts_again_is_asked_anew() {
    let mut cluster = Cluster::with_web(1);
    let fields = ServicePatch { target: Edit::Set("192.0.2.9".into()), ..ServicePatch::default() };
    cluster.apply(Action::RegisterService { name: "shop".into(), fields, if_revision: None }).unwrap();
    let shop = EndpointPatch { service: Edit::Set("shop".into()), ..EndpointPatch::default() };
    let (profile, name) = ("web".into(), "shop".into());
    cluster.apply(Action::AddEndpoint { profile, name, fields: shop, if_revision: None }).unwrap();
    let mut seen = vec![cluster.profile("web").endpoints[1].check_revision];
    for is_running in [false, true] {
        let switch = Action::SwitchService { name: "shop".into(), is_running, if_revision: None };
        cluster.apply(switch).unwrap();
        seen.push(cluster.profile("web").endpoints[1].check_revision);
    }
    assert!(seen.is_sorted() && seen[1] != seen[2], "{seen:?}");
}
