//! The choice of the geo table, and overrides.

use super::*;
use crate::geo::GeoDigest;

fn set(network: &str, place: &str) -> Action {
    Action::SetGeoOverride { network: network.into(), place: place.into() }
}

fn delete(network: &str, if_revision: Option<u64>) -> Action {
    Action::DeleteGeoOverride { network: network.into(), if_revision: if_revision.map(Revision) }
}

fn code(cluster: &Cluster, address: &str) -> Option<&'static str> {
    cluster.view.locator.locate(address.parse().unwrap()).map(|location| location.place.code())
}

#[test]
fn rte_8_the_most_specific_override_counts_and_ends_when_it_is_deleted() {
    let mut cluster = Cluster::new();
    cluster.apply(set("10.0.0.0/8", "DE")).unwrap();
    cluster.apply(set("10.1.0.0/16", "us-ca")).unwrap();
    cluster.apply(set("2001:db8::/32", "GEO-EU")).unwrap();
    let codes =
        |cluster: &Cluster| ["10.2.0.1", "10.1.0.1", "2001:db8::1", "11.0.0.1"].map(|at| code(cluster, at));
    assert_eq!(codes(&cluster), [Some("DE"), Some("US-CA"), Some("GEO-EU"), None]);
    let revision = cluster.state.counter;
    assert_eq!(cluster.apply(set("10.0.0.0/8", "de")).unwrap().revision, revision, "nothing is different");
    let mismatch = cluster.apply(delete("10.1.0.0/16", Some(1)));
    assert!(matches!(mismatch, Err(Rejection::RevisionMismatch { .. })), "{mismatch:?}");
    cluster.apply(delete("10.1.0.0/16", None)).unwrap();
    assert_eq!(codes(&cluster), [Some("DE"), Some("DE"), Some("GEO-EU"), None]);
    let missing = cluster.apply(delete("10.1.0.0/16", None)).unwrap_err();
    assert_eq!(missing.to_string(), "there is no geo override '10.1.0.0/16'");
}

#[test]
fn val_1_a_bad_override_is_refused_with_all_its_faults() {
    let mut cluster = Cluster::new();
    let faults = faults(cluster.apply(set("10.0.0.1/8", "DEU")));
    assert_eq!(
        faults,
        [
            "network: '10.0.0.1/8' has bits set behind its prefix; did you mean 10.0.0.0/8?",
            "place: 'DEU' is no code of a place (did you mean DE, Germany?)"
        ]
    );
}

#[test]
fn rte_14_the_table_in_use_is_named_by_its_digest() {
    let mut cluster = Cluster::new();
    let choose = |digest, if_revision| Action::UseGeo { digest, if_revision };
    let first = cluster.apply(choose(Some(GeoDigest(7)), None)).unwrap().revision;
    assert_eq!(cluster.state.geography.table, Some(GeoDigest(7)));
    assert_eq!(cluster.apply(choose(Some(GeoDigest(7)), Some(first))).unwrap().revision, first);
    let stale = cluster.apply(choose(None, Some(Revision(1))));
    assert!(matches!(stale, Err(Rejection::RevisionMismatch { .. })), "{stale:?}");
    cluster.apply(choose(None, Some(first))).unwrap();
    assert_eq!(cluster.state.geography.table, None);
}
