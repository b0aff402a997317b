//! From text to bytes.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::slice::Iter;
use std::str::FromStr;

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use waymark_core::model::{Name, RecordType};

use super::fault::RecordFault;
use super::layout::{Field, Layout};
use super::parameters;
use super::show;
use super::tokens::{Token, tokens};

/// Longest character-string, in bytes: its length is one byte.
const TEXT_MAX: usize = 255;

/// Longest tag of a CAA record (RFC 8659 §4.1).
const TAG_MAX: usize = 15;

/// Reads the data of one record of that type, as on the wire and uncompressed. It may be longer than a set can be: that is
/// the cluster's to judge, with all else.
pub fn read(record_type: RecordType, text: &str) -> Result<Vec<u8>, RecordFault> {
    if let Some(raw) = text.trim_start().strip_prefix("\\#") {
        return read_raw(record_type, raw);
    }
    let layout = Layout::of(record_type).ok_or(RecordFault::Unknown(record_type))?;
    let tokens = tokens(text)?;
    let mut rest = tokens.iter();
    let mut bytes = Vec::new();
    for (name, field) in layout.fields {
        read_field(layout, name, *field, &mut rest, &mut bytes)?;
    }
    match rest.next() {
        None => Ok(bytes),
        Some(Token { bytes: extra, .. }) => Err(RecordFault::Extra {
            text: waymark_core::model::quote(&String::from_utf8_lossy(extra)),
            record_type,
            shape: layout.shape(),
        }),
    }
}

/// What stands behind `\#`: how many bytes, and the bytes, which must be some of the type if it is known.
fn read_raw(record_type: RecordType, text: &str) -> Result<Vec<u8>, RecordFault> {
    let wrong = |rule: &str| RecordFault::Raw(rule.to_owned());
    let mut words = text.split_ascii_whitespace();
    let length = words.next().filter(|_| text.starts_with(|next: char| next.is_ascii_whitespace()));
    let length = length.and_then(digits::<u16>);
    let length = length.ok_or_else(|| wrong("LENGTH is the number of bytes, 0–65535"))?;
    let digits: String = words.collect();
    let bytes = HEXLOWER_PERMISSIVE.decode(digits.as_bytes());
    let bytes = bytes.map_err(|_| wrong("HEX has two hexadecimal digits for each byte"))?;
    if bytes.len() != usize::from(length) {
        return Err(wrong(&format!("LENGTH is {length}, but there are {} bytes", bytes.len())));
    }
    match Layout::of(record_type) {
        Some(layout) if show::written(layout, &bytes).is_none() => {
            Err(RecordFault::Malformed { record_type, shape: layout.shape() })
        }
        _ => Ok(bytes),
    }
}

fn read_field(
    layout: &Layout,
    name: &'static str,
    field: Field,
    rest: &mut Iter<'_, Token>,
    bytes: &mut Vec<u8>,
) -> Result<(), RecordFault> {
    if field == Field::Parameters {
        return parameters::read(rest, bytes);
    }
    let token = rest.next().ok_or_else(|| RecordFault::missing(layout, name))?;
    let fault = |rule: String| RecordFault::field(name, &token.bytes, rule);
    match field {
        Field::Number(width) => bytes.extend(number(token, width).map_err(fault)?),
        Field::Ipv4 => bytes.extend(plain::<Ipv4Addr>(token, "is no IPv4 address").map_err(fault)?.octets()),
        Field::Ipv6 => bytes.extend(plain::<Ipv6Addr>(token, "is no IPv6 address").map_err(fault)?.octets()),
        Field::Name => bytes.extend(read_name(token).map_err(fault)?.as_wire()),
        Field::Text => push_text(&token.bytes, bytes).map_err(fault)?,
        Field::Texts => return read_texts(name, token, rest, bytes),
        Field::Tag => push_tag(&token.bytes, bytes).map_err(fault)?,
        Field::Rest => bytes.extend(&token.bytes),
        Field::Hex => {
            let digits = joined(token, rest);
            let decoded = HEXLOWER_PERMISSIVE.decode(&digits).ok().filter(|decoded| !decoded.is_empty());
            let rule = "is not in hexadecimal digits, two for each byte";
            bytes.extend(decoded.ok_or_else(|| RecordFault::field(name, &digits, rule))?);
        }
        Field::Base64 => {
            let digits = joined(token, rest);
            let decoded = BASE64.decode(&digits).ok().filter(|decoded| !decoded.is_empty());
            bytes.extend(decoded.ok_or_else(|| RecordFault::field(name, &digits, "is not in base 64"))?);
        }
        Field::Parameters => {}
    }
    Ok(())
}

