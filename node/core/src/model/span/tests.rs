//! Spans read, shown, compared and merged; and the prefix around an address against counting.

use proptest::prelude::*;

use super::*;

fn span(text: &str) -> Span {
    text.parse().expect(text)
}

fn address(text: &str) -> IpAddr {
    text.parse().expect(text)
}

#[test]
fn set_16_reads_networks_and_ranges() {
    for (text, shown) in [
        ("198.51.100.0/24", "198.51.100.0/24"),
        ("198.51.100.0-198.51.100.255", "198.51.100.0/24"),
        ("198.51.100.7-198.51.100.7", "198.51.100.7/32"),
        ("198.51.100.7-198.51.101.2", "198.51.100.7-198.51.101.2"),
        ("0.0.0.0-255.255.255.255", "0.0.0.0/0"),
        ("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::/0"),
        ("2001:db8::1-2001:db8::2", "2001:db8::1-2001:db8::2"),
        ("2001:db8::/128", "2001:db8::/128"),
        ("::ffff:198.51.100.1-::ffff:198.51.100.2", "198.51.100.1-198.51.100.2"),
    ] {
        assert_eq!(span(text).to_string(), shown);
        assert_eq!(span(shown), span(text));
    }
}

#[test]
fn set_16_refuses_with_a_reason() {
    for (text, reason) in [
        (
            "198.51.100.7",
            "'198.51.100.7' is neither a network, as in 198.51.100.0/24, nor a range, as in 198.51.100.1-198.51.100.9",
        ),
        (
            "198.51.100.7/24",
            "'198.51.100.7/24' has bits set behind its prefix; did you mean 198.51.100.0/24?",
        ),
        ("198.51.100.9-198.51.100.8", "198.51.100.9-198.51.100.8 ends before it begins"),
        ("2001:db8::2-2001:db8::1", "2001:db8::2-2001:db8::1 ends before it begins"),
        ("198.51.100.9-::1", "198.51.100.9-::1 begins with one family of addresses and ends with the other"),
        ("198.51.100.9-", "'' is no IPv4 or IPv6 address"),
        ("-1", "'' is no IPv4 or IPv6 address"),
        ("198.51.100.1-2", "'2' is no IPv4 or IPv6 address"),
        ("1-2/3", "'1-2' is no IPv4 or IPv6 address"),
    ] {
        assert_eq!(text.parse::<Span>().expect_err(text).to_string(), reason);
    }
}

#[test]
fn set_16_both_ends_belong_to_it() {
    let range = span("198.51.100.7-198.51.101.2");
    for (text, inside) in [
        ("198.51.100.6", false),
        ("198.51.100.7", true),
        ("198.51.101.2", true),
        ("198.51.101.3", false),
        ("::ffff:198.51.100.7", true),
        ("::c633:6407", false),
    ] {
        assert_eq!(range.contains(address(text)), inside, "{text}");
    }
    assert_eq!((range.first(), range.last()), (address("198.51.100.7"), address("198.51.101.2")));
}

#[test]
fn set_16_overlaps_and_merges() {
    for (one, other, both, merged) in [
        ("10.0.0.0/24", "10.0.1.0/24", None, Some("10.0.0.0/23")),
        ("10.0.0.0/24", "10.0.0.128-10.0.1.7", Some("10.0.0.128/25"), Some("10.0.0.0-10.0.1.7")),
        ("10.0.0.0/24", "10.0.0.7/32", Some("10.0.0.7/32"), Some("10.0.0.0/24")),
        ("10.0.0.0/24", "10.0.1.1/32", None, None),
        ("0.0.0.0/1", "128.0.0.0/1", None, Some("0.0.0.0/0")),
        ("255.255.255.255/32", "0.0.0.0/32", None, None),
        ("::/1", "8000::/1", None, Some("::/0")),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", "::/128", None, None),
        ("0.0.0.0/0", "::/0", None, None),
    ] {
        let (a, b) = (span(one), span(other));
        for (a, b) in [(a, b), (b, a)] {
            assert_eq!(a.intersect(&b), both.map(span), "{a} and {b}");
            assert_eq!(a.overlaps(&b), both.is_some(), "{a} and {b}");
            assert_eq!(a.merge(&b), merged.map(span), "{a} and {b}");
        }
    }
}

/// F-DNS-15.
#[test]
fn dns_10_the_shortest_prefix_that_lies_within() {
    for (within, around, prefix) in [
        ("0.0.0.0/0", "198.51.100.7", 0),
        ("::/0", "2001:db8::1", 0),
        ("198.51.100.0/24", "198.51.100.7", 24),
        ("198.51.100.0/24", "198.51.101.7", 32),
        ("198.51.100.7/32", "198.51.100.7", 32),
        ("198.51.100.0-198.51.100.254", "198.51.100.7", 25),
        ("198.51.100.0-198.51.100.254", "198.51.100.254", 32),
        ("198.51.100.0-198.51.100.254", "198.51.100.252", 31),
        ("0.0.0.1-255.255.255.255", "128.0.0.0", 1),
        ("2001:db8::/48", "2001:db8::1", 48),
        ("2001:db8::1/128", "2001:db8::1", 128),
        ("::/0", "198.51.100.7", 32),
        ("0.0.0.0/0", "::1", 128),
    ] {
        assert_eq!(span(within).prefix_around(address(around)), prefix, "{around} in {within}");
    }
    assert_eq!(Span::everything(Family::V4), span("0.0.0.0/0"));
    assert_eq!(Span::everything(Family::V6), span("::/0"));
}

/// Spans of few numbers, at the low end, around the middle and at the high end, so that they meet often.
fn any_span() -> impl Strategy<Value = Span> {
    (any::<bool>(), 0..3_u8, 0..64_u128, 0..64_u128).prop_map(|(is_v4, place, one, other)| {
        let family = if is_v4 { Family::V4 } else { Family::V6 };
        let base = [0, family.max() / 2 - 31, family.max() - 63][usize::from(place)];
        Span::from_numbers(family, base + one.min(other), base + one.max(other))
    })
}

proptest! {
    #[test]
    fn text_leads_back(a in any_span()) {
        prop_assert_eq!(a.to_string().parse(), Ok(a));
    }

    #[test]
    fn sets_behave_as_sets(a in any_span(), b in any_span()) {
        let common = a.intersect(&b);
        let all: Vec<IpAddr> = [a, b].iter().flat_map(addresses).collect();
        for &address in &all {
            let in_both = a.contains(address) && b.contains(address);
            prop_assert_eq!(common.is_some_and(|common| common.contains(address)), in_both);
        }
        if let Some(merged) = a.merge(&b) {
            prop_assert!(all.iter().all(|address| merged.contains(*address)));
            prop_assert!(addresses(&merged).all(|address| a.contains(address) || b.contains(address)));
        }
    }

    #[test]
    fn dns_10_no_shorter_prefix_would_do(a in any_span(), step in 0..64_u128) {
        let address = a.family.address(a.first + step.min(a.last - a.first));
        let prefix = a.prefix_around(address);
        let around = Span::from(Network::around(address, prefix));
        prop_assert_eq!(a.intersect(&around), Some(around));
        if prefix > 0 {
            let wider = Span::from(Network::around(address, prefix - 1));
            prop_assert_ne!(a.intersect(&wider), Some(wider));
        }
    }
}

fn addresses(span: &Span) -> impl Iterator<Item = IpAddr> {
    let family = span.family;
    (span.first..=span.last).map(move |number| family.address(number))
}
