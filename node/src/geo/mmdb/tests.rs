//! Databases written for the purpose: good ones of either schema, and every way of being bad.

use std::net::IpAddr;

use super::*;
use crate::geo::fixture::{Mmdb, country, nested};

fn located(database: &GeoFile, address: &str) -> Option<&'static str> {
    database.table.locate(address.parse::<IpAddr>().unwrap()).map(Place::code)
}

#[test]
fn rte_8_reads_the_nested_schema() {
    let bytes = Mmdb::of("GeoIP2-City")
        .with("10.0.0.0/8", nested("US", Some("CA")))
        .with("11.0.0.0/8", nested("DE", Some("HE")))
        .with("2001:db8::/32", nested("UA", Some("43")))
        .bytes();
    let database = table_of(bytes).unwrap();
    assert_eq!(database.built, 1_700_000_000);
    for (address, code) in [
        ("9.255.255.255", None),
        ("10.0.0.0", Some("US-CA")),
        ("10.255.255.255", Some("US-CA")),
        ("11.1.1.1", Some("DE")),
        ("12.0.0.0", None),
        ("::ffff:10.1.1.1", Some("US-CA")),
        ("2001:db8::1", Some("UA-CR")),
        ("2001:db9::1", None),
    ] {
        assert_eq!(located(&database, address), code, "{address}");
    }
}

#[test]
fn rte_8_reads_the_flat_schema_and_notes_foreign_codes() {
    let bytes =
        Mmdb::of("country").with("10.0.0.0/8", country("FR")).with("11.0.0.0/8", country("EH")).bytes();
    let database = table_of(bytes).unwrap();
    assert_eq!(located(&database, "10.1.1.1"), Some("FR"));
    assert_eq!(located(&database, "11.1.1.1"), None);
    assert_eq!(database.unknown, BTreeSet::from(["EH".to_owned()]));
}

#[test]
fn f_sec_07_a_file_about_something_else_is_refused() {
    let asn = [("autonomous_system_organization", "EXAMPLE")].as_slice().into();
    let bytes = Mmdb::of("GeoLite2-ASN").with("10.0.0.0/8", asn).bytes();
    assert_eq!(table_of(bytes).unwrap_err(), Wrong::NoCountries("GeoLite2-ASN".into()));
    assert_eq!(table_of(Mmdb::of("country").bytes()).unwrap_err(), Wrong::NoCountries("country".into()));
}

#[test]
fn f_sec_07_a_damaged_file_is_refused_and_never_panics() {
    let good = Mmdb::of("country").with("10.0.0.0/8", country("FR")).with("::/2", country("DE")).bytes();
    for length in 0..good.len() {
        assert!(table_of(good[..length].to_vec()).is_err(), "{length} bytes of {}", good.len());
    }
    for at in 0..good.len() {
        for byte in [0, 1, 0x7f, 0xff, good[at] ^ 0x20] {
            let mut damaged = good.clone();
            damaged[at] = byte;
            // Some damage leaves another good database; none may panic or go on for ever.
            let _ = table_of(damaged);
        }
    }
}

#[test]
fn f_sec_07_a_tree_whose_branches_meet_is_refused() {
    let bytes = Mmdb::of("country").with("10.0.0.0/8", country("FR")).knotted();
    assert_eq!(
        table_of(bytes).unwrap_err(),
        Wrong::Broken("the branches of its tree lead into each other".into())
    );
}

#[test]
fn f_sec_07_what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent.mmdb");
    let error = read(&absent).unwrap_err().to_string();
    assert!(error.starts_with(&absent.display().to_string()) && !error.contains('\n'), "{error}");
    for (name, bytes) in
        [("empty.mmdb", b"".as_slice()), ("tiny.mmdb", b"x"), ("text.mmdb", b"not a database\n")]
    {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("is no whole database"), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    assert!(read(folder.path()).is_err(), "a folder");
}
