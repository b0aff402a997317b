//! Hands out the replies of a batch with as few system calls as they allow.
//!
//! | the socket | replies | |
//! |---|---|---|
//! | bound to one address | of one size, some of them to the same client | one call; a client's replies leave as one piece that the system cuts (UDP_SEGMENT) |
//! | bound to one address | others | one call for all of them |
//! | bound to all addresses | in a row from the same address | one call, which says from where (DNS-13) |

use std::io::IoSlice;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, sendmmsg};

use super::address::{Address, Reached};
use super::batch::BATCH_MAX;
use super::write::PAYLOAD_MAX;

/// The most bytes that the system takes as one piece: a whole datagram's.
const PIECE_MAX: usize = 65_507;

/// A reply that is ready.
#[derive(Clone, Copy)]
struct Letter<A> {
    /// Where its bytes are.
    slot: usize,
    length: usize,
    to: A,
    /// The address that it must leave from, if the socket is bound to all.
    departure: Option<Reached>,
}

/// Room for the replies of a batch.
pub(super) struct Outbox<A> {
    plain: MultiHeaders<A>,
    /// With room for where a reply leaves from.
    sourced: MultiHeaders<A>,
    /// With room for the size of the pieces.
    segmented: MultiHeaders<A>,
    bytes: Vec<[u8; PAYLOAD_MAX as usize]>,
    letters: Vec<Letter<A>>,
    /// Not on a socket that is bound to all addresses, nor where the system has refused it.
    may_segment: bool,
}

impl<A: Address> Outbox<A> {
    pub(super) fn new(is_bound: bool) -> Self {
        Self {
            plain: MultiHeaders::preallocate(BATCH_MAX, None),
            sourced: MultiHeaders::preallocate(BATCH_MAX, Some(cmsg_space!(A::Departure))),
            segmented: MultiHeaders::preallocate(BATCH_MAX, Some(cmsg_space!(u16))),
            bytes: vec![[0; PAYLOAD_MAX as usize]; BATCH_MAX],
            letters: Vec::with_capacity(BATCH_MAX),
            may_segment: is_bound,
        }
    }

    /// Takes in the reply that `write` writes, if it does, to `to` and from `departure`; at most [`BATCH_MAX`] until they are
    /// sent.
    pub(super) fn add(
        &mut self,
        to: A,
        departure: Option<Reached>,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) {
        let slot = self.letters.len();
        if let Some(length) = self.bytes.get_mut(slot).and_then(|room| write(room)) {
            self.letters.push(Letter { slot, length, to, departure });
        }
    }

    /// Hands all of them out; waits while the system has no room. Returns how many it would not take.
    pub(super) fn send(&mut self, socket: &UdpSocket) -> u64 {
        let mut failures = 0;
        if self.may_segment && self.letters.len() > 1 {
            self.letters.sort_unstable_by_key(|letter| (letter.length, letter.to.key(), letter.slot));
        }
        let letters = std::mem::take(&mut self.letters);
        let mut rest = &letters[..];
        while !rest.is_empty() {
            match self.send_some(socket, rest) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                // It is the first that could not go; the others may.
                Err(_) => {
                    failures += 1;
                    rest = &rest[1..];
                }
            }
        }
        self.letters = letters;
        self.letters.clear();
        failures
    }

    /// Hands out the first of `letters` with one call. Returns how many.
    fn send_some(&mut self, socket: &UdpSocket, letters: &[Letter<A>]) -> Result<usize, Errno> {
        let departure = letters[0].departure;
        if let Some(departure) = departure.and_then(A::departure) {
            let alike = run(letters, |one, other| one.departure == other.departure);
            let control = A::control(&departure);
            return deliver(
                socket,
                &mut self.sourced,
                &self.bytes,
                &letters[..alike],
                |_, _| false,
                &[control],
            );
        }
        if self.may_segment {
            let alike = &letters[..run(letters, |one, other| one.length == other.length)];
            let has_runs = alike.windows(2).any(|pair| pair[0].to == pair[1].to);
            if has_runs {
                let size = letters[0].length as u16;
                let control = ControlMessage::UdpGsoSegments(&size);
                let same_client = |one: &Letter<A>, other: &Letter<A>| one.to == other.to;
                match deliver(socket, &mut self.segmented, &self.bytes, alike, same_client, &[control]) {
                    // This kernel or these devices can't: nothing was sent, and never will be so.
                    Err(Errno::EIO | Errno::ENOPROTOOPT) => self.may_segment = false,
                    // The way to this client can't: its replies leave one by one.
                    Err(Errno::EINVAL | Errno::EMSGSIZE) => {
                        return deliver(socket, &mut self.plain, &self.bytes, alike, |_, _| false, &[]);
                    }
                    outcome => return outcome,
                }
            }
        }
        // Sizes without runs go together, up to the first with one.
        let plain = match self.may_segment {
            true => until_run(letters),
            false => &letters[..run(letters, |one, other| one.departure == other.departure)],
        };
        deliver(socket, &mut self.plain, &self.bytes, plain, |_, _| false, &[])
    }
}

/// How many of `letters` in a row are like the first.
fn run<A>(letters: &[Letter<A>], is_alike: impl Fn(&Letter<A>, &Letter<A>) -> bool) -> usize {
    letters.iter().take_while(|letter| is_alike(&letters[0], letter)).count()
}

/// The letters in front of the first size of which a client gets several.
fn until_run<A: Address>(letters: &[Letter<A>]) -> &[Letter<A>] {
    let repeats = |pair: &[Letter<A>]| pair[0].length == pair[1].length && pair[0].to == pair[1].to;
    match letters.windows(2).position(repeats) {
        None => letters,
        Some(at) => {
            let size = letters[at].length;
            let front = letters.iter().take_while(|letter| letter.length != size).count();
            &letters[..front]
        }
    }
}

/// One system call. Neighbours for which `joins` holds leave in one piece. Returns how many letters left.
fn deliver<A: Address>(
    socket: &UdpSocket,
    headers: &mut MultiHeaders<A>,
    bytes: &[[u8; PAYLOAD_MAX as usize]],
    letters: &[Letter<A>],
    joins: impl Fn(&Letter<A>, &Letter<A>) -> bool,
    control: &[ControlMessage<'_>],
) -> Result<usize, Errno> {
    let mut slices = [IoSlice::new(&[]); BATCH_MAX];
    for (slice, letter) in slices.iter_mut().zip(letters) {
        *slice = IoSlice::new(&bytes[letter.slot][..letter.length]);
    }
    let (mut pieces, mut receivers, mut count) = ([&slices[..0]; BATCH_MAX], [None; BATCH_MAX], 0);
    let mut from = 0;
    while from < letters.len() {
        let most = PIECE_MAX / letters[from].length.max(1);
        let alike = letters[from..]
            .iter()
            .take(most)
            .skip(1)
            .take_while(|letter| joins(&letters[from], letter))
            .count()
            + 1;
        (pieces[count], receivers[count]) = (&slices[from..from + alike], Some(letters[from].to));
        from += alike;
        count += 1;
    }
    let (fd, flags) = (socket.as_raw_fd(), MsgFlags::empty());
    // nix tells how many left by an iterator only; that also copies each header's own address, which nobody looks at.
    let sent = sendmmsg(fd, headers, &pieces[..count], &receivers[..count], control, flags)?.count();
    Ok(pieces[..sent].iter().map(|piece| piece.len()).sum())
}
