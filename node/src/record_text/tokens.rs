//! The words of a record's text: what stands between blanks, or within quotes (RFC 1035 §5.1).

use super::fault::RecordFault;

/// One word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Token {
    /// What it says, without quotes and escapes.
    pub(super) bytes: Vec<u8>,
    /// Does it begin with a quote?
    pub(super) is_quoted: bool,
    /// Was it written as it is, without quotes and escapes?
    pub(super) is_plain: bool,
}

/// The words of `text`. Quotes stand around a whole word, or behind its `=`, as in `alpn="h2,h3"`.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, RecordFault> {
    let mut found = Vec::new();
    let mut rest = text.bytes().peekable();
    loop {
        while rest.next_if(u8::is_ascii_whitespace).is_some() {}
        if rest.peek().is_none() {
            return Ok(found);
        }
        found.push(token(&mut rest)?);
    }
}

type Rest<'a> = std::iter::Peekable<std::str::Bytes<'a>>;

fn token(rest: &mut Rest<'_>) -> Result<Token, RecordFault> {
    let is_quoted = rest.peek() == Some(&b'"');
    let mut token = Token { bytes: Vec::new(), is_quoted, is_plain: true };
    while let Some(byte) = rest.next_if(|byte| !byte.is_ascii_whitespace()) {
        match byte {
            b'"' if token.bytes.is_empty() || token.bytes.ends_with(b"=") => {
                token.is_plain = false;
                quoted(rest, &mut token.bytes)?;
                return Ok(token);
            }
            b'\\' => {
                token.is_plain = false;
                token.bytes.push(escaped(rest)?);
            }
            b'"' | b';' | b'(' | b')' => return Err(RecordFault::Bare(byte.into())),
            other => token.bytes.push(other),
        }
    }
    Ok(token)
}

fn quoted(rest: &mut Rest<'_>, bytes: &mut Vec<u8>) -> Result<(), RecordFault> {
    loop {
        match rest.next().ok_or(RecordFault::OpenQuote)? {
            b'"' => return Ok(()),
            b'\\' => bytes.push(escaped(rest)?),
            other => bytes.push(other),
        }
    }
}

/// What stands behind a `\`: a byte's number in three digits, or the byte itself.
fn escaped(rest: &mut Rest<'_>) -> Result<u8, RecordFault> {
    let first = rest.next().ok_or(RecordFault::Escape)?;
    if !first.is_ascii_digit() {
        return Ok(first);
    }
    let mut number = u32::from(first - b'0');
    for _ in 0..2 {
        let digit = rest.next_if(u8::is_ascii_digit).ok_or(RecordFault::Escape)?;
        number = 10 * number + u32::from(digit - b'0');
    }
    u8::try_from(number).map_err(|_| RecordFault::Escape)
}

/// `bytes` within quotes, so that it is read back as it is.
pub(super) fn quote(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            other => text.push_str(&format!("\\{other:03}")),
        }
    }
    text.push('"');
    text
}
