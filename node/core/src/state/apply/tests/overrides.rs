//! Overrides by operators (STA-13): whom they reach, what they do and when they end.

use super::*;
use crate::fixture::{check_answer, query};
use crate::model::{Override, OverrideKind, RecordType, ServicePatch};
use crate::state::{EventCause, OverrideAct};

pub(super) fn overriding(kind: OverrideKind, pattern: &str) -> Action {
    Action::OverrideEndpoints {
        pattern: pattern.into(),
        kind,
        reason: "a move".into(),
        span_ms: Some(60_000),
        even_last: true,
    }
}

fn lifting(pattern: &str) -> Action {
    Action::LiftOverrides { pattern: pattern.into(), reason: "moved".into() }
}

fn draining_all_but_the_last(pattern: &str) -> Action {
    let (pattern, reason) = (pattern.into(), "a move".into());
    Action::OverrideEndpoints { pattern, kind: OverrideKind::Drain, reason, span_ms: None, even_last: false }
}

fn is_overridden(cluster: &Cluster, name: &str) -> bool {
    cluster.state.overrides.contains_key(&cluster.endpoint(name))
}

/// What the profile `web` answers to A: addresses, or the response code.
fn answer(cluster: &Cluster) -> String {
    let answer = check_answer(&cluster.view, &query("web.example.com", RecordType::A), 0);
    let targets: Vec<String> = answer.answers.iter().map(|record| record.data.to_string()).collect();
    match (targets.is_empty(), answer.rcode.as_str()) {
        (true, "NOERROR") => "NODATA".to_owned(),
        (true, rcode) => rcode.to_owned(),
        (false, _) => targets.join(" "),
    }
}

/// The events since `counter`: subject, statuses, and the cause if it is an override.
fn told_since(cluster: &Cluster, counter: Revision) -> Vec<String> {
    let events = cluster.state.events.values().filter(|event| event.id.counter > counter);
    let told = events.map(|event| {
        let (from, to) = (event.from.map_or("", |from| from.as_str()), event.to.as_str());
        let cause = match &event.cause {
            EventCause::Override { act, kind, author, reason, .. } => {
                format!("{act:?} {} {author}: {reason}", kind.as_str())
            }
            other => format!("{other:?}"),
        };
        let subject = match &event.subject {
            crate::state::Subject::Endpoint { name, .. } => name.to_string(),
            crate::state::Subject::Profile => "profile".to_owned(),
        };
        format!("{subject} {from} {to} {cause}")
    });
    told.collect()
}

#[test]
fn sta_13_a_pattern_reaches_all_or_none_and_says_what_was_meant() {
    let mut cluster = Cluster::with_web(3);
    cluster.apply(create_profile("api", "api", vec![("e1".into(), target("192.0.2.9"))])).unwrap();
    cluster.apply(overriding(OverrideKind::ForceDown, "WEB/e?")).unwrap();
    assert!(["e1", "e2", "e3"].iter().all(|name| is_overridden(&cluster, name)));
    assert_eq!(cluster.state.overrides.len(), 3);
    let counter = cluster.apply(lifting("*/e1")).unwrap().revision;
    assert_eq!(cluster.state.overrides.len(), 2);
    let again = cluster.apply(lifting("*/e1")).unwrap();
    assert_eq!((again.revision, again.warnings.len()), (counter, 1), "nothing to lift is no change");

    let missing = |reply: Result<Reply, Rejection>| match reply {
        Err(Rejection::NotFound { noun, name, hint }) => format!("{noun} {name} {hint:?}"),
        other => panic!("{other:?}"),
    };
    for (pattern, expected) in [
        ("wbe/e1", "profile wbe Some(\"web\")"),
        ("wbe*/e1", "profile wbe* Some(\"web\")"),
        ("web/f1", "endpoint web/f1 Some(\"web/e1\")"),
        ("ap*/e2*", "endpoint ap*/e2* Some(\"api/e1\")"),
        ("zzz*/e1", "profile zzz* None"),
    ] {
        assert_eq!(missing(cluster.apply(overriding(OverrideKind::Drain, pattern))), expected);
        assert_eq!(missing(cluster.apply(lifting(pattern))), expected);
    }
    let (pattern, reason) = ("web".to_owned(), String::new());
    let kind = OverrideKind::Drain;
    let wrong = Action::OverrideEndpoints { pattern, kind, reason, span_ms: Some(1), even_last: true };
    let told = faults(cluster.apply(wrong));
    assert!(told[0].starts_with("pattern: 'web' is no pattern") && told.len() == 3, "{told:?}");
}

