//! The format of a snapshot's file: a magic word, the header, one record for each object, a checksum over all of it.
//! Header and records are length-delimited messages, so that neither writer nor reader holds the whole.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;

use prost::Message;
use waymark_core::state::{ApplyLevel, State};
use waymark_proto::convert::{StateBuilder, snapshot_header, snapshot_records};
use waymark_proto::storage::v1 as stored;

use super::convert;
use super::types::{SnapshotMeta, StoredMembership};

const MAGIC: &[u8; 8] = b"waymark\n";
const CHECKSUM_LEN: u64 = 4;
/// Larger messages are not written by any version: it is a damaged length.
const MESSAGE_MAX: usize = 64 << 20;
const BUFFER: usize = 256 << 10;

/// Why a file is not a snapshot.
#[derive(Debug, thiserror::Error)]
pub(super) enum SnapshotFault {
    /// Its bytes are not the ones that were written.
    #[error("it fails its checksum")]
    Checksum,
    /// It is whole, but not something that this version reads.
    #[error("it cannot be decoded: {0}")]
    Undecodable(String),
    /// It is of a later version (CLU-9).
    #[error("is of apply level {found}, and this member supports up to {supported}: run the later version")]
    Level {
        /// Its level.
        found: ApplyLevel,
        /// The highest that the reader supports.
        supported: ApplyLevel,
    },
    /// The disk refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes `state` as the snapshot `meta` into `file`, durably; returns its length in bytes.
pub(super) fn write(file: &File, meta: &SnapshotMeta, state: &State) -> io::Result<u64> {
    let mut out =
        Summing { out: BufWriter::with_capacity(BUFFER, file), hasher: crc32fast::Hasher::new(), len: 0 };
    out.put(MAGIC)?;
    let mut buffer = Vec::new();
    out.put_message(&mut buffer, &header(meta, state))?;
    for record in snapshot_records(state) {
        out.put_message(&mut buffer, &record)?;
    }
    let Summing { out: mut writer, hasher, len } = out;
    writer.write_all(&hasher.finalize().to_be_bytes())?;
    writer.flush()?;
    drop(writer);
    file.sync_all()?;
    Ok(len + CHECKSUM_LEN)
}

fn header(meta: &SnapshotMeta, state: &State) -> stored::SnapshotHeader {
    stored::SnapshotHeader {
        snapshot_id: meta.snapshot_id.clone(),
        last: meta.last_log_id.as_ref().map(convert::log_id_message),
        membership_at: meta.last_membership.log_id().as_ref().map(convert::log_id_message),
        membership: Some(convert::membership_message(meta.last_membership.membership())),
        ..snapshot_header(state)
    }
}

/// What a snapshot's header says of its place in the log.
pub(super) fn meta_of(header: &stored::SnapshotHeader) -> SnapshotMeta {
    let membership = header.membership.clone().map(convert::membership).unwrap_or_default();
    SnapshotMeta {
        last_log_id: header.last.map(convert::log_id),
        last_membership: StoredMembership::new(header.membership_at.map(convert::log_id), membership),
        snapshot_id: header.snapshot_id.clone(),
    }
}

/// Reads a snapshot from `file`, after its checksum was found right; refuses one of a level of `apply` that is not `supported`.
pub(super) fn read(file: &File, supported: ApplyLevel) -> Result<(SnapshotMeta, State), SnapshotFault> {
    let len = verify(file)?;
    let mut reader = Delimited::start(file, len)?;
    let header: stored::SnapshotHeader = reader.next()?.ok_or_else(|| undecodable("it has no header"))?;
    let found = ApplyLevel(header.apply_level);
    if found > supported {
        return Err(SnapshotFault::Level { found, supported });
    }
    let mut builder = StateBuilder::new(&header).map_err(undecodable)?;
    while let Some(record) = reader.next()? {
        builder.add(record).map_err(undecodable)?;
    }
    Ok((meta_of(&header), builder.finish().map_err(undecodable)?))
}

/// Reads a snapshot's header alone.
pub(super) fn read_header(file: &File) -> Result<stored::SnapshotHeader, SnapshotFault> {
    let len = file.metadata()?.len();
    Delimited::start(file, len.saturating_sub(CHECKSUM_LEN))?
        .next()?
        .ok_or_else(|| undecodable("it has no header"))
}

/// Checks the checksum; returns how many bytes it covers.
pub(super) fn verify(file: &File) -> Result<u64, SnapshotFault> {
    let len = file.metadata()?.len().checked_sub(CHECKSUM_LEN).ok_or(SnapshotFault::Checksum)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut reader = FromStart { file, offset: 0 };
    let mut covered = Read::by_ref(&mut reader).take(len);
    let mut chunk = vec![0; BUFFER];
    loop {
        match covered.read(&mut chunk)? {
            0 => break,
            count => hasher.update(&chunk[..count]),
        }
    }
    let mut sum = [0; CHECKSUM_LEN as usize];
    reader.read_exact(&mut sum)?;
    if sum == hasher.finalize().to_be_bytes() { Ok(len) } else { Err(SnapshotFault::Checksum) }
}

fn undecodable(reason: impl ToString) -> SnapshotFault {
    SnapshotFault::Undecodable(reason.to_string())
}

/// A writer that sums up what it writes.
struct Summing<W> {
    out: W,
    hasher: crc32fast::Hasher,
    len: u64,
}

impl<W: Write> Summing<W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.len += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn put_message(&mut self, buffer: &mut Vec<u8>, message: &impl Message) -> io::Result<()> {
        buffer.clear();
        message.encode_length_delimited(buffer).expect("a vector grows as needed");
        self.put(buffer)
    }
}

/// Reads a file without moving the place at which others read it.
struct FromStart<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// A reader of length-delimited messages.
struct Delimited<'a> {
    input: BufReader<FromStart<'a>>,
    left: u64,
}

impl<'a> Delimited<'a> {
    /// Starts after the magic word; the messages end at `len`.
    fn start(file: &'a File, len: u64) -> Result<Self, SnapshotFault> {
        let mut input = BufReader::with_capacity(BUFFER, FromStart { file, offset: 0 });
        let mut magic = [0; MAGIC.len()];
        input.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(undecodable("it is not a snapshot of Waymark's"));
        }
        Ok(Self { input, left: len.saturating_sub(MAGIC.len() as u64) })
    }

    fn next<M: Message + Default>(&mut self) -> Result<Option<M>, SnapshotFault> {
        if self.left == 0 {
            return Ok(None);
        }
        let len = self.length()?;
        if len > MESSAGE_MAX || len as u64 > self.left {
            return Err(undecodable("a message is longer than what is left"));
        }
        let mut bytes = vec![0; len];
        self.input.read_exact(&mut bytes)?;
        self.left -= len as u64;
        M::decode(bytes.as_slice()).map(Some).map_err(undecodable)
    }

    /// A length is written as a varint.
    fn length(&mut self) -> Result<usize, SnapshotFault> {
        let mut value = 0_usize;
        for shift in (0..usize::BITS - 7).step_by(7) {
            let mut byte = [0];
            self.input.read_exact(&mut byte)?;
            self.left = self.left.checked_sub(1).ok_or_else(|| undecodable("it ends within a length"))?;
            value |= usize::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        Err(undecodable("a length is too long"))
    }
}
