//! Regions, method by method.

use tonic::Code;
use waymark_proto::admin::v1::{DeleteRequest, ListRequest, Page, Region, SetRegionRequest};

use super::fixture::{Fixture, at_revision, faults};

fn eu() -> Region {
    Region { name: "eu".into(), latitude: 50.11, longitude: 8.68, revision: 0 }
}

#[tokio::test]
async fn a_region_is_set_moved_listed_and_deleted() {
    let fixture = Fixture::founded().await;
    let mut regions = fixture.regions();
    let set = |region| SetRegionRequest { region: Some(region), write: None };
    regions.set_region(set(eu())).await.unwrap();
    regions.set_region(set(Region { name: "us".into(), ..eu() })).await.unwrap();
    let moved = Region { longitude: 8.7, ..eu() };
    let written = regions.set_region(set(moved.clone())).await.unwrap().into_inner();

    let request = ListRequest { page: Some(Page { size: 1, token: String::new() }), read: None };
    let listed = regions.list_regions(request).await.unwrap().into_inner();
    assert_eq!(listed.regions, [Region { revision: written.revision, ..moved }]);
    assert_eq!(listed.next_page_token, "eu");

    let delete = |write| DeleteRequest { name: "EU".into(), write };
    let refused = regions.delete_region(delete(at_revision(1))).await.unwrap_err();
    assert_eq!(refused.code(), Code::Aborted, "OBJ-8");
    regions.delete_region(delete(at_revision(written.revision))).await.unwrap();
    let listed = regions.list_regions(ListRequest::default()).await.unwrap().into_inner();
    assert_eq!(listed.regions.len(), 1);
}

#[tokio::test]
async fn val_1_every_fault_of_a_region_is_found() {
    let fixture = Fixture::founded().await;
    let mut regions = fixture.regions();
    let region = Region { name: "e u".into(), latitude: 91.0, longitude: f64::NAN, revision: 0 };
    let request = SetRegionRequest { region: Some(region), write: at_revision(1) };
    let faults = faults(&regions.set_region(request).await.unwrap_err());
    for field in ["write.if_revision", "latitude", "longitude", "name"] {
        assert!(faults.iter().any(|fault| fault.starts_with(field)), "{field} in {faults:?}");
    }
}

#[tokio::test]
async fn obj_9_a_region_in_use_stays() {
    let fixture = Fixture::furnished().await;
    let request = DeleteRequest { name: "eu".into(), write: None };
    let refused = fixture.regions().delete_region(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
    assert!(refused.message().contains("a1"), "{refused}");
}
