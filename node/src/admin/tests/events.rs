//! Events: listed, filtered, resumed and followed (STA-12).

use tonic::Code;
use waymark_core::health::OutcomeClass;
use waymark_core::model::Revision;
use waymark_core::state::{EventId, State};
use waymark_proto::admin::v1::{
    DeleteRequest, Event, ListEventsRequest, Profile, Status, UpdateProfileRequest,
};

use super::double::CLUSTER;
use super::fixture::{Fixture, faults, in_time, web};

async fn list(fixture: &Fixture, request: ListEventsRequest) -> Vec<Event> {
    fixture.events().list_events(request).await.unwrap().into_inner().events
}

async fn disable_api(fixture: &Fixture) {
    let profile = Profile { name: "api".into(), enabled: Some(false), ..Profile::default() };
    let request = UpdateProfileRequest { profile: Some(profile), update_mask: None, write: None };
    fixture.profiles().update_profile(request).await.unwrap();
}

async fn of_one(fixture: &Fixture) -> Vec<Event> {
    let events = list(fixture, ListEventsRequest::default()).await;
    events.into_iter().filter(|event| event.endpoint == "one").collect()
}

#[tokio::test]
async fn sta_12_an_outage_is_one_down_and_one_up_with_cause_and_regions() {
    let fixture = Fixture::furnished().await;
    fixture.report("a1", "one", 1, OutcomeClass::Ok);
    fixture.report("a1", "one", 2, OutcomeClass::Timeout);
    fixture.report("a1", "one", 3, OutcomeClass::Timeout);
    fixture.report("a1", "one", 4, OutcomeClass::Ok);
    let events = of_one(&fixture).await;
    let steps: Vec<_> = events.iter().map(|event| (event.from(), event.to())).collect();
    let from_checking = steps.iter().position(|step| *step == (Status::Checking, Status::Online)).unwrap();
    assert_eq!(
        steps[from_checking..],
        [
            (Status::Checking, Status::Online),
            (Status::Online, Status::Degraded),
            (Status::Degraded, Status::Online)
        ]
    );
    let down = &events[from_checking + 1];
    assert_eq!(down.cause, "1st failure in a row (timeout) seen by a1 in eu; regions: eu down");
    assert_eq!((down.regions.len(), down.profile.as_str()), (1, "web"));
    assert_eq!(down.id, format!("{CLUSTER}-{}-{}", down.counter, down.ordinal));
    assert!(down.at_ms > 0 && down.log_index > 0);
    assert_eq!(events[from_checking + 2].cause, "success (ok 200) seen by a1 in eu; regions: eu up");
}

#[tokio::test]
async fn events_are_filtered_and_the_latest_are_kept() {
    let fixture = Fixture::furnished().await;
    let other = Profile { name: "api".into(), relative_name: "api".into(), ..web() };
    fixture.create_profile(other).await.unwrap();
    disable_api(&fixture).await;
    fixture.report("a1", "one", 1, OutcomeClass::Ok);
    fixture.report("a1", "one", 2, OutcomeClass::Reset);
    let all = list(&fixture, ListEventsRequest::default()).await;
    let ids = |events: &[Event]| events.iter().map(|event| event.id.clone()).collect::<Vec<_>>();

    let of_web = list(&fixture, ListEventsRequest { profile: "WEB".into(), ..Default::default() }).await;
    assert!(!of_web.is_empty() && of_web.len() < all.len());
    assert!(of_web.iter().all(|event| event.profile == "web"));

    let latest = list(&fixture, ListEventsRequest { limit: 2, ..Default::default() }).await;
    assert_eq!(ids(&latest), ids(&all[all.len() - 2..]));

    let since = all[all.len() - 2].at_ms;
    let recent = list(&fixture, ListEventsRequest { since_ms: since, ..Default::default() }).await;
    assert!(!recent.is_empty() && recent.iter().all(|event| event.at_ms >= since));
    assert!(recent.len() < all.len());

    let after = ListEventsRequest { after: all[0].id.clone(), ..Default::default() };
    assert_eq!(ids(&list(&fixture, after).await), ids(&all[1..]));
    let after_last = ListEventsRequest { after: all[all.len() - 1].id.clone(), ..Default::default() };
    assert!(list(&fixture, after_last).await.is_empty());
}

#[tokio::test]
async fn val_1_every_fault_of_the_request_is_found() {
    let fixture = Fixture::furnished().await;
    let bad = ListEventsRequest { after: "beef-1-0".into(), limit: 10_001, ..Default::default() };
    for refused in [
        fixture.events().list_events(bad.clone()).await.unwrap_err(),
        fixture.events().watch_events(bad).await.unwrap_err(),
    ] {
        let faults = faults(&refused);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("after: 'beef-1-0'"), "{faults:?}");
        assert_eq!(faults[1], "limit: 10001 is outside 0–10000");
    }
}

