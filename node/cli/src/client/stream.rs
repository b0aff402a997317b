//! Streams that go on at another member when theirs ends.

use std::ops::ControlFlow;
use std::time::Duration;

use tokio::time::{Instant, interval, sleep};
use tonic::{Code, Response, Status, Streaming};

use super::{Attempt, Client};
use crate::failure::{Exit, Failure};

/// Between two tries to open a stream that brings nothing.
const PAUSE: Duration = Duration::from_millis(500);

/// A stream that stood this long was a good one, even if it brought nothing.
const LASTING: Duration = Duration::from_secs(5);

/// What a follower is told.
pub(crate) enum Heard<T> {
    /// A message.
    Message(T),
    /// A second has passed.
    Tick,
}

impl Client {
    /// Calls `each` with every message and every second, until `each` breaks off or no stream lasts for longer
    /// than the client's timeout. `open` is called anew whenever a stream ends.
    pub(crate) async fn follow<T>(
        &self,
        open: impl AsyncFn(Attempt) -> Result<Response<Streaming<T>>, Status>,
        mut each: impl FnMut(Heard<T>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        let mut broken_since = None;
        loop {
            let mut stream = self.read(&open).await?;
            let opened = Instant::now();
            let Some(ended) = listen(&mut stream, &mut each).await? else { return Ok(()) };
            if ended.has_brought || opened.elapsed() > LASTING {
                broken_since = None;
            } else if broken_since.get_or_insert(opened).elapsed() > self.timeout() {
                return Err(Failure::new(
                    Exit::Unreachable,
                    format!("nothing is heard any more: {}", ended.why),
                ));
            }
            sleep(PAUSE).await;
        }
    }
}

/// How a stream ended by itself.
struct Ended {
    has_brought: bool,
    why: String,
}

/// Listens until the stream ends, or until `each` breaks off, which is `None`.
async fn listen<T>(
    stream: &mut Streaming<T>,
    each: &mut impl FnMut(Heard<T>) -> Result<ControlFlow<()>, Failure>,
) -> Result<Option<Ended>, Failure> {
    let mut seconds = interval(Duration::from_secs(1));
    let mut has_brought = false;
    loop {
        let heard = tokio::select! {
            message = stream.message() => match message {
                Ok(Some(message)) => Heard::Message(message),
                Ok(None) => {
                    return Ok(Some(Ended { has_brought, why: "the member ended the stream".to_owned() }));
                }
                Err(status) if is_final(&status) => return Err(status.into()),
                Err(status) => return Ok(Some(Ended { has_brought, why: status.message().to_owned() })),
            },
            _ = seconds.tick() => Heard::Tick,
        };
        has_brought |= matches!(heard, Heard::Message(_));
        if each(heard)?.is_break() {
            return Ok(None);
        }
    }
}

/// A refusal that another member would repeat.
fn is_final(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::InvalidArgument | Code::NotFound | Code::PermissionDenied | Code::Unauthenticated
    )
}
