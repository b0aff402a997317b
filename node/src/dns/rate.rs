//! Response rate limiting: one network is sent so many replies of a kind in a second, and then little or nothing, so that
//! forged queries gain nobody anything (DNS-19).
//!
//! Each network and kind has a bucket that a second's worth of replies fits into and that drains at the limit's pace. The
//! buckets stand in a table of fixed size that all listeners share without a lock; where a set is full, the bucket that
//! is nearest to empty gives way, so that floods from very many networks make it forget, never grow.

use std::hash::Hasher;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use ipnet::IpNet;
use siphasher::sip::SipHasher13;
use waymark_process::chance;

use crate::config::RateLimit;

/// Sets of the table, a power of two: 8 MiB with eight buckets in each.
const SETS: usize = 1 << 17;
/// Buckets of a set: one cache line.
const WAYS: usize = 8;

/// A bucket: 20 bits that tell networks of a set apart, 4 that count what was held back, 40 of the time at which it is
/// empty again, in ticks.
const TIME_BITS: u32 = 40;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;
const HELD_BITS: u32 = 4;
const HELD_MASK: u64 = (1 << HELD_BITS) - 1;
/// Ticks in a second: fine enough for limits of thousands, and two years until they wrap, which is allowed for.
const TICKS_PER_SECOND: u64 = 16_000;

/// What a reply is about. Each kind has buckets of its own, so that a flood of one leaves the others alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// With records.
    Positive,
    /// NODATA.
    Empty,
    /// NXDOMAIN.
    NoName,
    /// Anything else: refusals, malformed queries.
    Fault,
}

impl Kind {
    /// That of a reply with this whole response code.
    pub(super) fn of(code: u16, reply: &[u8]) -> Self {
        const ANSWERS_AT: usize = 6;
        let has_answers = reply.get(ANSWERS_AT..ANSWERS_AT + 2).is_some_and(|count| count != [0, 0]);
        match code {
            0 if has_answers => Self::Positive,
            0 => Self::Empty,
            3 => Self::NoName,
            _ => Self::Fault,
        }
    }
}

/// What is to be done with a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    /// It is sent.
    Send,
    /// Its asker is told to come back over TCP, or with a cookie.
    Cut,
    /// Nothing is sent.
    Silence,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Set([AtomicU64; WAYS]);

/// The table, shared by the UDP listeners of a member.
#[derive(Debug)]
pub(super) struct Limiter {
    sets: Box<[Set]>,
    key: (u64, u64),
    started: Instant,
    /// Ticks that a reply takes out of a bucket's second.
    ticks_per_reply: u64,
    /// Every so-and-so-many-th reply that is held back is cut instead; none if 0.
    slip: u64,
    exempt: Vec<IpNet>,
}

impl Limiter {
    /// The limiter that `limit` asks for, if it asks for one. Loopback is never limited.
    pub(super) fn new(limit: &RateLimit) -> Option<Self> {
        let per_second = u64::from(limit.per_second);
        // Rounded up: rather a reply less than one more.
        let ticks_per_reply = (per_second > 0).then(|| TICKS_PER_SECOND.div_ceil(per_second))?;
        Some(Self {
            sets: std::iter::repeat_with(Set::default).take(SETS).collect(),
            key: (chance::draw(), chance::draw()),
            started: Instant::now(),
            ticks_per_reply,
            slip: limit.slip.into(),
            exempt: limit.exempt.clone(),
        })
    }

    /// May a reply of `kind` go to `source` at `now`?
    pub(super) fn rule(&self, source: IpAddr, kind: Kind, now: Instant) -> Ruling {
        let source = source.to_canonical();
        if source.is_loopback() || self.exempt.iter().any(|network| network.contains(&source)) {
            return Ruling::Send;
        }
        let hash = self.hash(source, kind);
        let set = &self.sets[hash as usize % SETS].0;
        let tag = hash >> (TIME_BITS + HELD_BITS);
        let ticks = self.ticks(now);
        let (bucket, before) = find(set, tag, ticks);
        let (ruling, after) = self.pour(before, ticks);
        // Another listener was quicker: its reply is counted, this one is not. A bucket errs by as many listeners as
        // there are, at most.
        let _ = bucket.compare_exchange(before.raw, after.packed(tag), Ordering::Relaxed, Ordering::Relaxed);
        ruling
    }

