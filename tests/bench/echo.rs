//! The floor: a bare UDP echo, one datagram in and one out, on one thread.

use std::net::{SocketAddr, UdpSocket};

/// Echoes until killed.
pub(crate) fn serve(address: SocketAddr) {
    let socket = UdpSocket::bind(address).expect("the address can be had");
    let mut datagram = [0; 1_500];
    loop {
        if let Ok((length, from)) = socket.recv_from(&mut datagram) {
            let _ = socket.send_to(&datagram[..length], from);
        }
    }
}
