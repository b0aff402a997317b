//! The map against looking through every entry.

use proptest::prelude::*;

use super::*;
use crate::model::Network;

fn map(entries: &[(&str, u32)]) -> RangeMap<u32> {
    RangeMap::new(entries.iter().map(|(span, value)| (span.parse::<Span>().expect(span), *value)))
}

fn get(map: &RangeMap<u32>, address: &str) -> (String, Option<u32>) {
    let (span, value) = map.get(address.parse().expect(address));
    (span.to_string(), value.copied())
}

#[test]
fn the_most_specific_entry_counts_where_it_holds() {
    let map = map(&[("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("10.1.2.3/32", 3), ("2001:db8::/32", 4)]);
    for (address, span, value) in [
        ("9.255.255.255", "0.0.0.0-9.255.255.255", None),
        ("10.0.0.0", "10.0.0.0/16", Some(1)),
        ("10.1.2.2", "10.1.0.0-10.1.2.2", Some(2)),
        ("10.1.2.3", "10.1.2.3/32", Some(3)),
        ("10.1.2.4", "10.1.2.4-10.1.255.255", Some(2)),
        ("10.2.0.0", "10.2.0.0-10.255.255.255", Some(1)),
        ("::ffff:10.2.0.0", "10.2.0.0-10.255.255.255", Some(1)),
        ("11.0.0.0", "11.0.0.0-255.255.255.255", None),
        ("2001:db8::1", "2001:db8::/32", Some(4)),
        ("::", "::-2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", None),
    ] {
        assert_eq!(get(&map, address), (span.to_owned(), value), "{address}");
    }
}

#[test]
fn the_ends_of_the_address_space() {
    let everything = map(&[("0.0.0.0/0", 1), ("255.255.255.255/32", 2), ("::/0", 3)]);
    assert_eq!(get(&everything, "255.255.255.255"), ("255.255.255.255/32".into(), Some(2)));
    assert_eq!(get(&everything, "255.255.255.254"), ("0.0.0.0-255.255.255.254".into(), Some(1)));
    assert_eq!(get(&everything, "ffff::"), ("::/0".into(), Some(3)));
    let nothing = map(&[]);
    assert!(nothing.is_empty());
    assert_eq!(get(&nothing, "::1"), ("::/0".into(), None));
    assert_eq!(get(&nothing, "1.1.1.1"), ("0.0.0.0/0".into(), None));
}

#[test]
fn the_last_of_equal_spans_counts() {
    let map = map(&[("10.0.0.0/8", 1), ("10.0.0.0-10.255.255.255", 2), ("11.0.0.0/8", 2)]);
    assert_eq!(get(&map, "10.0.0.1"), ("10.0.0.0/8".into(), Some(2)), "the span is that of one entry");
}

/// Every address of a small corner; spans may overlap in any way.
fn any_entries() -> impl Strategy<Value = Vec<(Span, u32)>> {
    let corner = |(one, other): (u128, u128)| {
        Span::from_numbers(
            Family::V4,
            u128::from(u32::MAX) - one.max(other),
            u128::from(u32::MAX) - one.min(other),
        )
    };
    prop::collection::vec((0..64_u128, 0..64_u128).prop_map(corner), 0..12)
        .prop_map(|spans| spans.into_iter().zip(0..).collect())
}

proptest! {
    #[test]
    fn as_one_who_looks_at_every_entry(entries in any_entries()) {
        let map = RangeMap::new(entries.clone());
        let counts = |address: IpAddr| {
            let size = |span: &Span| span.numbers().1 - span.numbers().0;
            let holding = entries.iter().filter(|(span, _)| span.contains(address));
            holding.min_by_key(|(span, value)| (size(span), Reverse(*value))).map(|(_, value)| *value)
        };
        let address = |number: u128| Family::V4.address(number);
        for number in u128::from(u32::MAX) - 70..=u128::from(u32::MAX) {
            let (span, value) = map.get(address(number));
            let value = value.copied();
            prop_assert_eq!(value, counts(address(number)));
            prop_assert!(span.contains(address(number)));
            let (first, last) = span.numbers();
            prop_assert!((first.max(number - 100)..=last).all(|each| counts(address(each)) == value));
            prop_assert!(first == 0 || counts(address(first - 1)) != value);
            prop_assert!(last == Family::V4.max() || counts(address(last + 1)) != value);
        }
    }
}

#[test]
fn many_entries_are_flattened_at_once() {
    // A chain of networks inside each other beside one of every /24: a quadratic way would take minutes.
    let chain = (0..=32).map(|prefix| (Network::around("10.77.77.77".parse().unwrap(), prefix), 0));
    let flat = (0..100_000_u32).map(|n| (Network::around(IpAddr::V4((n << 8).into()), 24), n));
    let map = RangeMap::new(chain.chain(flat));
    assert_eq!(map.get("10.77.77.77".parse().unwrap()).0.to_string(), "10.77.77.77/32");
    assert_eq!(map.get("0.0.7.1".parse().unwrap()).1, Some(&7));
    assert_eq!(map.get("0.0.7.1".parse().unwrap()).0.to_string(), "0.0.7.0/24");
}
