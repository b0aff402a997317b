//! The secrets of DNS cookies.

use bytes::Bytes;
use waymark_core::model::Timestamp;
use waymark_core::state::{Action, CookieSecret, CookieSecrets};

use super::{Malformed, required};
use crate::storage::v1 as stored;

/// Nothing before the first secret, so that an old snapshot and a new one of the same state are alike.
pub(super) fn cookies_message(cookies: &CookieSecrets) -> Option<stored::StoredCookieSecrets> {
    let CookieSecrets { current, previous, since } = cookies;
    current.is_some().then(|| stored::StoredCookieSecrets {
        current: secret_bytes(*current),
        previous: secret_bytes(*previous),
        since_ms: since.0,
    })
}

pub(super) fn stored_cookies(message: stored::StoredCookieSecrets) -> Result<CookieSecrets, Malformed> {
    let stored::StoredCookieSecrets { current, previous, since_ms } = message;
    Ok(CookieSecrets {
        current: stored_secret("cookies.current", &current)?,
        previous: stored_secret("cookies.previous", &previous)?,
        since: Timestamp(since_ms),
    })
}

pub(super) fn found_message(cluster: &str, cookies: Option<CookieSecret>) -> stored::Found {
    stored::Found { cluster: cluster.to_owned(), cookies: secret_bytes(cookies) }
}

pub(super) fn founded(message: stored::Found) -> Result<Action, Malformed> {
    let stored::Found { cluster, cookies } = message;
    Ok(Action::Found { cluster, cookies: stored_secret("found.cookies", &cookies)? })
}

pub(super) fn rotate_cookies(fresh: CookieSecret) -> stored::RotateCookies {
    stored::RotateCookies { fresh: secret_bytes(Some(fresh)) }
}

pub(super) fn rotated_cookies(message: stored::RotateCookies) -> Result<Action, Malformed> {
    const FIELD: &str = "rotate_cookies.fresh";
    Ok(Action::RotateCookies { fresh: required(FIELD, stored_secret(FIELD, &message.fresh)?)? })
}

fn secret_bytes(secret: Option<CookieSecret>) -> Bytes {
    secret.map(|secret| secret.0.to_vec()).unwrap_or_default().into()
}

fn stored_secret(field: &'static str, bytes: &[u8]) -> Result<Option<CookieSecret>, Malformed> {
    match bytes {
        [] => Ok(None),
        // The bytes are not told: a fault's text goes into logs.
        bytes => <[u8; 16]>::try_from(bytes)
            .map(|bytes| Some(CookieSecret(bytes)))
            .map_err(|_| Malformed::new(field, format!("has {} bytes, not 16", bytes.len()))),
    }
}
