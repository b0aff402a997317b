//! The removal brake (FAIL-2): who is held, who leaves and when, and what an operator's acts do to it.

use super::overrides::overriding;
use super::*;
use crate::health::Judgement;
use crate::model::{MonitorPatch, OverrideKind};
use crate::state::{ApplyLevel, Brake, EventCause, Subject, suppose_down};

fn braked(max_removal: u32) -> ProfilePatch {
    ProfilePatch { max_removal: Edit::Set(max_removal), ..ProfilePatch::default() }
}

/// The profile `web` with the endpoints `e1` … `eN`, all Online, and a brake.
fn cluster(endpoints: u8, max_removal: u32) -> Cluster {
    let mut cluster = Cluster::default();
    cluster.raise();
    for region in ["r1", "r2"] {
        cluster.apply(Action::SetRegion(region_at(region, 0))).unwrap();
    }
    cluster.apply(create_zone("example.com", &[("ns1.example.com", &["192.0.2.53"])])).unwrap();
    let addresses = (1..=endpoints).map(|n| (format!("e{n}"), target(&format!("192.0.2.{n}"))));
    let monitor = MonitorPatch { tolerated_failures: Edit::Set(0), ..MonitorPatch::default() };
    let fields = ProfilePatch { monitor, ..priority_routing() };
    cluster.apply(create_in("example.com", "web", "web", fields, addresses.collect())).unwrap();
    cluster.apply(update_profile(braked(max_removal))).unwrap();
    cluster.open("a1", "r1", 1);
    cluster.all(&names(endpoints), '+');
    cluster
}

fn names(endpoints: u8) -> Vec<String> {
    (1..=endpoints).map(|n| format!("e{n}")).collect()
}

impl Cluster {
    /// To the highest level.
    pub(super) fn raise(&mut self) {
        self.apply(Action::RaiseApplyLevel { to: ApplyLevel::HIGHEST }).unwrap();
    }

    /// One command that tells of one outcome of each, in this order.
    fn all<S: AsRef<str>>(&mut self, endpoints: &[S], letter: char) -> Applied {
        let sequence = self.index * 100;
        let ids = endpoints.iter().map(|name| self.endpoint(name.as_ref()));
        let outcomes =
            (sequence..).zip(ids).map(|(sequence, id)| self.reported(id, sequence, letter)).collect();
        self.run(None, Action::RecordOutcomes { agent: "a1".into(), run: AgentRun(1), outcomes })
    }

    fn brake(&self) -> Brake {
        self.state.brakes.get(&self.profile("web").id).map(|brake| Brake::clone(brake)).unwrap_or_default()
    }

    /// Each endpoint as a letter: `O`nline, `D`egraded, `h`eld, another status.
    fn shown(&self) -> String {
        let web = self.profile("web");
        let letter = |endpoint: &crate::model::Endpoint| match self.state.held(web.id, endpoint.id) {
            Some(_) => 'h',
            None => self.state.health[&endpoint.id].status.as_str().chars().next().unwrap(),
        };
        web.endpoints.iter().map(letter).collect()
    }

    /// The window is over for all that have left.
    fn release(&mut self) -> Applied {
        let due = vec![(self.profile("web").id, self.state.counter)];
        self.run(None, Action::ReleaseBrakes { due })
    }

    /// The events of a profile's endpoints since `counter`, as `e1 Degraded`.
    fn told_since(&self, counter: Revision) -> Vec<String> {
        let events = self.state.events.values().filter(|event| event.id.counter > counter);
        let told = events.filter_map(|event| match &event.subject {
            Subject::Endpoint { name, .. } => Some(format!("{name} {}", event.to.as_str())),
            Subject::Profile => None,
        });
        told.collect()
    }
}

