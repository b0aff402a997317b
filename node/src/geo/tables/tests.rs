//! Which tables a member has, and that a bad file changes nothing.

use super::*;
use crate::geo::fixture::{Mmdb, country};

fn code(table: &NamedTable) -> Option<&'static str> {
    table.digested.table.locate("10.1.1.1".parse().unwrap()).map(|place| place.code())
}

/// What the operator gave, the newest first.
fn codes(tables: &GeoTables) -> Vec<Option<&'static str>> {
    tables.all().iter().skip(1).map(|table| code(table)).collect()
}

fn load(tables: &GeoTables, path: &Path, place: &'static str, in_use: &[GeoDigest]) -> GeoDigest {
    std::fs::write(path, Mmdb::of("country").with("10.0.0.0/8", country(place)).bytes()).unwrap();
    tables.load(path, || in_use.to_vec()).unwrap().digested.digest
}

#[test]
fn rte_14_the_newest_tables_and_the_one_in_use_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("geo.mmdb");
    let tables = Arc::new(GeoTables::open(folder.path()));
    assert_eq!(tables.all()[0].source, embedded::SOURCE);
    let source = tables.source();
    let first = load(&tables, &path, "FR", &[]);
    assert_eq!(source(Some(first)).map(|table| table.digest), Some(first));
    let others = ["DE", "US", "JP"].map(|place| load(&tables, &path, place, &[first]));
    assert_eq!(codes(&tables), [Some("JP"), Some("US"), Some("FR")]);
    assert!(source(Some(others[0])).is_none(), "the oldest is forgotten");
    assert_eq!(source(None).map(|table| table.digest), Some(embedded::DIGEST));
    assert_eq!(
        tables.load(&path, || vec![first]).unwrap().digested.digest,
        others[2],
        "the same file once more"
    );
    let again = GeoTables::open(folder.path());
    assert_eq!(again.all().len(), tables.all().len());
    assert_eq!(
        again.get(Some(others[2])).map(|table| table.source.clone()),
        Some(path.display().to_string())
    );
}

#[test]
fn rte_14_a_table_outlives_the_file_that_it_was_read_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("geo.mmdb");
    let digest = load(&GeoTables::open(folder.path()), &path, "FR", &[]);
    std::fs::remove_file(&path).unwrap();
    let again = GeoTables::open(folder.path());
    assert_eq!(
        again.get(Some(digest)).map(|table| (code(&table), table.built)),
        Some((Some("FR"), 1_700_000_000))
    );
    let file = folder.path().join(kept::FOLDER).join(format!("{digest}.geo"));
    let bytes = std::fs::read(&file).unwrap();
    for damaged in [&bytes[..bytes.len() - 1], &bytes[..5], b""] {
        std::fs::write(&file, damaged).unwrap();
        assert!(GeoTables::open(folder.path()).get(Some(digest)).is_none());
    }
    let text = String::from_utf8_lossy(&bytes).replace("FR", "DE");
    std::fs::write(&file, text.as_bytes()).unwrap();
    assert!(GeoTables::open(folder.path()).get(Some(digest)).is_none(), "its digest is another");
}

#[test]
fn f_sec_07_a_bad_file_is_refused_and_the_old_one_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("geo.mmdb");
    let tables = GeoTables::open(folder.path());
    load(&tables, &path, "FR", &[]);
    let good = std::fs::read(&path).unwrap();
    for bad in [&good[..good.len() / 2], &good[..1], b""] {
        std::fs::write(&path, bad).unwrap();
        assert!(tables.load(&path, Vec::new).is_err());
        assert_eq!(codes(&tables), [Some("FR")]);
    }
    std::fs::remove_file(&path).unwrap();
    assert!(tables.load(&path, Vec::new).is_err());
    assert_eq!(codes(&tables), [Some("FR")]);
}
