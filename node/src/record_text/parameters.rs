//! The parameters of SVCB and HTTPS records (RFC 9460 §2): keys in ascending order, each with a value of its own kind.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::slice::Iter;
use std::str::FromStr;

use data_encoding::BASE64;
use waymark_core::model::{nearest, quote as shown};

use super::fault::RecordFault;
use super::read::digits;
use super::show::{take, take_text};
use super::tokens::{Token, quote};

/// The keys that have a word (RFC 9460 §14.3.2, RFC 9461, RFC 9540), by their numbers; others are written `keyNNNNN`.
const KEYS: [&str; 9] =
    ["mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint", "dohpath", "ohttp"];

const MANDATORY: u16 = 0;
const ALPN: u16 = 1;
const NO_DEFAULT_ALPN: u16 = 2;
const PORT: u16 = 3;
const IPV4_HINT: u16 = 4;
const ECH: u16 = 5;
const IPV6_HINT: u16 = 6;
const OHTTP: u16 = 8;

/// Reads all tokens that are left, and appends them in the order of their keys.
pub(super) fn read(rest: &mut Iter<'_, Token>, bytes: &mut Vec<u8>) -> Result<(), RecordFault> {
    let mut values: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
    for token in rest {
        let mut parts = token.bytes.splitn(2, |byte| *byte == b'=');
        let word = parts.next().unwrap_or_default();
        let key = key(word).map_err(|rule| RecordFault::field("parameters", word, rule))?;
        let value = parts.next().unwrap_or_default();
        let value = read_value(key, value).map_err(|rule| RecordFault::field(key_word(key), value, rule))?;
        if values.insert(key, value).is_some() {
            return Err(RecordFault::field("parameters", word, "is given twice"));
        }
    }
    check_together(&values)?;
    for (key, value) in values {
        let length = u16::try_from(value.len())
            .map_err(|_| RecordFault::field(key_word(key), b"", "is longer than 65535 bytes"))?;
        bytes.extend(key.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(value);
    }
    Ok(())
}

/// RFC 9460 §7.1.1 and §8: what one key asks of the others.
fn check_together(values: &BTreeMap<u16, Vec<u8>>) -> Result<(), RecordFault> {
    if values.contains_key(&NO_DEFAULT_ALPN) && !values.contains_key(&ALPN) {
        return Err(RecordFault::field("parameters", b"no-default-alpn", "is given without alpn"));
    }
    let mandatory = values.get(&MANDATORY).map(Vec::as_slice).unwrap_or_default();
    for key in mandatory.as_chunks().0.iter().map(|key| u16::from_be_bytes(*key)) {
        if !values.contains_key(&key) {
            return Err(RecordFault::field("mandatory", key_word(key).as_bytes(), "is not given"));
        }
    }
    Ok(())
}

fn key(word: &[u8]) -> Result<u16, String> {
    let word = std::str::from_utf8(word).unwrap_or_default();
    let by_word = KEYS.iter().zip(0..).find(|(known, _)| **known == word).map(|(_, number)| number);
    // As a number is shown, so is it written: without a sign or leading zeros.
    let by_number = || {
        let number = word.strip_prefix("key")?.parse::<u16>().ok()?;
        (format!("key{number}") == word).then_some(number)
    };
    by_word.or_else(by_number).ok_or_else(|| {
        let hint = nearest(word, KEYS).map(|near| format!("; did you mean '{near}'?"));
        let others = || "; others are written by their number, as in key65280".to_owned();
        format!("is no key{}", hint.unwrap_or_else(others))
    })
}

fn key_word(key: u16) -> String {
    KEYS.get(usize::from(key)).map_or_else(|| format!("key{key}"), |word| (*word).to_owned())
}

fn read_value(key: u16, value: &[u8]) -> Result<Vec<u8>, String> {
    if matches!(key, NO_DEFAULT_ALPN | OHTTP) {
        return value.is_empty().then(Vec::new).ok_or_else(|| "is a value of a key that has none".to_owned());
    }
    let text = || std::str::from_utf8(value).unwrap_or_default();
    match key {
        MANDATORY => mandatory(text()),
        ALPN => {
            let mut bytes = Vec::new();
            for name in items(value) {
                let length = u8::try_from(name.len()).ok().filter(|length| *length > 0);
                bytes.push(length.ok_or("has a protocol's name that is empty or longer than 255 bytes")?);
                bytes.extend(name);
            }
            Ok(bytes)
        }
        PORT => digits(text())
            .map(|port: u16| port.to_be_bytes().into())
            .ok_or_else(|| "is no port, 0–65535".into()),
        IPV4_HINT => addresses(text(), "is no IPv4 address", |address: Ipv4Addr| address.octets()),
        IPV6_HINT => addresses(text(), "is no IPv6 address", |address: Ipv6Addr| address.octets()),
        ECH => {
            BASE64.decode(value).ok().filter(|value| !value.is_empty()).ok_or("is not in base 64".to_owned())
        }
        _ => Ok(value.to_vec()),
    }
}

fn mandatory(text: &str) -> Result<Vec<u8>, String> {
    let mut keys = Vec::new();
    for word in text.split(',') {
        keys.push(key(word.as_bytes()).map_err(|rule| format!("has {}, which {rule}", shown(word)))?);
    }
    keys.sort_unstable();
    if keys.contains(&MANDATORY) || keys.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("names itself, or a key twice".to_owned());
    }
    Ok(keys.into_iter().flat_map(u16::to_be_bytes).collect())
}

