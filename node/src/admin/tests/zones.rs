//! Zones, method by method.

use tonic::Code;
use waymark_proto::admin::v1::{
    CreateZoneRequest, DeleteRequest, GetRequest, ListRequest, UpdateZoneRequest, Zone,
};

use super::fixture::{Fixture, at_revision, faults, zone};

fn get(name: &str) -> GetRequest {
    GetRequest { name: name.into(), read: None }
}

#[tokio::test]
async fn a_zone_is_created_shown_changed_and_deleted() {
    let fixture = Fixture::founded().await;
    let mut zones = fixture.zones();
    let created = fixture.create_zone("tm.example.com").await;
    assert!(created.log_index > 0 && created.warnings.is_empty() && created.unreached.is_empty());

    // DNS names compare without case.
    let shown = zones.get_zone(get("TM.Example.com.")).await.unwrap().into_inner();
    assert_eq!(shown, Zone { revision: created.revision, ..zone("tm.example.com") });

    let update = UpdateZoneRequest {
        zone: Some(Zone {
            name: "tm.example.com".into(),
            mailbox: Some("dns.example.com".into()),
            ..Zone::default()
        }),
        update_mask: Some(prost_types::FieldMask { paths: vec!["mailbox".into()] }),
        write: at_revision(created.revision),
    };
    let updated = zones.update_zone(update).await.unwrap().into_inner();
    assert!(updated.revision > created.revision, "OBJ-8");
    let shown = zones.get_zone(get("tm.example.com")).await.unwrap().into_inner();
    assert_eq!(shown.name_servers, zone("tm.example.com").name_servers, "VAL-2");
    assert_eq!((shown.mailbox.as_deref(), shown.revision), (Some("dns.example.com"), updated.revision));

    let delete = DeleteRequest { name: "tm.example.com".into(), write: None };
    zones.delete_zone(delete).await.unwrap();
    let gone = zones.get_zone(get("tm.example.com")).await.unwrap_err();
    assert_eq!(gone.code(), Code::NotFound);
}

#[tokio::test]
async fn zones_are_listed_in_order_page_by_page() {
    let fixture = Fixture::founded().await;
    for name in ["b.example", "a.example", "c.example"] {
        fixture.create_zone(name).await;
    }
    let mut zones = fixture.zones();
    let mut names = Vec::new();
    let mut token = String::new();
    loop {
        let page = Some(waymark_proto::admin::v1::Page { size: 2, token });
        let listed = zones.list_zones(ListRequest { page, read: None }).await.unwrap().into_inner();
        names.extend(listed.zones.into_iter().map(|zone| zone.name));
        token = listed.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(names, ["a.example", "b.example", "c.example"]);
}

#[tokio::test]
async fn a_second_zone_of_a_name_exists_already() {
    let fixture = Fixture::founded().await;
    fixture.create_zone("a.example").await;
    let request = CreateZoneRequest { zone: Some(zone("A.example")), write: None };
    let refused = fixture.zones().create_zone(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::AlreadyExists, "{refused}");
}

#[tokio::test]
async fn obj_9_a_zone_with_profiles_stays() {
    let fixture = Fixture::furnished().await;
    let delete = DeleteRequest { name: "tm.example.com".into(), write: None };
    let refused = fixture.zones().delete_zone(delete).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
    assert!(refused.message().contains("web"), "it names the profile: {refused}");
}

#[tokio::test]
async fn a_name_that_is_none_is_refused_before_anything_is_asked() {
    let fixture = Fixture::founded().await;
    let refused = fixture.zones().get_zone(get("a..b")).await.unwrap_err();
    assert_eq!(faults(&refused), ["name: 'a..b' has an empty label"]);
}
