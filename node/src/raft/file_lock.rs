//! The lock of a file (`flock`), waited for a moment. Who has just let it go, or has just been killed, may seem to hold
//! it still: a process that was forked meanwhile has it until it executes its own program.

use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How often a lock that somebody has is tried.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// Locks `file` for this process, waiting up to `patience` for whoever has it. Blocks its thread. An error of kind
/// `WouldBlock` says that it is still held.
#[expect(clippy::disallowed_methods, reason = "a wait with a deadline, which flock itself has not")]
pub(super) fn lock(file: &File, patience: Duration) -> io::Result<()> {
    let deadline = Instant::now() + patience;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => thread::sleep(RETRY_PAUSE),
            outcome => return Ok(outcome?),
        }
    }
}

/// Lets the lock of `file` go, whichever process has inherited it. What cannot be unlocked is unlocked when it is closed.
pub(super) fn unlock(file: &File) {
    let _ = flock(file, FlockOperation::Unlock);
}

/// Waits until the file at `path`, if it is there, is not locked any more.
pub(super) fn await_unlocked(path: &Path, patience: Duration) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => lock(&file, patience).map(|()| unlock(&file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
