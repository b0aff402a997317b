//! A stream of what changes, to one reader: bounded, ended when the reader is too slow or this member stops.
//!
//! ```text
//!  view ──▶ a task that looks after each change ──▶ WATCH_BUFFER messages ──▶ the connection ──▶ reader
//!                    full for longer than WATCH_PATIENCE: RESOURCE_EXHAUSTED is the last word
//! ```

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::error::SendTimeoutError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::limits::{WATCH_BUFFER, Watching};
use crate::publication::Reader;

/// What a reader of a watch receives.
pub(super) type Watch<T> = ReceiverStream<Result<T, Status>>;

/// Opens watches and counts them.
#[derive(Clone, Debug)]
pub(super) struct Watches {
    slots: Arc<Semaphore>,
    limits: Watching,
    stopping: CancellationToken,
}

impl Watches {
    /// Watches within `limits`, each of which ends when `stopping` is cancelled.
    pub(super) fn new(limits: Watching, stopping: CancellationToken) -> Self {
        Self { slots: Arc::new(Semaphore::new(limits.streams_max)), limits, stopping }
    }

    /// A watch and the outlet that feeds it; `RESOURCE_EXHAUSTED` if there are too many already.
    pub(super) async fn open<T: Send + 'static>(&self) -> Result<(Outlet<T>, Watch<T>), Status> {
        let slot = self.slots.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!(
                "{} watches are open on this member, which is the most; ask another member",
                self.limits.streams_max
            ))
        })?;
        // One place more than the buffer, kept for the last word: it must get through when all else is full.
        let (sender, receiver) = mpsc::channel(WATCH_BUFFER + 1);
        let last_word = sender.clone().reserve_owned().await.expect("the receiver is in this function");
        let outlet = Outlet {
            sender,
            last_word,
            patience: self.limits.patience,
            stopping: self.stopping.clone(),
            _slot: slot,
        };
        Ok((outlet, ReceiverStream::new(receiver)))
    }
}

/// Why a watch ends.
#[derive(Debug)]
pub(super) enum Ended {
    /// Nobody reads any more.
    Gone,
    /// The reader is told this.
    Told(Status),
}

impl From<Status> for Ended {
    fn from(status: Status) -> Self {
        Self::Told(status)
    }
}

/// Feeds one watch.
#[derive(Debug)]
pub(super) struct Outlet<T> {
    sender: mpsc::Sender<Result<T, Status>>,
    last_word: mpsc::OwnedPermit<Result<T, Status>>,
    patience: Duration,
    stopping: CancellationToken,
    _slot: OwnedSemaphorePermit,
}

impl<T: Send + 'static> Outlet<T> {
    /// Hands `item` to the reader, waiting for it no longer than its patience.
    pub(super) async fn send(&self, item: T) -> Result<(), Ended> {
        match self.sender.send_timeout(Ok(item), self.patience).await {
            Ok(()) => Ok(()),
            Err(SendTimeoutError::Closed(_)) => Err(Ended::Gone),
            Err(SendTimeoutError::Timeout(_)) => Err(Ended::Told(Status::resource_exhausted(format!(
                "nothing was read for {} s while messages were waiting: the watch is ended; open it again",
                self.patience.as_secs_f32()
            )))),
        }
    }

    /// Returns once `reader` has a view that was not seen before.
    pub(super) async fn changed(&self, reader: &mut Reader) -> Result<(), Ended> {
        let more = tokio::select! {
            () = self.sender.closed() => return Err(Ended::Gone),
            () = self.stopping.cancelled() => false,
            more = reader.changed() => more,
        };
        if more { Ok(()) } else { Err(Ended::Told(stopping())) }
    }

    /// Returns after `pause`.
    pub(super) async fn pause(&self, pause: Duration) -> Result<(), Ended> {
        tokio::select! {
            () = self.sender.closed() => Err(Ended::Gone),
            () = self.stopping.cancelled() => Err(Ended::Told(stopping())),
            () = tokio::time::sleep(pause) => Ok(()),
        }
    }

    /// Ends the watch.
    pub(super) fn end(self, why: Ended) {
        if let Ended::Told(status) = why {
            self.last_word.send(Err(status));
        }
    }
}

fn stopping() -> Status {
    Status::unavailable("this member is stopping; watch another one")
}
