//! Status lists and their watch.

use waymark_core::health::{Outcome, OutcomeClass};
use waymark_core::model::{Caseless, MemberId, Revision};
use waymark_core::state::Action;
use waymark_proto::admin::v1::{
    self, DeleteRequest, EndpointStatus, ListStatusesRequest, ListStatusesResponse, Page, Profile,
    RegionalVerdict, Status, Verdict,
};

use super::double::Trouble;
use super::fixture::{Fixture, in_time, web};
use crate::raft::LastOutcome;

async fn list(fixture: &Fixture, request: ListStatusesRequest) -> ListStatusesResponse {
    fixture.statuses().list_statuses(request).await.unwrap().into_inner()
}

fn endpoint_named<'a>(list: &'a ListStatusesResponse, name: &str) -> &'a EndpointStatus {
    list.profiles[0].endpoints.iter().find(|endpoint| endpoint.name == name).expect(name)
}

fn verdicts(regions: &[RegionalVerdict]) -> Vec<(&str, Verdict)> {
    regions.iter().map(|region| (region.region.as_str(), region.verdict())).collect()
}

#[tokio::test]
async fn sta_2_every_manned_region_is_shown_with_its_verdict() {
    let fixture = Fixture::furnished().await;
    fixture.set_region("ap");
    let before = list(&fixture, ListStatusesRequest::default()).await;
    assert_eq!(before.profiles[0].status(), Status::Checking);
    assert_eq!(before.profiles[0].full_name, "web.tm.example.com");
    let one = endpoint_named(&before, "one");
    assert_eq!((one.status(), one.target.as_str()), (Status::Checking, "192.0.2.1"));
    // Nobody lives in `ap`, so it has nothing to say.
    assert_eq!(verdicts(&one.regions), [("eu", Verdict::Unspecified), ("us", Verdict::Unspecified)]);

    fixture.report("a2", "one", 1, OutcomeClass::Timeout);
    let after = list(&fixture, ListStatusesRequest::default()).await;
    let one = endpoint_named(&after, "one");
    assert_eq!(one.status(), Status::Degraded, "STA-3");
    assert_eq!(verdicts(&one.regions), [("eu", Verdict::Unspecified), ("us", Verdict::Down)]);
    assert_eq!((one.regions[1].agents[0].name.as_str(), one.regions[1].agents[0].failures), ("a2", 1));
    assert!(one.since_ms > before.profiles[0].endpoints[0].since_ms);
    assert_eq!(after.profiles[0].status(), Status::Degraded, "STA-9");
    assert!(after.applied > before.applied);
}

#[tokio::test]
async fn sta_4_a_status_without_verdicts_is_marked_stale() {
    let fixture = Fixture::furnished().await;
    fixture.report("a1", "one", 1, OutcomeClass::Ok);
    let session = fixture.double.state().agents[&Caseless::new("a1")].session;
    fixture.double.commit(Action::LoseAgent { agent: "a1".into(), session });
    let list = list(&fixture, ListStatusesRequest::default()).await;
    let one = endpoint_named(&list, "one");
    assert_eq!(one.status(), Status::Online);
    assert!(one.stale_since_ms.is_some());
    assert_eq!(verdicts(&one.regions), [("us", Verdict::Unspecified)], "nobody lives in eu any more");
}

#[tokio::test]
async fn statuses_are_paged_or_of_one_profile() {
    let fixture = Fixture::furnished().await;
    let other = Profile { name: "api".into(), relative_name: "api".into(), ..web() };
    fixture.create_profile(other).await.unwrap();
    let page = |token: &str| Some(Page { size: 1, token: token.into() });
    let first = list(&fixture, ListStatusesRequest { page: page(""), ..Default::default() }).await;
    assert_eq!((first.profiles[0].name.as_str(), first.next_page_token.as_str()), ("api", "api"));
    let second = list(&fixture, ListStatusesRequest { page: page("api"), ..Default::default() }).await;
    assert_eq!((second.profiles[0].name.as_str(), second.next_page_token.as_str()), ("web", ""));
    let one = list(&fixture, ListStatusesRequest { profile: "WEB".into(), ..Default::default() }).await;
    assert_eq!((one.profiles.len(), one.profiles[0].name.as_str()), (1, "web"));

    let misspelt = ListStatusesRequest { profile: "wbe".into(), ..Default::default() };
    for missing in [
        fixture.statuses().list_statuses(misspelt.clone()).await.unwrap_err(),
        fixture.statuses().watch_statuses(misspelt).await.unwrap_err(),
    ] {
        assert_eq!(missing.code(), tonic::Code::NotFound);
        assert!(missing.message().contains("did you mean 'web'"), "{missing}");
    }
}

