//! All that the cluster agrees on as one file, and a new cluster made of such a file (CLU-10, CLU-12). The file is a snapshot's:
//! a checksum over all of it at its end.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use openraft::storage::RaftLogReader;
use waymark_core::state::{ApplyLevel, State};
use waymark_process::chance;

use super::base::blocking;
use super::leader::Leader;
use super::log_kind::LogKind;
use super::membership::{FOUNDER, Membership, MembershipError};
use super::seat::Seat;
use super::snapshot::SnapshotData;
use super::snapshot_file::{self, SnapshotFault};
use super::state_machine::replay;
use super::types::SnapshotMeta;
use super::{ProposeError, data_dir::DataDir};

/// Bytes of a backup that are read at once.
const PART_BYTES: usize = 256 << 10;
/// What arrives to be restored, until it is.
const DRAFT: &str = "restore.tmp";

/// What a backup has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackUpSource {
    /// Everything that was committed when it was asked for.
    Committed,
    /// What this member has applied.
    Applied,
    /// That, and all that its log holds beyond: what may have been committed.
    Log,
}

/// A backup, ready to be read. Its file is gone with it.
#[derive(Debug)]
pub struct BackUp {
    data: SnapshotData,
    offset: u64,
}

impl BackUp {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// The disk refuses.
    pub async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let (data, offset) = (self.data.clone(), self.offset);
        let part = blocking(move || data.read_at(offset, PART_BYTES)).await?;
        self.offset += part.len() as u64;
        Ok(Some(part).filter(|part| !part.is_empty()))
    }
}

/// A backup on its way into an empty member.
#[derive(Debug)]
pub struct Upload {
    path: PathBuf,
    file: File,
}

impl Upload {
    fn begin(dir: &Path) -> io::Result<Self> {
        let path = dir.join(DRAFT);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        Ok(Self { path, file })
    }

    /// Adds the next bytes.
    ///
    /// # Errors
    /// The disk refuses.
    pub async fn push(&self, bytes: bytes::Bytes) -> io::Result<()> {
        let mut file = self.file.try_clone()?;
        blocking(move || file.write_all(&bytes)).await
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // What cannot be removed now is written over by the next one.
        let _ = fs::remove_file(&self.path);
    }
}

impl Membership {
    /// A backup of the state.
    ///
    /// # Errors
    /// There is no leader, or, for what the log holds, there is one; the disk refuses.
    pub async fn back_up(&self, source: BackUpSource) -> Result<BackUp, MembershipError> {
        let seat = self.base.seat().ok_or(ProposeError::NotMember)?;
        if source == BackUpSource::Committed {
            self.proposer.read_barrier().await?;
        }
        if source == BackUpSource::Log && matches!(seat.leader(), Leader::Here | Leader::There(..)) {
            let why = "the cluster has a leader: nothing is to be recovered; take a backup with 'waymark cluster backup'";
            return Err(MembershipError::Refused(why.into()));
        }
        let view = self.base.reader.view();
        let (mut state, mut last) = (view.state.clone(), view.applied.0);
        if source == BackUpSource::Log {
            (state, last) = with_log(&seat, state, last, self.base.config.apply_level_max).await?;
        }
        let meta = meta(&seat, last);
        let snapshots = seat.snapshots.clone();
        let data = blocking(move || snapshots.export(&meta, &state)).await.map_err(disk)?;
        Ok(BackUp { data, offset: 0 })
    }

    /// A place for a backup that this member, an empty one, shall begin a cluster with.
    ///
    /// # Errors
    /// It belongs to a cluster, or the disk refuses.
    pub fn upload(&self) -> Result<Upload, MembershipError> {
        if let Some(seat) = self.base.seat() {
            let text = format!("this is {seat:?} already; a backup is restored on an empty member");
            return Err(MembershipError::Refused(text));
        }
        Upload::begin(&self.base.config.data_dir).map_err(disk)
    }

