//! The table against looking at every address, with and without overrides.

use proptest::prelude::*;

use super::*;
use crate::geo::{DigestedTable, LocatedBy, Locator};

fn span(text: &str) -> Span {
    text.parse().expect(text)
}

fn place(code: &str) -> Place {
    Place::parse(code).expect(code)
}

fn table(ranges: &[(&str, &str)]) -> GeoTable {
    GeoTable::new(ranges.iter().map(|(text, code)| (span(text), place(code)))).unwrap()
}

fn address(text: &str) -> IpAddr {
    text.parse().expect(text)
}

fn places(codes: &[&str]) -> PlaceSet {
    codes.iter().map(|code| place(code)).collect()
}

#[test]
fn rte_8_locates_addresses() {
    let table = table(&[
        ("192.0.2.0/24", "DE"),
        ("198.51.100.0/25", "US-CA"),
        ("255.255.255.255/32", "FR"),
        ("2001:db8::/32", "GB"),
    ]);
    for (text, found) in [
        ("192.0.1.255", None),
        ("192.0.2.0", Some("DE")),
        ("192.0.2.255", Some("DE")),
        ("192.0.3.0", None),
        ("::ffff:198.51.100.127", Some("US-CA")),
        ("198.51.100.128", None),
        ("255.255.255.255", Some("FR")),
        ("2001:db8:ffff::", Some("GB")),
        ("2001:db9::", None),
        ("::", None),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None),
    ] {
        assert_eq!(table.locate(address(text)).map(Place::code), found, "{text}");
    }
}

#[test]
fn dns_10_the_span_in_which_the_same_is_true() {
    let table = table(&[
        ("10.0.0.0/24", "DE"),
        ("10.0.1.0/24", "FR"),
        ("10.0.2.0/24", "US"),
        ("10.0.4.0/24", "FR"),
        ("::/0", "GB"),
    ]);
    for (text, codes, unlocated, found) in [
        ("10.0.0.7", &["DE"][..], false, "10.0.0.0/24"),
        ("10.0.0.7", &["DE", "FR"], false, "10.0.0.0/23"),
        ("10.0.0.7", &["DE"], true, "0.0.0.0-10.0.0.255"),
        ("10.0.4.7", &["FR"], true, "10.0.3.0-255.255.255.255"),
        ("10.0.3.7", &["FR", "US", "DE"], true, "0.0.0.0/0"),
        ("10.0.3.7", &[], true, "10.0.3.0/24"),
        ("10.0.0.7", &["FR"], true, "10.0.0.7/32"),
        ("::1", &["GB"], false, "::/0"),
        ("::1", &[], true, "::1/128"),
    ] {
        let span = table.span(address(text), &places(codes), unlocated);
        assert_eq!(span.to_string(), found, "{text} {codes:?} {unlocated}");
    }
}

#[test]
fn refuses_ranges_out_of_order() {
    for ranges in [
        [("10.0.1.0/24", "DE"), ("10.0.0.0/24", "DE")],
        [("10.0.0.0/24", "DE"), ("10.0.0.255/32", "DE")],
        [("0.0.0.0/0", "DE"), ("0.0.0.0/0", "DE")],
        [("::/0", "DE"), ("::/0", "FR")],
    ] {
        let ranges = ranges.map(|(text, code)| (span(text), place(code)));
        assert_eq!(GeoTable::new(ranges), Err(OrderFault { span: ranges[1].0 }));
    }
}

#[test]
fn rte_14_the_digest_is_of_the_meaning() {
    let whole = table(&[("10.0.0.0/8", "DE"), ("2001:db8::/32", "FR")]);
    let cut = table(&[("2001:db8::/32", "FR"), ("10.0.0.0/9", "DE"), ("10.128.0.0/9", "DE")]);
    assert_eq!(whole.digest(), cut.digest());
    assert_eq!(whole, cut);
    let other = table(&[("10.0.0.0/8", "FR"), ("2001:db8::/32", "FR")]);
    assert_ne!(whole.digest(), other.digest());
    assert_eq!(whole.digest().to_string().len(), 32);
    // Pinned: members of different builds must agree.
    assert_eq!(table(&[]).digest().to_string(), "a60f52f62473f3bf1110bb35b8ee9e4d");
}

