//! A geo table as bytes: the form in which one is carried along, made to be compressed.
//!
//! ```text
//! MAGIC, places: count, then the length and the letters of each code
//! IPv4:  count, then in columns of one value for each range behind the first
//!        the place's number from 1, or 0 for nowhere, as a low and a high byte (these two for the first range, too)
//!        how many zero bits the length of the range before it ends with, as a byte
//!        what is left of that length without those zeros and the one in front of them, as a varint
//! IPv6:  the same
//! ```
//!
//! Like stands by like, so that a general compressor halves it again and again. Counts are varints: seven bits a byte,
//! the lowest first, the eighth set if more follow.

use std::collections::BTreeMap;

use super::GeoTable;
use super::half::{Half, Number};
use crate::model::{Family, Place};

/// What the bytes begin with; the figure is that of the form.
const MAGIC: &[u8] = b"waymark geo 1\n";

/// Why bytes are no geo table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// They do not begin as one.
    #[error("does not begin as a geo table of this form")]
    Magic,
    /// They end too early.
    #[error("ends too early")]
    Short,
    /// Something stands behind the table.
    #[error("goes on behind its end")]
    Long,
    /// A place that the hierarchy does not have.
    #[error("names the place '{0}', which is not in the hierarchy")]
    Place(String),
    /// A number that points nowhere.
    #[error("has a number that is too large")]
    Number,
}

impl GeoTable {
    /// The table as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let used: BTreeMap<Place, u16> = [Family::V4, Family::V6]
            .into_iter()
            .flat_map(|family| self.ranges(family).filter_map(|(_, place)| place))
            .map(|place| (place, 0))
            .collect();
        let numbered: BTreeMap<Place, u16> = used.into_keys().zip(1..).collect();
        write_varint(&mut bytes, numbered.len() as u128);
        for place in numbered.keys() {
            write_varint(&mut bytes, place.code().len() as u128);
            bytes.extend_from_slice(place.code().as_bytes());
        }
        for family in [Family::V4, Family::V6] {
            let ranges: Vec<(u128, u16)> = self
                .ranges(family)
                .map(|(start, place)| (start, place.map_or(0, |place| numbered[&place])))
                .collect();
            write_half(&mut bytes, &ranges);
        }
        bytes
    }

    /// The table that `bytes` hold.
    pub fn decode(bytes: &[u8]) -> Result<Self, FileFault> {
        let mut input = Input(bytes.strip_prefix(MAGIC).ok_or(FileFault::Magic)?);
        let codes = input.count()?;
        let places = (0..codes).map(|_| input.place()).collect::<Result<Vec<Place>, FileFault>>()?;
        let v4 = input.half(Family::V4, &places)?;
        let v6 = input.half(Family::V6, &places)?;
        if input.0.is_empty() { Ok(Self::from_halves(v4, v6)) } else { Err(FileFault::Long) }
    }
}

fn write_half(bytes: &mut Vec<u8>, ranges: &[(u128, u16)]) {
    write_varint(bytes, ranges.len() as u128);
    bytes.extend(ranges.iter().map(|(_, place)| place.to_le_bytes()[0]));
    bytes.extend(ranges.iter().map(|(_, place)| place.to_le_bytes()[1]));
    let lengths = || ranges.windows(2).map(|pair| pair[1].0 - pair[0].0);
    bytes.extend(lengths().map(|length| length.trailing_zeros() as u8));
    for length in lengths() {
        write_varint(bytes, length >> length.trailing_zeros() >> 1);
    }
}