#[test]
fn sta_13_so_many_at_once_and_no_more() {
    let mut cluster = Cluster::new();
    for n in 0..=Override::BATCH_MAX / 200 {
        let endpoints = (0..200).map(|e| (format!("e{e}"), target(&format!("10.0.{n}.{e}")))).collect();
        cluster.apply(create_profile(&format!("p{n}"), &format!("p{n}"), endpoints)).unwrap();
    }
    let told = faults(cluster.apply(overriding(OverrideKind::ForceUp, "*/*")));
    assert!(told[0].starts_with("pattern: stands for more than 2000 endpoints, the most"), "{told:?}");
    assert!(cluster.state.overrides.is_empty());

    cluster.apply(overriding(OverrideKind::ForceUp, "p0/*")).unwrap();
    cluster.apply(overriding(OverrideKind::ForceUp, "p1/e7")).unwrap();
    let lift = Action::LiftOverrides { pattern: "*/*".into(), reason: "all is done".into() };
    assert_eq!(cluster.apply(lift).unwrap().warnings, [], "only those that have one count");
    assert!(cluster.state.overrides.is_empty());
}

#[test]
fn sta_13_a_drained_endpoint_is_out_and_shown_with_its_status() {
    let mut cluster = Cluster::with_web(2);
    cluster.open("a1", "r1", 1);
    cluster.report("a1", "e1", 1, "+");
    assert_eq!(answer(&cluster), "192.0.2.1");
    let counter = cluster.state.counter;
    cluster.apply(overriding(OverrideKind::Drain, "web/e1")).unwrap();
    assert_eq!((answer(&cluster).as_str(), cluster.status("e1")), ("192.0.2.2", "Online"));
    assert_eq!(told_since(&cluster, counter), ["e1 Online Online Made drain operator: a move"]);
    assert!(cluster.view.check(cluster.endpoint("e1")).is_some(), "still probed");
    cluster.report("a1", "e1", 2, "----");
    assert_eq!((answer(&cluster).as_str(), cluster.status("e1")), ("192.0.2.2", "Degraded"));

    cluster.apply(overriding(OverrideKind::Drain, "web/e2")).unwrap();
    assert_eq!(answer(&cluster), "NODATA", "the name is there, and the Degraded one is no last resort");
    cluster.apply(update_endpoint("e2", disabled())).unwrap();
    assert_eq!(answer(&cluster), "NODATA", "one that is drained is enabled");
    cluster.apply(update_endpoint("e1", disabled())).unwrap();
    assert_eq!(answer(&cluster), "NXDOMAIN");
    cluster.apply(update_endpoint("e2", enabled())).unwrap();
    cluster.apply(lifting("web/*")).unwrap();
    assert_eq!(answer(&cluster), "192.0.2.2");
}

fn disabled() -> EndpointPatch {
    EndpointPatch { enabled: Edit::Set(false), ..EndpointPatch::default() }
}

fn enabled() -> EndpointPatch {
    EndpointPatch { enabled: Edit::Set(true), ..EndpointPatch::default() }
}

#[test]
fn sta_13_the_last_endpoint_is_drained_only_if_it_is_said() {
    let mut cluster = Cluster::with_web(3);
    let named = |reply| match reply {
        Err(Rejection::LastEndpoint { profiles }) => profiles.join(" "),
        other => panic!("{other:?}"),
    };
    assert_eq!(named(cluster.apply(draining_all_but_the_last("web/*"))), "profile 'web'");
    assert!(cluster.state.overrides.is_empty(), "all or none");
    cluster.apply(draining_all_but_the_last("web/e1")).unwrap();
    cluster.apply(update_endpoint("e2", disabled())).unwrap();
    assert_eq!(named(cluster.apply(draining_all_but_the_last("web/e3"))), "profile 'web'");
    // Whoever is Degraded still serves, so forcing asks for nothing.
    cluster.apply(overriding(OverrideKind::ForceDown, "web/e3")).unwrap();
    cluster.apply(overriding(OverrideKind::Drain, "web/e3")).unwrap();
    cluster.apply(draining_all_but_the_last("web/*")).unwrap();
    assert_eq!(cluster.state.overrides.len(), 3, "nobody was left before either");
}