#[test]
fn rte_8_the_operator_is_asked_first() {
    let database = DigestedTable::from(table(&[("10.0.0.0/8", "DE")]));
    let overrides = RangeMap::new([(span("10.0.1.0/24"), place("FR")), (span("255.0.0.0/8"), place("US"))]);
    let locator = Locator::new(database.clone(), overrides);
    for (text, found) in [
        ("9.0.0.1", None),
        ("10.0.0.1", Some(("DE", LocatedBy::Database))),
        ("10.0.1.1", Some(("FR", LocatedBy::Override))),
        ("10.0.2.1", Some(("DE", LocatedBy::Database))),
        ("255.255.255.255", Some(("US", LocatedBy::Override))),
        ("2001:db8::1", None),
    ] {
        let location = locator.locate(address(text));
        assert_eq!(location.map(|location| (location.place.code(), location.by)), found, "{text}");
    }
    let german = |codes: &[&str]| locator.span(address("10.0.0.1"), &places(codes), false).to_string();
    assert_eq!(german(&["DE"]), "10.0.0.0/24");
    assert_eq!(german(&["DE", "FR"]), "10.0.0.0/8");
    let plain = Locator::new(database, RangeMap::default());
    assert_eq!(plain.span(address("10.0.0.1"), &places(&["DE"]), false).to_string(), "10.0.0.0/8");
}

/// The numbers that the random tables are about: enough for three levels of the tree.
const CORNER: u128 = 1_000;

/// Ranges of few places in a corner at the low or the high end, with holes.
fn any_ranges(family: Family, is_high: bool) -> impl Strategy<Value = Ranges> {
    let base = if is_high { family.max() - CORNER + 1 } else { 0 };
    prop::collection::vec((1..4_u128, 0..6_usize), 0..400).prop_map(move |steps| {
        let mut at = 0;
        let mut ranges = Vec::new();
        for (length, code) in steps {
            let last = at + length - 1;
            if last < CORNER && code > 0 {
                let place = Place::from_index(code * 50).unwrap();
                ranges.push((Span::from_numbers(family, base + at, base + last), place));
            }
            at += length;
        }
        ranges
    })
}

type Ranges = Vec<(Span, Place)>;

/// A family, the first number of a corner, and two lists of ranges in it.
fn any_corner() -> impl Strategy<Value = (Family, u128, Ranges, Ranges)> {
    (any::<bool>(), any::<bool>()).prop_flat_map(|(is_v4, is_high)| {
        let family = if is_v4 { Family::V4 } else { Family::V6 };
        let base = if is_high { family.max() - CORNER + 1 } else { 0 };
        (Just(family), Just(base), any_ranges(family, is_high), any_ranges(family, is_high))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn as_one_who_looks_at_every_address(
        (family, base, ranges, overrides) in any_corner(),
        wanted in 0..64_usize,
    ) {
        // Few overrides, so that much of the table shows between them.
        let overrides: Vec<_> = overrides.into_iter().step_by(7).collect();
        let said = |ranges: &[(Span, Place)], address| {
            ranges.iter().find(|(span, _)| span.contains(address)).map(|(_, place)| *place)
        };
        let table = GeoTable::new(ranges.iter().copied()).unwrap().with_overrides(&RangeMap::new(overrides.clone()));
        let found: Vec<Option<Place>> = (base..=base + (CORNER - 1))
            .map(|number| {
                let address = family.address(number);
                said(&overrides, address).or_else(|| said(&ranges, address))
            })
            .collect();
        let places: PlaceSet = (1..6).filter(|n| wanted >> n & 1 == 1).filter_map(|n| Place::from_index(n * 50)).collect();
        let unlocated = wanted & 1 == 1;
        let is_wanted = |place: &Option<Place>| place.map_or(unlocated, |place| places.contains(place));
        for (offset, place) in found.iter().enumerate().step_by(7) {
            let address = family.address(base + offset as u128);
            prop_assert_eq!(table.locate(address), *place);
            let span = table.span(address, &places, unlocated);
            prop_assert!(span.contains(address));
            let (first, last) = span.numbers();
            // Outside the corner nothing is located.
            let is_wanted_at = |number: u128| {
                let offset = number.checked_sub(base).and_then(|offset| usize::try_from(offset).ok());
                is_wanted(offset.and_then(|offset| found.get(offset)).unwrap_or(&None))
            };
            if !is_wanted(place) {
                prop_assert_eq!(first, last);
                continue;
            }
            prop_assert!((first.max(base)..=last.min(base + (CORNER - 1))).all(is_wanted_at));
            prop_assert!(first == 0 || !is_wanted_at(first - 1));
            prop_assert!(last == family.max() || !is_wanted_at(last + 1));
        }
    }
}
