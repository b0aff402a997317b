//! Opens a probe's connection, and tells the endpoint's trouble from the agent's own (PRB-9).

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use rustix::io::Errno;
use tokio::net::{TcpSocket, TcpStream};
use waymark_core::health::OutcomeClass;

use super::report::Fault;
use crate::guard::Guard;

/// Connects to `address` if `guard` admits it at this very moment (PRB-13).
pub(super) async fn connect(guard: &Guard, address: SocketAddr) -> Result<TcpStream, Fault> {
    guard.admit(address.ip()).map_err(|refusal| Fault::agent(refusal.to_string()))?;
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let socket = socket.map_err(|error| Fault::agent(format!("cannot open a socket: {error}")))?;
    socket.connect(address).await.map_err(|error| judge(&error, address))
}

/// | the kernel says | and | class |
/// |---|---|---|
/// | refused; reset; timed out | – | `refused`; `reset`; `timeout` |
/// | network or host unreachable, or prohibited | there is a route | `unreachable`: somebody on the way said so |
/// | network or host unreachable, or prohibited | there is none | `agent` |
/// | anything else: no port or buffer left, forbidden here | – | `agent` |
fn judge(error: &io::Error, address: SocketAddr) -> Fault {
    use io::ErrorKind;
    match error.kind() {
        ErrorKind::ConnectionRefused => {
            Fault::new(OutcomeClass::Refused, format!("{address} refused the connection"))
        }
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
            Fault::new(OutcomeClass::Reset, format!("{address} reset the connection"))
        }
        ErrorKind::TimedOut => Fault::new(OutcomeClass::Timeout, format!("{address} did not answer")),
        _ if !may_come_from_afar(error) => Fault::agent(format!("cannot connect to {address}: {error}")),
        _ if has_route(address) => Fault::new(OutcomeClass::Unreachable, format!("{address}: {error}")),
        _ => Fault::agent(format!("this agent has no route to {address}: {error}")),
    }
}

/// Can the far side, or somebody on the way, have caused this? An ICMP message becomes one of these, but so does a missing
/// route. Whatever else there is was caused here.
pub(crate) fn may_come_from_afar(error: &io::Error) -> bool {
    let far = [
        Errno::CONNREFUSED,
        Errno::CONNRESET,
        Errno::CONNABORTED,
        Errno::TIMEDOUT,
        Errno::NETUNREACH,
        Errno::HOSTUNREACH,
        Errno::HOSTDOWN,
        Errno::NETDOWN,
        Errno::ACCESS,
    ];
    error.raw_os_error().is_some_and(|code| far.contains(&Errno::from_raw_os_error(code)))
}

/// Connecting a datagram socket looks the route up and sends nothing.
fn has_route(address: SocketAddr) -> bool {
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    UdpSocket::bind(any).and_then(|socket| socket.connect(address)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(errno: Errno, address: &str) -> OutcomeClass {
        judge(&io::Error::from_raw_os_error(errno.raw_os_error()), address.parse().unwrap()).class
    }

    /// PRB-9: what the far side says is a failure; what this machine lacks is not. Loopback always has a route, and
    /// a scoped address without its scope never has one.
    #[test]
    fn prb_9_trouble_of_the_agents_own_is_told_apart() {
        for (errno, address, expected) in [
            (Errno::CONNREFUSED, "127.0.0.1:1", OutcomeClass::Refused),
            (Errno::CONNRESET, "127.0.0.1:1", OutcomeClass::Reset),
            (Errno::TIMEDOUT, "127.0.0.1:1", OutcomeClass::Timeout),
            (Errno::HOSTUNREACH, "127.0.0.1:1", OutcomeClass::Unreachable),
            (Errno::NETUNREACH, "127.0.0.1:1", OutcomeClass::Unreachable),
            (Errno::ACCESS, "127.0.0.1:1", OutcomeClass::Unreachable),
            (Errno::NETUNREACH, "[fe80::1]:1", OutcomeClass::Agent),
            (Errno::HOSTUNREACH, "[fe80::1]:1", OutcomeClass::Agent),
            (Errno::PERM, "127.0.0.1:1", OutcomeClass::Agent),
            (Errno::ADDRNOTAVAIL, "127.0.0.1:1", OutcomeClass::Agent),
            (Errno::NOBUFS, "127.0.0.1:1", OutcomeClass::Agent),
            (Errno::MFILE, "127.0.0.1:1", OutcomeClass::Agent),
        ] {
            assert_eq!(class(errno, address), expected, "{errno:?} {address}");
        }
    }
}