#[test]
fn sta_13_what_is_forced_stands_over_the_probes_and_they_count_on_underneath() {
    let mut cluster = Cluster::with_web(2);
    cluster.open("a1", "r1", 1);
    cluster.report("a1", "e1", 1, "+");
    cluster.report("a1", "e2", 1, "+");
    let counter = cluster.state.counter;
    cluster.apply(overriding(OverrideKind::ForceDown, "web/e1")).unwrap();
    assert_eq!((answer(&cluster).as_str(), cluster.status("e1")), ("192.0.2.2", "Degraded"));
    assert_eq!(
        told_since(&cluster, counter),
        ["e1 Online Degraded Made force-down operator: a move", "profile Online Degraded Endpoints"]
    );
    cluster.report("a1", "e1", 2, "++");
    assert_eq!(cluster.status("e1"), "Degraded");

    cluster.apply(overriding(OverrideKind::ForceUp, "web/e1")).unwrap();
    assert_eq!(cluster.status("e1"), "Online", "the second takes the place of the first");
    cluster.report("a1", "e1", 4, "----");
    assert_eq!((answer(&cluster).as_str(), cluster.status("e1")), ("192.0.2.1", "Online"));
    let counter = cluster.state.counter;
    cluster.apply(lifting("web/e1")).unwrap();
    assert_eq!(cluster.status("e1"), "Degraded", "what the probes found takes over");
    assert_eq!(told_since(&cluster, counter)[0], "e1 Online Degraded Lifted force-up operator: moved");
}

#[test]
fn sta_13_what_is_disabled_or_stopped_is_not_touched() {
    let mut cluster = Cluster::with_web(2);
    let fields = ServicePatch { target: Edit::Set("192.0.2.9".into()), location: Edit::Keep };
    cluster.apply(Action::RegisterService { name: "db".into(), fields, if_revision: None }).unwrap();
    cluster.apply(Action::SwitchService { name: "db".into(), is_running: false, if_revision: None }).unwrap();
    let of_db = EndpointPatch { service: Edit::Set("db".into()), ..EndpointPatch::default() };
    cluster.apply(add_endpoint("e3", of_db)).unwrap();
    cluster.apply(update_endpoint("e1", disabled())).unwrap();
    let always = EndpointPatch { always_serve: Edit::Set(true), ..EndpointPatch::default() };
    cluster.apply(update_endpoint("e2", always)).unwrap();
    let statuses = |cluster: &Cluster| ["e1", "e2", "e3"].map(|name| cluster.status(name));
    assert_eq!(statuses(&cluster), ["Disabled", "Unmonitored", "Stopped"]);
    for (kind, forced) in [(OverrideKind::ForceUp, "Online"), (OverrideKind::ForceDown, "Degraded")] {
        cluster.apply(overriding(kind, "web/*")).unwrap();
        assert_eq!(statuses(&cluster), ["Disabled", forced, "Stopped"], "{kind:?}");
    }
    let off = ProfilePatch { enabled: Edit::Set(false), ..ProfilePatch::default() };
    cluster.apply(update_profile(off)).unwrap();
    assert_eq!(statuses(&cluster), ["Disabled", "Inactive", "Inactive"]);
}

#[test]
fn sta_13_an_override_of_a_child_shows_above_it_and_a_nested_one_can_be_overridden() {
    let mut cluster = Cluster::with_web(1);
    cluster.apply(create_profile("low", "low", vec![("l1".into(), target("192.0.2.8"))])).unwrap();
    let below = EndpointPatch { nested: Edit::Set("low".into()), ..EndpointPatch::default() };
    cluster.apply(add_endpoint("n1", below)).unwrap();
    assert_eq!(cluster.status("n1"), "CheckingEndpoint");
    for (kind, expected) in [
        (OverrideKind::ForceUp, "Online"),
        (OverrideKind::ForceDown, "Degraded"),
        (OverrideKind::Drain, "Degraded"),
    ] {
        cluster.apply(overriding(kind, "low/l1")).unwrap();
        assert_eq!(cluster.status("n1"), expected, "{kind:?} below");
    }
    // Both in one step: one event each, and what is forced above does not follow what is below.
    let counter = cluster.state.counter;
    cluster.apply(overriding(OverrideKind::ForceUp, "*/?1")).unwrap();
    assert_eq!(cluster.status("n1"), "Online");
    let told = told_since(&cluster, counter);
    assert_eq!(told.iter().filter(|told| told.starts_with("n1 ")).count(), 1, "{told:?}");
    cluster.apply(overriding(OverrideKind::ForceDown, "low/l1")).unwrap();
    assert_eq!(cluster.status("n1"), "Online");
    cluster.apply(lifting("*/*")).unwrap();
    assert_eq!(cluster.status("n1"), "CheckingEndpoint");
}

