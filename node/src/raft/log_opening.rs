//! Opening the log: is it ours, is it whole, is it all there? A log that is not must not vote (CLU-3, CLU-4).

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use prost::Message;
use waymark_proto::storage::v1 as stored;

use super::convert;
use super::key_space as keys;
use super::log_disk::LogDisk;
use super::log_kind::LogKind;
use super::log_store::{Bounds, LogStore, damaged, visit_entries};
use super::log_writer::Writer;
use super::sled_disk::sync_dir;
use super::types::{LogId, Vote};
use super::watermark::{Mark, Watermark};

/// The folder of the store inside the data directory.
const FOLDER: &str = "log";
/// The note of what was acknowledged, beside it.
const WATERMARK: &str = "log.watermark";

/// Whose log it is, kept in the store itself: a log cannot be taken for another member's, nor a fresh one for a lost
/// one.
pub(super) type Identity = stored::MemberHeader;

/// Why a log was not opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenLogError {
    /// It is not there.
    #[error("it is missing")]
    Missing,
    /// It is there, but the file `member` that says whose it is is not.
    #[error("it is not empty, but the file 'member' beside it is missing")]
    Orphaned,
    /// It is another member's.
    #[error("it belongs to member {member_id} of cluster {cluster_id}", member_id = .0.member_id, cluster_id = .0.cluster_id)]
    Foreign(Box<Identity>),
    /// It is kept in what this build does not keep logs in.
    #[error(
        "it is kept in {found}, and this build keeps logs in {own}: run a build that keeps them in {found}, or, with this one, start afresh",
        found = .found.name(),
        own = .own.name()
    )]
    OtherKind {
        /// What it is kept in.
        found: LogKind,
        /// What this build keeps logs in.
        own: LogKind,
    },
    /// What was acknowledged once is not there any more.
    #[error(
        "its end is lost: it goes up to entry {found} and was acknowledged up to {expected}, or its vote went back"
    )]
    Shortened {
        /// The index after the last entry that is there.
        found: u64,
        /// The index after the last entry that was acknowledged.
        expected: u64,
    },
    /// How far it was acknowledged is not known any more.
    #[error(
        "the file '{WATERMARK}' beside it is missing or damaged, so that nobody knows whether its end is lost: restore it \
         together with the log"
    )]
    Unnoted,
    /// It cannot be read, or not all of it.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn exists(data_dir: &Path) -> bool {
    data_dir.join(FOLDER).exists()
}

/// Opens or creates the store of `kind` in `data_dir`, unless there is one of another kind.
fn open_disk(data_dir: &Path, kind: LogKind) -> Result<Arc<dyn LogDisk>, OpenLogError> {
    let dir = data_dir.join(FOLDER);
    match kind.other_in(&dir) {
        Some(found) => Err(OpenLogError::OtherKind { found, own: kind }),
        None => Ok(kind.open(&dir)?),
    }
}

/// Refuses a log in `data_dir` that holds anything, there being no file that says whose it is. An empty one is what a
/// crash leaves that came between its creation and that file's.
pub(super) fn refuse_orphan(data_dir: &Path, kind: LogKind) -> Result<(), OpenLogError> {
    if !exists(data_dir) {
        return Ok(());
    }
    let disk = open_disk(data_dir, kind)?;
    if is_blank(&*disk)? { Ok(()) } else { Err(OpenLogError::Orphaned) }
}

/// Creates a log for `owner` in `data_dir`, empty and durable. One that is there already is kept if it is the owner's
/// or nobody's, as after a crash at this very point.
pub(super) fn create(data_dir: &Path, kind: LogKind, owner: &Identity) -> Result<(), OpenLogError> {
    let disk = open_disk(data_dir, kind)?;
    match identity(&*disk)? {
        Some(found) if found != *owner && !is_blank(&*disk)? => Err(OpenLogError::Foreign(Box::new(found))),
        _ => {
            let sealed = keys::seal(keys::IDENTITY, &owner.encode_to_vec());
            disk.write(vec![(keys::IDENTITY.to_vec(), Some(sealed))])?;
            Ok(disk.make_durable()?)
        }
    }
}

