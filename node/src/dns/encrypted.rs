//! DNS over encrypted transports: which addresses, and the listeners on them (DNS-15).

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::version::{TLS12, TLS13};
use socket2::Type;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::bind::{BindError, Listener, ask_for_room, bind_streams, open};
use super::certificate::Certificate;
use super::counters::Counters;
use super::door::Door;
use super::places::Places;
use super::quic;
use super::responder::Answers;
use super::tcp::{self, Protocol};

/// Where DNS is served encrypted, and with what certificate.
#[derive(Clone, Debug)]
pub struct Encrypted {
    /// Addresses for TLS over TCP (RFC 7858).
    pub tls: Vec<SocketAddr>,
    /// Addresses for HTTPS (RFC 8484).
    pub https: Vec<SocketAddr>,
    /// Addresses for QUIC (RFC 9250).
    pub quic: Vec<SocketAddr>,
    /// The certificate for all of them.
    pub certificate: Arc<Certificate>,
}

/// The addresses, taken.
#[derive(Debug, Default)]
pub(super) struct EncryptedSockets {
    streams: Vec<Streams>,
    datagrams: Vec<Datagrams>,
}

#[derive(Debug)]
struct Streams {
    /// The setting that named it.
    key: &'static str,
    address: SocketAddr,
    protocol: Protocol,
    listener: Listener<TcpListener>,
}

/// An address for QUIC, taken.
#[derive(Debug)]
struct Datagrams {
    address: SocketAddr,
    tls: Arc<ServerConfig>,
    listener: Listener<UdpSocket>,
}

const QUIC_KEY: &str = "dns_quic_listen";

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
        let streams = streams.collect::<Result<_, _>>()?;
        // QUIC begins with TLS 1.3.
        let tls = certificate.tls(&[&TLS13], &["doq"]);
        let datagrams = encrypted.quic.iter().map(|address| Datagrams::bind(*address, tls.clone()));
        Ok(Self { streams, datagrams: datagrams.collect::<Result<_, _>>()? })
    }

    pub(super) fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        let streams = self.streams.iter().map(|streams| (streams.key, streams.address));
        streams.chain(self.datagrams.iter().map(|datagrams| (QUIC_KEY, datagrams.address))).collect()
    }

    pub(super) fn counters(&self) -> impl Iterator<Item = Arc<Counters>> {
        let streams = self.streams.iter().map(|streams| &streams.listener.counters);
        streams.chain(self.datagrams.iter().map(|datagrams| &datagrams.listener.counters)).cloned()
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
        for Datagrams { address, tls, listener: Listener { socket, counters } } in self.datagrams {
            let (answers, places, shutdown) = (answers.clone(), places.clone(), shutdown.clone());
            let door = Door { answers, counters, places, shutdown };
            match quic::endpoint(socket, tls, door.places.limits()) {
                Ok(endpoint) => drop(listeners.spawn(quic::serve(endpoint, door))),
                Err(error) => {
                    tracing::error!(%error, "{QUIC_KEY} {address}: the system lacks what QUIC needs")
                }
            }
        }
    }
}

impl Datagrams {
    fn bind(address: SocketAddr, tls: Arc<ServerConfig>) -> Result<Self, BindError> {
        let bound = open(address, Type::DGRAM, socket2::Protocol::UDP).and_then(|socket| {
            socket.bind(&address.into())?;
            ask_for_room(&socket);
            let socket = UdpSocket::from(socket);
            Ok((socket.local_addr()?, socket))
        });
        let (address, socket) =
            bound.map_err(|source| BindError { key: QUIC_KEY, address, transport: "UDP", source })?;
        Ok(Self { address, tls, listener: Listener::new(socket) })
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
