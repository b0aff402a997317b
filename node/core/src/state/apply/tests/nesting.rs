//! What stands for other things: one event for each status in a step, loops, and minima that cannot be reached.

use std::collections::BTreeSet;

use super::configuration::named;
use super::*;
use crate::model::{MonitorPatch, ProfileId, ServicePatch};
use crate::state::Subject;

fn nested(child: &str) -> EndpointPatch {
    EndpointPatch { nested: Edit::Set(child.into()), ..EndpointPatch::default() }
}

fn service(name: &str) -> EndpointPatch {
    EndpointPatch { service: Edit::Set(name.into()), ..EndpointPatch::default() }
}

fn register(name: &str, target: &str) -> Action {
    let fields = ServicePatch { target: Edit::Set(target.into()), location: Edit::Keep };
    Action::RegisterService { name: name.into(), fields, if_revision: None }
}

fn switch(name: &str, is_running: bool) -> Action {
    Action::SwitchService { name: name.into(), is_running, if_revision: None }
}

/// A profile of that name, whose first failure is seen.
fn create(cluster: &mut Cluster, name: &str, endpoints: Vec<(&str, EndpointPatch)>) {
    let monitor = MonitorPatch { tolerated_failures: Edit::Set(0), ..MonitorPatch::default() };
    let fields = ProfilePatch { monitor, ..priority_routing() };
    let endpoints = endpoints.into_iter().map(|(name, fields)| (name.to_owned(), fields)).collect();
    cluster.apply(create_in("example.com", name, name, fields, endpoints)).unwrap();
}

fn add(cluster: &mut Cluster, profile: &str, name: &str, fields: EndpointPatch) {
    let action =
        Action::AddEndpoint { profile: profile.into(), name: name.into(), fields, if_revision: None };
    cluster.apply(action).unwrap();
}

/// One outcome of `agent` on `profile/endpoint`.
fn report(cluster: &mut Cluster, agent: &str, path: &str, letter: char) {
    let (profile, endpoint) = path.split_once('/').unwrap();
    let (_, endpoint) = cluster.profile(profile).endpoint(&endpoint.into()).unwrap();
    let sequence = cluster.index;
    let outcomes = vec![cluster.reported(endpoint.id, sequence, letter)];
    let run = cluster.state.agents[&Caseless::new(agent)].run;
    cluster.run(None, Action::RecordOutcomes { agent: agent.into(), run, outcomes });
}

/// The changes of `profile`'s own status that `action` makes, as `from → to`.
fn changes_of(cluster: &mut Cluster, profile: &str, action: Action) -> Vec<String> {
    let before: BTreeSet<_> = cluster.state.events.keys().copied().collect();
    cluster.apply(action).unwrap();
    let events = cluster.state.events.values().filter(|event| !before.contains(&event.id));
    let own =
        events.filter(|event| event.subject == Subject::Profile && event.profile_name == profile.into());
    own.map(|event| format!("{} → {}", event.from.unwrap().as_str(), event.to.as_str())).collect()
}

fn id(cluster: &Cluster, name: &str) -> ProfileId {
    cluster.profile(name).id
}

/// A Degraded and an Online profile that both use `db`, and one above them.
fn users_of_db() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.apply(register("db", "192.0.2.9")).unwrap();
    create(&mut cluster, "low1", vec![("e1", service("db"))]);
    create(&mut cluster, "low2", vec![("e1", service("db"))]);
    create(&mut cluster, "top", vec![("n1", nested("low1")), ("n2", nested("low2"))]);
    cluster.open("a1", "r1", 1);
    report(&mut cluster, "a1", "low1/e1", '-');
    report(&mut cluster, "a1", "low2/e1", '+');
    cluster
}

