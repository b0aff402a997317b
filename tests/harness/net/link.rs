//! What becomes of packets between hosts, by pair and direction. Pure: time and chance are handed in.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::chance::Chance;

/// What a link does to the packets of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Nothing passes.
    pub cut: bool,
    /// So many of a hundred get lost.
    pub loss: u64,
    /// So many of a hundred arrive twice.
    pub duplication: u64,
    /// So many of a hundred overtake those that are under way.
    pub reordering: u64,
    /// How long a packet is under way.
    pub delay: Duration,
    /// By how much that varies, either way.
    pub jitter: Duration,
    /// So many bytes in a second, and no more; the rest waits, and is lost if it would wait too long.
    pub rate: Option<u64>,
}

/// Longest that a packet waits for its turn on a link that is throttled: a router's full queue.
const TURN_MAX: Duration = Duration::from_secs(3);

/// What became of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Went through.
    pub passed: u64,
    /// Met a cut.
    pub cut: u64,
    /// Were lost.
    pub lost: u64,
    /// Went through twice.
    pub duplicated: u64,
    /// Overtook others.
    pub reordered: u64,
    /// Waited for their turn.
    pub throttled: u64,
}

impl std::ops::Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            cut: self.cut + other.cut,
            lost: self.lost + other.lost,
            duplicated: self.duplicated + other.duplicated,
            reordered: self.reordered + other.reordered,
            throttled: self.throttled + other.throttled,
        }
    }
}

/// From a host to a host.
pub type Direction = (u8, u8);

#[derive(Debug, Default)]
struct Link {
    /// Other than usual.
    conditions: Option<Conditions>,
    counts: Counts,
    /// When the last of those packets arrives that keep their order.
    latest: Duration,
    /// When the packets that were let through so far have left.
    free: Duration,
}

impl Link {
    /// When the last of so many bytes has left that come `now`; never if the queue is full.
    fn turn(&mut self, bytes: usize, rate: Option<u64>, now: Duration) -> Option<Duration> {
        let Some(rate) = rate else { return Some(now) };
        let begins = self.free.max(now);
        if begins - now > TURN_MAX {
            return None;
        }
        self.counts.throttled += u64::from(begins > now);
        self.free = begins + Duration::from_secs_f64(bytes as f64 / rate as f64);
        Some(self.free)
    }
}

/// Every link.
#[derive(Debug)]
pub struct Links {
    usual: Conditions,
    by_direction: BTreeMap<Direction, Link>,
    chance: Chance,
}

impl Links {
    /// Links that all do what is `usual`.
    pub fn new(usual: Conditions, chance: Chance) -> Self {
        Self { usual, by_direction: BTreeMap::new(), chance }
    }

    /// Changes what one direction does.
    pub fn change(&mut self, direction: Direction, change: impl FnOnce(&mut Conditions)) {
        let link = self.by_direction.entry(direction).or_default();
        change(link.conditions.get_or_insert(self.usual));
    }

    /// All do what is usual again.
    pub fn heal(&mut self) {
        self.by_direction.values_mut().for_each(|link| link.conditions = None);
    }

    /// What became of the packets of one direction so far.
    pub fn counts(&self, direction: Direction) -> Counts {
        self.by_direction.get(&direction).map(|link| link.counts).unwrap_or_default()
    }

    /// What became of all packets so far.
    pub fn total(&self) -> Counts {
        self.by_direction.values().map(|link| link.counts).fold(Counts::default(), std::ops::Add::add)
    }