    /// Founds a cluster with this member as its first voter and what was uploaded as its state; returns its id.
    ///
    /// # Errors
    /// It is no backup, or a damaged one; this member belongs to a cluster by now; the disk refuses.
    pub async fn restore(&self, upload: Upload) -> Result<String, MembershipError> {
        let supported = self.base.config.apply_level_max;
        let read = blocking(move || {
            upload.file.sync_all()?;
            snapshot_file::read(&upload.file, supported)
        });
        let (meta, state) = read.await.map_err(|fault| {
            MembershipError::Refused(match fault {
                SnapshotFault::Level { .. } => format!("the backup {fault}; nothing was changed"),
                fault => format!("what was sent is no whole backup: {fault}; nothing was changed"),
            })
        })?;
        let cluster = chance::id();
        let begun = Beginning {
            state: state.restored(cluster.clone()),
            at: meta.last_log_id.map_or(0, |id| id.index),
        };
        self.base
            .take_restored_seat(&cluster, FOUNDER, begun)
            .await
            .map_err(super::membership::seat_error)?;
        tracing::info!(cluster, "a cluster is founded from a backup");
        Ok(cluster)
    }
}

/// What a cluster begins with that is made of a backup.
pub(super) struct Beginning {
    pub(super) state: State,
    /// The entry that it stands for: those that follow go on from there.
    pub(super) at: u64,
}

fn disk(error: io::Error) -> MembershipError {
    ProposeError::Storage(error.to_string()).into()
}

fn meta(seat: &Seat, last: u64) -> SnapshotMeta {
    let membership = (*seat.metrics().membership_config).clone();
    let at = openraft::CommittedLeaderId::new(seat.metrics().current_term, seat.member);
    SnapshotMeta {
        last_log_id: Some(openraft::LogId::new(at, last)),
        last_membership: membership,
        snapshot_id: format!("backup-{last}"),
    }
}

/// `state` after all that the log of `seat` holds beyond the entry `applied`, and the last entry.
async fn with_log(
    seat: &Seat,
    state: State,
    applied: u64,
    supported: ApplyLevel,
) -> Result<(State, u64), MembershipError> {
    let unreadable = |error: &dyn std::fmt::Display| ProposeError::Storage(error.to_string());
    let entries =
        seat.log.clone().try_get_log_entries(applied + 1..).await.map_err(|error| unreadable(&error))?;
    let last = entries.last().map_or(applied, |entry| entry.log_id.index);
    let state =
        blocking(move || replay(state, entries, supported)).await.map_err(|error| unreadable(&error))?;
    Ok((state, last))
}

/// Writes what makes `data_dir` the directory of a member that has `begun`, but for the file that says so.
pub(super) fn lay_out(
    data_dir: &DataDir,
    owner: &waymark_proto::storage::v1::MemberHeader,
    node: &super::types::Node,
    begun: &Beginning,
) -> Result<(), super::OpenError> {
    use super::snapshot::Snapshots;
    use super::types::{LogId, Membership as Voters, StoredMembership};
    let at = LogId::new(openraft::CommittedLeaderId::new(1, owner.member_id), begun.at);
    let nodes = std::collections::BTreeMap::from([(owner.member_id, node.clone())]);
    let meta = SnapshotMeta {
        last_log_id: Some(at),
        last_membership: StoredMembership::new(Some(at), Voters::new(vec![[owner.member_id].into()], nodes)),
        snapshot_id: format!("restored-{}", begun.at),
    };
    let refused = |reason: String| super::OpenError::Snapshot { reason };
    let (snapshots, _) = Snapshots::open(data_dir.path(), begun.state.apply_level)
        .map_err(|error| refused(error.to_string()))?;
    snapshots.build(&meta, &begun.state).map_err(|error| refused(error.to_string()))?;
    super::log_opening::create_behind(data_dir.path(), LogKind::OWN, owner, at)
        .map_err(|error| super::base::log_refused(data_dir, &error))
}
