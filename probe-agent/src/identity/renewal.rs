//! The next certificate, at half of the life of the present one, again and again (SEC-1).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use rustls::pki_types::CertificateDer;
use tokio::task::spawn_blocking;
use waymark_process::chance;
use waymark_process::pki::{FreshKey, Kept};
use waymark_process::tls::{Connector, Credentials};
use waymark_proto::agent::v1::RenewRequest;

use super::member::ask;
use crate::clock;

/// The clock is looked at so often, as it may be set meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// Shortest and longest wait behind a try that failed; in between a twentieth of the time that is left.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3_600));

/// The same behind the end of the certificate: nothing comes of it, unless a clock was wrong.
const WAIT_BEHIND_END: Duration = Duration::from_secs(60);

/// Keeps the certificate in `kept`, by which `credentials` are read, from expiring. Never ends.
pub async fn keep_up(credentials: Arc<Credentials>, kept: Kept, members: Vec<Uri>) {
    for member in members.iter().cycle() {
        until_half_life(&credentials).await;
        let Err(reason) = renew(&credentials, &kept, member).await else { continue };
        let left = left(credentials.validity().1);
        let wait = wait(left, chance::draw());
        let (member, wait_ms, hours_left) = (member.to_string(), wait.as_millis(), left.as_secs() / 3_600);
        if left.is_zero() {
            tracing::error!(
                member,
                wait_ms,
                reason,
                "THE CERTIFICATE HAS EXPIRED: give this agent a new join token (waymark agent token create) and restart it"
            );
        } else {
            tracing::warn!(
                member,
                wait_ms,
                hours_left,
                reason,
                "the certificate was not renewed; trying the next member"
            );
        }
        tokio::time::sleep(wait).await;
    }
}

async fn until_half_life(credentials: &Credentials) {
    loop {
        let (begins, expires) = credentials.validity();
        let wait = left(begins + expires.saturating_sub(begins) / 2);
        if wait.is_zero() {
            return;
        }
        tokio::time::sleep(wait.min(LOOK_EVERY)).await;
    }
}

/// How long it is until `moment`, in seconds since 1970, by the clock that certificates are judged by.
fn left(moment: u64) -> Duration {
    Duration::from_secs(moment).saturating_sub(clock::since_epoch())
}

/// Half to all of a bound, so that agents that were refused together do not come back together.
fn wait(left: Duration, draw: u64) -> Duration {
    let bound = if left.is_zero() { WAIT_BEHIND_END } else { (left / 20).clamp(WAIT.0, WAIT.1) };
    bound.mul_f64(0.5 + draw as f64 / u64::MAX as f64 / 2.0)
}

async fn renew(credentials: &Arc<Credentials>, kept: &Kept, member: &Uri) -> Result<(), String> {
    let files = kept.clone();
    let key = blocking(move || files.fresh_key().map_err(|error| error.to_string())).await?;
    let signing_request = key.signing_request().map_err(|error| error.to_string())?.into();
    let request = RenewRequest { signing_request };
    let connector = Connector::new(Some(credentials.clone()));
    let asked = ask(member, connector, async |mut client| client.renew(request).await).await;
    let chain = asked.map_err(|trouble| trouble.to_string())?;
    check(&chain, &key, credentials)?;
    let (files, own) = (kept.clone(), credentials.clone());
    blocking(move || {
        files.put(&chain).map_err(|error| error.to_string())?;
        own.read_again().map_err(|error| error.to_string())
    })
    .await?;
    let hours = left(credentials.validity().1).as_secs() / 3_600;
    tracing::info!(member = %member, hours_left = hours, "the certificate was renewed");
    Ok(())
}

/// What a member gives is looked at before anything is written.
fn check(chain: &[CertificateDer<'static>], key: &FreshKey, credentials: &Credentials) -> Result<(), String> {
    let own = chain.first().ok_or("the member gave no certificate")?;
    if !key.fits(own) {
        return Err("the member gave a certificate for another key".to_owned());
    }
    match credentials.believe(chain) {
        Ok(identity) if identity == credentials.identity() => Ok(()),
        Ok(identity) => Err(format!("the member gave a certificate of {}", identity.role)),
        Err(reason) => {
            Err(format!("the authorities in tls_authority do not believe what the member gave: {reason}"))
        }
    }
}

/// A disk that hangs must not hold up any probe.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    spawn_blocking(work).await.map_err(io::Error::other).map_err(|error| error.to_string())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_1_a_renewal_that_failed_is_tried_again_well_before_the_end() {
        let month = Duration::from_secs(15 * 24 * 3_600);
        assert_eq!(wait(month, u64::MAX), Duration::from_secs(3_600));
        assert_eq!(wait(month, 0), Duration::from_secs(1_800));
        assert_eq!(wait(Duration::from_secs(3_600), u64::MAX), Duration::from_secs(180));
        assert_eq!(wait(Duration::from_secs(5), u64::MAX), Duration::from_secs(1));
        assert_eq!(wait(Duration::ZERO, u64::MAX), Duration::from_secs(60));
    }
}
