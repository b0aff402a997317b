//! The words of a command line: plain ones in order, and `key=value` ones, which may be quoted: `header='Host: a'`.

use std::collections::VecDeque;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use waymark_core::model::Edit;

/// The words of one line that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    plain: VecDeque<String>,
    keyed: Vec<(String, String)>,
}

impl Arguments {
    pub(crate) fn parse(line: &str) -> Result<Self> {
        let mut arguments = Self::default();
        for text in split(line)? {
            match text.split_once('=') {
                Some((key, value)) => arguments.keyed.push((key.to_owned(), value.to_owned())),
                None => arguments.plain.push_back(text),
            }
        }
        Ok(arguments)
    }

    /// The next plain word, which `what` names if it is missing.
    pub(crate) fn next(&mut self, what: &str) -> Result<String> {
        self.plain.pop_front().with_context(|| format!("{what} is missing"))
    }

    /// All the plain words that are left.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        std::mem::take(&mut self.plain).into()
    }

    /// The value of `key`, if it is there.
    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        let place = self.keyed.iter().position(|(have, _)| have == key)?;
        Some(self.keyed.remove(place).1)
    }

    /// The value of `key` as a number, if it is there.
    pub(crate) fn number<T: FromStr>(&mut self, key: &str) -> Result<Option<T>> {
        self.take(key).map(|text| read_number(key, &text)).transpose()
    }

    /// The value of `key`, with `key=` for a field that is cleared.
    pub(crate) fn edit<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T>) -> Result<Edit<T>> {
        Ok(match self.take(key).as_deref() {
            None => Edit::Keep,
            Some("") => Edit::Clear,
            Some(text) => Edit::Set(read(text).with_context(|| format!("{key}={text}"))?),
        })
    }

    /// All the values of a `key` that may be repeated, with `key=` for a list that is cleared.
    pub(crate) fn edit_list<T>(
        &mut self,
        key: &str,
        read: impl Fn(&str) -> Result<T>,
    ) -> Result<Edit<Vec<T>>> {
        let mut texts = Vec::new();
        while let Some(text) = self.take(key) {
            texts.push(text);
        }
        if texts.is_empty() {
            return Ok(Edit::Keep);
        }
        let read_one = |text: &String| read(text).with_context(|| format!("{key}={text}"));
        let values: Vec<T> =
            texts.iter().filter(|text| !text.is_empty()).map(read_one).collect::<Result<_>>()?;
        Ok(if values.is_empty() { Edit::Clear } else { Edit::Set(values) })
    }

    /// Refuses what nobody took.
    pub(crate) fn finish(self) -> Result<()> {
        ensure!(self.plain.is_empty(), "too many words: {:?}", self.plain);
        ensure!(self.keyed.is_empty(), "unknown keys: {:?}", self.keyed);
        Ok(())
    }
}

pub(crate) fn read_number<T: FromStr>(what: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| anyhow::anyhow!("{what}: '{text}' is no number in range"))
}

/// `10s` or `200ms`, in milliseconds.
pub(crate) fn read_duration(text: &str) -> Result<u64> {
    if let Some(milliseconds) = text.strip_suffix("ms") {
        return read_number("duration", milliseconds);
    }
    let seconds = text.strip_suffix('s').with_context(|| format!("'{text}' has no unit"))?;
    Ok(1_000 * read_number::<u64>("duration", seconds)?)
}

/// `on` or `off`.
pub(crate) fn read_switch(text: &str) -> Result<bool> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => bail!("'{text}' is neither on nor off"),
    }
}

/// Words between spaces; single quotes keep one together.
fn split(line: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut is_open = false;
    for character in line.chars() {
        match character {
            '\'' => {
                is_open = !is_open;
                word.get_or_insert_default();
            }
            ' ' if !is_open => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    ensure!(!is_open, "a quote is not closed");
    words.extend(word);
    Ok(words)
}
