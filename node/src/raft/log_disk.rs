//! What the log needs of a disk: an ordered map of small values with atomic batches that can be made durable. [`super::log_kind`]
//! names those that there are.

use std::io;
use std::ops::ControlFlow;

/// A key and its new value, or `None` to remove it.
pub(super) type Write = (Vec<u8>, Option<Vec<u8>>);

/// Called with each key and value of a scan, until it breaks.
pub(super) type Visitor<'a> = dyn FnMut(&[u8], &[u8]) -> io::Result<ControlFlow<()>> + 'a;

/// An ordered map on a disk. Every call may wait for the disk: never to be made on an async worker.
pub(super) trait LogDisk: Send + Sync + 'static {
    /// Shows `visit` each key from `from` up to, but not including, `to`, in order.
    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> io::Result<()>;

    /// Writes all of `batch` or nothing; the later of two writes to one key wins. Visible on return, durable only
    /// after the next [`LogDisk::make_durable`].
    fn write(&self, batch: Vec<Write>) -> io::Result<()>;

    /// Returns once everything that was written survives a power loss.
    fn make_durable(&self) -> io::Result<()>;

    /// [`LogDisk::write`] and [`LogDisk::make_durable`], for which a disk may have one step.
    fn write_durably(&self, batch: Vec<Write>) -> io::Result<()> {
        self.write(batch)?;
        self.make_durable()
    }

    /// Is what durability rests on still true? Asked now and then.
    fn check(&self) -> io::Result<()>;
}
