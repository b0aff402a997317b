//! How long the way to the other end of a connection and back takes, as the system measured it (RTE-7).

use std::os::fd::AsFd;
use std::time::Duration;

use nix::sys::socket::getsockopt;
use nix::{getsockopt_impl, libc, sockopt_impl};

/// The beginning of what Linux knows of a TCP connection (`struct tcp_info`), which every version has: it hands out no more
/// than is asked for, and nix insists on getting that.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(unreachable_pub, reason = "nix's macro makes its own type public, and with it what that gets")]
pub struct Beginning {
    flags: [u8; 8],
    before: [u32; 15],
    /// The smoothed round trip, in microseconds.
    round_trip: u32,
    behind: [u32; 8],
}

sockopt_impl!(
    /// What the system knows of a TCP connection.
    TcpInfo,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    Beginning
);

/// Of a connection that was just made: that of its handshake, in which nobody waits. None if the system did not measure it,
/// as after a handshake that was repeated.
pub(super) fn round_trip(connection: impl AsFd) -> Option<Duration> {
    let micros = getsockopt(&connection, TcpInfo).ok()?.round_trip;
    (micros > 0).then(|| Duration::from_micros(micros.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rte_7_the_system_tells_of_a_new_connection() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let _client = std::net::TcpStream::connect(listener.local_addr().expect("it has one"));
        let (accepted, _) = listener.accept().expect("the client's");
        let found = round_trip(&accepted).expect("it was measured");
        assert!(found < Duration::from_secs(5), "{found:?}");
        assert_eq!(round_trip(&listener), None, "nobody is at the other end");
    }
}
