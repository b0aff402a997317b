//! The only place where gRPC connections are taken in: who calls is known by their certificate before anything is heard of
//! them (SEC-1), and every number here has a limit (SEC-6).

mod accepted;
mod shares;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use waymark_process::identity::Identity;
use waymark_process::seldom::Seldom;
use waymark_process::tls::{AcceptError, Connection, Credentials, accept};

pub(crate) use accepted::Who;
pub use accepted::{Accepted, Peer};
use shares::{Share, Shares};

/// Most connections at once: one for each of 4,000 agents, with room for members and operators; each has a descriptor and
/// some tens of KiB.
pub const CONNECTIONS_MAX: usize = 4_608;

/// Most connections of one identity: a member has three to each other, an agent one, and a team's scripts that share an
/// identity some dozens.
pub const IDENTITY_CONNECTIONS_MAX: usize = 256;

/// As many again are taken in to be told of that limit; whoever goes on is only hung up on.
const IDENTITY_REFUSALS_MAX: usize = 64;

/// Most handshakes at once: each costs half a millisecond of a processor, so that this is an eighth of a second's work.
const HANDSHAKES_MAX: usize = 256;

/// Most handshakes at once from one address: whoever begins them and stops keeps nobody else out.
const ADDRESS_HANDSHAKES_MAX: usize = 128;

/// Most connections at once of callers without a certificate, of all and of one address; and how long each may last. They come
/// to be given one, which takes a moment.
const NEWCOMERS_MAX: usize = 64;
const ADDRESS_NEWCOMERS_MAX: usize = 16;
const NEWCOMER_LIMIT: Duration = Duration::from_secs(10);

/// Connections that are accepted and wait to be served.
const WAITING_MAX: usize = 16;

/// How long a listener rests after a connection could not be taken in: out of descriptors, it would else spin.
const REST: Duration = Duration::from_millis(50);

/// The addresses that gRPC is served on could not be used: what, where and how to mend it, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{key} {address}: {source}; is another process using it? Choose another with --{flag}")]
pub struct BindError {
    key: &'static str,
    flag: &'static str,
    address: SocketAddr,
    source: io::Error,
}

/// Takes `address` for the setting `key`.
pub async fn bind(
    key: &'static str,
    flag: &'static str,
    address: SocketAddr,
) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).await.map_err(|source| BindError { key, flag, address, source })
}

/// The connections that come in, each with who is at its other end: by `credentials`, or unknown in plain text without
/// them. Ends with `stop`. Must be called within a tokio runtime.
///
/// One that fails to come in is left out: a client that is gone, or no descriptor at this moment, is no reason to stop
/// listening.
pub fn incoming(
    listener: TcpListener,
    credentials: Option<Arc<Credentials>>,
    stop: CancellationToken,
) -> ReceiverStream<io::Result<Accepted>> {
    incoming_with(listener, credentials, Box::new(|| false), stop)
}

/// The same, and while `newcomers` says so also callers without a certificate, as nobody.
pub fn incoming_with(
    listener: TcpListener,
    credentials: Option<Arc<Credentials>>,
    newcomers: Box<dyn Fn() -> bool + Send + Sync>,
    stop: CancellationToken,
) -> ReceiverStream<io::Result<Accepted>> {
    let (served, connections) = mpsc::channel(WAITING_MAX);
    let door = Arc::new(Door {
        credentials,
        newcomers,
        places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
        handshakes: Arc::new(Semaphore::new(HANDSHAKES_MAX)),
        callers: Shares::default(),
        identities: Shares::default(),
        refusals: Seldom::default(),
        served,
    });
    tokio::spawn(async move { stop.run_until_cancelled(door.listen(listener)).await });
    ReceiverStream::new(connections)
}

