//! Datagrams by the batch: one system call takes in what has come, one hands out the replies. Nothing is allocated after the
//! start.

use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6, SockaddrLike, recvmmsg, sendmmsg};

use super::write::PAYLOAD_MAX;

/// Most datagrams in a batch: beyond it the system call's own cost is lost among the datagrams'.
pub(super) const BATCH_MAX: usize = 64;

/// Room for a query. A longer one is not read to its end; none that is asked in earnest is.
pub(super) const QUERY_MAX: usize = 4_096;

/// An address of one family, as the system has it.
pub(super) trait Address: SockaddrLike + Copy {
    /// Without the port.
    fn ip(&self) -> IpAddr;
}

impl Address for SockaddrIn {
    fn ip(&self) -> IpAddr {
        SockaddrIn::ip(self).into()
    }
}

impl Address for SockaddrIn6 {
    fn ip(&self) -> IpAddr {
        SockaddrIn6::ip(self).into()
    }
}

/// Room for one batch. Headers for taking in and for handing out are never exchanged: those for handing out point at
/// addresses that are long gone.
pub(super) struct Batch<A> {
    incoming: MultiHeaders<A>,
    outgoing: MultiHeaders<A>,
    queries: Vec<[u8; QUERY_MAX]>,
    replies: Vec<[u8; PAYLOAD_MAX as usize]>,
    /// Length and sender of each query.
    asked: Vec<(usize, Option<A>)>,
    /// Length and receiver of each reply.
    told: Vec<usize>,
    receivers: Vec<Option<A>>,
}

impl<A: Address> Batch<A> {
    pub(super) fn new() -> Self {
        Self {
            incoming: MultiHeaders::preallocate(BATCH_MAX, None),
            outgoing: MultiHeaders::preallocate(BATCH_MAX, None),
            queries: vec![[0; QUERY_MAX]; BATCH_MAX],
            replies: vec![[0; PAYLOAD_MAX as usize]; BATCH_MAX],
            asked: Vec::with_capacity(BATCH_MAX),
            told: Vec::with_capacity(BATCH_MAX),
            receivers: Vec::with_capacity(BATCH_MAX),
        }
    }

    /// Takes in what has come, by `flags`: waits for the first datagram, or not at all.
    pub(super) fn receive(&mut self, socket: &UdpSocket, flags: MsgFlags) -> Result<(), Errno> {
        self.asked.clear();
        let mut slices: [_; BATCH_MAX] = slices_of(&mut self.queries);
        let received = recvmmsg(socket.as_raw_fd(), &mut self.incoming, slices.iter_mut(), flags, None)?;
        self.asked.extend(received.map(|message| (message.bytes, message.address)));
        Ok(())
    }

    /// Has `answer` write the reply to each query that was taken in, with who asked, into the room it is given.
    pub(super) fn answer(&mut self, mut answer: impl FnMut(&[u8], IpAddr, &mut [u8]) -> Option<usize>) {
        self.told.clear();
        self.receivers.clear();
        for ((length, sender), query) in self.asked.iter().zip(&self.queries) {
            let Some(address) = sender else { continue };
            let room = &mut self.replies[self.told.len()];
            if let Some(length) = answer(&query[..*length], address.ip(), room) {
                self.told.push(length);
                self.receivers.push(*sender);
            }
        }
    }

    /// Hands the replies out; waits while the system has no room. Returns how many it would not take.
    pub(super) fn send(&mut self, socket: &UdpSocket) -> u64 {
        let (mut sent, mut failures) = (0, 0);
        while sent < self.told.len() {
            let replies = self.replies[sent..].iter().zip(&self.told[sent..]);
            let mut slices = [[IoSlice::new(&[])]; BATCH_MAX];
            for (slice, (reply, length)) in slices.iter_mut().zip(replies) {
                *slice = [IoSlice::new(&reply[..*length])];
            }
            let slices = &slices[..self.told.len() - sent];
            let receivers = &self.receivers[sent..];
            let taken =
                sendmmsg(socket.as_raw_fd(), &mut self.outgoing, slices, receivers, [], MsgFlags::empty());
            match taken.map(Iterator::count) {
                Ok(taken) => sent += taken,
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                // It is the first that could not go; the others may.
                Err(_) => {
                    failures += 1;
                    sent += 1;
                }
            }
        }
        failures
    }
}

/// A slice around each buffer.
fn slices_of(buffers: &mut [[u8; QUERY_MAX]]) -> [[IoSliceMut<'_>; 1]; BATCH_MAX] {
    let mut buffers = buffers.iter_mut();
    std::array::from_fn(|_| [IoSliceMut::new(buffers.next().map_or(&mut [][..], |buffer| &mut buffer[..]))])
}