    /// When a packet of that many bytes that leaves `now` arrives, and when its copy does.
    pub fn carry(&mut self, direction: Direction, bytes: usize, now: Duration) -> [Option<Duration>; 2] {
        let link = self.by_direction.entry(direction).or_default();
        let Conditions { cut, loss, duplication, reordering, delay, jitter, rate } =
            link.conditions.unwrap_or(self.usual);
        if cut {
            link.counts.cut += 1;
            return [None, None];
        }
        let chance = &mut self.chance;
        let mut happens = |percent: u64| percent > 0 && chance.below(100) < percent;
        if happens(loss) {
            link.counts.lost += 1;
            return [None, None];
        }
        let Some(now) = link.turn(bytes, rate, now) else {
            link.counts.lost += 1;
            return [None, None];
        };
        link.counts.passed += 1;
        let (is_doubled, overtakes) = (happens(duplication), happens(reordering));
        let arrival = if overtakes {
            link.counts.reordered += 1;
            now
        } else {
            let spread = u64::try_from(jitter.as_micros()).unwrap_or(u64::MAX) * 2 + 1;
            let off = Duration::from_micros(chance.below(spread));
            link.latest = link.latest.max((now + delay + off).saturating_sub(jitter));
            link.latest
        };
        link.counts.duplicated += u64::from(is_doubled);
        [Some(arrival), is_doubled.then_some(arrival)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THERE: Direction = (1, 2);
    const BACK: Direction = (2, 1);
    const PACKETS: u64 = 10_000;
    const SIZE: usize = 100;

    fn links() -> Links {
        let usual = Conditions {
            delay: Duration::from_millis(5),
            jitter: Duration::from_millis(1),
            ..Conditions::default()
        };
        Links::new(usual, Chance::from_seed(7))
    }

    /// Sends a packet each 100 µs; returns all arrivals in the order of sending.
    fn send(links: &mut Links) -> Vec<Duration> {
        let at = |number| Duration::from_micros(number * 100);
        (0..PACKETS).flat_map(|number| links.carry(THERE, SIZE, at(number))).flatten().collect()
    }

    #[test]
    fn a_usual_link_delays_and_keeps_the_order() {
        let mut links = links();
        let arrivals = send(&mut links);
        assert_eq!(arrivals.len() as u64, PACKETS);
        assert!(arrivals.is_sorted());
        assert!(arrivals[0] >= Duration::from_millis(4));
        assert_eq!(links.total(), Counts { passed: PACKETS, ..Counts::default() });
    }

    #[test]
    fn a_cut_is_of_one_direction_and_ends_with_heal() {
        let mut links = links();
        links.change(THERE, |conditions| conditions.cut = true);
        assert!(send(&mut links).is_empty());
        assert!(links.carry(BACK, SIZE, Duration::ZERO)[0].is_some());
        links.heal();
        assert!(links.carry(THERE, SIZE, Duration::ZERO)[0].is_some());
        assert_eq!(links.counts(THERE), Counts { cut: PACKETS, passed: 1, ..Counts::default() });
    }

    #[test]
    fn a_fifth_is_lost_doubled_or_early_as_told() {
        let mut links = links();
        links.change(THERE, |conditions| {
            (conditions.loss, conditions.duplication, conditions.reordering) = (20, 20, 20);
        });
        let arrivals = send(&mut links);
        let Counts { passed, lost, duplicated, reordered, .. } = links.counts(THERE);
        let is_fifth = |part: u64, of: u64| (of * 17 / 100..of * 23 / 100).contains(&part);
        assert!(is_fifth(lost, PACKETS) && is_fifth(duplicated, passed) && is_fifth(reordered, passed));
        assert_eq!(arrivals.len() as u64, passed + duplicated);
        assert!(!arrivals.is_sorted());
    }

    #[test]
    fn a_throttled_link_lets_so_many_bytes_through_and_a_queue_of_seconds() {
        let mut links = links();
        links.change(THERE, |conditions| conditions.rate = Some(1_000));
        let arrivals = send(&mut links);
        // Ten a second, for the second that it took to send them and the three that the queue lasts.
        assert!((38..=42).contains(&arrivals.len()), "{}", arrivals.len());
        assert!(arrivals.is_sorted() && arrivals[39] > Duration::from_secs(3));
        let Counts { passed, lost, throttled, .. } = links.counts(THERE);
        assert_eq!((passed + lost, throttled), (PACKETS, passed - 1));
    }
}