#[test]
fn fail_2_no_more_than_the_share_leaves_and_the_rest_in_the_profiles_order_stays() {
    let mut cluster = cluster(5, 40);
    let counter = cluster.state.counter;
    // Told of in another order than the profile's.
    cluster.all(&["e5", "e3", "e2", "e4"], '-');
    assert_eq!(cluster.shown(), "ODDhh");
    assert_eq!(
        cluster.told_since(counter),
        ["e2 Degraded", "e3 Degraded"],
        "STA-12: who is held has no event"
    );
    let judgement = |name: &str| cluster.state.health[&cluster.endpoint(name)].judgement;
    assert_eq!(
        [judgement("e4"), judgement("e5")],
        [Some(Judgement::Degraded); 2],
        "the verdicts show the truth"
    );
    let counter = cluster.state.counter;
    cluster.all(&["e1"], '-');
    assert_eq!((cluster.shown().as_str(), cluster.told_since(counter).len()), ("hDDhh", 0));
    cluster.release();
    assert_eq!(cluster.shown(), "DDDDh");
    assert_eq!(cluster.told_since(counter), ["e1 Degraded", "e4 Degraded"]);
    cluster.release();
    assert_eq!(cluster.shown(), "DDDDD");
    cluster.release();
    assert_eq!(cluster.brake(), Brake::default(), "nothing is kept of what is over");
}

#[test]
fn fail_2_one_may_always_leave_and_without_a_brake_all() {
    let mut cluster = cluster(3, 1);
    cluster.all(&names(3), '-');
    assert_eq!(cluster.shown(), "Dhh");
    let clear = ProfilePatch { max_removal: Edit::Clear, ..ProfilePatch::default() };
    let counter = cluster.state.counter;
    cluster.apply(update_profile(clear)).unwrap();
    assert_eq!(cluster.shown(), "DDD", "switched off, it lets all go");
    assert_eq!(cluster.told_since(counter), ["e2 Degraded", "e3 Degraded"]);
    assert_eq!(cluster.brake(), Brake::default());
    cluster.all(&names(3), '+');
    cluster.all(&names(3), '-');
    assert_eq!(cluster.shown(), "DDD");
}

#[test]
fn fail_2_sta_12_who_recovers_while_held_has_no_event_and_who_is_let_go_one_that_says_so() {
    let mut cluster = cluster(4, 25);
    cluster.all(&names(3), '-');
    assert_eq!(cluster.shown(), "DhhO");
    let counter = cluster.state.counter;
    cluster.all(&["e2"], '+');
    assert_eq!((cluster.shown().as_str(), cluster.told_since(counter).len()), ("DOhO", 0));
    cluster.release();
    assert_eq!(cluster.shown(), "DODO");
    let told = cluster.state.events.values().rev().find(|event| event.subject != Subject::Profile).unwrap();
    let EventCause::Brake { held_ms, child, regions } = &told.cause else { panic!("{told:?}") };
    assert_eq!((*held_ms, child, regions.len()), (2_000, &None, 1), "{told:?}");
}

#[test]
fn fail_2_who_left_and_came_back_counts_on_and_may_leave_again() {
    let mut cluster = cluster(4, 25);
    cluster.all(&["e2"], '-');
    cluster.all(&["e2"], '+');
    cluster.all(&["e1"], '-');
    assert_eq!(cluster.shown(), "hOOO", "it left within the window");
    let first = cluster.brake().left[&cluster.endpoint("e2")];
    cluster.all(&["e2"], '-');
    assert_eq!(cluster.shown(), "hDOO", "it takes no room twice");
    let again = cluster.brake().left[&cluster.endpoint("e2")];
    assert!(again > first, "but a window begins anew");
    let release = Action::ReleaseBrakes { due: vec![(cluster.profile("web").id, first)] };
    cluster.run_twice(release, "the first departure is over, the second is not");
    assert_eq!(cluster.shown(), "hDOO");
    cluster.release();
    assert_eq!(cluster.shown(), "DDOO");
}

