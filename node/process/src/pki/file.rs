//! Files that are written whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::authority::PkiError;
use crate::chance;

/// Permissions of what everybody may read.
pub(super) const PUBLIC: u32 = 0o644;
/// Permissions of a private key.
pub(super) const PRIVATE: u32 = 0o600;

/// Makes the file at `path`, which must not be there.
pub(super) fn create(path: &Path, content: &[u8], mode: u32) -> Result<(), PkiError> {
    // A link, unlike a new name, does not take the place of what is there.
    put(path, content, mode, |from| std::fs::hard_link(from, path))
}

/// Makes the file at `path`, or puts it in the place of the one before.
pub(super) fn replace(path: &Path, content: &[u8], mode: u32) -> Result<(), PkiError> {
    put(path, content, mode, |from| std::fs::rename(from, path))
}

fn put(
    path: &Path,
    content: &[u8],
    mode: u32,
    place: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), PkiError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let fault = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => PkiError::Exists(path.to_owned()),
        _ => PkiError::file(path, error),
    };
    let beside = directory.join(format!(".waymark-{:016x}", chance::draw()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        file.write_all(content)?;
        file.sync_all()?;
        place(&beside)?;
        File::open(if directory.as_os_str().is_empty() { Path::new(".") } else { directory })?.sync_all()
    })();
    // Gone already where it was given its name.
    let _ = std::fs::remove_file(&beside);
    written.map_err(fault)
}
