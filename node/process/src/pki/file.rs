//! Files that are written whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::authority::PkiError;
use crate::chance;

/// Permissions of what everybody may read.
pub(crate) const PUBLIC: u32 = 0o644;
/// Permissions of a private key.
pub(crate) const PRIVATE: u32 = 0o600;

/// Makes the file at `path`, which must not be there.
pub(crate) fn create(path: &Path, content: &[u8], mode: u32) -> Result<(), PkiError> {
    // A link, unlike a new name, does not take the place of what is there.
    put(path, content, mode, |from| std::fs::hard_link(from, path))
}

/// Makes the file at `path`, or puts it in the place of the one before.
pub(crate) fn replace(path: &Path, content: &[u8], mode: u32) -> Result<(), PkiError> {
    put(path, content, mode, |from| std::fs::rename(from, path))
}

/// Gives the file at `from` the name `to`, in the place of the one before, durably.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), PkiError> {
    let renamed = std::fs::rename(from, to).and_then(|()| sync_directory_of(to));
    renamed.map_err(|error| PkiError::file(to, error))
}

fn sync_directory_of(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

/// Adds `line` to the file at `path`, durably.
pub(crate) fn append(path: &Path, line: &str) -> Result<(), PkiError> {
    let written = (|| {
        let mut file = OpenOptions::new().append(true).create(true).mode(PUBLIC).open(path)?;
        file.write_all(line.as_bytes())?;
        file.sync_all()
    })();
    written.map_err(|error| PkiError::file(path, error))
}

fn mode(path: &Path) -> u32 {
    // What cannot be looked at is told of when it is read.
    std::fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode() & 0o7777)
}

/// Whoever can write to an authority's directory can put another authority in its place.
pub(crate) fn refuse_open_directory(path: &Path) -> Result<(), PkiError> {
    let mode = mode(path);
    if mode & 0o002 == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(PkiError::Refused(format!(
        "{path}: everybody on this machine can write to it (mode {mode:04o}), and so be the authority; chmod 755 {path}"
    )))
}

/// Whoever can read a key can do with it `what` is told, as `be the authority`.
pub(crate) fn refuse_open_key(path: &Path, what: &str) -> Result<(), PkiError> {
    let mode = mode(path);
    if mode & 0o007 == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(PkiError::Refused(format!(
        "{path}: everybody on this machine can read it (mode {mode:04o}), and so {what}; chmod 600 {path}"
    )))
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
        sync_directory_of(path)
    })();
    // Gone already where it was given its name.
    let _ = std::fs::remove_file(&beside);
    written.map_err(fault)
}
