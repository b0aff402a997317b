//! DNS over datagrams: one thread for each socket, one socket for each core, no task for a packet.

use std::net::UdpSocket;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockaddrIn, SockaddrIn6};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use tokio_util::sync::CancellationToken;

use super::address::Address;
use super::ahead::Ahead;
use super::batch::Batch;
use super::counters::count_alone;
use super::datagram::{Clerk, Moment};
use crate::publication::Reader;

/// How long a thread waits for a datagram before it looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a socket rests after the system failed to hand out a datagram: it would else spin.
const REST: Duration = Duration::from_millis(5);

/// Answers what comes to `socket`, which waits, until `shutdown`, then what it still holds. Holds its thread meanwhile.
pub(super) fn serve(socket: &UdpSocket, clerk: Clerk, shutdown: &CancellationToken) {
    let is_v4 = socket.local_addr().is_ok_and(|address| address.is_ipv4());
    match is_v4 {
        true => Window::<SockaddrIn>::new(socket, clerk).serve(shutdown),
        false => Window::<SockaddrIn6>::new(socket, clerk).serve(shutdown),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the thread has nothing else to do, and no condition to wait for"
)]
fn rest() {
    std::thread::sleep(REST);
}

/// A socket and who answers at it.
struct Window<'s, A> {
    socket: &'s UdpSocket,
    reader: Reader,
    clerk: Clerk,
    batch: Batch<A>,
    ahead: Ahead,
}

impl<'s, A: Address> Window<'s, A> {
    fn new(socket: &'s UdpSocket, clerk: Clerk) -> Self {
        let is_bound = socket.local_addr().is_ok_and(|address| !address.ip().is_unspecified());
        let (reader, ahead) = (clerk.answers.reader.clone(), Ahead::new());
        Self { socket, reader, clerk, batch: Batch::new(is_bound), ahead }
    }

    fn serve(mut self, shutdown: &CancellationToken) {
        // Without it the thread could wait for ever; it is not known to fail.
        if let Err(error) = set_socket_timeout(self.socket, Timeout::Recv, Some(LOOK_EVERY)) {
            tracing::error!(%error, "a DNS socket takes no timeout: shutting down may be slow");
        }
        while !shutdown.is_cancelled() {
            match self.batch.receive(self.socket, MsgFlags::MSG_WAITFORONE) {
                Ok(()) => self.answer(),
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(_) => {
                    count_alone(&self.clerk.counters.failures);
                    rest();
                }
            }
        }
        self.drain();
    }

    /// Answers what was taken in, all of it from the view of the moment after it came (DNS-23).
    fn answer(&mut self) {
        let moment = Moment::now(&self.clerk.answers);
        let clerk = &mut self.clerk;
        let view = self.reader.peek();
        while self.batch.turn() {
            clerk.replies.follow(&view);
            let found = self.ahead.look(&view, &clerk.replies, self.batch.queries());
            self.batch.answer(|place, packet, source, room| {
                clerk.answer(&view, found.get(place), packet, source, &moment, room)
            });
            let failures = self.batch.send(self.socket);
            (0..failures).for_each(|_| count_alone(&clerk.counters.failures));
        }
    }

    /// Answers what the socket holds, and lets nothing further in: a socket that is connected to itself takes packets
    /// from nobody else, so that later queries are refused by the system or go to other members, instead of being lost
    /// with us (DNS-22).
    fn drain(&mut self) {
        if let Ok(own) = self.socket.local_addr() {
            let _ = self.socket.connect(own);
        }
        while self.batch.receive(self.socket, MsgFlags::MSG_DONTWAIT).is_ok() {
            self.answer();
        }
    }
}
