//! From bytes to text.

use std::net::{Ipv4Addr, Ipv6Addr};

use data_encoding::{BASE64, HEXLOWER};
use waymark_core::model::{Name, RecordType};

use super::layout::{Field, Layout};
use super::parameters;
use super::read::read;
use super::tokens::quote;

/// The data of one record of that type as it could be set again: by its fields, or by its bytes where those are not known
/// or would be read as something else.
pub fn show(record_type: RecordType, data: &[u8]) -> String {
    let text = Layout::of(record_type).and_then(|layout| written(layout, data));
    let is_same = |text: &String| read(record_type, text).is_ok_and(|read| read == data);
    text.filter(is_same).unwrap_or_else(|| match data {
        [] => "\\# 0".to_owned(),
        data => format!("\\# {} {}", data.len(), HEXLOWER.encode(data)),
    })
}

/// The fields of `layout` in `data`; none if it is not made of them, wholly.
pub(super) fn written(layout: &Layout, data: &[u8]) -> Option<String> {
    let mut rest = data;
    let mut words = Vec::new();
    for (_, field) in layout.fields {
        words.extend(field_words(*field, &mut rest)?);
    }
    rest.is_empty().then(|| words.join(" "))
}

/// The words of one field, which is taken off `rest`.
fn field_words(field: Field, rest: &mut &[u8]) -> Option<Vec<String>> {
    let word = match field {
        Field::Number(width) => {
            let number = take(rest, width)?.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
            number.to_string()
        }
        Field::Ipv4 => Ipv4Addr::from(<[u8; 4]>::try_from(take(rest, 4)?).ok()?).to_string(),
        Field::Ipv6 => Ipv6Addr::from(<[u8; 16]>::try_from(take(rest, 16)?).ok()?).to_string(),
        Field::Name => name_word(&take_name(rest)?),
        Field::Text => quote(take_text(rest)?),
        Field::Texts => {
            let mut texts = vec![quote(take_text(rest)?)];
            while !rest.is_empty() {
                texts.push(quote(take_text(rest)?));
            }
            return Some(texts);
        }
        Field::Tag => {
            let tag = take_text(rest)?;
            let is_tag = !tag.is_empty() && tag.iter().all(u8::is_ascii_alphanumeric);
            String::from_utf8(tag.to_vec()).ok().filter(|_| is_tag)?
        }
        Field::Rest => quote(take(rest, rest.len())?),
        Field::Hex => HEXLOWER.encode(take_some(rest)?),
        Field::Base64 => BASE64.encode(take_some(rest)?),
        Field::Parameters => return parameters::words(rest),
    };
    Some(vec![word])
}

/// A name with its final dot.
pub(super) fn name_word(name: &Name) -> String {
    let text = name.to_string();
    if text.ends_with('.') { text } else { text + "." }
}

/// The first `length` bytes.
pub(super) fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(taken)
}

/// All that is left, which must be something.
fn take_some<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    take(rest, rest.len()).filter(|taken| !taken.is_empty())
}

/// A character-string.
pub(super) fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = *take(rest, 1)?.first()?;
    take(rest, length.into())
}

fn take_name(rest: &mut &[u8]) -> Option<Name> {
    let mut length = 0;
    while let Some(label) = rest.get(length).copied().filter(|label| *label > 0) {
        length += 1 + usize::from(label);
    }
    Name::read_wire(take(rest, length + 1)?)
}