    fn pour(&self, before: Bucket, ticks: u64) -> (Ruling, Bucket) {
        let fill = before.fill(ticks);
        if fill + self.ticks_per_reply <= TICKS_PER_SECOND {
            let empty_at = ticks.wrapping_add(fill + self.ticks_per_reply) & TIME_MASK;
            return (Ruling::Send, Bucket { empty_at, ..before });
        }
        let held = (before.held + 1) % self.slip.max(1);
        let is_cut = self.slip > 0 && held == 0;
        (if is_cut { Ruling::Cut } else { Ruling::Silence }, Bucket { held, ..before })
    }

    fn ticks(&self, now: Instant) -> u64 {
        let ticks = now.saturating_duration_since(self.started).as_micros() * u128::from(TICKS_PER_SECOND)
            / 1_000_000;
        // Ahead by more than a bucket holds, so that a bucket that was never used is empty, not full.
        (ticks as u64 + 2 * TICKS_PER_SECOND) & TIME_MASK
    }

    fn hash(&self, source: IpAddr, kind: Kind) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.key.0, self.key.1);
        match network(source) {
            IpAddr::V4(network) => hasher.write_u64(u64::from(u32::from(network)) << 8 | kind as u64),
            IpAddr::V6(network) => {
                hasher.write_u64((u128::from(network) >> 64) as u64);
                hasher.write_u8(kind as u8);
            }
        }
        hasher.finish()
    }
}

/// What a bucket's bits say.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    raw: u64,
    held: u64,
    empty_at: u64,
}

impl Bucket {
    fn of(raw: u64) -> Self {
        Self { raw, held: raw >> TIME_BITS & HELD_MASK, empty_at: raw & TIME_MASK }
    }

    fn packed(self, tag: u64) -> u64 {
        tag << (TIME_BITS + HELD_BITS) | self.held << TIME_BITS | self.empty_at
    }

    /// How much is in it, in ticks of draining. Listeners' clocks are some ticks apart, so a full bucket may seem
    /// more than full; times that lie far ahead lie behind, by the other way around.
    fn fill(self, ticks: u64) -> u64 {
        let ahead = self.empty_at.wrapping_sub(ticks) & TIME_MASK;
        if ahead <= 2 * TICKS_PER_SECOND { ahead } else { 0 }
    }
}

/// The bucket of `tag` in the set, or else the one that is nearest to empty, taken over.
fn find(set: &[AtomicU64; WAYS], tag: u64, ticks: u64) -> (&AtomicU64, Bucket) {
    let mut least: Option<(&AtomicU64, Bucket)> = None;
    for cell in set {
        let bucket = Bucket::of(cell.load(Ordering::Relaxed));
        if bucket.raw >> (TIME_BITS + HELD_BITS) == tag {
            return (cell, bucket);
        }
        if least.is_none_or(|(_, other)| bucket.fill(ticks) < other.fill(ticks)) {
            least = Some((cell, bucket));
        }
    }
    let (cell, bucket) = least.expect("a set has buckets");
    (cell, Bucket { held: 0, empty_at: ticks, ..bucket })
}

