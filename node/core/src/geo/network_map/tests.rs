//! The map against a list of its networks.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn network(text: &str) -> Network {
    text.parse().expect(text)
}

fn map(entries: &[(&str, u32)]) -> NetworkMap<u32> {
    let mut map = NetworkMap::default();
    for (text, value) in entries {
        map.insert(network(text), *value);
    }
    map
}

#[test]
fn the_longest_network_counts_where_it_holds() {
    let map = map(&[("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("10.1.2.3/32", 3), ("2001:db8::/32", 4)]);
    for (address, around, value) in [
        ("9.255.255.255", "8.0.0.0/7", None),
        ("10.0.0.0", "10.0.0.0/16", Some(1)),
        ("10.1.2.2", "10.1.2.2/32", Some(2)),
        ("10.1.2.3", "10.1.2.3/32", Some(3)),
        ("10.1.2.4", "10.1.2.4/30", Some(2)),
        ("10.2.0.0", "10.2.0.0/15", Some(1)),
        ("::ffff:10.2.0.0", "10.2.0.0/15", Some(1)),
        ("128.0.0.0", "128.0.0.0/1", None),
        ("2001:db8::1", "2001:db8::/32", Some(4)),
        ("8000::", "8000::/1", None),
    ] {
        let (found, counts) = map.longest(address.parse().expect(address));
        assert_eq!((found.to_string(), counts.copied()), (around.to_owned(), value), "{address}");
    }
    assert_eq!(NetworkMap::<u32>::default().longest("192.0.2.1".parse().unwrap()).0, network("0.0.0.0/0"));
}

/// Nodes of `link` that `other` does not share.
fn unshared<T>(link: &Link<T>, other: &[*const Node<T>]) -> usize {
    let Some(node) = link else { return 0 };
    if other.contains(&Arc::as_ptr(node)) {
        return 0;
    }
    1 + node.below.iter().map(|below| unshared(below, other)).sum::<usize>()
}

fn nodes<T>(link: &Link<T>, found: &mut Vec<*const Node<T>>) {
    if let Some(node) = link {
        found.push(Arc::as_ptr(node));
        node.below.iter().for_each(|below| nodes(below, found));
    }
}

/// An import of many batches costs each batch its own rows: what is there already is neither looked at nor copied.
#[test]
fn a_change_copies_the_way_to_its_network_alone() {
    let mut map = NetworkMap::default();
    for number in 0..2_000_u32 {
        let address = IpAddr::from((number << 8).to_be_bytes());
        map.insert(Network::around(address, 24), number);
    }
    let before = map.clone();
    let mut shared = Vec::new();
    nodes(&before.v4, &mut shared);
    map.insert(network("0.3.77.128/25"), 7);
    assert!(unshared(&map.v4, &shared) <= 32, "{}", unshared(&map.v4, &shared));
    assert_eq!((before.len(), map.len()), (2_000, 2_001));
    map.remove(&network("0.3.77.128/25"));
    assert_eq!(map, before);
}

/// Networks that often lie in each other, at the ends of the address space too.
fn networks() -> impl Strategy<Value = Network> {
    let v4 = (any::<u32>(), 0_u8..=32).prop_map(|(bits, prefix)| {
        let bits = if bits & 1 == 0 { bits & 0x8001_0003 } else { bits | 0xffff_fff0 };
        Network::around(IpAddr::from(bits.to_be_bytes()), prefix)
    });
    let v6 = (any::<u128>(), 0_u8..=128).prop_map(|(bits, prefix)| {
        Network::around(IpAddr::from((bits & (0b11 << 126 | 0b101)).to_be_bytes()), prefix)
    });
    prop_oneof![3 => v4, 1 => v6]
}

proptest! {
    #[test]
    fn as_a_look_at_every_network_says(
        steps in vec((networks(), prop::option::weighted(0.7, any::<u32>())), 0..60),
        asked in vec(networks(), 20),
    ) {
        let (mut map, mut list) = (NetworkMap::default(), BTreeMap::new());
        for (network, value) in steps {
            match value {
                Some(value) => prop_assert_eq!(map.insert(network, value), list.insert(network, value)),
                None => prop_assert_eq!(map.remove(&network), list.remove(&network)),
            }
            prop_assert_eq!(map.len(), list.len());
        }
        let mut again = NetworkMap::default();
        for (network, value) in list.iter().rev() {
            again.insert(*network, *value);
        }
        prop_assert_eq!(&map, &again);
        prop_assert!(map.iter().eq(list.iter()));
        for asked in asked {
            prop_assert_eq!(map.get(&asked), list.get(&asked));
            prop_assert!(map.behind(Some(&asked)).eq(list.iter().filter(|(network, _)| **network > asked)));
            let address = asked.address();
            let holds = |network: &Network| network.contains(address);
            let longest = list.keys().filter(|network| holds(network)).max_by_key(|network| network.prefix());
            let (around, found) = map.longest(address);
            prop_assert_eq!(found, longest.and_then(|longest| list.get(longest)));
            // Whatever else lies in a network holds none of it where that is as it should be, and some one bit above.
            let is_alike = |around: &Network| {
                longest.is_none_or(|longest| longest.prefix() <= around.prefix())
                    && !list.keys().any(|other| {
                        Some(other) != longest && around.contains(other.address()) && other.prefix() >= around.prefix()
                    })
            };
            prop_assert!(around.contains(address) && is_alike(&around), "{} around {}", around, address);
            if around.prefix() > 0 {
                let wider = Network::around(address, around.prefix() - 1);
                prop_assert!(!is_alike(&wider), "{} is not the largest around {}", around, address);
            }
        }
    }
}
