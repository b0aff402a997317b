//! The times in a zone's own records (DNS-1).

use super::profile_limits::TTL_MAX;
use super::{Edit, Violations};

/// The times of a zone, in seconds; or something for each of them, such as the wish for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneTimers<T = u32> {
    /// Time to live of the SOA.
    pub soa_ttl: T,
    /// How often a secondary would ask for changes: the SOA's REFRESH.
    pub refresh: T,
    /// How soon it would ask again after it got no answer: the SOA's RETRY.
    pub retry: T,
    /// After how long without an answer it would give the zone up: the SOA's EXPIRE.
    pub expire: T,
    /// How long a negative answer may be kept: the SOA's MINIMUM (RFC 2308 §5).
    pub negative_ttl: T,
    /// Time to live of the NS set and of the addresses of name servers.
    pub name_server_ttl: T,
}

impl<T> ZoneTimers<T> {
    /// Makes one of each of these and the one of `others` in its place.
    pub fn zip<U, V>(self, others: ZoneTimers<U>, make: impl Fn(T, U) -> V) -> ZoneTimers<V> {
        ZoneTimers {
            soa_ttl: make(self.soa_ttl, others.soa_ttl),
            refresh: make(self.refresh, others.refresh),
            retry: make(self.retry, others.retry),
            expire: make(self.expire, others.expire),
            negative_ttl: make(self.negative_ttl, others.negative_ttl),
            name_server_ttl: make(self.name_server_ttl, others.name_server_ttl),
        }
    }
}

impl ZoneTimers {
    /// What holds if nothing is given. Nobody transfers a zone from a cluster, so REFRESH, RETRY and EXPIRE are what
    /// RFC 1912 §2.2 recommends, for checkers to see.
    pub const DEFAULT: Self = Self {
        soa_ttl: 3_600,
        refresh: 3_600,
        retry: 600,
        expire: 604_800,
        negative_ttl: 30,
        name_server_ttl: 3_600,
    };
    /// The shortest REFRESH, RETRY and EXPIRE: below a minute they would be a flood, if anybody heeded them.
    pub const SECONDARY_MIN: u32 = 60;
    /// The longest time for a negative answer: RFC 2308 §5 found more than a day to be trouble.
    pub const NEGATIVE_TTL_MAX: u32 = 86_400;

    /// How long a negative answer lives: min(SOA TTL, MINIMUM) (RFC 2308 §5).
    pub fn effective_negative_ttl(&self) -> u32 {
        self.soa_ttl.min(self.negative_ttl)
    }

    /// Judges the times.
    ///
    /// | field | seconds |
    /// |---|---|
    /// | `soa_ttl`, `name_server_ttl` | 0–2147483647 (RFC 2181 §8) |
    /// | `negative_ttl` | 0–86400 |
    /// | `soa_refresh`, `soa_retry`, `soa_expire` | 60–2147483647 |
    ///
    /// A retry that comes no sooner than the next refresh is none, and a zone that is given up before anybody was asked
    /// twice would come and go with each lost packet (RFC 1912 §2.2).
    pub fn validate(&self, violations: &mut Violations) {
        let Self { soa_ttl, refresh, retry, expire, negative_ttl, name_server_ttl } = *self;
        let (min, ttl_max) = (Self::SECONDARY_MIN.into(), TTL_MAX.into());
        violations.range("soa_ttl", soa_ttl.into(), 0, ttl_max);
        violations.range("soa_refresh", refresh.into(), min, ttl_max);
        violations.range("soa_retry", retry.into(), min, ttl_max);
        violations.range("soa_expire", expire.into(), min, ttl_max);
        violations.range("negative_ttl", negative_ttl.into(), 0, Self::NEGATIVE_TTL_MAX.into());
        violations.range("name_server_ttl", name_server_ttl.into(), 0, ttl_max);
        if retry >= refresh {
            violations.add("soa_retry", format!("{retry} is not below the refresh, {refresh}"));
        }
        if expire.checked_sub(refresh).is_none_or(|rest| rest < retry) {
            violations.add(
                "soa_expire",
                format!("{expire} is below refresh and retry together, {refresh} + {retry}"),
            );
        }
    }

    /// What is allowed and probably not meant (VAL-5).
    pub fn warn(&self, warnings: &mut Violations) {
        let Self { soa_ttl, negative_ttl, .. } = self;
        if negative_ttl > soa_ttl {
            let why =
                format!("{negative_ttl} is above the SOA's time to live, {soa_ttl}, which counts instead");
            warnings.add("negative_ttl", why);
        }
    }
}

impl Default for ZoneTimers {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl ZoneTimers<Edit<u32>> {
    /// Carries the wishes out on `before`; what is cleared has the default again.
    pub fn apply(&self, before: ZoneTimers) -> ZoneTimers {
        let cleared = before.zip(ZoneTimers::DEFAULT, |before, default| (before, default));
        self.clone().zip(cleared, |edit, (mut timer, default)| {
            edit.apply_or(&mut timer, default);
            timer
        })
    }
}

impl Default for ZoneTimers<Edit<u32>> {
    fn default() -> Self {
        Self {
            soa_ttl: Edit::Keep,
            refresh: Edit::Keep,
            retry: Edit::Keep,
            expire: Edit::Keep,
            negative_ttl: Edit::Keep,
            name_server_ttl: Edit::Keep,
        }
    }
}