#[test]
fn fail_2_more_room_lets_go_at_once_and_less_takes_nobody_back() {
    let mut cluster = cluster(4, 25);
    cluster.all(&names(4), '-');
    cluster.apply(update_profile(braked(75))).unwrap();
    assert_eq!(cluster.shown(), "DDDh");
    cluster.apply(update_profile(braked(25))).unwrap();
    assert_eq!((cluster.shown().as_str(), cluster.brake().left.len()), ("DDDh", 3));
    // Other changes of the profile are no reason to let go.
    let ttl = ProfilePatch { ttl: Edit::Set(5), ..ProfilePatch::default() };
    cluster.apply(update_profile(ttl)).unwrap();
    let monitor = crate::model::MonitorPatch { path: Edit::Set("/up".into()), ..Default::default() };
    cluster.apply(update_profile(ProfilePatch { monitor, ..ProfilePatch::default() })).unwrap();
    assert_eq!(cluster.shown(), "DDDh", "STA-11: another check keeps the last status, held or not");
}

#[test]
fn fail_2_what_operators_do_is_not_held_and_does_not_count() {
    let mut cluster = cluster(6, 20);
    cluster.all(&["e1", "e2", "e3", "e4"], '-');
    assert_eq!(cluster.shown(), "DhhhOO");
    let counter = cluster.state.counter;
    cluster.apply(overriding(OverrideKind::Drain, "web/e2")).unwrap();
    assert_eq!(
        (cluster.shown().as_str(), cluster.told_since(counter)),
        ("DDhhOO", vec!["e2 Degraded".into()])
    );
    let off = EndpointPatch { enabled: Edit::Set(false), ..EndpointPatch::default() };
    cluster.apply(update_endpoint("e3", off.clone())).unwrap();
    cluster.apply(overriding(OverrideKind::ForceDown, "web/e5")).unwrap();
    assert_eq!((cluster.shown().as_str(), cluster.brake().left.len()), ("DDDhDO", 1));
    // The one who has left is gone, and so there is room.
    cluster.apply(remove_endpoint("e1")).unwrap();
    assert_eq!(cluster.shown(), "DDDDO");
    cluster.apply(Action::LiftOverrides { pattern: "web/e5".into(), reason: "done".into() }).unwrap();
    assert_eq!(cluster.shown(), "DDDOO", "e3 is Disabled");
    cluster.all(&["e5", "e6"], '-');
    assert_eq!(cluster.shown(), "DDDhh", "e4 still counts");
    cluster.apply(update_profile(ProfilePatch { enabled: Edit::Set(false), ..Default::default() })).unwrap();
    assert_eq!(cluster.brake(), Brake::default());
    cluster.apply(Action::DeleteProfile { name: "web".into(), if_revision: None }).unwrap();
}

#[test]
fn fail_2_a_drained_endpoint_that_goes_down_takes_no_room() {
    let mut cluster = cluster(4, 25);
    cluster.apply(overriding(OverrideKind::Drain, "web/e1")).unwrap();
    cluster.all(&["e1", "e2"], '-');
    assert_eq!(cluster.shown(), "DDOO");
    let room = cluster.state.removal_room(cluster.profile("web"));
    assert_eq!(room, Some(1), "of the three that are left");
}

/// The share is of what probing could take out.
#[test]
fn fail_2_the_share_is_of_the_endpoints_that_probing_could_take_out() {
    let mut cluster = cluster(10, 20);
    let room = |cluster: &Cluster| cluster.state.removal_room(cluster.profile("web")).unwrap();
    assert_eq!(room(&cluster), 2);
    let always = EndpointPatch { always_serve: Edit::Set(true), ..EndpointPatch::default() };
    cluster.apply(update_endpoint("e10", always)).unwrap();
    assert_eq!(room(&cluster), 1);
    cluster.all(&["e1"], '-');
    assert_eq!(room(&cluster), 1, "who is Degraded counts as well");
}

