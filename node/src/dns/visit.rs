//! A guest that may have a hundred messages under way, as over HTTPS and QUIC, and how they are gathered.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Mutex as Turn;
use tokio::time::Instant;

use super::door::Guest;

/// The longest message: what two bytes of length can say (RFC 1035 §4.2.2).
pub(super) const MESSAGE_MAX: usize = 65_535;

/// What is gathered beside others. Of longer ones each connection has one at a time, or few of them would fill memory.
const SMALL_MAX: usize = 4 * 1024;

/// What a message comes out of.
pub(super) trait Pieces {
    /// Why nothing more comes.
    type Error;

    /// The next piece; None at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, Self::Error>> + Send;
}

/// A guest whose messages come beside each other.
pub(super) struct Visit {
    guest: Mutex<Guest>,
    /// Whose turn it is to be longer than is gathered beside others.
    large: Turn<()>,
}

impl Visit {
    pub(super) fn new(guest: Guest) -> Self {
        Self { guest: Mutex::new(guest), large: Turn::default() }
    }

    /// The reply to `message`, if it gets one, and for how many seconds caches may use it.
    pub(super) fn answer(&self, message: &[u8]) -> Option<(Bytes, Option<u32>)> {
        self.guest().answer(message).map(|(reply, fresh_s)| (Bytes::copy_from_slice(reply), fresh_s))
    }

    /// When the guest last got an answer, or came.
    pub(super) fn active(&self) -> Instant {
        self.guest().active()
    }

    /// Appends what comes out of `pieces` to `message`, in which what has come is left when this is dropped. Returns
    /// whether it is no longer than `limit` bytes; what is longer is not read to its end.
    pub(super) async fn gather<P: Pieces>(
        &self,
        pieces: &mut P,
        limit: usize,
        message: &mut Vec<u8>,
    ) -> Result<bool, P::Error> {
        gather(pieces, limit, &self.large, message).await
    }

    fn guest(&self) -> MutexGuard<'_, Guest> {
        // Answering leaves nothing half done.
        self.guest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn gather<P: Pieces>(
    pieces: &mut P,
    limit: usize,
    large: &Turn<()>,
    message: &mut Vec<u8>,
) -> Result<bool, P::Error> {
    let mut turn = None;
    while let Some(piece) = pieces.next().await? {
        if message.len() + piece.len() > limit {
            return Ok(false);
        }
        message.extend_from_slice(&piece);
        if message.len() > SMALL_MAX && turn.is_none() {
            turn = Some(large.lock().await);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt;

    use super::*;

    /// Pieces of a kilobyte.
    struct Kilobytes(usize);

    impl Pieces for Kilobytes {
        type Error = Infallible;

        async fn next(&mut self) -> Result<Option<Bytes>, Infallible> {
            let is_left = self.0 > 0;
            self.0 = self.0.saturating_sub(1);
            Ok(is_left.then(|| Bytes::from_static(&[0; 1024])))
        }
    }

    /// DNS-14, DNS-15: a hundred streams do not fill memory with what they only begin.
    #[test]
    fn dns_14_of_long_messages_one_is_gathered_at_a_time() {
        let large = Turn::default();
        let gathered = |kilobytes, message: &mut Vec<u8>| {
            gather(&mut Kilobytes(kilobytes), MESSAGE_MAX, &large, message).now_or_never()
        };
        let other = large.try_lock().expect("nobody gathers");
        let mut message = Vec::new();
        assert_eq!((gathered(4, &mut message), message.len()), (Some(Ok(true)), 4 * 1024));
        message.clear();
        assert_eq!((gathered(60, &mut message), message.len()), (None, 5 * 1024), "it waits for its turn");
        drop(other);
        message.clear();
        assert_eq!((gathered(60, &mut message), message.len()), (Some(Ok(true)), 60 * 1024));
        message.clear();
        assert_eq!((gathered(64, &mut message), message.len()), (Some(Ok(false)), 63 * 1024), "too long");
    }
}
