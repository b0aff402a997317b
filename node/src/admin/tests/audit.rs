//! SEC-5: what the trail says of each kind of wish, never a header's value; and changes of the members, which the log does not hold.

use std::net::SocketAddr;
use std::sync::Arc;

use prost_types::FieldMask;
use tokio::sync::Notify;
use tonic::Code;
use waymark_core::state::AuditTrail;
use waymark_proto::admin::v1::{
    AddMemberRequest, AuditEntry, AuditOutcome, Header, InitClusterRequest, ListRequest, Monitor, Page,
    Profile, RemoveMemberRequest, UpdateProfileRequest,
};
use waymark_proto::convert::audit_entry;

use super::double::{CLUSTER, Trouble};
use super::fixture::{Fixture, at_revision, faults, in_time, web};
use crate::raft::{MembershipError, ProposeError};

async fn listed(fixture: &Fixture, size: u32) -> Vec<AuditEntry> {
    let (mut all, mut token) = (Vec::new(), String::new());
    loop {
        let request = ListRequest { page: Some(Page { size, token }), read: None };
        let page = fixture.audit().list_audit_entries(request).await.unwrap().into_inner();
        all.extend(page.entries);
        token = page.next_page_token;
        if token.is_empty() {
            return all;
        }
    }
}

fn said(entry: &AuditEntry) -> [&str; 5] {
    [&entry.author, &entry.act, &entry.object, &entry.detail, entry.outcome().as_str_name()]
}

fn topsecret() -> Vec<Header> {
    vec![Header { name: "Authorization".into(), value: "topsecret".into(), ..Header::default() }]
}

#[tokio::test]
async fn sec_5_who_changed_what_is_listed_without_values_of_headers() {
    let fixture = Fixture::founded().await;
    fixture.create_zone("tm.example.com").await;
    let mut profile = web();
    profile.monitor.get_or_insert_default().headers = topsecret();
    profile.endpoints[0].headers = topsecret();
    fixture.create_profile(profile.clone()).await.unwrap();
    fixture.create_profile(profile).await.unwrap_err();
    let update = UpdateProfileRequest {
        profile: Some(Profile {
            name: "web".into(),
            monitor: Some(Monitor { headers: topsecret(), ..Monitor::default() }),
            ..Profile::default()
        }),
        update_mask: Some(FieldMask { paths: vec!["ttl_seconds".into(), "monitor.headers".into()] }),
        write: at_revision(1),
    };
    fixture.profiles().update_profile(update).await.unwrap_err();
    let entries = listed(&fixture, 3).await;
    let (done, refused) = ("AUDIT_OUTCOME_DONE", "AUDIT_OUTCOME_REFUSED");
    let zone = "name_servers=ns1.tm.example.com=192.0.2.53";
    let created = "zone=tm.example.com relative_name=web routing=priority tolerated_failures=0 headers=Authorization:*** \
                   endpoint=one target=192.0.2.1 headers=Authorization:*** endpoint=two target=192.0.2.2";
    assert_eq!(
        entries.iter().map(said).collect::<Vec<_>>(),
        [
            ["dev", "create zone", "tm.example.com", zone, done],
            ["dev", "create profile", "web", created, done],
            ["dev", "create profile", "web", created, refused],
            ["dev", "update profile", "web", "ttl= headers=Authorization:***", refused],
        ]
    );
    assert!(entries.iter().all(|entry| entry.from.parse::<SocketAddr>().unwrap().ip().is_loopback()));
    assert_eq!(entries, listed(&fixture, 1_000).await, "pages change nothing");
    let links: Vec<_> = entries.into_iter().map(|entry| audit_entry(entry).unwrap()).collect();
    assert_eq!(AuditTrail::check(&links), Ok(()));
    let request = ListRequest { page: Some(Page { size: 0, token: "x".into() }), read: None };
    let refused = fixture.audit().list_audit_entries(request).await.unwrap_err();
    assert!(faults(&refused)[0].starts_with("page.token: 'x'"), "{refused}");
}

#[tokio::test]
async fn sec_5_a_change_of_the_members_stands_between_two_entries() {
    let fixture = Fixture::founded().await;
    let add = || AddMemberRequest { address: "http://192.0.2.4:7400".into(), learner: true };
    let remove = |name: &str| RemoveMemberRequest { name: name.into() };
    fixture.cluster().add_member(add()).await.unwrap();
    for error in [
        MembershipError::Refused("it has data".into()),
        MembershipError::OutcomeUnknown("ask again".into()),
        ProposeError::OutcomeUnknown.into(),
    ] {
        fixture.trouble(Trouble { membership: Some(error), ..Trouble::default() });
        fixture.cluster().remove_member(remove("m3")).await.unwrap_err();
    }
    fixture.trouble(Trouble::default());
    fixture.cluster().remove_member(remove("m1")).await.unwrap();
    let entries = listed(&fixture, 100).await;
    let said: Vec<_> = entries.iter().map(|entry| (&*entry.act, &*entry.object, entry.outcome())).collect();
    let (begun, unknown) = (AuditOutcome::Begun, AuditOutcome::Unknown);
    assert_eq!(
        said,
        [
            ("add learner", "http://192.0.2.4:7400", begun),
            ("add learner", "http://192.0.2.4:7400", AuditOutcome::Done),
            ("remove member", "m3", begun),
            ("remove member", "m3", AuditOutcome::Refused),
            ("remove member", "m3", begun),
            ("remove member", "m3", unknown),
            ("remove member", "m3", begun),
            ("remove member", "m3", unknown),
            ("remove member", "m1", begun),
        ],
        "m1 is who was asked, and has no way to the log once it is out"
    );
}

/// Waits until the trail has `count` entries.
async fn grown(fixture: &Fixture, count: usize) -> Vec<AuditEntry> {
    in_time(async {
        loop {
            let entries = listed(fixture, 100).await;
            if entries.len() >= count {
                return entries;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test]
async fn sec_5_what_came_of_a_change_is_noted_though_the_caller_hangs_up() {
    let fixture = Fixture::founded().await;
    let gate = Arc::new(Notify::new());
    fixture.trouble(Trouble { gate: Some(gate.clone()), ..Trouble::default() });
    let mut client = fixture.cluster();
    let request = RemoveMemberRequest { name: "m2".into() };
    let asking = tokio::spawn(async move { client.remove_member(request).await });
    assert_eq!(grown(&fixture, 1).await[0].outcome(), AuditOutcome::Begun);
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    // By the time that a later call is answered over the same connection, the member knows.
    listed(&fixture, 100).await;
    gate.notify_one();
    assert_eq!(grown(&fixture, 2).await[1].outcome(), AuditOutcome::Done);
}

#[tokio::test]
async fn sec_5_what_cannot_be_noted_is_not_begun() {
    let fixture = Fixture::furnished().await;
    fixture.trouble(Trouble { propose: Some(ProposeError::NoLeader), ..Trouble::default() });
    let request = RemoveMemberRequest { name: "m2".into() };
    let refused = fixture.cluster().remove_member(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable, "the members themselves could have been changed");
}

#[tokio::test]
async fn sec_5_the_founding_is_the_first_entry() {
    let fixture = Fixture::empty(Default::default()).await;
    fixture.cluster().init_cluster(InitClusterRequest {}).await.unwrap();
    let entries = listed(&fixture, 100).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(said(&entries[0]), ["dev", "found cluster", CLUSTER, "", "AUDIT_OUTCOME_DONE"]);
}