/// All texts to the end. Several that stand without quotes are probably meant to be one.
fn read_texts<'a>(
    name: &str,
    first: &'a Token,
    rest: &mut Iter<'a, Token>,
    bytes: &mut Vec<u8>,
) -> Result<(), RecordFault> {
    let texts: Vec<&Token> = std::iter::once(first).chain(rest).collect();
    if texts.len() > 1 && texts.iter().any(|text| !text.is_quoted) {
        let words: Vec<_> = texts.iter().map(|text| String::from_utf8_lossy(&text.bytes)).collect();
        return Err(RecordFault::Blank(waymark_core::model::shorten(&words.join(" "))));
    }
    texts.into_iter().try_for_each(|text| {
        push_text(&text.bytes, bytes).map_err(|rule| RecordFault::field(name, &text.bytes, rule))
    })
}

fn push_text(text: &[u8], bytes: &mut Vec<u8>) -> Result<(), String> {
    let length = text.len();
    let prefix = u8::try_from(length).map_err(|_| {
        format!("has {length} bytes; a text has at most {TEXT_MAX}: divide it into several, each in quotes")
    })?;
    bytes.push(prefix);
    bytes.extend(text);
    Ok(())
}

fn push_tag(tag: &[u8], bytes: &mut Vec<u8>) -> Result<(), String> {
    if !(1..=TAG_MAX).contains(&tag.len()) || !tag.iter().all(u8::is_ascii_alphanumeric) {
        return Err(format!("is no tag: 1 to {TAG_MAX} letters and digits, as in issue, issuewild, iodef"));
    }
    push_text(tag, bytes)
}

/// The token, and all behind it, as one.
fn joined<'a>(first: &'a Token, rest: &mut Iter<'a, Token>) -> Vec<u8> {
    std::iter::once(first).chain(rest).flat_map(|token| token.bytes.iter().copied()).collect()
}

/// A number of `width` bytes, the highest first.
fn number(token: &Token, width: usize) -> Result<Vec<u8>, String> {
    let max = u32::MAX >> (32 - 8 * width);
    let text = std::str::from_utf8(&token.bytes).ok().filter(|_| token.is_plain);
    let number = text.and_then(digits::<u32>).filter(|number| *number <= max);
    let number = number.ok_or_else(|| format!("is no whole number, 0–{max}"))?;
    Ok(number.to_be_bytes()[4 - width..].to_vec())
}

/// A name, whole; a dot alone is the root, which stands for nothing.
pub(super) fn read_name(token: &Token) -> Result<Name, String> {
    let text = std::str::from_utf8(&token.bytes).ok().filter(|_| token.is_plain);
    match text.ok_or("must be written without quotes and escapes")? {
        "." => Ok(Name::root()),
        text => Name::parse(text).map_err(|fault| fault.to_string()),
    }
}

/// Something that is written without quotes and escapes.
fn plain<T: FromStr>(token: &Token, rule: &str) -> Result<T, String> {
    let text = std::str::from_utf8(&token.bytes).ok().filter(|_| token.is_plain);
    text.and_then(|text| text.parse().ok()).ok_or_else(|| rule.to_owned())
}

/// A number in digits: the standard library's readers take a sign as well, which no zone file has.
pub(super) fn digits<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}
