//! What kind of record a question asks for, by number and by word.

use std::fmt;
use std::str::FromStr;

use super::nearest;

/// A record type by its number (IANA DNS parameters).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordType(pub u16);

/// Why a text is no record type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is no record type{}; any type can be written by its number, as in TYPE65",
    super::quote(text), .hint.map(|word| format!(" (did you mean {word}?)")).unwrap_or_default())]
pub struct RecordTypeFault {
    /// The text.
    pub text: String,
    /// The nearest word that is one (VAL-3).
    pub hint: Option<&'static str>,
}

/// The words that are known; other types are written `TYPE` and their number (RFC 3597 §5).
const WORDS: [(u16, &str); 26] = [
    (1, "A"),
    (2, "NS"),
    (5, "CNAME"),
    (6, "SOA"),
    (12, "PTR"),
    (13, "HINFO"),
    (15, "MX"),
    (16, "TXT"),
    (28, "AAAA"),
    (29, "LOC"),
    (33, "SRV"),
    (35, "NAPTR"),
    (39, "DNAME"),
    (43, "DS"),
    (44, "SSHFP"),
    (46, "RRSIG"),
    (47, "NSEC"),
    (48, "DNSKEY"),
    (52, "TLSA"),
    (53, "SMIMEA"),
    (61, "OPENPGPKEY"),
    (64, "SVCB"),
    (65, "HTTPS"),
    (255, "ANY"),
    (256, "URI"),
    (257, "CAA"),
];

impl RecordType {
    /// IPv4 address.
    pub const A: Self = Self(1);
    /// Name server.
    pub const NS: Self = Self(2);
    /// Alias.
    pub const CNAME: Self = Self(5);
    /// Start of authority.
    pub const SOA: Self = Self(6);
    /// IPv6 address.
    pub const AAAA: Self = Self(28);
    /// The keys of a zone that another one leads to (RFC 4034 §5).
    pub const DS: Self = Self(43);
    /// Whatever there is (RFC 8482).
    pub const ANY: Self = Self(255);
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match WORDS.iter().find(|(number, _)| *number == self.0) {
            Some((_, word)) => f.pad(word),
            None => f.pad(&format!("TYPE{}", self.0)),
        }
    }
}

impl FromStr for RecordType {
    type Err = RecordTypeFault;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let upper = text.to_ascii_uppercase();
        let by_word = WORDS.iter().find(|(_, word)| *word == upper).map(|(number, _)| *number);
        // `u16::from_str` takes a sign, which no type number has.
        let by_number = || {
            let digits = upper.strip_prefix("TYPE")?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        by_word.or_else(by_number).map(Self).ok_or_else(|| RecordTypeFault {
            text: text.to_owned(),
            hint: nearest(text, WORDS.iter().map(|(_, word)| *word)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_words_and_numbers() {
        for (text, number, shown) in [
            ("a", 1, "A"),
            ("AAAA", 28, "AAAA"),
            ("TYPE65", 65, "HTTPS"),
            ("type65280", 65_280, "TYPE65280"),
            ("TYPE1", 1, "A"),
            ("any", 255, "ANY"),
        ] {
            let record_type: RecordType = text.parse().expect(text);
            assert_eq!((record_type.0, record_type.to_string().as_str()), (number, shown));
        }
    }

    #[test]
    fn val_3_refuses_other_words_with_a_hint() {
        let fault = "CNAM".parse::<RecordType>().expect_err("CNAM");
        assert_eq!(
            fault.to_string(),
            "'CNAM' is no record type (did you mean CNAME?); any type can be written by its number, as in TYPE65"
        );
        for text in ["", "TYPE", "TYPE65536", "TYPE+1", "TYPE-1", "65"] {
            assert!(text.parse::<RecordType>().is_err(), "{text}");
        }
    }
}