fn write_varint(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// What has not been read yet.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], FileFault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(FileFault::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u128, FileFault> {
        let mut number = 0;
        for shift in (0..128).step_by(7) {
            let byte = self.take(1)?[0];
            let bits = u128::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(FileFault::Number);
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(FileFault::Number)
    }

    /// How many things follow, each of which takes a byte at least: so a small file cannot ask for much memory.
    fn count(&mut self) -> Result<usize, FileFault> {
        let count = usize::try_from(self.varint()?).map_err(|_| FileFault::Short)?;
        if count <= self.0.len() { Ok(count) } else { Err(FileFault::Short) }
    }

    fn place(&mut self) -> Result<Place, FileFault> {
        let length = self.count()?;
        let code = String::from_utf8_lossy(self.take(length)?);
        Place::parse(&code).map_err(|fault| FileFault::Place(fault.text))
    }

    fn half<N: Number>(&mut self, family: Family, places: &[Place]) -> Result<Half<N>, FileFault> {
        let count = self.count()?;
        let lows = self.take(count)?;
        let highs = self.take(count)?;
        let zeros = self.take(count.checked_sub(1).ok_or(FileFault::Short)?)?;
        let mut ranges = Vec::with_capacity(count);
        let mut start: u128 = 0;
        for range in 0..count {
            if range > 0 {
                let length = self.length(zeros[range - 1])?;
                start =
                    start.checked_add(length).filter(|at| *at <= family.max()).ok_or(FileFault::Number)?;
            }
            let place = match usize::from(u16::from_le_bytes([lows[range], highs[range]])) {
                0 => None,
                number => Some(*places.get(number - 1).ok_or(FileFault::Number)?),
            };
            ranges.push((start, place));
        }
        Ok(Half::new(ranges))
    }

    /// A length, of which the zeros at its end are known.
    fn length(&mut self, zeros: u8) -> Result<u128, FileFault> {
        let odd = self.varint()?.checked_mul(2).ok_or(FileFault::Number)? | 1;
        let length = odd.checked_shl(zeros.into()).ok_or(FileFault::Number)?;
        if length >> zeros == odd { Ok(length) } else { Err(FileFault::Number) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Span;

    fn table(ranges: &[(&str, &str)]) -> GeoTable {
        let range = |(span, code): &(&str, &str)| {
            (span.parse::<Span>().expect(span), Place::parse(code).expect(code))
        };
        GeoTable::new(ranges.iter().map(range)).unwrap()
    }

    fn example() -> GeoTable {
        table(&[
            ("10.0.0.0/8", "DE"),
            ("11.0.0.7-11.0.0.9", "US-CA"),
            ("255.255.255.255/32", "FR"),
            ("8000::/1", "DE"),
        ])
    }

    #[test]
    fn bytes_lead_back_to_the_table() {
        for table in [table(&[]), table(&[("::/0", "ZW"), ("0.0.0.0/0", "WORLD")]), example()] {
            assert_eq!(GeoTable::decode(&table.encode()), Ok(table));
        }
    }

    #[test]
    fn the_form_is_pinned() {
        let bytes = table(&[("10.0.0.0/8", "DE")]).encode();
        let (head, tail) = (b"waymark geo 1\n\x01\x02DE".as_slice(), b"\x01\x00\x00".as_slice());
        let v4 = b"\x03\x00\x01\x00\x00\x00\x00\x19\x18\x02\x00".as_slice();
        assert_eq!(bytes, [head, v4, tail].concat());
    }

    #[test]
    fn f_sec_07_bad_bytes_are_refused() {
        let good = example().encode();
        for length in 0..good.len() {
            assert!(GeoTable::decode(&good[..length]).is_err(), "{length} bytes of {}", good.len());
        }
        assert_eq!(GeoTable::decode(&[&good[..], b"\0"].concat()), Err(FileFault::Long));
        assert_eq!(GeoTable::decode(b""), Err(FileFault::Magic));
        let with = |tail: &[u8]| GeoTable::decode(&[MAGIC, tail].concat());
        assert_eq!(with(b"\x01\x02ZZ"), Err(FileFault::Place("ZZ".into())));
        assert_eq!(with(&[0xff; 40]), Err(FileFault::Number));
        assert_eq!(with(b"\x7f"), Err(FileFault::Short));
        assert_eq!(with(b"\0\x01\x01\0\x01\0\0"), Err(FileFault::Number), "a place that is not listed");
        assert_eq!(with(b"\0\x02\0\0\0\0\x20\0\x01\0\0"), Err(FileFault::Number), "behind the last address");
    }

    proptest! {
        #[test]
        fn f_sec_07_no_bytes_make_it_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..64),
            at in 0..80_usize,
            byte: u8,
        ) {
            let _ = GeoTable::decode(&[MAGIC, &bytes].concat());
            let mut changed = example().encode();
            let at = at % changed.len();
            changed[at] = byte;
            let _ = GeoTable::decode(&changed);
        }
    }
}
