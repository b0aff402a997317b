//! The secrets that all members make and check DNS cookies with (RFC 9018, DNS-11).

use std::fmt;

use crate::model::Timestamp;

/// One secret. It is never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CookieSecret(pub [u8; 16]);

impl fmt::Debug for CookieSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieSecret")
    }
}

/// The secret in force and the one before it. A cookie lives for an hour, so the one before is believed long enough: a
/// member that lags behind a rotation by moments, or is cut off for less than a day, makes cookies that all others know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CookieSecrets {
    /// Cookies are made with it; none before the first leader has drawn it.
    pub current: Option<CookieSecret>,
    /// Cookies that were made with it are still good.
    pub previous: Option<CookieSecret>,
    /// When the current one came into force.
    pub since: Timestamp,
}

impl CookieSecrets {
    /// How long a secret makes cookies, in milliseconds: a day.
    pub const LIFETIME_MS: u64 = 86_400_000;

    /// Is it time for a fresh secret?
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.current.is_none() || now.0 >= self.since.0.saturating_add(Self::LIFETIME_MS)
    }

    /// Puts `fresh` into force, if it is time. Two leaders after each other may both have drawn one: the first counts.
    pub(super) fn rotate(&mut self, fresh: CookieSecret, now: Timestamp) -> bool {
        let is_due = self.is_due(now);
        if is_due {
            *self = Self { current: Some(fresh), previous: self.current, since: now };
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dns_11_a_secret_makes_cookies_for_a_day_and_is_believed_for_another() {
        let [first, second, third] = [1, 2, 3].map(|byte| CookieSecret([byte; 16]));
        let mut secrets = CookieSecrets::default();
        assert!(secrets.rotate(first, Timestamp(5)));
        assert!(!secrets.rotate(second, Timestamp(5 + CookieSecrets::LIFETIME_MS - 1)), "another leader's");
        assert_eq!((secrets.current, secrets.previous), (Some(first), None));
        assert!(secrets.rotate(second, Timestamp(5 + CookieSecrets::LIFETIME_MS)));
        assert_eq!((secrets.current, secrets.previous), (Some(second), Some(first)));
        assert!(secrets.rotate(third, Timestamp(u64::MAX)));
        assert_eq!((secrets.current, secrets.previous), (Some(third), Some(second)));
        assert_eq!(format!("{first:?}"), "CookieSecret", "it is in no log");
    }
}