#[test]
fn fail_2_a_lost_agent_and_simulate_meet_the_brake_too() {
    let mut cluster = cluster(3, 34);
    cluster.open("a2", "r1", 1);
    cluster.open("a3", "r2", 1);
    let context = Context { index: LogIndex(999), at: Timestamp(999_000) };
    let ids: Vec<EndpointId> = names(3).iter().map(|name| cluster.endpoint(name)).collect();
    let supposed = suppose_down(&cluster.state, context, &ids).state;
    let held = ids.iter().filter(|id| supposed.held(cluster.profile("web").id, **id).is_some()).count();
    assert_eq!(held, 2, "it says what would be answered at once");
    // Another region finds all down; as long as r1 says up, half of the regions do.
    let run = AgentRun(1);
    let outcomes = (1..).zip(&ids).map(|(sequence, id)| cluster.reported(*id, sequence, '-')).collect();
    cluster.apply(Action::RecordOutcomes { agent: "a3".into(), run, outcomes }).unwrap();
    assert_eq!(cluster.shown(), "OOO");
    let session = cluster.state.agents[&Caseless::new("a1")].session;
    cluster.apply(Action::LoseAgent { agent: "a1".into(), session }).unwrap();
    assert_eq!(cluster.shown(), "Dhh");
}

#[test]
fn fail_2_sta_10_nested_endpoints_leave_by_probing_too() {
    let mut cluster = cluster(2, 50);
    for parent in ["p1", "p2"] {
        let nested = || EndpointPatch {
            nested: Edit::Set(if parent == "p1" { "web" } else { "p1" }.into()),
            endpoints_min: Edit::Set(2),
            ..EndpointPatch::default()
        };
        let fields = ProfilePatch { max_removal: Edit::Set(1), ..priority_routing() };
        let one = [("n1".to_owned(), nested()), ("n2".to_owned(), nested())].into();
        cluster.apply(create_in("example.com", parent, parent, fields, one)).unwrap();
    }
    let shown = |cluster: &Cluster, name: &str| -> Vec<&str> {
        let profile = cluster.profile(name);
        let status = |endpoint: &crate::model::Endpoint| match cluster.state.held(profile.id, endpoint.id) {
            Some(_) => "held",
            None => cluster.state.health[&endpoint.id].status.as_str(),
        };
        profile.endpoints.iter().map(status).collect()
    };
    assert_eq!(shown(&cluster, "p1"), ["Online", "Online"]);
    cluster.all(&["e1"], '-');
    assert_eq!(shown(&cluster, "p1"), ["Degraded", "held"], "each has less than two of web");
    assert_eq!(
        shown(&cluster, "p2"),
        ["Degraded", "held"],
        "and p1 has less than two, as one of its own has left"
    );
    let id = cluster.profile("p1").id;
    cluster.apply(Action::ReleaseBrakes { due: vec![(id, cluster.state.counter)] }).unwrap();
    assert_eq!(shown(&cluster, "p1"), ["Degraded", "Degraded"]);
    let last = cluster.state.events.values().rev().find(|event| event.subject != Subject::Profile).unwrap();
    assert!(matches!(&last.cause, EventCause::Brake { child: Some(child), .. } if child.as_str() == "web"));
    cluster.all(&["e1"], '+');
    assert_eq!(shown(&cluster, "p2"), ["Online", "Online"]);
    // An operator's act below is not held above.
    cluster.apply(overriding(OverrideKind::ForceDown, "web/e1")).unwrap();
    assert_eq!(shown(&cluster, "p1"), ["Degraded", "Degraded"]);
}