#[test]
fn sta_13_its_end_is_its_own_and_it_goes_with_its_endpoint() {
    let mut cluster = Cluster::with_web(2);
    let first = cluster.apply(overriding(OverrideKind::ForceDown, "web/*")).unwrap().revision;
    let (e1, e2) = (cluster.endpoint("e1"), cluster.endpoint("e2"));
    let made = cluster.state.overrides[&e1].clone();
    assert_eq!(made.ends, Some(Timestamp(made.at.0 + 60_000)), "as the leader stamped it");
    let second = cluster.apply(overriding(OverrideKind::ForceUp, "web/e2")).unwrap().revision;
    let counter = cluster.state.counter;
    let end = |ended: &[(EndpointId, Revision)]| Action::EndOverrides { ended: ended.to_vec() };
    cluster.apply(end(&[(e1, first), (e2, first), (EndpointId(99), first)])).unwrap();
    assert!(!is_overridden(&cluster, "e1") && is_overridden(&cluster, "e2"), "the second is another");
    let told = told_since(&cluster, counter);
    assert_eq!(told[0], "e1 Degraded CheckingEndpoint Ended force-down operator: a move");
    let counter = cluster.state.counter;
    assert_eq!(cluster.apply(end(&[(e1, first)])).unwrap().revision, counter, "said again, nothing changes");

    cluster.apply(remove_endpoint("e2")).unwrap();
    assert!(cluster.state.overrides.is_empty());
    cluster.apply(add_endpoint("e2", target("192.0.2.2"))).unwrap();
    let (counter, fresh) = (cluster.state.counter, cluster.endpoint("e2"));
    let ended = end(&[(e2, second), (fresh, second)]);
    assert_eq!(cluster.apply(ended).unwrap().revision, counter, "the new e2 has none");
    cluster.apply(overriding(OverrideKind::ForceUp, "web/e1")).unwrap();
    cluster.apply(Action::DeleteProfile { name: "web".into(), if_revision: None }).unwrap();
    assert!(cluster.state.overrides.is_empty());
}

#[test]
fn sta_13_a_change_of_settings_leaves_an_override_and_the_past_knows_it() {
    let mut cluster = Cluster::with_web(1);
    cluster.apply(overriding(OverrideKind::Drain, "web/e1")).unwrap();
    let (at, index) = (Timestamp(cluster.index * 1_000), LogIndex(cluster.index));
    cluster.apply(update_endpoint("e1", target("192.0.2.77"))).unwrap();
    assert!(is_overridden(&cluster, "e1"));
    cluster.apply(lifting("web/e1")).unwrap();
    assert_eq!(answer(&cluster), "192.0.2.77");
    let (past, _) = cluster.state.at(at, index).unwrap();
    let view = View::of(past, index);
    let told = check_answer(&view, &query("web.example.com", RecordType::A), 0);
    assert!(told.answers.is_empty(), "it was drained then");
}

#[test]
fn sta_13_a_lifted_override_is_told_with_who_lifted_it_and_a_made_one_with_its_end() {
    let mut cluster = Cluster::with_web(1);
    cluster.apply(overriding(OverrideKind::Drain, "web/e1")).unwrap();
    let cause = |cluster: &Cluster| cluster.state.events.get_max().unwrap().1.cause.clone();
    let EventCause::Override { act: OverrideAct::Made, ends: Some(ends), .. } = cause(&cluster) else {
        panic!("{:?}", cause(&cluster));
    };
    cluster.apply(lifting("web/e1")).unwrap();
    let lifted = EventCause::Override {
        act: OverrideAct::Lifted,
        kind: OverrideKind::Drain,
        author: "operator".into(),
        reason: "moved".into(),
        ends: Some(ends),
    };
    assert_eq!(cause(&cluster), lifted);
}
