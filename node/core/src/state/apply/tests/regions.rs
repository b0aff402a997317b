//! Regions of the operator's own, and those of clouds, which need no declaring (SET-14, OBJ-9).

use super::*;

const FRANKFURT: &str = "aws:eu-central-1";

fn at(location: &str) -> EndpointPatch {
    EndpointPatch { location: Edit::Set(location.into()), ..target("192.0.2.1") }
}

fn point(cluster: &Cluster, name: &str) -> Option<i32> {
    cluster.state.region(&name.into()).map(|region| region.point.latitude_e6)
}

#[test]
fn set_14_a_clouds_region_is_known_without_being_declared() {
    let mut cluster = Cluster::with_web(1);
    cluster.apply(update_endpoint("e1", at("AWS:eu-central-1"))).unwrap();
    let location = cluster.profile("web").endpoints[0].location.clone();
    assert_eq!(location.unwrap().as_str(), FRANKFURT, "under the letters of the cloud");
    cluster.open("a1", "gcp:europe-west3", 1);
    assert_eq!(point(&cluster, FRANKFURT), Some(50_110_000));
    assert_eq!(point(&cluster, "aws:eu-central-9"), None);
    let fault = faults(cluster.apply(update_endpoint("e1", at("aws:eu-centrl-1"))));
    assert_eq!(fault, ["location: there is no region 'aws:eu-centrl-1'; did you mean 'aws:eu-central-1'?"]);
    assert!(matches!(
        cluster.apply(open_session("a2", "aws:eu-central-", 1)),
        Err(Rejection::NotFound { noun: "region", hint: Some(_), .. })
    ));
}

#[test]
fn obj_9_declaring_a_clouds_region_moves_it() {
    let mut cluster = Cluster::with_web(1);
    cluster.apply(Action::SetRegion(region_at("AWS:EU-central-1", 51_000_000))).unwrap();
    assert_eq!(cluster.state.regions[&Caseless::new(FRANKFURT)].name.as_str(), FRANKFURT);
    assert_eq!(point(&cluster, FRANKFURT), Some(51_000_000));
    cluster.apply(update_endpoint("e1", at(FRANKFURT))).unwrap();
    let delete = |name: &str| Action::DeleteRegion { name: name.into(), if_revision: None };
    cluster.apply(delete(FRANKFURT)).unwrap();
    assert_eq!(point(&cluster, FRANKFURT), Some(50_110_000), "it moves back");
    assert!(cluster.apply(delete(FRANKFURT)).is_err(), "there is nothing of the operator's to delete");
    cluster.apply(update_endpoint("e1", at("r1"))).unwrap();
    assert!(matches!(cluster.apply(delete("r1")), Err(Rejection::InUse { .. })));
}
