//! Where things lie in the log's key space, and how a value is cut into parts and guarded by a checksum.
//!
//! ```text
//! 'L' index:8 part:2   part of a log record; parts of a record and records of the log are neighbours in order
//! "m/committed"        the last entry known to be committed
//! "m/identity"         whose log this is
//! "m/purged"           the last entry that a snapshot has replaced
//! "m/vote"             the vote
//! ```
//!
//! A record is framed as `length:4 checksum:4 bytes` and cut into parts of at most [`PART_MAX`]; the checksum covers
//! the index too, so that a record under a wrong key is found out. Metadata is `checksum:4 bytes`, covering its key.
//! Numbers are big-endian.

use bytes::{BufMut, Bytes, BytesMut};

/// Largest value that is handed to the key-value store. sled writes up to 16 neighbours as one message and spills
/// messages above 128 KiB into files that it never syncs; 16 × 4 KiB stay well below.
pub(super) const PART_MAX: usize = 4096;

/// Key of the vote.
pub(super) const VOTE: &[u8] = b"m/vote";
/// Key of the last entry that a snapshot has replaced.
pub(super) const PURGED: &[u8] = b"m/purged";
/// Key of the last entry known to be committed.
pub(super) const COMMITTED: &[u8] = b"m/committed";
/// Key of the identity of the log's owner.
pub(super) const IDENTITY: &[u8] = b"m/identity";

const RECORD: u8 = b'L';
const KEY_LEN: usize = 11;
const FRAME_LEN: usize = 8;
const CHECKSUM_LEN: usize = 4;

/// A stored value that is not what was once written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Damage {
    /// A record's bytes are not the ones that were written.
    #[error("log entry {0} fails its checksum")]
    Entry(u64),
    /// A record is not whole.
    #[error("log entry {0} lacks a part")]
    Part(u64),
    /// A record is whole and yet not readable.
    #[error("log entry {0} cannot be decoded: {1}")]
    Undecodable(u64, String),
    /// Between its first and last entry the log must be complete.
    #[error("log entry {0} is missing")]
    Gap(u64),
    /// A metadata value is not the one that was written.
    #[error("the value '{0}' fails its checksum or cannot be decoded")]
    Metadata(String),
    /// Something lies in the store that was never put there.
    #[error("there is an unknown key in the log: {0}")]
    Key(String),
}

/// The key of a part of the record `index`.
pub(super) fn record_key(index: u64, part: u16) -> [u8; KEY_LEN] {
    let mut key = [RECORD; KEY_LEN];
    key[1..9].copy_from_slice(&index.to_be_bytes());
    key[9..].copy_from_slice(&part.to_be_bytes());
    key
}

/// Index and part of a record's key.
pub(super) fn parse_record_key(key: &[u8]) -> Result<(u64, u16), Damage> {
    let unknown = || Damage::Key(String::from_utf8_lossy(key).into_owned());
    let rest = key.strip_prefix(&[RECORD]).ok_or_else(unknown)?;
    let (index, part) = rest.split_first_chunk::<8>().ok_or_else(unknown)?;
    let part: [u8; 2] = part.try_into().map_err(|_| unknown())?;
    Ok((u64::from_be_bytes(*index), u16::from_be_bytes(part)))
}

/// The parts of the record `index`, key and value, in order.
pub(super) fn split(index: u64, record: &[u8]) -> Vec<([u8; KEY_LEN], Vec<u8>)> {
    let mut frame = BytesMut::with_capacity(FRAME_LEN + record.len());
    frame.put_u32(u32::try_from(record.len()).expect("entries are limited to far less than 4 GiB"));
    frame.put_u32(record_checksum(index, record));
    frame.put_slice(record);
    frame
        .chunks(PART_MAX)
        .zip(0_u16..)
        .map(|(part, number)| (record_key(index, number), part.to_vec()))
        .collect()
}

/// How many parts a record of `len` bytes has.
fn parts(len: usize) -> usize {
    (FRAME_LEN + len).div_ceil(PART_MAX)
}

fn record_checksum(index: u64, record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&index.to_be_bytes());
    hasher.update(record);
    hasher.finalize()
}

/// Puts records together again from parts that come in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    index: u64,
    frame: BytesMut,
    missing: usize,
    next_part: u16,
}

