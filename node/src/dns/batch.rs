//! Datagrams by the batch: one system call takes in what has come, one hands out the replies. Queries of one client that came
//! in a row may be taken in as one piece, which the system has put together (UDP_GRO), as replies leave.

use std::io::IoSliceMut;
use std::net::{IpAddr, UdpSocket};
use std::ops::Range;
use std::os::fd::AsRawFd;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, recvmmsg};

use super::address::{Address, Reached};
use super::outbox::Outbox;

/// Most queries that are answered at a time: beyond it the system call's own cost is lost among the datagrams'.
pub(super) const BATCH_MAX: usize = 64;

/// Most pieces that are taken in with one system call.
const PIECES_MAX: usize = 32;

/// Room for a piece: as much as the system puts together. A line more than a page, or all pieces would begin on the same few
/// lines of the processor's cache.
const PIECE_ROOM: usize = 65_536 + 64;

/// Room for what one system call takes in, and for the replies to as many as are answered at a time.
pub(super) struct Batch<A> {
    rooms: Vec<[u8; PIECE_ROOM]>,
    pieces: Vec<Piece<A>>,
    /// The piece, and the place in it, at which the queries begin that were not answered yet.
    next: (usize, usize),
    asked: Vec<Asked>,
    outbox: Outbox<A>,
    is_bound: bool,
}

/// What came in one piece: queries of one size, but for the last, which may be shorter.
struct Piece<A> {
    length: usize,
    query_length: usize,
    sender: Option<A>,
    /// The address that it came to, where that must be known.
    reached: Option<Reached>,
}

/// A query: its piece, and where it stands there.
struct Asked {
    piece: usize,
    place: Range<usize>,
}

impl<A: Address> Batch<A> {
    /// For a socket that is bound to an address of the machine, or else to all.
    pub(super) fn new(is_bound: bool) -> Self {
        Self {
            rooms: vec![[0; PIECE_ROOM]; PIECES_MAX],
            pieces: Vec::with_capacity(PIECES_MAX),
            next: (0, 0),
            asked: Vec::with_capacity(BATCH_MAX),
            outbox: Outbox::new(is_bound),
            is_bound,
        }
    }

    /// Takes in what has come, by `flags`: waits for the first datagram, or not at all.
    pub(super) fn receive(&mut self, socket: &UdpSocket, flags: MsgFlags) -> Result<(), Errno> {
        self.pieces.clear();
        self.next = (0, 0);
        // Made anew each time: the system writes into headers how much room it used, and nix does not give it back to them, so
        // there would be none for the size of the queries in any place where none was told before.
        let space = if self.is_bound { cmsg_space!(i32) } else { cmsg_space!(A::Departure, i32) };
        let mut headers = MultiHeaders::preallocate(PIECES_MAX, Some(space));
        let mut slices: [_; PIECES_MAX] = slices_of(&mut self.rooms);
        let received = recvmmsg(socket.as_raw_fd(), &mut headers, slices.iter_mut(), flags, None)?;
        self.pieces.extend(received.map(|message| {
            let (length, sender) = (message.bytes, message.address);
            let mut piece = Piece { length, query_length: length, sender, reached: None };
            for control in message.cmsgs().into_iter().flatten() {
                match control {
                    ControlMessageOwned::UdpGroSegments(size @ 1..) => piece.query_length = size as usize,
                    other => piece.reached = A::reached(&other).or(piece.reached),
                }
            }
            piece
        }));
        Ok(())
    }

    /// Goes on to the next queries of those that were taken in, at most [`BATCH_MAX`]. Are there any?
    pub(super) fn turn(&mut self) -> bool {
        self.asked.clear();
        while let Some(piece) = self.pieces.get(self.next.0)
            && self.asked.len() < BATCH_MAX
        {
            let (nth, start) = self.next;
            let end = piece.length.min(start + piece.query_length);
            self.asked.push(Asked { piece: nth, place: start..end });
            self.next = if end < piece.length { (nth, end) } else { (nth + 1, 0) };
        }
        !self.asked.is_empty()
    }

    /// These queries, in their places.
    pub(super) fn queries(&self) -> impl Iterator<Item = &[u8]> {
        self.asked.iter().map(|asked| &self.rooms[asked.piece][asked.place.clone()])
    }

    /// Has `answer` write the reply to each of these queries, with its place and who asked, into the room it is given.
    pub(super) fn answer(
        &mut self,
        mut answer: impl FnMut(usize, &[u8], IpAddr, &mut [u8]) -> Option<usize>,
    ) {
        for (nth, asked) in self.asked.iter().enumerate() {
            let Piece { sender, reached, .. } = &self.pieces[asked.piece];
            let query = &self.rooms[asked.piece][asked.place.clone()];
            // Port 0 is nobody's: it is forged.
            let Some(sender) = sender.filter(|sender| sender.port() != 0) else { continue };
            self.outbox.add(sender, *reached, |room| answer(nth, query, sender.ip(), room));
        }
    }

    /// Hands the replies out; waits while the system has no room. Returns how many it would not take.
    pub(super) fn send(&mut self, socket: &UdpSocket) -> u64 {
        self.outbox.send(socket)
    }
}

/// A slice around each room.
fn slices_of(rooms: &mut [[u8; PIECE_ROOM]]) -> [[IoSliceMut<'_>; 1]; PIECES_MAX] {
    let mut rooms = rooms.iter_mut();
    std::array::from_fn(|_| [IoSliceMut::new(rooms.next().map_or(&mut [][..], |room| &mut room[..]))])
}
