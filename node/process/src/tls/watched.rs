//! Connections that are open: each is cut when the certificate at its other end is believed no longer (SEC-1).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls_pki_types::{CertificateDer, UnixTime};
use tokio_util::sync::CancellationToken;

use super::verifier::{Refusal, Side, Verifier};
use crate::identity::Identity;

/// Every open connection of a process.
#[derive(Debug, Default)]
pub(super) struct Watched(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Connection>,
}

#[derive(Clone, Debug)]
struct Connection {
    chain: Arc<[CertificateDer<'static>]>,
    side: Side,
    who: String,
    cut: CancellationToken,
}

/// Keeps a connection among the watched ones.
#[derive(Debug)]
pub(super) struct Place {
    watched: Arc<Watched>,
    number: u64,
    /// Cancelled when the connection must end.
    pub(super) cut: CancellationToken,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.watched.lock().connections.remove(&self.number);
    }
}

impl Watched {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a connection in, and says who is at its other end by `verifier`, which is asked for behind that: no list of
    /// revoked certificates can come in between unseen.
    ///
    /// # Errors
    /// The certificate is believed no longer.
    pub(super) fn enter(
        self: &Arc<Self>,
        chain: Vec<CertificateDer<'static>>,
        side: Side,
        verifier: impl FnOnce() -> Arc<Verifier>,
    ) -> Result<(Identity, Place), Refusal> {
        let cut = CancellationToken::new();
        let who = Identity::of(chain.first().ok_or_else(|| Refusal::Other("no certificate came".into()))?)?;
        let chain: Arc<[CertificateDer<'static>]> = chain.into();
        let connection = Connection { chain: chain.clone(), side, who: who.to_string(), cut: cut.clone() };
        let number = {
            let mut open = self.lock();
            open.next += 1;
            let number = open.next;
            open.connections.insert(number, connection);
            number
        };
        let place = Place { watched: self.clone(), number, cut };
        verifier().verify(&chain, side, UnixTime::now()).map(|identity| (identity, place))
    }

    /// Cuts every connection that `verifier` does not believe any more.
    pub(super) fn verify_again(&self, verifier: &Verifier) {
        let now = UnixTime::now();
        // Judging all of them takes a while, for which nobody should wait.
        let open: Vec<Connection> = self.lock().connections.values().cloned().collect();
        for connection in open.into_iter().filter(|connection| !connection.cut.is_cancelled()) {
            if let Err(reason) = verifier.verify(&connection.chain, connection.side, now) {
                tracing::warn!(who = connection.who, %reason, "a connection is cut: its certificate is believed no longer");
                connection.cut.cancel();
            }
        }
    }
}
