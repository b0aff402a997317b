//! Tables in the data directory: a line that says what is known of the table, then its bytes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use waymark_core::geo::{DigestedTable, GeoDigest, GeoTable};

use super::NamedTable;

/// The folder in the data directory.
pub(super) const FOLDER: &str = "geo";
const SUFFIX: &str = "geo";
const DRAFT_SUFFIX: &str = "tmp";

/// Every table in `folder`, the one that was written last first. One that can't be read is told of and passed over: the
/// operator's file brings it back.
pub(super) fn read_all(folder: &Path) -> Vec<Arc<NamedTable>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == SUFFIX))
        .map(|path| (fs::metadata(&path).and_then(|metadata| metadata.modified()).ok(), path))
        .collect();
    paths.sort();
    let read = |path: PathBuf| match read(&path) {
        Ok(table) => Some(Arc::new(table)),
        Err(error) => {
            tracing::error!(path = %path.display(), %error, "a kept geo table can't be read");
            None
        }
    };
    paths.into_iter().rev().filter_map(|(_, path)| read(path)).collect()
}

fn read(path: &Path) -> io::Result<NamedTable> {
    let bytes = fs::read(path)?;
    let damaged = |reason: &str| io::Error::new(io::ErrorKind::InvalidData, reason.to_owned());
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| damaged("has no first line"))?;
    let head = std::str::from_utf8(&bytes[..end]).map_err(|error| damaged(&error.to_string()))?;
    let (built, source) = head.split_once(' ').ok_or_else(|| damaged("has no source in its first line"))?;
    let built = built.parse().map_err(|_| damaged("has no time in its first line"))?;
    let table = GeoTable::decode(&bytes[end + 1..]).map_err(|fault| damaged(&fault.to_string()))?;
    let digested = DigestedTable::from(table);
    if path.file_name() != file_name(digested.digest, SUFFIX).file_name() {
        return Err(damaged("says something else than what its name stands for"));
    }
    Ok(NamedTable { digested, source: source.to_owned(), built })
}

/// Writes a table so that it is there whole or not at all.
pub(super) fn write(folder: &Path, table: &NamedTable) -> io::Result<()> {
    let NamedTable { digested, source, built } = table;
    fs::create_dir_all(folder)?;
    let draft = folder.join(file_name(digested.digest, DRAFT_SUFFIX));
    let mut file = File::create(&draft)?;
    // A path may hold a line break; the first line may not.
    writeln!(file, "{built} {}", source.replace('\n', " "))?;
    file.write_all(&digested.table.encode())?;
    file.sync_all()?;
    fs::rename(&draft, folder.join(file_name(digested.digest, SUFFIX)))?;
    File::open(folder)?.sync_all()
}

/// Removes a table; what can't be removed now costs some space and nothing else.
pub(super) fn remove(folder: &Path, digest: GeoDigest) {
    let path = folder.join(file_name(digest, SUFFIX));
    if let Err(error) = fs::remove_file(&path) {
        tracing::warn!(path = %path.display(), %error, "an old geo table was not removed");
    }
}

fn file_name(digest: GeoDigest, suffix: &str) -> PathBuf {
    format!("{digest}.{suffix}").into()
}
