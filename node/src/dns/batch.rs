//! Datagrams by the batch: one system call takes in what has come, one hands out the replies. Nothing is allocated after the
//! start.

use std::io::IoSliceMut;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, MultiHeaders, recvmmsg};

use super::address::{Address, Reached};
use super::outbox::Outbox;

/// Most datagrams in a batch: beyond it the system call's own cost is lost among the datagrams'.
pub(super) const BATCH_MAX: usize = 64;

/// Room for a query. A longer one is not read to its end; none that is asked in earnest is. A line more than a page, or all
/// queries of a batch would lie on the same few lines of the processor's cache.
pub(super) const QUERY_MAX: usize = 4_096 + 64;

/// Room for one batch. Headers for taking in are never used for handing out: those point at addresses that are long gone.
pub(super) struct Batch<A> {
    incoming: MultiHeaders<A>,
    queries: Vec<[u8; QUERY_MAX]>,
    asked: Vec<Asked<A>>,
    outbox: Outbox<A>,
    is_bound: bool,
}

/// A query that came.
struct Asked<A> {
    length: usize,
    sender: Option<A>,
    /// The address that it came to, where that must be known.
    reached: Option<Reached>,
}

impl<A: Address> Batch<A> {
    /// For a socket that is bound to an address of the machine, or else to all.
    pub(super) fn new(is_bound: bool) -> Self {
        let space = (!is_bound).then(|| cmsg_space!(A::Departure));
        Self {
            incoming: MultiHeaders::preallocate(BATCH_MAX, space),
            queries: vec![[0; QUERY_MAX]; BATCH_MAX],
            asked: Vec::with_capacity(BATCH_MAX),
            outbox: Outbox::new(is_bound),
            is_bound,
        }
    }

    /// Takes in what has come, by `flags`: waits for the first datagram, or not at all.
    pub(super) fn receive(&mut self, socket: &UdpSocket, flags: MsgFlags) -> Result<(), Errno> {
        self.asked.clear();
        let mut slices: [_; BATCH_MAX] = slices_of(&mut self.queries);
        let received = recvmmsg(socket.as_raw_fd(), &mut self.incoming, slices.iter_mut(), flags, None)?;
        let is_bound = self.is_bound;
        self.asked.extend(received.map(|message| Asked {
            length: message.bytes,
            sender: message.address,
            reached: if is_bound {
                None
            } else {
                message.cmsgs().ok().and_then(|mut all| all.find_map(|one| A::reached(&one)))
            },
        }));
        Ok(())
    }

    /// The queries that were taken in, in their places.
    pub(super) fn queries(&self) -> impl Iterator<Item = &[u8]> {
        self.asked.iter().zip(&self.queries).map(|(asked, query)| &query[..asked.length])
    }

    /// Has `answer` write the reply to each query that was taken in, with its place and who asked, into the room it is given.
    pub(super) fn answer(
        &mut self,
        mut answer: impl FnMut(usize, &[u8], IpAddr, &mut [u8]) -> Option<usize>,
    ) {
        for (place, (Asked { length, sender, reached }, query)) in
            self.asked.iter().zip(&self.queries).enumerate()
        {
            // Port 0 is nobody's: it is forged.
            let Some(sender) = sender.filter(|sender| sender.port() != 0) else { continue };
            self.outbox.add(sender, *reached, |room| answer(place, &query[..*length], sender.ip(), room));
        }
    }

    /// Hands the replies out; waits while the system has no room. Returns how many it would not take.
    pub(super) fn send(&mut self, socket: &UdpSocket) -> u64 {
        self.outbox.send(socket)
    }
}

/// A slice around each buffer.
fn slices_of(buffers: &mut [[u8; QUERY_MAX]]) -> [[IoSliceMut<'_>; 1]; BATCH_MAX] {
    let mut buffers = buffers.iter_mut();
    std::array::from_fn(|_| [IoSliceMut::new(buffers.next().map_or(&mut [][..], |buffer| &mut buffer[..]))])
}
