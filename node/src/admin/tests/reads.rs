//! Reads: up to date or not at all, unless `stale` is asked for; and the faults of a page.

use tonic::{Code, Status};
use waymark_proto::admin::v1::{
    EndpointRequest, GetRequest, ListEventsRequest, ListRequest, ListStatusesRequest, Page, ReadOptions,
};

use super::double::Trouble;
use super::fixture::{Fixture, faults};
use crate::raft::ProposeError;

/// Every read there is, with what came of it.
async fn all_reads(fixture: &Fixture, stale: bool) -> Vec<(&'static str, Option<Status>)> {
    let read = Some(ReadOptions { stale });
    let get = |name: &str| GetRequest { name: name.into(), read };
    let list = ListRequest { page: None, read };
    let endpoint = EndpointRequest { profile: "web".into(), name: "one".into(), read };
    let statuses = ListStatusesRequest { read, ..Default::default() };
    let events = ListEventsRequest { read, ..Default::default() };
    vec![
        ("GetZone", fixture.zones().get_zone(get("tm.example.com")).await.err()),
        ("ListZones", fixture.zones().list_zones(list.clone()).await.err()),
        ("GetProfile", fixture.profiles().get_profile(get("web")).await.err()),
        ("ListProfiles", fixture.profiles().list_profiles(list.clone()).await.err()),
        ("GetEndpoint", fixture.endpoints().get_endpoint(endpoint).await.err()),
        ("ListEndpoints", fixture.endpoints().list_endpoints(get("web")).await.err()),
        ("ListRegions", fixture.regions().list_regions(list.clone()).await.err()),
        ("GetAgent", fixture.agents().get_agent(get("a1")).await.err()),
        ("ListAgents", fixture.agents().list_agents(list).await.err()),
        ("ListStatuses", fixture.statuses().list_statuses(statuses).await.err()),
        ("ListEvents", fixture.events().list_events(events).await.err()),
    ]
}

#[tokio::test]
async fn cli_4_without_a_leader_only_stale_reads_are_answered() {
    let fixture = Fixture::furnished().await;
    for (method, failure) in all_reads(&fixture, false).await {
        assert!(failure.is_none(), "{method}: {failure:?}");
    }
    for barrier in [ProposeError::NoLeader, ProposeError::OutcomeUnknown] {
        fixture.trouble(Trouble { barrier: Some(barrier), ..Trouble::default() });
        for (method, failure) in all_reads(&fixture, false).await {
            let failure = failure.expect(method);
            assert_eq!(failure.code(), Code::Unavailable, "{method}");
            assert!(failure.message().contains("--stale"), "{method}: {failure}");
        }
        for (method, failure) in all_reads(&fixture, true).await {
            assert!(failure.is_none(), "{method}: {failure:?}");
        }
    }
}

#[tokio::test]
async fn a_member_of_no_cluster_has_nothing_to_read() {
    let fixture = Fixture::empty(Default::default()).await;
    for stale in [false, true] {
        for (method, failure) in all_reads(&fixture, stale).await {
            let failure = failure.expect(method);
            assert_eq!(failure.code(), Code::FailedPrecondition, "{method}");
            assert!(failure.message().contains("cluster init"), "{method}: {failure}");
        }
    }
}

#[tokio::test]
async fn val_1_size_and_token_of_a_page_are_judged_in_every_list() {
    let fixture = Fixture::furnished().await;
    let page = Some(Page { size: 1_001, token: "no name..at all".into() });
    let list = ListRequest { page: page.clone(), read: None };
    let statuses = ListStatusesRequest { page, ..Default::default() };
    for refused in [
        fixture.zones().list_zones(list.clone()).await.unwrap_err(),
        fixture.profiles().list_profiles(list.clone()).await.unwrap_err(),
        fixture.regions().list_regions(list.clone()).await.unwrap_err(),
        fixture.agents().list_agents(list).await.unwrap_err(),
        fixture.statuses().list_statuses(statuses.clone()).await.unwrap_err(),
        fixture.statuses().watch_statuses(statuses).await.unwrap_err(),
    ] {
        let faults = faults(&refused);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert_eq!(faults[0], "page.size: 1001 is outside 1–1000");
        assert!(faults[1].starts_with("page.token: "), "{faults:?}");
    }
}