impl Assembler {
    /// Takes the next part; returns the record that it completes, if it does.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<Option<(u64, Bytes)>, Damage> {
        let (index, part) = parse_record_key(key)?;
        if self.missing == 0 {
            let len = value.first_chunk::<4>().ok_or(Damage::Part(index))?;
            *self = Self { index, missing: parts(u32::from_be_bytes(*len) as usize), ..Self::default() };
        }
        if (index, part) != (self.index, self.next_part) {
            return Err(Damage::Part(self.index));
        }
        self.frame.extend_from_slice(value);
        self.missing -= 1;
        self.next_part = self.next_part.wrapping_add(1);
        if self.missing > 0 { Ok(None) } else { self.finish().map(Some) }
    }

    /// To be called after the last part: is nothing half put together?
    pub(super) fn end(&self) -> Result<(), Damage> {
        if self.missing == 0 { Ok(()) } else { Err(Damage::Part(self.index)) }
    }

    fn finish(&mut self) -> Result<(u64, Bytes), Damage> {
        let frame = std::mem::take(&mut self.frame).freeze();
        let (index, damaged) = (self.index, Damage::Entry(self.index));
        let (head, record) = frame.split_first_chunk::<FRAME_LEN>().ok_or(damaged.clone())?;
        let number = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if number(0) as usize != record.len() || number(4) != record_checksum(index, record) {
            return Err(damaged);
        }
        Ok((index, frame.slice(FRAME_LEN..)))
    }
}

/// The metadata `bytes` as stored under `key`.
pub(super) fn seal(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut value = metadata_checksum(key, bytes).to_be_bytes().to_vec();
    value.extend_from_slice(bytes);
    value
}

/// The metadata that was sealed as `value` under `key`.
pub(super) fn unseal<'a>(key: &[u8], value: &'a [u8]) -> Result<&'a [u8], Damage> {
    match value.split_first_chunk::<CHECKSUM_LEN>() {
        Some((sum, bytes)) if u32::from_be_bytes(*sum) == metadata_checksum(key, bytes) => Ok(bytes),
        _ => Err(Damage::Metadata(String::from_utf8_lossy(key).into_owned())),
    }
}

fn metadata_checksum(key: &[u8], bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(bytes);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assemble(parts: &[([u8; KEY_LEN], Vec<u8>)]) -> Result<Vec<(u64, Bytes)>, Damage> {
        let mut assembler = Assembler::default();
        let mut records = Vec::new();
        for (key, value) in parts {
            records.extend(assembler.push(key, value)?);
        }
        assembler.end()?;
        Ok(records)
    }

    #[test]
    fn values_never_exceed_what_sled_keeps_out_of_blobs() {
        for len in [0, 1, PART_MAX - FRAME_LEN, PART_MAX - FRAME_LEN + 1, 1 << 20] {
            let parts = split(7, &vec![1; len]);
            assert!(parts.iter().all(|(_, value)| value.len() <= PART_MAX), "a record of {len} bytes");
            assert_eq!(assemble(&parts).unwrap(), [(7, Bytes::from(vec![1; len]))]);
        }
    }

    #[test]
    fn a_missing_part_is_found_out() {
        let parts = split(7, &[1; 3 * PART_MAX]);
        for gone in 0..parts.len() {
            let mut rest = parts.clone();
            rest.remove(gone);
            assert!(assemble(&rest).is_err(), "without part {gone}");
        }
    }

    #[test]
    fn a_record_under_another_key_is_found_out() {
        let mut parts = split(7, b"seven");
        parts[0].0 = record_key(8, 0);
        assert_eq!(assemble(&parts), Err(Damage::Entry(8)));
        let sealed = seal(VOTE, b"vote");
        assert!(unseal(PURGED, &sealed).is_err());
        assert_eq!(unseal(VOTE, &sealed).unwrap(), b"vote");
    }

    proptest! {
        #[test]
        fn a_flipped_bit_is_found_out(record in proptest::collection::vec(any::<u8>(), 0..9000), at: usize, bit in 0..8) {
            let mut parts = split(9, &record);
            let total: usize = parts.iter().map(|(_, value)| value.len()).sum();
            let (part, offset) = ((at % total) / PART_MAX, (at % total) % PART_MAX);
            parts[part].1[offset] ^= 1_u8 << bit;
            prop_assert!(assemble(&parts).is_err());
        }
    }
}
