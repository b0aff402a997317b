//! The floor: an echo that takes in and hands out 32 datagrams with one system call each.

use std::io::{IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmmsg};

const BATCH: usize = 32;

/// Echoes until killed.
pub(crate) fn serve(address: SocketAddr) {
    let socket = UdpSocket::bind(address).expect("the address can be had");
    let mut incoming = MultiHeaders::<SockaddrIn>::preallocate(BATCH, None);
    let mut outgoing = MultiHeaders::<SockaddrIn>::preallocate(BATCH, None);
    let mut datagrams = [[0_u8; 1_500]; BATCH];
    loop {
        let mut senders = [None; BATCH];
        let mut lengths = [0; BATCH];
        let mut count = 0;
        {
            let mut slices = datagrams.each_mut().map(|datagram| [IoSliceMut::new(datagram)]);
            let flags = MsgFlags::MSG_WAITFORONE;
            let Ok(received) = recvmmsg(socket.as_raw_fd(), &mut incoming, slices.iter_mut(), flags, None)
            else {
                continue;
            };
            for message in received {
                (senders[count], lengths[count]) = (message.address, message.bytes);
                count += 1;
            }
        }
        let mut slices = [[IoSlice::new(&[])]; BATCH];
        for (slice, (datagram, length)) in slices.iter_mut().zip(datagrams.iter().zip(lengths)) {
            *slice = [IoSlice::new(&datagram[..length])];
        }
        let flags = MsgFlags::empty();
        let _ = sendmmsg(socket.as_raw_fd(), &mut outgoing, &slices[..count], &senders[..count], [], flags);
    }
}
