//! One stream of messages, within TLS or without: each behind two bytes of length, answered in the order in which they come
//! (RFC 7766, RFC 7858).

use std::io;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::door::{Door, Guest};
use super::places::Limits;

/// Room for what comes next; a query is seldom above a hundred bytes.
const READ_CHUNK: usize = 4 * 1024;

/// Replies that are gathered before they are written: a client that asks much and reads nothing must not fill memory.
const WRITE_CHUNK: usize = 16 * 1024;

/// How long a connection is still listened to when the door shuts: what the system holds for it is read and answered
/// (DNS-22), and so is a query that is on its way.
pub(super) const DRAIN_GRACE: Duration = Duration::from_millis(200);

/// Both directions of a connection, and who asks.
struct Connection<S> {
    stream: S,
    guest: Guest,
    limits: Limits,
    /// Bytes that came and are not yet a message: less than one.
    inbox: BytesMut,
    outbox: Vec<u8>,
    shutdown: CancellationToken,
}

/// Until when a client is waited for.
struct Patience {
    limits: Limits,
    /// When the message began that is not complete yet.
    begun: Option<Instant>,
    /// When the door will have shut.
    end: Option<Instant>,
}

/// Answers queries until the client closes its side, goes silent, stops within a message or reads no reply for longer
/// than its limits allow; after the door's shutdown, what has already come.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    guest: Guest,
    door: &Door,
) -> io::Result<()> {
    let limits = door.places.limits();
    let (inbox, outbox, shutdown) = (BytesMut::new(), Vec::new(), door.shutdown.clone());
    let mut connection = Connection { stream, guest, limits, inbox, outbox, shutdown };
    connection.converse(&door.shutdown).await?;
    // The client reads the end of the stream after the last reply, also when it has long closed its own side.
    in_time(connection.stream.shutdown(), limits.idle_max, &door.shutdown).await
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    async fn converse(&mut self, shutdown: &CancellationToken) -> io::Result<()> {
        let mut patience = Patience { limits: self.limits, begun: None, end: None };
        loop {
            self.inbox.reserve(READ_CHUNK);
            let read = tokio::select! {
                biased;
                () = shutdown.cancelled(), if patience.end.is_none() => {
                    patience.end = Some(Instant::now() + DRAIN_GRACE);
                    continue;
                }
                read = timeout_at(patience.deadline(&self.guest), self.stream.read_buf(&mut self.inbox)) => read,
            };
            if !matches!(read, Ok(Ok(1..))) {
                return Ok(());
            }
            let has_taken = self.answer_all().await?;
            patience.after(has_taken, self.inbox.is_empty());
        }
    }

    /// Answers every whole message in the inbox. Returns whether there was one.
    async fn answer_all(&mut self) -> io::Result<bool> {
        let mut has_taken = false;
        while let Some(message) = next_message(&mut self.inbox) {
            has_taken = true;
            if let Some((reply, _)) = self.guest.answer(&message) {
                // A message is never longer than its length can say: the encoder stops there.
                self.outbox.extend((reply.len() as u16).to_be_bytes());
                self.outbox.extend(reply);
            }
            if self.outbox.len() >= WRITE_CHUNK {
                self.write().await?;
            }
        }
        self.write().await?;
        Ok(has_taken)
    }

    async fn write(&mut self) -> io::Result<()> {
        if self.outbox.is_empty() {
            return Ok(());
        }
        let written = async {
            self.stream.write_all(&self.outbox).await?;
            // TLS keeps back what the system does not take at once.
            self.stream.flush().await
        };
        in_time(written, self.limits.idle_max, &self.shutdown).await?;
        self.outbox.clear();
        Ok(())
    }
}

/// `work`, for which a client that reads nothing has `limit`, and little time when the door shuts: nobody else is to wait
/// for it.
async fn in_time(
    work: impl Future<Output = io::Result<()>>,
    limit: Duration,
    shutdown: &CancellationToken,
) -> io::Result<()> {
    let shut = async {
        shutdown.cancelled().await;
        tokio::time::sleep(DRAIN_GRACE).await;
    };
    tokio::select! {
        biased;
        done = timeout(limit, work) => done?,
        () = shut => Err(io::ErrorKind::TimedOut.into()),
    }
}

impl Patience {
    fn deadline(&self, guest: &Guest) -> Instant {
        // Half a message keeps no connection open, nor does one that gets no reply.
        let idle = guest.active() + self.limits.idle_max;
        let message = self.begun.map(|begun| begun + self.limits.message_max);
        [message, self.end].into_iter().flatten().fold(idle, Instant::min)
    }

    /// Bytes have come. Was a whole message among them, and is nothing left but those?
    fn after(&mut self, has_taken: bool, is_nothing_left: bool) {
        self.begun = match self.begun {
            _ if is_nothing_left => None,
            Some(begun) if !has_taken => Some(begun),
            _ => Some(Instant::now()),
        };
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
