//! What a lookup costs: `cargo test --release -p waymark-core -- --ignored --nocapture geo::figures`.

#![expect(clippy::print_stdout, reason = "figures are there to be read")]

use std::hint::black_box;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::{GeoTable, RangeMap};
use crate::model::{Family, Network, Place, PlaceSet, Span};

/// Ranges of each family: as many as a database of countries has.
const RANGES: u128 = 350_000;

/// Addresses that are asked for.
const QUERIES: usize = 4_000_000;

/// The least that is promised: 20 million lookups a second on one core.
const NS_MAX: u128 = 50;

/// A generator of numbers that look random and are the same in every run (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A table whose ranges lie everywhere in IPv4, and in 2000::/6 of IPv6.
fn table(numbers: &mut Numbers) -> GeoTable {
    let ranges =
        [(Family::V4, 0, 12), (Family::V6, 0x20 << 120, 103)].into_iter().flat_map(|(family, base, bits)| {
            let mut at: u128 = base;
            (0..RANGES)
                .map(|_| {
                    let place = Place::from_index(numbers.next() as usize % Place::COUNT).unwrap();
                    let length = (u128::from(numbers.next()) % 23 + 1) << (bits - 3);
                    at += length;
                    (Span::from_numbers(family, at - length, at - 1), place)
                })
                .collect::<Vec<_>>()
        });
    GeoTable::new(ranges).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a figure is measured by the clock")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let done = work();
    (done, started.elapsed())
}

/// Nanoseconds for each address, in the best of many short runs: what other processes take of the core is not counted.
fn nanoseconds(addresses: &[IpAddr], mut work: impl FnMut(&IpAddr)) -> u128 {
    /// Short enough to pass between two turns of other processes, long enough for the clock.
    const RUN: usize = 20_000;
    let runs = addresses.chunks_exact(RUN);
    let took = runs.map(|run| timed(|| run.iter().for_each(&mut work)).1.as_nanos());
    took.min().expect("there is a run at least") / RUN as u128
}

#[test]
#[ignore = "measures: run it in release"]
fn lookups_and_building() {
    let mut numbers = Numbers(1);
    let (table, built) = timed(|| table(&mut numbers));
    println!("a table of 2 x {RANGES} ranges is built in {} ms", built.as_millis());
    let v4: Vec<IpAddr> = (0..QUERIES).map(|_| Family::V4.address((numbers.next() >> 32).into())).collect();
    let in_use = |number: u64| 0x20 << 120 | u128::from(number) << 62;
    let v6: Vec<IpAddr> = (0..QUERIES).map(|_| Family::V6.address(in_use(numbers.next()))).collect();
    for (family, addresses) in [("IPv4", &v4), ("IPv6", &v6)] {
        let locate = nanoseconds(addresses, |each| {
            black_box(table.locate(*each));
        });
        println!("locate {family}: {locate} ns");
        assert!(family != "IPv4" || locate <= NS_MAX, "{locate} ns are more than {NS_MAX}");
        for (name, wanted) in [
            ("half of the places", Place::all().filter(|place| place.index() % 2 == 0).collect()),
            ("all places", Place::all().collect::<PlaceSet>()),
        ] {
            let span = nanoseconds(addresses, |each| {
                black_box(table.span(*each, &wanted, true).prefix_around(*each));
            });
            println!("span and prefix {family}, {name}: {span} ns");
        }
    }
    let networks: Vec<(Network, u32)> =
        (0..100_000).map(|n| (Network::around(v4[n], 16 + (n % 17) as u8), n as u32)).collect();
    let (map, built) = timed(|| RangeMap::new(networks));
    println!("a map of 100000 networks is built in {} ms", built.as_millis());
    let get = nanoseconds(&v4, |each| {
        black_box(map.get(*each));
    });
    println!("get: {get} ns");
}