/// However far below a brake they come: the order of its profile counts, not that of the outcomes.
#[test]
fn fail_2_all_outcomes_below_count_before_anybody_above_leaves() {
    for is_reversed in [false, true] {
        let mut cluster = cluster(1, 100);
        cluster
            .apply(update_profile(ProfilePatch { max_removal: Edit::Clear, ..ProfilePatch::default() }))
            .unwrap();
        let monitor = MonitorPatch { tolerated_failures: Edit::Set(0), ..MonitorPatch::default() };
        let (fields, one) = (ProfilePatch { monitor, ..priority_routing() }, target("192.0.2.99"));
        cluster
            .apply(create_in("example.com", "other", "other", fields, [("o1".to_owned(), one)].into()))
            .unwrap();
        let nested =
            |child: &str| EndpointPatch { nested: Edit::Set(child.into()), ..EndpointPatch::default() };
        let two = [("n1".to_owned(), nested("web")), ("n2".to_owned(), nested("other"))].into();
        cluster
            .apply(create_in(
                "example.com",
                "p",
                "p",
                ProfilePatch { max_removal: Edit::Set(50), ..priority_routing() },
                two,
            ))
            .unwrap();
        let mut ids = vec![cluster.endpoint("e1"), cluster.profile("other").endpoints[0].id];
        if is_reversed {
            ids.reverse();
        }
        for letter in ['+', '-'] {
            let sequence = cluster.index * 100;
            let outcomes = (sequence..)
                .zip(&ids)
                .map(|(sequence, id)| cluster.reported(*id, sequence, letter))
                .collect();
            cluster.apply(Action::RecordOutcomes { agent: "a1".into(), run: AgentRun(1), outcomes }).unwrap();
        }
        let p = cluster.profile("p");
        let held: Vec<bool> =
            p.endpoints.iter().map(|endpoint| cluster.state.held(p.id, endpoint.id).is_some()).collect();
        assert_eq!(held, [false, true], "n1 leaves, n2 is held; reversed: {is_reversed}");
    }
}

#[test]
fn fail_2_rte_15_the_past_knows_who_was_held() {
    let mut cluster = cluster(3, 1);
    cluster.all(&names(3), '-');
    let (moment, held) = (Timestamp(cluster.index * 1_000), cluster.state.clone());
    cluster.release();
    cluster.release();
    assert_eq!(cluster.shown(), "DDD");
    let (past, _) = cluster.state.at(moment, LogIndex(cluster.index)).unwrap();
    assert_eq!(past.brakes, held.brakes);
    assert_eq!(past.health, held.health);
}

#[test]
fn fail_2_val_1_settings_out_of_bounds_are_refused_by_name_value_and_rule() {
    let mut cluster = cluster(1, 20);
    for (max_removal, window_ms, told) in [
        (0, 30_000, "max_removal: 0% is outside 1%–100%"),
        (101, 30_000, "max_removal: 101% is outside 1%–100%"),
        (20, 999, "removal_window: 999ms is outside 1s–1h"),
        (20, 3_600_001, "removal_window: 3600001ms is outside 1s–1h"),
    ] {
        let fields = ProfilePatch { removal_window_ms: Edit::Set(window_ms), ..braked(max_removal) };
        assert_eq!(faults(cluster.apply(update_profile(fields))), [told]);
    }
    for (max_removal, window_ms) in [(1, 1_000), (100, 3_600_000)] {
        let fields = ProfilePatch { removal_window_ms: Edit::Set(window_ms), ..braked(max_removal) };
        cluster.apply(update_profile(fields)).unwrap();
    }
}

#[test]
fn fail_2_clu_9_below_its_level_there_is_no_brake() {
    let mut cluster = Cluster::with_web(1);
    for level in [1, 2] {
        cluster.apply(Action::RaiseApplyLevel { to: ApplyLevel(level) }).unwrap();
        let told = faults(cluster.apply(update_profile(braked(20))));
        assert_eq!(told, [format!("max_removal: needs apply level 3, and the cluster is at {level}")]);
        let created = Action::CreateProfile {
            name: "api".into(),
            zone: "example.com".into(),
            relative_name: "api".into(),
            fields: ProfilePatch { removal_window_ms: Edit::Set(5_000), ..priority_routing() },
            endpoints: Vec::new(),
        };
        assert_eq!(faults(cluster.apply(created)).len(), 1);
    }
    let before = cluster.state.clone();
    cluster.apply(Action::ReleaseBrakes { due: vec![(cluster.profile("web").id, Revision(9))] }).unwrap();
    assert_eq!(cluster.state, before, "there is nothing to release");
    cluster.apply(Action::RaiseApplyLevel { to: ApplyLevel(3) }).unwrap();
    cluster.apply(update_profile(braked(20))).unwrap();
}