/// STA-10: whatever a service's users come to, those above them are looked at once.
#[test]
fn sta_12_a_service_of_two_children_makes_one_event_for_their_parent() {
    let mut cluster = users_of_db();
    assert_eq!(changes_of(&mut cluster, "top", switch("db", false)), ["Degraded → Inactive"]);
    assert_eq!(changes_of(&mut cluster, "top", switch("db", true)), ["Inactive → CheckingEndpoints"]);
}

/// A user that stands above another is looked at behind it, whichever was made first.
#[test]
fn sta_12_a_user_above_another_user_changes_once() {
    let mut cluster = Cluster::new();
    cluster.apply(register("db", "192.0.2.9")).unwrap();
    create(&mut cluster, "top", vec![("e1", service("db"))]);
    create(&mut cluster, "low", vec![("e1", service("db"))]);
    add(&mut cluster, "top", "n1", nested("low"));
    cluster.open("a1", "r1", 1);
    report(&mut cluster, "a1", "top/e1", '-');
    report(&mut cluster, "a1", "low/e1", '+');
    assert_eq!(changes_of(&mut cluster, "top", switch("db", false)), ["Degraded → Inactive"]);
}

/// A profile whose own endpoint and whose child change places says nothing: it was Degraded and is.
#[test]
fn sta_12_silence_above_and_below_makes_one_event() {
    let mut cluster = Cluster::new();
    create(&mut cluster, "low", vec![("e1", target("192.0.2.1"))]);
    create(&mut cluster, "top", vec![("e1", target("192.0.2.2")), ("n1", nested("low"))]);
    for (agent, region, low, top) in [("a1", "r1", '+', '-'), ("a2", "r2", '-', '+'), ("a3", "r3", '?', '-')]
    {
        cluster.open(agent, region, 1);
        report(&mut cluster, agent, "low/e1", low);
        report(&mut cluster, agent, "top/e1", top);
    }
    let session = cluster.state.agents[&Caseless::new("a1")].session;
    let lose = Action::LoseAgent { agent: "a1".into(), session };
    assert_eq!(changes_of(&mut cluster, "top", lose), [] as [&str; 0]);
}

/// From the lowest level to the highest, in the step of the outcome that decided.
#[test]
fn sta_10_what_happens_below_is_seen_above_at_once() {
    let mut cluster = Cluster::new();
    create(&mut cluster, "low", vec![("e1", target("192.0.2.1"))]);
    create(&mut cluster, "middle", vec![("n1", nested("low"))]);
    create(&mut cluster, "top", vec![("n1", nested("middle"))]);
    cluster.open("a1", "r1", 1);
    for (letter, status) in [('+', "Online"), ('-', "Degraded"), ('+', "Online")] {
        report(&mut cluster, "a1", "low/e1", letter);
        for profile in ["low", "middle", "top"] {
            let found = cluster.state.health.status(id(&cluster, profile)).unwrap().status;
            assert_eq!(found.as_str(), status, "{profile} after {letter}");
        }
        let counter = cluster.state.counter;
        let events = cluster.state.events.keys().filter(|id| id.counter == counter).count();
        assert_eq!(events, 6, "an endpoint and a profile at each level, each once");
    }
    let off = ProfilePatch { enabled: Edit::Set(false), ..ProfilePatch::default() };
    let off = Action::UpdateProfile { name: "low".into(), fields: off, if_revision: None };
    assert_eq!(changes_of(&mut cluster, "top", off), ["Online → Inactive"]);
}

/// Plans and statuses are made anew in this order: each profile once, behind all that it stands for.
#[test]
fn sta_10_upward_each_profile_once_and_children_first() {
    let mut cluster = Cluster::new();
    create(&mut cluster, "top", vec![]);
    let mids: Vec<String> = (0..5).map(|number| format!("mid{number}")).collect();
    mids.iter().for_each(|mid| create(&mut cluster, mid, vec![]));
    create(&mut cluster, "low", vec![("e1", target("192.0.2.1"))]);
    for mid in &mids {
        add(&mut cluster, mid, "n1", nested("low"));
        add(&mut cluster, "top", mid, nested(mid));
    }
    add(&mut cluster, "top", "low", nested("low"));
    let (low, top) = (id(&cluster, "low"), id(&cluster, "top"));
    let middle: Vec<_> = mids.iter().map(|mid| id(&cluster, mid)).collect();
    let references = &cluster.state.references;
    let all = [vec![low], middle.clone(), vec![top]].concat();
    assert_eq!(references.upward(&[low].into()), all);
    assert_eq!(references.upward(&[top, low].into()), all);
    assert_eq!(references.upward(&[top, middle[3]].into()), [middle[3], top]);
}

