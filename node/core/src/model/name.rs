//! Domain names, held as a resolver sends them: length-prefixed labels in lower case, ended by the root's zero byte.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// A name as a lower-cased wire form, root byte included (RFC 1035 §3.1, RFC 4343). Compared byte by byte.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<[u8]>);

/// Why a text or a wire form is no name of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// No labels at all.
    #[error("is empty")]
    Empty,
    /// Two dots in a row, or one in front.
    #[error("has an empty label")]
    EmptyLabel,
    /// A label above [`Name::LABEL_MAX`] bytes.
    #[error("has a label longer than 63 characters")]
    LongLabel,
    /// More than [`Name::WIRE_MAX`] bytes on the wire.
    #[error("is longer than 253 characters")]
    TooLong,
    /// A character outside letters, digits, `-` and `_`.
    #[error(
        "has a character other than letters, digits, '-' and '_'; write an international name in its xn-- form"
    )]
    Character,
    /// `-` at the start or the end of a label.
    #[error("has a label that begins or ends with '-'")]
    Hyphen,
    /// A final dot, where a name goes on below another.
    #[error("ends in a dot, as only a whole name does; leave out the dot and the zone's name")]
    Whole,
    /// A `*` label: wildcards are not served.
    #[error("is a wildcard; wildcards are not supported")]
    Wildcard,
}

impl Name {
    /// The longest label, in bytes (RFC 1035 §2.3.4).
    pub const LABEL_MAX: usize = 63;
    /// The longest name on the wire, in bytes, length bytes and root included (RFC 1035 §2.3.4).
    pub const WIRE_MAX: usize = 255;

    /// The root of all names.
    pub fn root() -> Self {
        Self(Arc::from([0].as_slice()))
    }

    /// Reads dotted text, with or without the final dot.
    pub fn parse(text: &str) -> Result<Self, NameFault> {
        let text = text.strip_suffix('.').unwrap_or(text);
        if text.is_empty() {
            return Err(NameFault::Empty);
        }
        let mut wire = Vec::with_capacity(text.len() + 2);
        for label in text.split('.') {
            check_label(label)?;
            wire.push(label.len() as u8);
            wire.extend(label.bytes().map(|byte| byte.to_ascii_lowercase()));
        }
        wire.push(0);
        if wire.len() > Self::WIRE_MAX {
            return Err(NameFault::TooLong);
        }
        Ok(Self(wire.into()))
    }

    /// Takes an uncompressed wire form that a DNS codec has already checked, and lowers its case. Any byte is allowed
    /// in a label here: such names are asked for, though never ours.
    pub fn from_wire(wire: &[u8]) -> Self {
        // A length byte is at most 63 and so never a letter: lowering the whole run leaves the structure alone.
        Self(wire.iter().map(|byte| byte.to_ascii_lowercase()).collect())
    }

    /// Reads an uncompressed wire form that nobody has checked, and lowers its case; none unless all of `wire` is one
    /// name.
    pub fn read_wire(wire: &[u8]) -> Option<Self> {
        let mut rest = wire;
        loop {
            let (&length, tail) = rest.split_first()?;
            match usize::from(length) {
                0 if tail.is_empty() && wire.len() <= Self::WIRE_MAX => return Some(Self::from_wire(wire)),
                0 => return None,
                length if length > Self::LABEL_MAX => return None,
                length => rest = tail.get(length..)?,
            }
        }
    }

    /// The lower-cased wire form.
    pub fn as_wire(&self) -> &[u8] {
        &self.0
    }

    /// The labels from the left, without the root.
    pub fn labels(&self) -> impl Iterator<Item = &[u8]> + '_ {
        let mut rest: &[u8] = &self.0;
        std::iter::from_fn(move || {
            let (&length, tail) = rest.split_first()?;
            let (label, next) = tail.split_at_checked(usize::from(length))?;
            rest = next;
            (length > 0).then_some(label)
        })
    }

    /// The name without its first label; none for the root.
    pub fn parent(&self) -> Option<Name> {
        parent_wire(&self.0).map(|wire| Self(wire.into()))
    }

    /// The wire forms of the name itself and of each of its ancestors up to the root, the longest first.
    pub fn suffixes(&self) -> impl Iterator<Item = &[u8]> + '_ {
        std::iter::successors(Some(&*self.0), |wire| parent_wire(wire))
    }

    /// Is this name `ancestor` itself or below it?
    pub fn is_within(&self, ancestor: &Name) -> bool {
        self.suffixes().any(|suffix| suffix == &*ancestor.0)
    }

    /// `self` in front of `suffix`: `web` and `example.com` give `web.example.com`.
    pub fn join(&self, suffix: &Name) -> Result<Name, NameFault> {
        let mut wire = self.0[..self.0.len() - 1].to_vec();
        wire.extend_from_slice(&suffix.0);
        if wire.len() > Self::WIRE_MAX {
            return Err(NameFault::TooLong);
        }
        Ok(Self(wire.into()))
    }

    /// The labels from the right, each behind its length: a name's descendants are exactly the keys that begin with
    /// its own, so an ordered map finds them by one range.
    pub fn tree_key(&self) -> Arc<[u8]> {
        let labels: Vec<&[u8]> = self.labels().collect();
        let mut key = Vec::with_capacity(self.0.len());
        for label in labels.into_iter().rev() {
            key.push(label.len() as u8);
            key.extend_from_slice(label);
        }
        key.into()
    }
}

