//! Following files: what they hold is read again when they change, and at each HUP (SEC-3, OPS-4).

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

/// How often the files are looked at: what is renewed weeks ahead is in no hurry, and a few looks cost nothing.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Largest file that is read: some hundred certificates, and far below what would hurt.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// What tells that a file is another than before: its length and the time of its last change; None if it cannot be had.
type Stamp = Option<(u64, SystemTime)>;

/// The files as they were when they were last looked at.
#[derive(Debug)]
pub struct Seen(Mutex<Vec<Stamp>>);

impl Seen {
    /// The files as they are now. To be called before they are read: what changes meanwhile is seen at the next look.
    pub fn now(paths: &[&Path]) -> Self {
        Self(Mutex::new(stamps(paths)))
    }

    /// Is one of them another than at the last call?
    pub fn has_changed(&self, paths: &[&Path]) -> bool {
        let now = stamps(paths);
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *seen, now.clone()) != now
    }
}

fn stamps(paths: &[&Path]) -> Vec<Stamp> {
    let stamp = |path: &&Path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    paths.iter().map(stamp).collect()
}

/// The content of a file, in which something in PEM should be.
///
/// # Errors
/// It cannot be read, is no regular file (whose reading might never end), or is too long; in words.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: io::Error| format!("it cannot be read: {error}");
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(format!("it has {} bytes, {FILE_BYTES_MAX} at most are read", metadata.len()));
    }
    std::fs::read(path).map_err(unreadable)
}

/// Calls `look` once a second, and with `true` at each HUP, as long as the runtime lives. `what` names the thing in the log.
///
/// # Errors
/// The system does not tell of signals.
pub fn follow(what: &'static str, look: impl Fn(bool) + Send + Sync + 'static) -> io::Result<()> {
    let mut hangups = signal(SignalKind::hangup())?;
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let look = Arc::new(look);
    tokio::spawn(async move {
        loop {
            let is_asked = tokio::select! {
                heard = hangups.recv() => heard.is_some(),
                _ = looks.tick() => false,
            };
            let look = look.clone();
            // A disk that hangs must not hold up anything else.
            if let Err(error) = spawn_blocking(move || look(is_asked)).await {
                tracing::error!(%error, what, "reading it again broke off: the one before serves");
            }
        }
    });
    Ok(())
}