/// A profile that answers with its own name answers nobody.
#[test]
fn set_20_a_profile_is_never_its_own_target() {
    let mut cluster = Cluster::new();
    let own = "'web.example.com' is the profile's own name: 'e1' would lead back to it for ever";
    let created = cluster.apply(create_profile("web", "web", named(&[("e1", "web.example.com.")])));
    assert_eq!(faults(created), [format!("endpoints[0].target: {own}")]);
    cluster.apply(create_profile("web", "web", named(&[("e1", "a.example.net")]))).unwrap();
    assert_eq!(
        faults(cluster.apply(update_endpoint("e1", target("WEB.example.com")))),
        [format!("target: {own}")]
    );
    cluster.apply(register("db", "b.example.net")).unwrap();
    cluster.apply(add_endpoint("e2", service("db"))).unwrap();
    assert_eq!(
        faults(cluster.apply(register("db", "web.example.com"))),
        [
            "target: would make profiles invalid: 'web' (endpoints[1].service: 'web.example.com' is the profile's own \
          name: 'e2' would lead back to it for ever)"
        ]
    );
    let reply = cluster.apply(register("cdn", "web.example.com")).unwrap();
    assert_eq!(reply.warnings[0].field, "target", "VAL-5: {reply:?}");
    let refused = cluster.apply(add_endpoint("e3", service("cdn")));
    assert_eq!(faults(refused), [format!("service: {}", own.replace("e1", "e3"))]);
}

/// VAL-5, SET-19: minima that the child's endpoints cannot reach, whichever of the two changes.
#[test]
fn val_5_minima_out_of_reach_are_warned_about() {
    let mut cluster = Cluster::new();
    let low = named(&[("e1", "192.0.2.1"), ("e2", "192.0.2.2"), ("e3", "2001:db8::3")]);
    cluster.apply(create_profile("low", "low", low)).unwrap();
    cluster.apply(create_profile("web", "web", vec![("n1".into(), nested("low"))])).unwrap();
    let mut warned = |all: u32, v4: u32, v6: u32| {
        let fields = EndpointPatch {
            endpoints_min: Edit::Set(all),
            endpoints_min_v4: Edit::Set(v4),
            endpoints_min_v6: Edit::Set(v6),
            ..EndpointPatch::default()
        };
        let warnings = cluster.apply(update_endpoint("n1", fields)).unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(warned(3, 2, 1), [] as [&str; 0]);
    assert_eq!(
        warned(4, 3, 2),
        [
            "endpoints_min: 4 can never be available: the profile 'low' has 3 endpoints",
            "endpoints_min_v4: 3 can never be available: the profile 'low' has 2 endpoints that can count over IPv4",
            "endpoints_min_v6: 2 can never be available: the profile 'low' has 1 endpoints that can count over IPv6",
        ]
    );
    assert_eq!(warned(3, 2, 1), [] as [&str; 0]);
    let remove = Action::RemoveEndpoint { profile: "low".into(), name: "e3".into(), if_revision: None };
    let reply = cluster.apply(remove).unwrap();
    let warnings: Vec<_> = reply.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "endpoints: 'web/n1' needs 3 of them, but 2 endpoints are left",
            "endpoints: 'web/n1' needs 1 of them, but 0 endpoints that can count over IPv6 are left",
        ]
    );
}
