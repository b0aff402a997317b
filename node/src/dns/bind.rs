//! Taking the addresses that DNS is served on, over UDP and TCP on the same port.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{Ipv4PacketInfo, Ipv6RecvPacketInfo, UdpGroSegment};
use rustix::net::sockopt;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use super::bound::Bound;
use super::counters::Counters;
use super::places::Limits;

/// Receive buffer of each UDP socket in bytes: what comes while the process does not run waits there.
const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;

/// Most UDP sockets for one address: one for each core, up to what pays.
const UDP_SOCKETS_MAX: usize = 16;

/// Connections that may wait to be taken in.
const BACKLOG: i32 = 1024;

/// How often another port is tried when any will do: one that is free over TCP may be held over UDP.
const ANY_PORT_TRIES: u32 = 32;

/// An address that DNS cannot be served on: what, where and how to mend it, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{key} {address}: {transport} cannot be bound: {source}; {} with --{}", remedy(.source), key.replace('_', "-"))]
pub struct BindError {
    /// The setting that names the address.
    pub(super) key: &'static str,
    pub(super) address: SocketAddr,
    pub(super) transport: &'static str,
    pub(super) source: io::Error,
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => "stop what listens there, or choose another address",
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 need root or CAP_NET_BIND_SERVICE; or choose another"
        }
        io::ErrorKind::AddrNotAvailable => {
            "no interface of this machine has that address; choose one that it has"
        }
        _ => "choose another address",
    }
}

/// A socket, and where what comes to it is counted.
#[derive(Debug)]
pub(super) struct Listener<S> {
    pub(super) socket: S,
    pub(super) counters: Arc<Counters>,
}

/// One address, held over both transports.
#[derive(Debug)]
pub(super) struct Sockets {
    /// The address with its real port.
    pub(super) address: SocketAddr,
    /// A socket for each core; the system spreads the askers over them.
    pub(super) datagrams: Vec<Listener<UdpSocket>>,
    /// Where connections come in.
    pub(super) streams: Listener<TcpListener>,
}

/// Takes each of `addresses` over UDP and TCP; port 0 becomes a port that is free over both. From here on queries wait in
/// the sockets until [`Bound::serve`]. Must be called within a tokio runtime.
///
/// Each socket is bound to the address as it is given. For an unspecified address (`0.0.0.0`, `::`) the system tells of each
/// datagram which address it came to: a reply leaves from there in either case (DNS-13).
pub fn bind(addresses: &[SocketAddr]) -> Result<Bound, BindError> {
    bind_with(addresses, Limits::of_process())
}

/// [`bind`] with other limits on TCP connections.
pub(super) fn bind_with(addresses: &[SocketAddr], limits: Limits) -> Result<Bound, BindError> {
    let sockets = addresses.iter().copied().map(Sockets::bind).collect::<Result<_, _>>()?;
    Ok(Bound::new(sockets, limits))
}

impl Sockets {
    fn bind(address: SocketAddr) -> Result<Self, BindError> {
        let mut tries = if address.port() == 0 { ANY_PORT_TRIES } else { 1 };
        loop {
            tries -= 1;
            match Self::try_bind(address) {
                Err(error) if tries > 0 && error.source.kind() == io::ErrorKind::AddrInUse => {}
                outcome => return outcome,
            }
        }
    }

    fn try_bind(wanted: SocketAddr) -> Result<Self, BindError> {
        let key = "dns_listen";
        let failed = |transport| move |source| BindError { key, address: wanted, transport, source };
        let streams = bind_streams(wanted).map_err(failed("TCP"))?;
        let address = streams.local_addr().map_err(failed("TCP"))?;
        let datagrams = bind_datagrams(address).map_err(failed("UDP"))?;
        Ok(Self {
            address,
            datagrams: datagrams.into_iter().map(Listener::new).collect(),
            streams: Listener::new(streams),
        })
    }
}

impl<S> Listener<S> {
    pub(super) fn new(socket: S) -> Self {
        Self { socket, counters: Arc::default() }
    }
}

pub(super) fn bind_streams(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = open(address, Type::STREAM, Protocol::TCP)?;
    // Connections of the process before this one may linger on the port for a minute.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn bind_datagrams(address: SocketAddr) -> io::Result<Vec<UdpSocket>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (0..cores.min(UDP_SOCKETS_MAX))
        .map(|nth| {
            let socket = open(address, Type::DGRAM, Protocol::UDP)?;
            // The first is bound before it shares, so that a port which another process holds is refused, not shared.
            socket.set_reuse_port(nth > 0)?;
            socket.bind(&address.into())?;
            socket.set_reuse_port(true)?;
            ask_for_room(&socket);
            forgo_path_discovery(&socket, address);
            take_in_pieces(&socket);
            if address.ip().is_unspecified() {
                tell_addresses(&socket, address)?;
            }
            // Its thread waits in the system.
            socket.set_nonblocking(false)?;
            Ok(socket.into())
        })
        .collect()
}

pub(super) fn open(address: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    socket.set_nonblocking(true)?;
    if address.is_ipv6() {
        // `::` and `0.0.0.0` are two addresses, each with sockets of its own.
        socket.set_only_v6(true)?;
    }
    Ok(socket)
}

/// Beyond the system's usual bound if we may, else as much as it grants: a smaller buffer serves too.
pub(super) fn ask_for_room(socket: &Socket) {
    if sockopt::set_socket_recv_buffer_size_force(socket, RECEIVE_BUFFER).is_err() {
        let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
    }
}

/// Each datagram is to come with the address that it was sent to.
fn tell_addresses(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    match address.is_ipv4() {
        true => setsockopt(socket, Ipv4PacketInfo, &true)?,
        false => setsockopt(socket, Ipv6RecvPacketInfo, &true)?,
    }
    Ok(())
}

/// Queries of one client that come in a row may come as one piece. A system without the option has them come one by one.
fn take_in_pieces(socket: &Socket) {
    let _ = setsockopt(socket, UdpGroSegment, &true);
}

/// Our replies fit any path, so a forged "too big" must not make the system cut them, and nobody is to cut them on the way (RFC
/// 9715 §3.1). Over IPv4 that is what PROBE does, by the flag DF; over IPv6 nobody may anyway. A system without the option sends
/// as it always did.
fn forgo_path_discovery(socket: &Socket, address: SocketAddr) {
    let _ = if address.is_ipv4() {
        sockopt::set_ip_mtu_discover(socket, sockopt::Ipv4PathMtuDiscovery::PROBE)
    } else {
        sockopt::set_ipv6_mtu_discover(socket, sockopt::Ipv6PathMtuDiscovery::OMIT)
    };
}

#[cfg(test)]
mod tests {
    use nix::sys::socket::getsockopt;

    use super::*;

    /// DNS-8, RFC 9715: no reply is to be cut on its way, and no forged word about the way counts. Queries come by the piece.
    #[test]
    fn dns_8_replies_over_ipv4_forbid_to_be_fragmented() {
        let address = "127.0.0.1:0".parse().expect("an address");
        let sockets = bind_datagrams(address).expect("loopback can be bound");
        for socket in sockets {
            let discovery = sockopt::ip_mtu_discover(&socket).expect("the option can be read");
            assert_eq!(discovery, sockopt::Ipv4PathMtuDiscovery::PROBE);
            assert_eq!(getsockopt(&socket, UdpGroSegment), Ok(true));
        }
    }
}