/// Creates a log for `owner` in `data_dir`, durable, that begins behind the entry `last`: a snapshot stands for all before.
pub(super) fn create_behind(
    data_dir: &Path,
    kind: LogKind,
    owner: &Identity,
    last: LogId,
) -> Result<(), OpenLogError> {
    create(data_dir, kind, owner)?;
    let vote = Vote::new_committed(last.leader_id.term, last.leader_id.node_id);
    let (watermark, _) = Watermark::open(&data_dir.join(WATERMARK))?;
    watermark.lower(&Mark { next: last.index + 1, vote })?;
    sync_dir(data_dir)?;
    let disk = open_disk(data_dir, kind)?;
    let sealed = |key: &[u8], bytes: Vec<u8>| (key.to_vec(), Some(keys::seal(key, &bytes)));
    let id = convert::log_id_message(&last).encode_to_vec();
    disk.write(vec![
        sealed(keys::PURGED, id),
        sealed(keys::VOTE, convert::vote_message(&vote).encode_to_vec()),
    ])?;
    Ok(disk.make_durable()?)
}

/// Opens the log of `owner` in `data_dir`.
pub(super) fn open(data_dir: &Path, kind: LogKind, owner: &Identity) -> Result<LogStore, OpenLogError> {
    if !exists(data_dir) {
        return Err(OpenLogError::Missing);
    }
    let disk = open_disk(data_dir, kind)?;
    match identity(&*disk)? {
        Some(found) if found == *owner => {}
        Some(found) => return Err(OpenLogError::Foreign(Box::new(found))),
        None => return Err(OpenLogError::Missing),
    }
    let bounds = inspect(&*disk)?;
    let needed = bounds.committed.map_or(0, |id| id.index + 1);
    if bounds.next() < needed {
        return Err(OpenLogError::Shortened { found: bounds.next(), expected: needed });
    }
    let found = Mark { next: bounds.next(), vote: bounds.vote.unwrap_or_default() };
    let (watermark, noted) = Watermark::open(&data_dir.join(WATERMARK))?;
    match noted {
        Some(noted) if noted.is_kept_by(&found) => {}
        Some(noted) => return Err(OpenLogError::Shortened { found: found.next, expected: noted.next }),
        // The first opening. No crash leaves a log that holds something without the note: nothing is written to the
        // log before the note and its name are durable, and it is written over in place.
        None if bounds.is_blank() => {
            watermark.lower(&found)?;
            sync_dir(data_dir)?;
        }
        None => return Err(OpenLogError::Unnoted),
    }
    let writer = Writer::start(disk.clone(), watermark, found)?;
    Ok(LogStore::new(disk, bounds, writer))
}

/// Reads everything, so that damage is found before this member votes.
fn inspect(disk: &dyn LogDisk) -> io::Result<Bounds> {
    let purged = metadata::<stored::LogId>(disk, keys::PURGED)?.map(convert::log_id);
    let mut last: Option<LogId> = purged;
    let first = purged.map_or(0, |id| id.index + 1);
    visit_entries(disk, first, u64::MAX, &mut |entry| {
        let expected = last.map_or(0, |id| id.index + 1);
        if entry.log_id.index != expected {
            return Err(damaged(keys::Damage::Gap(expected)));
        }
        last = Some(entry.log_id);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Bounds {
        purged,
        last,
        committed: metadata::<stored::LogId>(disk, keys::COMMITTED)?.map(convert::log_id),
        vote: metadata::<stored::Vote>(disk, keys::VOTE)?.map(convert::vote),
    })
}

fn identity(disk: &dyn LogDisk) -> io::Result<Option<Identity>> {
    metadata(disk, keys::IDENTITY)
}

/// Has nothing but an identity ever been written?
fn is_blank(disk: &dyn LogDisk) -> io::Result<bool> {
    Ok(inspect(disk)?.is_blank())
}

fn metadata<M: Message + Default>(disk: &dyn LogDisk, key: &[u8]) -> io::Result<Option<M>> {
    let mut found = None;
    let after = [key, &[0]].concat();
    disk.scan(key, &after, &mut |_, value| {
        found = Some(value.to_vec());
        Ok(ControlFlow::Break(()))
    })?;
    let Some(sealed) = found else { return Ok(None) };
    let bytes = keys::unseal(key, &sealed).map_err(damaged)?;
    let undecodable = |_| damaged(keys::Damage::Metadata(String::from_utf8_lossy(key).into_owned()));
    M::decode(bytes).map(Some).map_err(undecodable)
}
