//! One TCP connection: messages behind two bytes of length, answered in the order in which they come (RFC 7766).

use std::io::{self, Read};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::places::Place;
use super::respond::Transport;
use super::responder::Responder;

/// Room for what comes next; a query is seldom above a hundred bytes.
const READ_CHUNK: usize = 4 * 1024;

/// Replies that are gathered before they are written: a client that asks much and reads nothing must not fill memory.
const WRITE_CHUNK: usize = 16 * 1024;

/// Both directions of a connection, and who answers.
struct Connection<'c> {
    stream: TcpStream,
    source: SocketAddr,
    responder: Responder,
    place: &'c Place,
    idle_max: Duration,
    /// Bytes that came and are not yet a message: less than one.
    inbox: BytesMut,
    outbox: Vec<u8>,
}

/// Answers queries until the client closes its side, goes silent for `idle_max` or reads no reply for as long; after
/// `shutdown`, what has already come.
pub(super) async fn serve(
    stream: TcpStream,
    source: SocketAddr,
    responder: Responder,
    place: &Place,
    idle_max: Duration,
    shutdown: CancellationToken,
) -> io::Result<()> {
    // A reply must not wait for the acknowledgement of the one before.
    stream.set_nodelay(true)?;
    let (inbox, outbox) = (BytesMut::new(), Vec::new());
    let mut connection = Connection { stream, source, responder, place, idle_max, inbox, outbox };
    connection.converse(&shutdown).await?;
    // The client reads the end of the stream after the last reply, also when it has long closed its own side.
    connection.stream.shutdown().await
}

impl Connection<'_> {
    async fn converse(&mut self, shutdown: &CancellationToken) -> io::Result<()> {
        // Half a message does not keep the connection open: only an answered query moves the deadline.
        let mut deadline = Instant::now() + self.idle_max;
        loop {
            self.inbox.reserve(READ_CHUNK);
            let read = tokio::select! {
                biased;
                () = shutdown.cancelled() => return self.drain().await,
                read = timeout_at(deadline, self.stream.read_buf(&mut self.inbox)) => read,
            };
            let is_over = !matches!(read, Ok(Ok(1..)));
            if self.answer_all().await? {
                deadline = Instant::now() + self.idle_max;
            }
            if is_over {
                return Ok(());
            }
        }
    }

    /// Answers every whole message in the inbox. Returns whether there was one that got a reply.
    async fn answer_all(&mut self) -> io::Result<bool> {
        let mut is_active = false;
        while let Some(message) = next_message(&mut self.inbox) {
            if let Some(reply) = self.responder.answer(&message, Transport::Tcp, self.source.ip()) {
                // A message is never longer than its length can say: the encoder stops there.
                self.outbox.extend((reply.len() as u16).to_be_bytes());
                self.outbox.extend(reply);
                is_active = true;
            }
            if self.outbox.len() >= WRITE_CHUNK {
                self.write().await?;
            }
        }
        self.write().await?;
        if is_active {
            self.place.touch();
        }
        Ok(is_active)
    }

    async fn write(&mut self) -> io::Result<()> {
        if !self.outbox.is_empty() {
            let deadline = Instant::now() + self.idle_max;
            timeout_at(deadline, self.stream.write_all(&self.outbox)).await??;
            self.outbox.clear();
        }
        Ok(())
    }

    /// Answers what has come so far (DNS-22).
    async fn drain(&mut self) -> io::Result<()> {
        let mut chunk = [0; READ_CHUNK];
        loop {
            // The runtime may not know yet that there is something to read: ask the system itself.
            let read = (&*SockRef::from(&self.stream)).read(&mut chunk);
            let Ok(length @ 1..) = read else { return Ok(()) };
            self.inbox.extend_from_slice(&chunk[..length]);
            self.answer_all().await?;
        }
    }
}

/// Takes the first whole message out of `inbox`.
fn next_message(inbox: &mut BytesMut) -> Option<BytesMut> {
    const LENGTH_LEN: usize = 2;
    let (length, rest) = inbox.split_first_chunk::<LENGTH_LEN>()?;
    let length = usize::from(u16::from_be_bytes(*length));
    if rest.len() < length {
        return None;
    }
    inbox.advance(LENGTH_LEN);
    Some(inbox.split_to(length))
}