#[tokio::test]
async fn events_of_a_profile_outlive_it_and_a_misspelt_name_is_told() {
    let fixture = Fixture::furnished().await;
    fixture.report("a1", "one", 1, OutcomeClass::Ok);
    let delete = DeleteRequest { name: "web".into(), write: None };
    fixture.profiles().delete_profile(delete).await.unwrap();
    let of_web = ListEventsRequest { profile: "web".into(), ..Default::default() };
    assert!(!list(&fixture, of_web).await.is_empty());
    let misspelt = ListEventsRequest { profile: "wbe".into(), ..Default::default() };
    let missing = fixture.events().list_events(misspelt).await.unwrap_err();
    assert_eq!(missing.code(), Code::NotFound);
}

#[tokio::test]
async fn a_watch_lists_and_follows_and_resumes_behind_an_id() {
    let fixture = Fixture::furnished().await;
    let before = list(&fixture, ListEventsRequest::default()).await;
    let mut watch = fixture.events().watch_events(ListEventsRequest::default()).await.unwrap().into_inner();
    for event in &before {
        assert_eq!(in_time(watch.message()).await.unwrap().as_ref(), Some(event));
    }
    fixture.report("a1", "one", 1, OutcomeClass::Ok);
    let next = in_time(watch.message()).await.unwrap().unwrap();
    assert_eq!(next.to(), Status::Online);
    drop(watch);

    // What happened while nobody watched is not missed.
    fixture.report("a1", "one", 2, OutcomeClass::Refused);
    fixture.report("a1", "one", 3, OutcomeClass::Ok);
    let missed = list(&fixture, ListEventsRequest { after: next.id.clone(), ..Default::default() }).await;
    assert!(missed.len() >= 2);
    // Nor beyond the limit with which the watch began.
    let resume = ListEventsRequest { after: next.id, limit: 1, ..Default::default() };
    let mut watch = fixture.events().watch_events(resume).await.unwrap().into_inner();
    for event in &missed {
        assert_eq!(in_time(watch.message()).await.unwrap().as_ref(), Some(event));
    }
    fixture.report("a1", "two", 4, OutcomeClass::Ok);
    let live = in_time(watch.message()).await.unwrap().unwrap();
    assert!(live.counter > missed[missed.len() - 1].counter);
}

#[tokio::test]
async fn a_watch_of_one_profile_shows_only_its_events() {
    let fixture = Fixture::furnished().await;
    let other = Profile { name: "api".into(), relative_name: "api".into(), ..web() };
    let request = ListEventsRequest { profile: "api".into(), ..Default::default() };
    let early = fixture.events().watch_events(request.clone()).await.unwrap_err();
    assert_eq!(early.code(), Code::NotFound);
    fixture.create_profile(other).await.unwrap();
    let mut watch = fixture.events().watch_events(request).await.unwrap().into_inner();
    fixture.report("a1", "one", 1, OutcomeClass::Ok);
    let delete = DeleteRequest { name: "web".into(), write: None };
    fixture.profiles().delete_profile(delete).await.unwrap();
    disable_api(&fixture).await;
    loop {
        let event = in_time(watch.message()).await.unwrap().unwrap();
        assert_eq!(event.profile, "api");
        if event.to() == Status::Disabled {
            assert_eq!(event.cause, "configuration changed by dev");
            break;
        }
    }
}

#[tokio::test]
async fn resuming_behind_what_is_forgotten_is_refused() {
    let fixture = Fixture::furnished().await;
    fixture.report("a1", "one", 1, OutcomeClass::Ok);
    let first = list(&fixture, ListEventsRequest::default()).await.remove(0);
    let refill = |state: &mut State| {
        let event = state.events.values().next_back().cloned().expect("there was an event");
        state.events = (0..State::EVENTS_MAX)
            .map(|i| {
                let id = EventId { counter: Revision(1_000_000 + i as u64), ordinal: 0 };
                (id, std::sync::Arc::new(waymark_core::state::Event { id, ..(*event).clone() }))
            })
            .collect();
    };
    fixture.double.replace(refill);
    let resume = ListEventsRequest { after: first.id, ..Default::default() };
    for refused in [
        fixture.events().list_events(resume.clone()).await.unwrap_err(),
        fixture.events().watch_events(resume).await.unwrap_err(),
    ] {
        assert_eq!(refused.code(), Code::OutOfRange, "{refused}");
        assert!(refused.message().contains("forgotten"), "{refused}");
    }
    let latest = list(&fixture, ListEventsRequest { limit: 10_000, ..Default::default() }).await;
    let newest = latest.last().expect("the latest are kept");
    assert_eq!(newest.counter, 1_000_000 + State::EVENTS_MAX as u64 - 1);
    assert_eq!(list(&fixture, ListEventsRequest::default()).await.len(), 1_000, "the default limit");
}
