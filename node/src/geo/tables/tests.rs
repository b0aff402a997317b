//! Which table is the newest, and that a bad file changes nothing.

use super::*;
use crate::geo::fixture::{Mmdb, country};

fn code(table: &NamedTable) -> Option<&'static str> {
    table.table.locate("10.1.1.1".parse().unwrap()).map(|place| place.code())
}

#[test]
fn rte_14_tables_are_found_by_digest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("geo.mmdb");
    let tables = GeoTables::default();
    let embedded = tables.newest();
    assert_eq!(embedded.source, embedded::SOURCE);
    let mut digests = [embedded.digest; 4];
    for (number, place) in ["FR", "DE", "US"].into_iter().enumerate() {
        std::fs::write(&path, Mmdb::of("country").with("10.0.0.0/8", country(place)).bytes()).unwrap();
        let loaded = tables.load(&path).unwrap();
        assert_eq!((code(&loaded), tables.newest().digest), (Some(place), loaded.digest));
        digests[number + 1] = loaded.digest;
    }
    let kept = digests.map(|digest| tables.get(digest).map(|table| code(&table)));
    assert_eq!(kept, [Some(None), None, Some(Some("DE")), Some(Some("US"))], "the newest and the one before");
    assert_eq!(tables.load(&path).unwrap().digest, digests[3], "the same file once more");
    assert!(tables.get(digests[2]).is_some());
}

#[test]
fn f_sec_07_a_bad_file_is_refused_and_the_old_one_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("geo.mmdb");
    let tables = GeoTables::default();
    let good = Mmdb::of("country").with("10.0.0.0/8", country("FR")).bytes();
    std::fs::write(&path, &good).unwrap();
    let loaded = tables.load(&path).unwrap().digest;
    for bad in [&good[..good.len() / 2], &good[..1], b""] {
        std::fs::write(&path, bad).unwrap();
        assert!(tables.load(&path).is_err());
        assert_eq!(tables.newest().digest, loaded);
    }
    std::fs::remove_file(&path).unwrap();
    assert!(tables.load(&path).is_err());
    assert_eq!(tables.newest().digest, loaded);
}
