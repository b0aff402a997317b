//! Every bound of the operators' API, with its reason.

use std::time::Duration;

/// Longest message that is taken in, in bytes: gRPC's customary bound. A whole profile without long headers is well below.
pub const REQUEST_BYTES_MAX: usize = 4 << 20;
/// Longest message that is sent, in bytes.
pub use waymark_proto::RESPONSE_BYTES_MAX;
/// Most objects on a page, and as many as there are if no size is asked for.
pub const PAGE_SIZE_MAX: u32 = 1_000;
/// A page ends before the object that would take it above this many bytes, so that customary clients (4 MiB) can read it.
pub const PAGE_BYTES_MAX: usize = 3 << 20;
/// Events that are listed if no limit is asked for.
pub const EVENTS_DEFAULT: u32 = 1_000;
/// Most watch streams at once on one member: each costs a task and its buffer.
pub const WATCHES_MAX: usize = 256;
/// Messages that wait for a watcher beyond what the connection buffers.
pub const WATCH_BUFFER: usize = 16;
/// How long the buffer of a watch may stay full before its reader is cut off.
pub const WATCH_PATIENCE: Duration = Duration::from_secs(10);
/// Least time between two looks for a changed status, so that a busy moment costs ten messages a second and no more.
pub const WATCH_PAUSE: Duration = Duration::from_millis(100);
/// How long a write with `wait_all` waits for the other members.
pub const WAIT_ALL: Duration = Duration::from_secs(5);
/// How long a list of statuses waits for the members that know what their agents found last.
pub const GATHER_WITHIN: Duration = Duration::from_secs(1);
/// Most names that are compared with a misspelt one for the hint: the comparison must not hold up other calls.
pub const HINT_NAMES_MAX: usize = 10_000;

/// The bounds that depend on how fast the other side reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watching {
    /// See [`WATCHES_MAX`].
    pub(super) streams_max: usize,
    /// See [`WATCH_PATIENCE`].
    pub(super) patience: Duration,
}

impl Default for Watching {
    fn default() -> Self {
        Self { streams_max: WATCHES_MAX, patience: WATCH_PATIENCE }
    }
}