struct Door {
    credentials: Option<Arc<Credentials>>,
    newcomers: Box<dyn Fn() -> bool + Send + Sync>,
    places: Arc<Semaphore>,
    handshakes: Arc<Semaphore>,
    callers: Shares<IpAddr>,
    identities: Shares<String>,
    refusals: Seldom,
    served: mpsc::Sender<io::Result<Accepted>>,
}

impl Door {
    async fn listen(self: Arc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => self.take_in(stream, address).await,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken in");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }

    /// Finds a place for a connection; hangs up where there is none.
    async fn take_in(self: &Arc<Self>, stream: TcpStream, address: SocketAddr) {
        // Without it Nagle's algorithm would hold back each small report by up to 40 ms.
        let _ = stream.set_nodelay(true);
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return self
                .tell(address, &format!("{CONNECTIONS_MAX} connections are open, the most there may be"));
        };
        let Some(credentials) = self.credentials.clone() else {
            let peer = Peer::unknown(address);
            return self.serve(Accepted::new(Connection::Plain(stream), peer, place, Vec::new())).await;
        };
        let share = self.callers.take(address.ip(), ADDRESS_HANDSHAKES_MAX);
        let (Some(share), Ok(turn)) = (share, self.handshakes.clone().try_acquire_owned()) else {
            let limits = format!(
                "{HANDSHAKES_MAX} in all and {ADDRESS_HANDSHAKES_MAX} of one address are the most there may be"
            );
            return self.tell(address, &format!("too many handshakes at once: {limits}"));
        };
        let door = self.clone();
        // No more of these than there are turns.
        tokio::spawn(async move {
            let accepted = accept(&credentials, stream, (door.newcomers)()).await;
            drop((turn, share));
            match accepted {
                Ok((connection, Some(identity))) => {
                    door.welcome(connection, identity, address, place).await;
                }
                Ok((connection, None)) => door.welcome_nobody(connection, address, place).await,
                Err(AcceptError::Failed(error)) => tracing::debug!(%address, %error, "a handshake failed"),
                Err(error) => door.tell(address, &error.to_string()),
            }
        });
    }

    async fn welcome(
        &self,
        connection: Connection,
        identity: Identity,
        address: SocketAddr,
        place: OwnedSemaphorePermit,
    ) {
        let who = identity.role.to_string();
        let share = self.identities.take(who.clone(), IDENTITY_CONNECTIONS_MAX + IDENTITY_REFUSALS_MAX);
        let Some(share) = share else {
            return self.tell(
                address,
                &format!("{who} has {IDENTITY_CONNECTIONS_MAX} connections, the most there may be"),
            );
        };
        let is_crowded = share.number > IDENTITY_CONNECTIONS_MAX;
        let peer = Peer::known(identity, address, is_crowded);
        self.serve(Accepted::new(connection, peer, place, vec![share])).await;
    }

    async fn welcome_nobody(&self, connection: Connection, address: SocketAddr, place: OwnedSemaphorePermit) {
        let all = self.identities.take("nobody".to_owned(), NEWCOMERS_MAX);
        let here = self.identities.take(format!("nobody at {}", address.ip()), ADDRESS_NEWCOMERS_MAX);
        let (Some(all), Some(here)) = (all, here) else {
            let limits = format!("{NEWCOMERS_MAX} in all and {ADDRESS_NEWCOMERS_MAX} of one address");
            return self.tell(
                address,
                &format!("callers without a certificate: {limits} are the most there may be"),
            );
        };
        self.serve(Accepted::new(connection, Peer::nobody(address), place, vec![all, here])).await;
    }

    /// Whoever reaches the port can cause such lines.
    fn tell(&self, address: SocketAddr, reason: &str) {
        if let Some(untold) = self.refusals.turn() {
            tracing::warn!(%address, reason, untold, "a caller was refused");
        }
    }

    async fn serve(&self, accepted: Accepted) {
        // Nobody serves any more: the member is about to end.
        let _ = self.served.send(Ok(accepted)).await;
    }
}

/// What a connection holds of the shares of its identity.
type IdentityShare = Share<String>;