fn addresses<A: FromStr, const N: usize>(
    text: &str,
    rule: &str,
    octets: impl Fn(A) -> [u8; N],
) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for word in text.split(',') {
        bytes.extend(octets(word.parse().map_err(|_| format!("has {}, which {rule}", shown(word)))?));
    }
    Ok(bytes)
}

/// The parts of a list between commas; `\,` and `\\` are a comma and a backslash in one (RFC 9460 appendix A.1).
fn items(list: &[u8]) -> Vec<Vec<u8>> {
    let mut items = vec![Vec::new()];
    let mut bytes = list.iter();
    while let Some(&byte) = bytes.next() {
        let last = items.len() - 1;
        match byte {
            b',' => items.push(Vec::new()),
            b'\\' => items[last].extend(bytes.next()),
            other => items[last].push(other),
        }
    }
    items
}

/// The words of all parameters that are left; none if they are not in order or not what their keys want.
pub(super) fn words(rest: &mut &[u8]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut last = None;
    while !rest.is_empty() {
        let mut number = || Some(u16::from_be_bytes(take(rest, 2)?.try_into().ok()?));
        let (key, length) = (number()?, number()?);
        let value = take(rest, length.into())?;
        if last.replace(key).is_some_and(|last| last >= key) {
            return None;
        }
        let text = value_text(key, value)?;
        words.push(key_word(key) + &text.map(|text| format!("={text}")).unwrap_or_default());
    }
    Some(words)
}

/// What stands behind a key's `=`; `Some(None)` if there is no value.
fn value_text(key: u16, mut value: &[u8]) -> Option<Option<String>> {
    if matches!(key, NO_DEFAULT_ALPN | OHTTP) {
        return value.is_empty().then_some(None);
    }
    let text = match key {
        MANDATORY => chunks(value, |key: &[u8; 2]| key_word(u16::from_be_bytes(*key)))?,
        PORT => u16::from_be_bytes(value.try_into().ok()?).to_string(),
        IPV4_HINT => chunks(value, |octets: &[u8; 4]| Ipv4Addr::from(*octets).to_string())?,
        IPV6_HINT => chunks(value, |octets: &[u8; 16]| Ipv6Addr::from(*octets).to_string())?,
        ECH => BASE64.encode(value),
        ALPN => {
            let mut list: Vec<u8> = Vec::new();
            while !value.is_empty() {
                let name = take_text(&mut value)?;
                list.extend(if list.is_empty() { &b""[..] } else { b"," });
                list.extend(name.iter().flat_map(|byte| match byte {
                    b',' | b'\\' => vec![b'\\', *byte],
                    other => vec![*other],
                }));
            }
            quote(&list)
        }
        _ if value.is_empty() => return Some(None),
        _ => quote(value),
    };
    Some(Some(text))
}

/// Values of one length each, in words, with commas between them; none if there are none, or a part of one.
fn chunks<const N: usize>(value: &[u8], word: impl Fn(&[u8; N]) -> String) -> Option<String> {
    let (chunks, behind) = value.as_chunks::<N>();
    let is_whole = !chunks.is_empty() && behind.is_empty();
    is_whole.then(|| chunks.iter().map(word).collect::<Vec<_>>().join(","))
}