/// The wire form without its first label; none for the root.
pub(crate) fn parent_wire(wire: &[u8]) -> Option<&[u8]> {
    let (&length, tail) = wire.split_first()?;
    if length == 0 { None } else { tail.get(usize::from(length)..) }
}

fn check_label(label: &str) -> Result<(), NameFault> {
    if label.is_empty() {
        return Err(NameFault::EmptyLabel);
    }
    if label == "*" {
        return Err(NameFault::Wildcard);
    }
    if !label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        return Err(NameFault::Character);
    }
    if label.len() > Name::LABEL_MAX {
        return Err(NameFault::LongLabel);
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Err(NameFault::Hyphen);
    }
    Ok(())
}

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

/// Dotted text without the final dot; bytes that a host name cannot have are written `\DDD` (RFC 1035 §5.1).
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        let mut text = String::with_capacity(self.0.len());
        for label in self.labels() {
            if !text.is_empty() {
                text.push('.');
            }
            for &byte in label {
                match byte {
                    b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => text.push(char::from(byte)),
                    other => write!(text, "\\{other:03}")?,
                }
            }
        }
        if text.is_empty() {
            text.push('.');
        }
        f.pad(&text)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).expect(text)
    }

    #[test]
    fn obj_3_names_lose_case_and_final_dot() {
        assert_eq!(name("Web.Example.COM."), name("web.example.com"));
        assert_eq!(name("web.example.com").as_wire(), b"\x03web\x07example\x03com\x00");
        assert_eq!(name("web.example.com").to_string(), "web.example.com");
    }

    #[test]
    fn refuses_what_is_no_name() {
        for (text, fault) in [
            ("", NameFault::Empty),
            (".", NameFault::Empty),
            ("a..b", NameFault::EmptyLabel),
            (".a", NameFault::EmptyLabel),
            ("-a.b", NameFault::Hyphen),
            ("a-.b", NameFault::Hyphen),
            ("a b", NameFault::Character),
            ("m\u{fc}nchen.de", NameFault::Character),
            ("*.b", NameFault::Wildcard),
        ] {
            assert_eq!(Name::parse(text), Err(fault), "{text}");
        }
        assert_eq!(Name::parse(&"a".repeat(64)), Err(NameFault::LongLabel));
        assert_eq!(Name::parse(&["a".repeat(63).as_str(); 4].join(".")), Err(NameFault::TooLong));
        assert_eq!(name(&"a".repeat(63)).labels().count(), 1);
    }

    #[test]
    fn knows_its_ancestors() {
        let zone = name("example.com");
        assert!(name("a.b.example.com").is_within(&zone));
        assert!(zone.is_within(&zone));
        assert!(!name("notexample.com").is_within(&zone));
        assert!(!name("example.com.evil.test").is_within(&zone));
        assert!(zone.is_within(&Name::root()));
        assert_eq!(name("a.example.com").parent(), Some(zone));
        assert_eq!(Name::root().parent(), None);
    }

    #[test]
    fn tree_keys_put_descendants_behind_their_ancestor() {
        let below = name("x.eu.example.com").tree_key();
        assert!(below.starts_with(&name("eu.example.com").tree_key()));
        assert!(!name("xeu.example.com").tree_key().starts_with(&name("eu.example.com").tree_key()));
    }

    #[test]
    fn an_unchecked_wire_form_is_one_name_or_none() {
        assert_eq!(Name::read_wire(b"\x03Web\x07example\x00"), Some(name("web.example")));
        assert_eq!(Name::read_wire(b"\x00"), Some(Name::root()));
        let longest = [[63].as_slice(), &[b'a'; 63]].concat();
        let long = |labels: usize| [longest.repeat(labels).as_slice(), &[0]].concat();
        assert!(Name::read_wire(&long(3)).is_some());
        for wire in [&b""[..], b"\x01", b"\x01a", b"\x00\x00", b"\x01a\x00b", b"\xc0\x0c", &long(4)] {
            assert_eq!(Name::read_wire(wire), None, "{wire:?}");
        }
    }

    #[test]
    fn shows_odd_bytes_escaped() {
        assert_eq!(Name::from_wire(b"\x03A.b\x01c\x00").to_string(), "a\\046b.c");
        assert_eq!(Name::root().to_string(), ".");
    }
}