/// The network that replies are counted under: /24 or /56, what one customer usually has.
pub(super) fn network(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4((u32::from(address) & !0xff).into()),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) >> 72 << 72)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limiter(per_second: u32, slip: u8) -> Limiter {
        Limiter::new(&RateLimit { per_second, slip, exempt: Vec::new() }).unwrap()
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// How many of `queries` at `now` were sent, cut and held back.
    fn rulings(limiter: &Limiter, source: &str, kind: Kind, queries: usize, now: Instant) -> [usize; 3] {
        let mut counts = [0; 3];
        for _ in 0..queries {
            counts[limiter.rule(address(source), kind, now) as usize] += 1;
        }
        counts
    }

    /// DNS-19: a second's worth at once, then the limit's pace; every second of the others is cut.
    #[test]
    fn dns_19_a_network_is_sent_so_many_replies_in_a_second() {
        let limiter = limiter(200, 2);
        let start = limiter.started;
        assert_eq!(rulings(&limiter, "192.0.2.1", Kind::Positive, 1_000, start), [200, 400, 400]);
        assert_eq!(
            rulings(&limiter, "192.0.2.200", Kind::Positive, 10, start),
            [0, 5, 5],
            "the same network"
        );
        assert_eq!(rulings(&limiter, "192.0.3.1", Kind::Positive, 10, start), [10, 0, 0], "another");
        assert_eq!(rulings(&limiter, "192.0.2.1", Kind::NoName, 10, start), [10, 0, 0], "another kind");
        let mut sent = 0;
        for ms in 1..=3_000 {
            sent += rulings(&limiter, "192.0.2.9", Kind::Positive, 20, start + Duration::from_millis(ms))[0];
        }
        assert_eq!(sent, 600, "200 in each second of a flood of 20,000");
        let rested = start + Duration::from_secs(10);
        assert_eq!(
            rulings(&limiter, "192.0.2.1", Kind::Positive, 1_000, rested)[0],
            200,
            "and no more after a rest"
        );
    }

    #[test]
    fn dns_19_networks_of_ipv6_are_56_bits_long_and_mapped_ones_are_ipv4() {
        let limiter = limiter(10, 0);
        let start = limiter.started;
        assert_eq!(rulings(&limiter, "2001:db8:0:1200::1", Kind::Positive, 20, start), [10, 0, 10]);
        assert_eq!(rulings(&limiter, "2001:db8:0:12ff::9", Kind::Positive, 1, start), [0, 0, 1]);
        assert_eq!(rulings(&limiter, "2001:db8:0:1300::1", Kind::Positive, 1, start), [1, 0, 0]);
        assert_eq!(rulings(&limiter, "::ffff:192.0.2.1", Kind::Positive, 10, start), [10, 0, 0]);
        assert_eq!(rulings(&limiter, "192.0.2.7", Kind::Positive, 1, start), [0, 0, 1]);
    }

    #[test]
    fn dns_19_loopback_and_what_the_operator_names_are_exempt_and_zero_is_no_limit() {
        let exempt = vec!["198.51.100.0/24".parse().unwrap()];
        let limiter = Limiter::new(&RateLimit { per_second: 1, slip: 1, exempt }).unwrap();
        for source in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "198.51.100.77"] {
            assert_eq!(rulings(&limiter, source, Kind::Fault, 100, limiter.started), [100, 0, 0], "{source}");
        }
        assert_eq!(rulings(&limiter, "198.51.101.1", Kind::Fault, 100, limiter.started), [1, 99, 0]);
        assert!(Limiter::new(&RateLimit { per_second: 0, ..RateLimit::default() }).is_none());
    }

    /// DNS-19: a flood from more networks than there is room for forgets, and holds nobody back for another.
    #[test]
    fn dns_19_a_flood_from_everywhere_holds_nobody_back() {
        let limiter = limiter(200, 2);
        let mut draw = 1_u32;
        for _ in 0..2_000_000 {
            draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            limiter.rule(IpAddr::V4(draw.into()), Kind::Positive, limiter.started);
        }
        let mut sent = 0;
        for nth in 0..1_000_u32 {
            let source = IpAddr::V4((0xC633_0000 + (nth << 8)).into());
            sent += usize::from(limiter.rule(source, Kind::Positive, limiter.started) == Ruling::Send);
        }
        assert!(sent >= 999, "{sent} of 1,000");
    }

    /// DNS-19: a listener whose clock is behind another's does not take a full bucket for an empty one.
    #[test]
    fn dns_19_clocks_that_are_apart_let_nothing_through() {
        let limiter = limiter(200, 2);
        let ahead = limiter.started + Duration::from_secs(5);
        assert_eq!(rulings(&limiter, "192.0.2.1", Kind::Positive, 200, ahead)[0], 200);
        for behind in [1, 100, 10_000, 900_000] {
            let now = ahead - Duration::from_micros(behind);
            assert_eq!(rulings(&limiter, "192.0.2.1", Kind::Positive, 10, now)[0], 0, "{behind} µs");
        }
    }

    /// The clock of buckets wraps: what was used long ago is empty.
    #[test]
    fn dns_19_a_bucket_of_long_ago_is_empty() {
        let limiter = limiter(200, 2);
        for days in [0, 1, 300, 794, 795, 796, 1_600] {
            let now = limiter.started + Duration::from_secs(days * 86_400);
            assert_eq!(rulings(&limiter, "192.0.2.1", Kind::Positive, 300, now)[0], 200, "{days} days");
        }
    }
}
