//! Reading a database in MaxMind's format whole, so that nothing in it can be found wrong later, by a query (F-SEC-07).

use std::collections::{BTreeSet, HashMap};
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use maxminddb::{MaxMindDbError, Reader, WithinOptions};
use waymark_core::geo::{GeoTable, OrderFault};
use waymark_core::model::{Network, Place, Span};

use super::record::Record;

/// The largest file that is read, in bytes: several times the largest city database there is.
const FILE_MAX: u64 = 1 << 30;

/// A tree has one leaf more than it has nodes, and few writers let branches share leaves. More than this, and the
/// branches of a broken one lead into each other, so that walking it would never end.
const LEAVES_PER_NODE_MAX: u64 = 4;

/// Why a file gives no geo table: one line.
#[derive(Debug, thiserror::Error)]
pub enum GeoFault {
    /// The system does not hand it out.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Too large.
    #[error("{0}: is larger than {max} bytes, which no database of places is", max = FILE_MAX)]
    TooLarge(PathBuf),
    /// It changed while it was read.
    #[error("{0}: is being written; put a new file in its place by renaming it")]
    Changing(PathBuf),
    /// It is damaged, or something else.
    #[error("{path}: is no whole database in MaxMind's format (MMDB): {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },
    /// It is good, but could not be kept in the data directory.
    #[error("{path}: the table cannot be kept there: {reason}")]
    NotKept {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// It is sound, but about something else.
    #[error(
        "{path}: names no countries (it is of type '{}'); records need country.iso_code or country_code",
        .kind.escape_debug()
    )]
    NoCountries {
        /// The file.
        path: PathBuf,
        /// What it says that it is.
        kind: String,
    },
}

/// A database that was read whole.
#[derive(Debug)]
pub struct GeoFile {
    /// What it says.
    pub table: GeoTable,
    /// When it was made, in seconds since 1970.
    pub built: u64,
    /// Codes of countries in it that the hierarchy does not have; their addresses are nowhere.
    pub unknown: BTreeSet<String>,
}

/// Reads the database at `path`.
pub fn read(path: &Path) -> Result<GeoFile, GeoFault> {
    let bytes = read_file(path)?;
    table_of(bytes).map_err(|wrong| match wrong {
        Wrong::Broken(reason) => GeoFault::Format { path: path.to_owned(), reason },
        Wrong::NoCountries(kind) => GeoFault::NoCountries { path: path.to_owned(), kind },
    })
}

/// Reads a file that does not change meanwhile.
fn read_file(path: &Path) -> Result<Vec<u8>, GeoFault> {
    let unreadable =
        |error: std::io::Error| GeoFault::Unreadable { path: path.to_owned(), reason: error.to_string() };
    // To open a pipe would wait for whoever writes into it.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(GeoFault::Unreadable { path: path.to_owned(), reason: "is no file".into() });
    }
    let file = File::open(path).map_err(unreadable)?;
    let before = file.metadata().map_err(unreadable)?;
    if before.len() > FILE_MAX {
        return Err(GeoFault::TooLarge(path.to_owned()));
    }
    let mut bytes = Vec::new();
    (&file).take(FILE_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    let look = |file: &Metadata| (file.len(), file.modified().ok());
    let after = file.metadata().map_err(unreadable)?;
    if look(&before) == look(&after) && bytes.len() as u64 == before.len() {
        Ok(bytes)
    } else {
        Err(GeoFault::Changing(path.to_owned()))
    }
}

/// What is wrong with bytes that should be a database.
#[derive(Debug, PartialEq, Eq)]
pub enum Wrong {
    /// They are damaged, or something else.
    Broken(String),
    /// They are a database of this type, which names no countries.
    NoCountries(String),
}

impl From<MaxMindDbError> for Wrong {
    fn from(error: MaxMindDbError) -> Self {
        Self::Broken(error.to_string())
    }
}

impl From<OrderFault> for Wrong {
    fn from(fault: OrderFault) -> Self {
        Self::Broken(fault.to_string())
    }
}

/// Reads the database that `bytes` hold: every network in it, and every record.
///
/// The reader's own `verify` is not asked: it refuses databases that others write and that everybody can read.
pub fn table_of(bytes: Vec<u8>) -> Result<GeoFile, Wrong> {
    let reader = Reader::from_source(bytes)?;
    let metadata = reader.metadata();
    let leaves_max = u64::from(metadata.node_count).saturating_add(1).saturating_mul(LEAVES_PER_NODE_MAX);
    let mut records = Records::default();
    let mut ranges: Vec<(Span, Place)> = Vec::new();
    let every_leaf = WithinOptions::default().include_networks_without_data();
    for (leaf, found) in (0..).zip(reader.networks(every_leaf)?) {
        if leaf >= leaves_max {
            return Err(Wrong::Broken("the branches of its tree lead into each other".into()));
        }
        let found = found?;
        let network = found.network()?;
        // IPv4-mapped addresses count as IPv4, which has a branch of its own.
        let is_mapped = network.ip().to_canonical() != network.ip();
        let place = match found.offset() {
            Some(offset) => records.place(offset, || found.decode())?,
            None => None,
        };
        if let Some(place) = place.filter(|_| !is_mapped) {
            ranges.push((Network::around(network.ip(), network.prefix()).into(), place));
        }
    }
    if !records.name_countries {
        return Err(Wrong::NoCountries(metadata.database_type.clone()));
    }
    let table = GeoTable::new(ranges)?;
    Ok(GeoFile { table, built: metadata.build_epoch, unknown: records.unknown })
}

/// The records that were decoded, by where they stand: many networks share one.
#[derive(Default)]
struct Records {
    places: HashMap<usize, Option<Place>>,
    unknown: BTreeSet<String>,
    name_countries: bool,
}

impl Records {
    fn place<'a>(
        &mut self,
        offset: usize,
        decode: impl FnOnce() -> Result<Option<Record<'a>>, MaxMindDbError>,
    ) -> Result<Option<Place>, MaxMindDbError> {
        if let Some(place) = self.places.get(&offset) {
            return Ok(*place);
        }
        let record = decode()?;
        let place = record.as_ref().and_then(Record::place);
        let country = record.as_ref().and_then(Record::country);
        self.name_countries |= country.is_some();
        if let Some(country) = country.filter(|_| place.is_none()) {
            self.unknown.insert(country.to_owned());
        }
        self.places.insert(offset, place);
        Ok(place)
    }
}

#[cfg(test)]
mod tests;