#[tokio::test]
async fn a_watch_shows_the_list_at_once_and_whenever_it_changes() {
    let fixture = Fixture::furnished().await;
    let request = ListStatusesRequest { profile: "web".into(), ..Default::default() };
    let mut watch = fixture.statuses().watch_statuses(request).await.unwrap().into_inner();
    let first = in_time(watch.message()).await.unwrap().unwrap();
    assert_eq!(endpoint_named(&first, "one").status(), Status::Checking);

    // A zone is not in the list: it must not wake the watcher, so the next message is about `one`.
    fixture.create_zone("other.example").await;
    let other = Profile { name: "api".into(), relative_name: "api".into(), ..web() };
    fixture.create_profile(other).await.unwrap();
    fixture.report("a1", "one", 1, OutcomeClass::Ok);
    let second = in_time(watch.message()).await.unwrap().unwrap();
    assert_eq!(endpoint_named(&second, "one").status(), Status::Online);
    assert_ne!(second.profiles, first.profiles);

    let delete = DeleteRequest { name: "web".into(), write: None };
    fixture.profiles().delete_profile(delete).await.unwrap();
    let third = in_time(watch.message()).await.unwrap().unwrap();
    assert!(third.profiles.is_empty(), "a profile that is gone leaves an empty list");
}

#[tokio::test]
async fn a_watch_gathers_what_changes_within_its_pause() {
    let fixture = Fixture::furnished().await;
    let mut watch =
        fixture.statuses().watch_statuses(ListStatusesRequest::default()).await.unwrap().into_inner();
    in_time(watch.message()).await.unwrap().unwrap();
    let started = std::time::Instant::now();
    for sequence in 1..=50 {
        let class = if sequence % 2 == 0 { OutcomeClass::Ok } else { OutcomeClass::Refused };
        fixture.report("a1", "one", sequence, class);
    }
    fixture.report("a1", "two", 51, OutcomeClass::Ok);
    let mut messages = 0;
    loop {
        let list = in_time(watch.message()).await.unwrap().unwrap();
        messages += 1;
        if endpoint_named(&list, "two").status() == Status::Online {
            break;
        }
    }
    let pauses = started.elapsed().as_millis() / super::super::limits::WATCH_PAUSE.as_millis();
    assert!(messages <= pauses + 1, "{messages} messages in {pauses} pauses");
}

#[tokio::test]
async fn cli_4_a_watch_needs_no_leader() {
    let fixture = Fixture::furnished().await;
    let barrier = Some(crate::raft::ProposeError::NoLeader);
    fixture.trouble(super::double::Trouble { barrier, ..Default::default() });
    let mut watch =
        fixture.statuses().watch_statuses(ListStatusesRequest::default()).await.unwrap().into_inner();
    assert_eq!(in_time(watch.message()).await.unwrap().unwrap().profiles.len(), 1);
}

/// PRB-9: shown beside the verdicts, from the member that holds the agent's stream, and of the check that is in force.
#[tokio::test]
async fn prb_9_trouble_of_an_agents_own_is_gathered_from_the_member_that_knows_it() {
    let fixture = Fixture::furnished().await;
    fixture.report("a2", "one", 1, OutcomeClass::Timeout);
    let (endpoint, check) = fixture.endpoint_id("one");
    let told = |agent: &str, class, detail: &str| LastOutcome {
        endpoint,
        agent: agent.into(),
        check,
        outcome: Outcome { class, status: None },
        detail: detail.into(),
    };
    let (holder, other) = (MemberId(2), MemberId(3));
    let old = LastOutcome { check: Revision(check.0 - 1), ..told("a2", OutcomeClass::Dns, "an old check") };
    fixture.trouble(Trouble {
        last_outcomes: vec![
            (holder, told("a1", OutcomeClass::Agent, "no route")),
            (holder, told("a2", OutcomeClass::Refused, "it refused the connection")),
            (holder, old),
            (other, told("a2", OutcomeClass::Tls, "heard before it moved on")),
        ],
        ..Trouble::default()
    });
    let list = list(&fixture, ListStatusesRequest::default()).await;
    let one = endpoint_named(&list, "one");
    let shown = |region: usize| {
        let agent = &one.regions[region].agents[0];
        let class = agent.last_outcome.unwrap().class();
        (agent.name.as_str(), agent.verdict(), agent.failures, class, agent.detail.as_str())
    };
    assert_eq!(shown(0), ("a1", Verdict::Unspecified, 0, v1::OutcomeClass::Agent, "no route"));
    assert_eq!(shown(1), ("a2", Verdict::Down, 1, v1::OutcomeClass::Refused, "it refused the connection"));
    assert!(endpoint_named(&list, "two").regions.iter().all(|region| region.agents.is_empty()));
    assert!(list.incomplete.is_empty());
}

#[tokio::test]
async fn prb_9_a_member_that_does_not_answer_is_named() {
    let fixture = Fixture::furnished().await;
    fixture.trouble(Trouble { unreachable: vec![MemberId(2)], ..Trouble::default() });
    let list = list(&fixture, ListStatusesRequest::default()).await;
    assert_eq!((list.incomplete.as_slice(), list.profiles.len()), (["m2".to_owned()].as_slice(), 1));
}
