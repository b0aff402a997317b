//! DNS over encrypted transports: which addresses, and the listeners on them (DNS-15).

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::version::{TLS12, TLS13};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::bind::{BindError, Listener, bind_streams};
use super::certificate::Certificate;
use super::counters::Counters;
use super::door::Door;
use super::places::Places;
use super::responder::Answers;
use super::tcp::{self, Protocol};

/// Where DNS is served encrypted, and with what certificate.
#[derive(Clone, Debug)]
pub struct Encrypted {
    /// Addresses for TLS over TCP (RFC 7858).
    pub tls: Vec<SocketAddr>,
    /// Addresses for HTTPS (RFC 8484).
    pub https: Vec<SocketAddr>,
    /// The certificate for all of them.
    pub certificate: Arc<Certificate>,
}

/// The addresses, taken.
#[derive(Debug, Default)]
pub(super) struct EncryptedSockets {
    streams: Vec<Streams>,
}

#[derive(Debug)]
struct Streams {
    /// The setting that named it.
    key: &'static str,
    address: SocketAddr,
    protocol: Protocol,
    listener: Listener<TcpListener>,
}

impl EncryptedSockets {
    /// Takes each address. Must be called within a tokio runtime.
    pub(super) fn bind(encrypted: &Encrypted) -> Result<Self, BindError> {
        let certificate = &encrypted.certificate;
        let tls = Protocol::Tls(certificate.tls(&[&TLS13, &TLS12], &["dot"]));
        let https = Protocol::Https(certificate.tls(&[&TLS13, &TLS12], &["h2", "http/1.1"]));
        let listens =
            [("dns_tls_listen", &encrypted.tls, tls), ("dns_https_listen", &encrypted.https, https)];
        let streams = listens.iter().flat_map(|(key, addresses, protocol)| {
            addresses.iter().map(|address| Streams::bind(key, *address, protocol.clone()))
        });
        Ok(Self { streams: streams.collect::<Result<_, _>>()? })
    }

    pub(super) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        self.streams.iter().map(|streams| (streams.key, streams.address)).collect()
    }

    pub(super) fn counters(&self) -> impl Iterator<Item = Arc<Counters>> {
        self.streams.iter().map(|streams| streams.listener.counters.clone())
    }

    /// Has each address served by a task of `listeners`.
    pub(super) fn serve(
        self,
        answers: &Answers,
        places: &Arc<Places>,
        shutdown: &CancellationToken,
        listeners: &mut JoinSet<()>,
    ) {
        for Streams { protocol, listener: Listener { socket, counters }, .. } in self.streams {
            let (answers, places, shutdown) = (answers.clone(), places.clone(), shutdown.clone());
            let door = Door { answers, counters, places, shutdown };
            listeners.spawn(tcp::serve(socket, protocol, door));
        }
    }
}

impl Streams {
    fn bind(key: &'static str, address: SocketAddr, protocol: Protocol) -> Result<Self, BindError> {
        let bound = bind_streams(address).and_then(|socket| Ok((socket.local_addr()?, socket)));
        let (address, socket) =
            bound.map_err(|source| BindError { key, address, transport: "TCP", source })?;
        Ok(Self { key, address, protocol, listener: Listener::new(socket) })
    }
}
